"""One run: trained, and scored on people it has not seen."""

import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from censorium.arrays import Ints, require_finite
from censorium.auditing import PROBE_FOLDS, Probe, probe
from censorium.errors import DataError, lookup
from censorium.estimator import CensoredClassifier
from censorium.nets import infer
from censorium.recipe import EpochRecord
from censorium.scores import balanced_accuracy, per_subject
from censorium.splits import SubjectSplit
from censorium.study.keep import KEEPERS, Keeper
from censorium.study.methods import METHODS
from censorium.study.run import NETWORK, Evaluation, Outcome, Run, Scores
from censorium.trials import Trials

PARTS = ("censorium", "torch", "numpy", "scikit-learn", "mne")


class Parts(NamedTuple):
    """The trials of a split's training, validation and test subjects."""

    train: Trials
    valid: Trials
    test: Trials

    @classmethod
    def of(cls, split: SubjectSplit, trials: Trials) -> Self:
        """The parts of `trials`, every one of which can be trained on or scored."""
        parts = cls(*split.apply(trials))
        for name, part in parts._asdict().items():
            try:
                require_finite(part.signals, part.info.ch_names)
            except DataError as error:
                raise DataError(f"Among the trials of the {name} subjects: {error}") from error
        return parts

    def scored(self, score: Callable[[Trials], Evaluation]) -> Scores:
        """The scores of the parts that there are."""
        return Scores(
            score(self.train), score(self.valid) if len(self.valid) else None, score(self.test)
        )


def to_fit(split: SubjectSplit, trials: Trials) -> Trials:
    """What training is given: the trials of who trains and of who validates."""
    return trials.of([*split.train, *split.valid])


def execute(
    run: Run,
    trials: Trials,
    *,
    keep: Sequence[str] = (),
    on_epoch: Callable[[EpochRecord], None] | None = None,
) -> Outcome:
    """Train and score one run; of the test subjects' trials training sees nothing.

    `keep` names what of a network is kept in `files`: "weights", "predictions".
    """
    start = time.perf_counter()
    keepers = [lookup("thing to keep", name, KEEPERS) for name in keep]
    parts = Parts.of(run.split, trials)
    scores, history, files = (
        of_network(run, trials, parts, keepers, on_epoch)
        if run.method == NETWORK
        else (of_yardstick(run, parts), [], {})
    )
    return Outcome(
        run=run,
        scores=scores,
        history=history,
        seconds=time.perf_counter() - start,
        peak_memory=peak_memory(),
        versions=versions(),
        files=files,
    )


def of_network(
    run: Run,
    trials: Trials,
    parts: Parts,
    keepers: Sequence[Keeper],
    on_epoch: Callable[[EpochRecord], None] | None,
) -> tuple[dict[str, Scores], list[EpochRecord], dict[str, bytes]]:
    """What a network shows at each of its evaluation points, epoch by epoch, and what is kept."""
    model = CensoredClassifier(
        **run.options,
        random_state=run.seed,
        validation_subjects=run.split.valid,
        on_epoch=on_epoch,
    )
    model.fit(to_fit(run.split, trials))
    at = {point: model.at(point) for point in model.weights_}
    scores = {point: parts.scored(partial(evaluate, there)) for point, there in at.items()}
    files = {name: content for k in keepers for name, content in k(at, parts.test).items()}
    return scores, model.history_, files


def of_yardstick(run: Run, parts: Parts) -> dict[str, Scores]:
    """What a classical method shows that is fitted on the training subjects."""
    names = parts.train.info.class_names
    model = lookup("method", run.method, METHODS)(len(names), **run.options)
    model.fit(parts.train.x, parts.train.y)
    return {"final": parts.scored(lambda part: evaluation(part, model.predict(part.x), None))}


def peak_memory() -> int:
    """The most bytes that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # the system's own count begins with what the parent held
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return 1024 * int(found[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@cache
def versions() -> dict[str, str]:
    """Those of what a result may depend on."""
    return {part: version(part) for part in PARTS}


def evaluate(model: CensoredClassifier, trials: Trials) -> Evaluation:
    """Score a fitted model on all of `trials`."""
    features, logits = infer(model.model_, trials.signals)
    enough = np.unique(trials.subject, return_counts=True)[1].min() >= PROBE_FOLDS
    named = probe(features, trials.subject) if enough and len(trials.subjects) > 1 else None
    codes = {name: k for k, name in enumerate(trials.info.class_names)}
    predicted = np.array([codes[name] for name in model.classes_])[logits.argmax(axis=1)]
    return evaluation(trials, predicted, named)


def evaluation(trials: Trials, predicted: Ints, identity: Probe | None) -> Evaluation:
    """How well `predicted` are the labels of `trials`."""
    return Evaluation(
        balanced_accuracy=balanced_accuracy(trials.y, predicted),
        per_subject=per_subject(trials.y, predicted, trials.subject),
        identity=identity,
    )
