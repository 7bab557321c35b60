"""What a set of trials holds: who, in which sessions, of which classes, on which channels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import Floats, chunks
from censorium.electrodes import head_places
from censorium.selection import on_disk
from censorium.trials import Trials

# Deviations of EEG in volt: 0.1 µV is an amplifier's noise, 1 mV more than any scalp gives.
VOLT = (1e-7, 1e-3)

Told = Callable[[int, int], None]
"""Called with the number of subjects done and of all, after each."""


@dataclass(frozen=True)
class Person:
    """One subject: how many trials in each session and of each class.

    `deviation` is the median channel's, in the unit of the signals; None where there is none.
    """

    subject: Any
    n_trials: int
    sessions: dict[Any, int]
    classes: dict[str, int]
    deviation: float | None

    @property
    def rarest_share(self) -> float:
        """The share of this subject's trials that are of the class they show least often."""
        return min(self.classes.values()) / self.n_trials


@dataclass(frozen=True)
class Overview:
    """What a researcher asks of a set of trials first.

    Examples
    --------
    >>> from censorium.datasets import load
    >>> from censorium.overview import Overview
    >>> found = Overview.of(load("simulated", n_subjects=2, n_sessions=1, n_trials=55))
    >>> found.classes, [p.n_trials for p in found.people], found.unplaced
    ({'non-target': 100, 'target': 10}, [55, 55], ())
    """

    n_trials: int
    n_sessions: int
    classes: dict[str, int]
    ch_names: tuple[str, ...]
    unplaced: tuple[str, ...]
    n_times: int
    sfreq: float
    tmin: float
    n_bytes: int
    on_disk: bool
    people: tuple[Person, ...]

    @classmethod
    def of(cls, trials: Trials, *, on_subject: Told | None = None) -> Self:
        """The overview of `trials`, whose signals are read once, in pieces."""
        people = []
        for subject in trials.subjects:
            people.append(_person(subject, trials.of(subject)))
            if on_subject is not None:
                on_subject(len(people), len(trials.subjects))
        names, shape = trials.info.ch_names, trials.signals.shape
        on_head = head_places(names)
        return cls(
            n_trials=len(trials),
            n_sessions=sum(len(p.sessions) for p in people),
            classes=_counted(trials),
            ch_names=names,
            unplaced=tuple(name for name in names if name not in on_head),
            n_times=shape[2],
            sfreq=trials.info.sfreq,
            tmin=trials.info.tmin,
            n_bytes=int(np.prod(shape, dtype=np.int64)) * 4,
            on_disk=on_disk(trials.signals),
            people=tuple(people),
        )

    @property
    def tmax(self) -> float:
        """The time of the last sample in s."""
        return self.tmin + (self.n_times - 1) / self.sfreq

    @property
    def deviation(self) -> float | None:
        """That of the median subject's median channel."""
        return _middle([p.deviation for p in self.people if p.deviation is not None])


def deviations(x: Floats) -> NDArray[np.float32]:
    """How far each channel strays from its own mean within each trial, (trials, channels).

    It is 0 for a channel that stands still, and NaN or infinite for one that holds such values.
    Offsets and drifts from trial to trial do not count. Of a single time, its size.
    """
    if x.shape[2] == 1:
        return np.abs(x[:, :, 0])
    with np.errstate(invalid="ignore", over="ignore"):
        moved = x - x[:, :, :1]  # so that standing still is 0 exactly
        square = np.einsum("nct,nct->nc", moved, moved) / x.shape[2]
        variance = square - moved.mean(axis=2) ** 2
        return np.asarray(np.sqrt(np.maximum(variance, 0, where=~np.isnan(variance), out=variance)))


def medians(values: NDArray[Any], counts: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The median of each column's values that count; NaN where none does."""
    found = np.full(values.shape[1], np.nan)
    some = counts.any(axis=0)
    kept = np.where(counts, values, np.nan)
    found[some] = np.nanmedian(kept[:, some], axis=0)
    return found


def _person(subject: Any, mine: Trials) -> Person:
    """What one subject gave; trials with NaN or infinite values have no deviation."""
    sessions, counts = np.unique(mine.session, return_counts=True)
    each = np.concatenate([deviations(np.asarray(x)) for x in chunks(mine.signals)])
    of_channel = medians(each, np.isfinite(each))
    held = dict(zip(sessions.tolist(), counts.tolist(), strict=True))
    middle = _middle(of_channel[~np.isnan(of_channel)].tolist())
    return Person(subject, len(mine), held, _counted(mine), middle)


def _counted(trials: Trials) -> dict[str, int]:
    """How many trials there are of each class."""
    counts = np.bincount(trials.y, minlength=len(trials.info.class_names))
    return dict(zip(trials.info.class_names, counts.tolist(), strict=True))


def _middle(values: Sequence[float]) -> float | None:
    """The median; None where there are no values."""
    return float(np.median(values)) if len(values) else None
