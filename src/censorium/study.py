"""Studies: runs as values, and what comes out of one."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from censorium.arrays import require_finite
from censorium.auditing import PROBE_FOLDS, Probe, probe
from censorium.errors import DataError
from censorium.estimator import CensoredClassifier
from censorium.modelfile import plain
from censorium.nets import infer
from censorium.recipe import EpochRecord
from censorium.scores import balanced_accuracy, per_subject
from censorium.splits import SubjectSplit
from censorium.trials import Trials


@dataclass(frozen=True)
class Run:
    """One training: which model, on which subjects, from which seed."""

    model: str
    options: Mapping[str, Any]
    split: SubjectSplit
    seed: int

    @property
    def key(self) -> str:
        """A hash of options, split and seed: with the trials they decide the result."""
        content = {"options": dict(self.options), "split": asdict(self.split), "seed": self.seed}
        text = json.dumps(content, sort_keys=True, default=plain)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Evaluation:
    """How a trained model does on a set of people, and what its features tell of who they are.

    `identity` is None where a probe cannot be made: one person only, or too few trials.
    """

    balanced_accuracy: float
    per_subject: Mapping[Any, float]
    identity: Probe | None


@dataclass(frozen=True)
class Outcome:
    """What one run showed."""

    run: Run
    train: Evaluation
    valid: Evaluation | None
    test: Evaluation
    history: Sequence[EpochRecord]
    seconds: float

    @property
    def overfit_ratio(self) -> float:
        """Balanced accuracy on test over training subjects: 1 if nothing is lost."""
        return self.test.balanced_accuracy / self.train.balanced_accuracy


@dataclass(frozen=True)
class Study:
    """Models x splits x seeds; a model is the options of a `CensoredClassifier`.

    Examples
    --------
    >>> from censorium.study import Study
    >>> from censorium import subject_kfold
    >>> models = {"baseline": {"measure": None}, "censored": {"measure": "density-ratio"}}
    >>> len(Study(models, subject_kfold(range(6), 3), seeds=(0, 1)).runs())
    12
    """

    models: Mapping[str, Mapping[str, Any]]
    splits: Sequence[SubjectSplit]
    seeds: Sequence[int] = (0,)

    def runs(self) -> list[Run]:
        """Every run: all models of a split and seed beside each other."""
        return [
            Run(name, options, split, seed)
            for seed in self.seeds
            for split in self.splits
            for name, options in self.models.items()
        ]


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
        train=evaluate(model, parts.train),
        valid=evaluate(model, parts.valid) if len(parts.valid) else None,
        test=evaluate(model, parts.test),
        history=model.history_,
        seconds=time.perf_counter() - start,
    )


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
