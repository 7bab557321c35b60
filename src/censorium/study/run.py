"""Runs as values, and what comes out of one."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from censorium.auditing import Probe
from censorium.modelfile import plain
from censorium.recipe import EpochRecord
from censorium.splits import SubjectSplit

NETWORK = "network"


@dataclass(frozen=True)
class Run:
    """One training: which model, on which subjects, from which seed.

    `model` is what the study calls it. `method` is `NETWORK`, whose options are those of a
    `CensoredClassifier`, or the name of a classical yardstick.
    """

    model: str
    options: Mapping[str, Any]
    split: SubjectSplit
    seed: int
    method: str = NETWORK

    @property
    def key(self) -> str:
        """A hash of method, options, split and seed: with the trials they decide the result."""
        content = {"options": dict(self.options), "split": asdict(self.split), "seed": self.seed}
        if self.method != NETWORK:
            content["method"] = self.method
        text = json.dumps(content, sort_keys=True, default=plain)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Evaluation:
    """How a trained model does on a set of people, and what its features tell of who they are.

    `identity` is None where a probe cannot be made: one person only, too few trials, or a method
    without features.
    """

    balanced_accuracy: float
    per_subject: Mapping[Any, float]
    identity: Probe | None


@dataclass(frozen=True)
class Scores:
    """How a trained model does on the people who train, validate and test it."""

    train: Evaluation
    valid: Evaluation | None
    test: Evaluation

    @property
    def overfit_ratio(self) -> float:
        """Balanced accuracy on test over training subjects: 1 if nothing is lost."""
        return self.test.balanced_accuracy / self.train.balanced_accuracy


@dataclass(frozen=True)
class Outcome:
    """What one run showed: scores by evaluation point, the run's first one first.

    `peak_memory` is in bytes, of the process that ran it; `versions` are those of what it ran on.
    `files` are what was asked to be kept besides, by name.
    """

    run: Run
    scores: Mapping[str, Scores]
    history: Sequence[EpochRecord]
    seconds: float = field(compare=False)
    peak_memory: int = field(default=0, compare=False)
    versions: Mapping[str, str] = field(default_factory=dict, compare=False)
    files: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def first(self) -> Scores:
        """The scores at the first evaluation point."""
        return next(iter(self.scores.values()))

    @property
    def train(self) -> Evaluation:
        """That on training subjects, at the first evaluation point."""
        return self.first.train

    @property
    def valid(self) -> Evaluation | None:
        """That on validation subjects, at the first evaluation point."""
        return self.first.valid

    @property
    def test(self) -> Evaluation:
        """That on test subjects, at the first evaluation point."""
        return self.first.test

    @property
    def overfit_ratio(self) -> float:
        """That at the first evaluation point."""
        return self.first.overfit_ratio


@dataclass(frozen=True)
class Failure:
    """A run that ended in an error, and its traceback."""

    run: Run
    traceback: str
    seconds: float = field(compare=False)
