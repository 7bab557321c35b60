"""One run: trained, and scored on people it has not seen."""

import resource
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import NamedTuple, Self

import numpy as np

from censorium.arrays import require_finite
from censorium.auditing import PROBE_FOLDS, probe
from censorium.errors import DataError
from censorium.estimator import CensoredClassifier
from censorium.nets import infer
from censorium.recipe import EpochRecord
from censorium.scores import balanced_accuracy, per_subject
from censorium.splits import SubjectSplit
from censorium.study.run import Evaluation, Outcome, Run, Scores
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


def to_fit(split: SubjectSplit, trials: Trials) -> Trials:
    """What training is given: the trials of who trains and of who validates."""
    return trials.of([*split.train, *split.valid])


def execute(
    run: Run, trials: Trials, *, on_epoch: Callable[[EpochRecord], None] | None = None
) -> Outcome:
    """Train and score one run; of the test subjects' trials training sees nothing."""
    start = time.perf_counter()
    parts = Parts.of(run.split, trials)
    model = CensoredClassifier(
        **run.options,
        random_state=run.seed,
        validation_subjects=run.split.valid,
        on_epoch=on_epoch,
    )
    model.fit(to_fit(run.split, trials))
    return Outcome(
        run=run,
        scores={point: scores(model.at(point), parts) for point in model.weights_},
        history=model.history_,
        seconds=time.perf_counter() - start,
        peak_memory=peak_memory(),
        versions=versions(),
    )


def scores(model: CensoredClassifier, parts: Parts) -> Scores:
    """The scores of a fitted model on all parts that there are."""
    valid = evaluate(model, parts.valid) if len(parts.valid) else None
    return Scores(evaluate(model, parts.train), valid, evaluate(model, parts.test))


def peak_memory() -> int:
    """The most bytes that this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@cache
def versions() -> dict[str, str]:
    """Those of what a result may depend on."""
    return {part: version(part) for part in PARTS}


def evaluate(model: CensoredClassifier, trials: Trials) -> Evaluation:
    """Score a fitted model on all of `trials`."""
    features, logits = infer(model.model_, trials.signals)
    y = np.array(trials.info.class_names)[trials.y]
    predicted = model.classes_[logits.argmax(axis=1)]
    enough = np.unique(trials.subject, return_counts=True)[1].min() >= PROBE_FOLDS
    return Evaluation(
        balanced_accuracy=balanced_accuracy(y, predicted),
        per_subject=per_subject(y, predicted, trials.subject),
        identity=probe(features, trials.subject) if enough and len(trials.subjects) > 1 else None,
    )
