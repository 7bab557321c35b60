"""How to train, and what an epoch showed: plain values, written and compared as such."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from censorium.errors import OptionError, unknown

EVALUATION_POINTS = ("final", "best-validation", "averaged")


def points_of(wanted: str | Sequence[str]) -> tuple[str, ...]:
    """One evaluation point or several, each once."""
    points = (wanted,) if isinstance(wanted, str) else tuple(dict.fromkeys(wanted))
    if not points:
        raise OptionError(f"evaluation_point must name one of {', '.join(EVALUATION_POINTS)}.")
    return points


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
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        _require_whole("epochs", self.epochs, 1)
        _require_whole("batch_size", self.batch_size, 2)
        _require_whole("critic_steps", self.critic_steps, 1)
        _require_whole("warmup_epochs", self.strength.warmup_epochs, 0)
        for epoch in self.strength.excluded_epochs:
            _require_whole("an epoch in excluded_epochs", epoch, 1)
        _require_number("learning_rate", self.learning_rate, above=0)
        _require_number("critic_learning_rate", self.critic_learning_rate, above=0)
        _require_number("weight_decay", self.weight_decay)
        _require_number("strength", self.strength.value)
        _require_number("averaging", self.averaging, below=1)
        _require_number("label_smoothing", self.label_smoothing, below=1)
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


def _require_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} must be a whole number, {least} or more, got {value!r}.")


def _require_number(
    name: str, value: Any, *, above: float = -1, below: float = float("inf")
) -> None:
    bound = "above 0" if above == 0 else "0 or more"
    limit = f" and below {below:g}" if below < float("inf") else ", and finite"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not max(above, 0) <= value < below or value == above:
        raise OptionError(f"{name} must be {bound}{limit}, got {value!r}.")
