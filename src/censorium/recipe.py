"""How to train, and what an epoch showed: plain values, written and compared as such."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from censorium.errors import OptionError, unknown

EVALUATION_POINTS = ("final", "best-validation", "averaged")


@dataclass(frozen=True)
class Strength:
    """The paper's lambda for each epoch, counted from 1: rising at first, 0 where excluded."""

    value: float
    warmup_epochs: int = 0
    excluded_epochs: tuple[int, ...] = ()

    def at(self, epoch: int) -> float:
        """The strength in that epoch."""
        if epoch in self.excluded_epochs:
            return 0.0
        return self.value * min(1.0, epoch / (self.warmup_epochs + 1))


@dataclass(frozen=True)
class Recipe:
    """How to train; `CensoredClassifier` says what each field means and holds the defaults."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    critic_learning_rate: float
    critic_steps: int
    strength: Strength
    averaging: float
    evaluation_points: tuple[str, ...]

    def __post_init__(self) -> None:
        _require("epochs", self.epochs, self.epochs >= 1, "1 or more")
        _require("batch_size", self.batch_size, self.batch_size >= 2, "2 or more")
        _require("critic_steps", self.critic_steps, self.critic_steps >= 1, "1 or more")
        _require("learning_rate", self.learning_rate, self.learning_rate > 0, "positive")
        _require("weight_decay", self.weight_decay, self.weight_decay >= 0, "0 or more")
        rate = self.critic_learning_rate
        _require("critic_learning_rate", rate, rate > 0, "positive")
        value, warmup = self.strength.value, self.strength.warmup_epochs
        _require("strength", value, 0 <= value < float("inf"), "0 or more, and finite")
        _require("warmup_epochs", warmup, warmup >= 0, "0 or more")
        _require("averaging", self.averaging, 0 <= self.averaging < 1, "at least 0 and below 1")
        for point in self.evaluation_points:
            if point not in EVALUATION_POINTS:
                raise OptionError(unknown("evaluation point", point, EVALUATION_POINTS))


@dataclass(frozen=True)
class EpochRecord:
    """What one epoch showed; losses and dependence are means over its steps.

    `train_balanced_accuracy` is of the predictions made while training (dropout on, weights
    moving); `valid_balanced_accuracy` is of the epoch's last weights on all trials of the
    validation subjects. `dependence` has one estimate for each of the mode's terms.
    """

    epoch: int
    strength: float
    task_loss: float
    critic_loss: float | None
    dependence: tuple[float, ...]
    train_balanced_accuracy: float
    valid_balanced_accuracy: float | None
    seconds: float = field(compare=False)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Self:
        """The record that ``dataclasses.asdict`` and JSON made plain."""
        return cls(**{**plain, "dependence": tuple(plain["dependence"])})


def _require(name: str, value: float, holds: bool, what: str) -> None:
    if not holds:
        raise OptionError(f"{name} must be {what}, got {value}.")
