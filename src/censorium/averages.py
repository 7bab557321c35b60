"""The average of each class for each subject, and what differs between the classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks
from scipy.stats import t

from censorium.arrays import Ints, chunks
from censorium.errors import DataError
from censorium.overview import VOLT, Told, deviations
from censorium.trials import Info, Trials

ALIKE = 0.9  # a correlation: channels with courses so alike show one thing twice
APART = 0.05  # s between two peaks
TALL = 0.25  # of the highest: lower peaks are noise or its shoulders

Reals = NDArray[np.float64]


class Band(NamedTuple):
    """A mean over subjects and its 95 % interval, which is NaN for fewer than two of them."""

    mean: Reals
    low: Reals
    high: Reals


@dataclass(frozen=True, eq=False)
class Averages:
    """Class averages, (subjects, classes, channels, times), NaN where a subject lacks a class.

    `counts`, (subjects, classes), says of how many trials each is; `volt`, whether the signals can
    be in volt. Classes that nobody shows are left out.
    """

    means: Reals
    counts: Ints
    volt: bool
    subjects: tuple[object, ...]
    class_names: tuple[str, ...]
    info: Info

    @classmethod
    def of(cls, trials: Trials, *, on_subject: Told | None = None) -> Self:
        """The averages of `trials`, whose signals are read once, in pieces."""
        if not len(trials):
            raise DataError("There are no trials to average.")
        shown = np.unique(trials.y)
        shape = (len(trials.subjects), len(shown), *trials.signals.shape[1:])
        means, counts = np.empty(shape), np.zeros(shape[:2], dtype=np.int64)
        for i, subject in enumerate(trials.subjects):
            mine = trials.of(subject)
            counts[i] = [(mine.y == label).sum() for label in shown]
            means[i] = _means(mine, shown, subject)
            if on_subject is not None:
                on_subject(i + 1, len(trials.subjects))
        some = deviations(np.asarray(trials[: 4 * len(shown)].signals[:]))
        names = tuple(trials.info.class_names[k] for k in shown)
        volt = VOLT[0] <= float(np.median(some)) <= VOLT[1]
        return cls(means, counts, volt, tuple(trials.subjects), names, trials.info)

    @property
    def milliseconds(self) -> Reals:
        """When each sample was taken."""
        seconds = self.info.tmin + np.arange(self.means.shape[3]) / self.info.sfreq
        return 1e3 * np.asarray(seconds)

    @property
    def compared(self) -> bool:
        """Whether there are several classes, and somebody who shows them all."""
        return len(self.class_names) > 1 and bool((self.counts > 0).all(axis=1).any())

    @property
    def contrasts(self) -> dict[str, Reals]:
        """What differs between the classes: by name, each (subjects, channels, times).

        Of two classes the second less the first; of more, each less the mean of all. NaN for
        subjects who lack a class. Where classes cannot be compared, their averages themselves.
        """
        names = self.class_names
        if not self.compared:
            return {name: self.means[:, k] for k, name in enumerate(names)}
        if len(names) == 2:
            return {f"{names[1]} less {names[0]}": self.means[:, 1] - self.means[:, 0]}
        middle = self.means.mean(axis=1)
        return {f"{n} less mean": self.means[:, k] - middle for k, n in enumerate(names)}

    @property
    def strength(self) -> Reals:
        """How large the contrasts' means over subjects are together, (channels, times)."""
        together = np.array([over_subjects(c).mean for c in self.contrasts.values()])
        return np.asarray(np.sqrt((together**2).mean(axis=0)))


def _means(mine: Trials, shown: Ints, subject: object) -> Reals:
    """The averages of one subject's trials of each class, or a `DataError` if one is broken."""
    sums = np.zeros((len(shown), *mine.signals.shape[1:]))
    done = 0
    for piece in chunks(mine.signals):
        labels = mine.y[done : done + len(piece)]
        done += len(piece)
        for k, label in enumerate(shown):
            sums[k] += np.asarray(piece)[labels == label].sum(axis=0, dtype=np.float64)
    if not np.isfinite(sums).all():
        raise DataError(
            f"Subject {subject!r} has NaN or infinite values, of which there is no average; "
            "`censorium data check` says where."
        )
    counts = np.array([(mine.y == label).sum() for label in shown])
    return sums / np.where(counts > 0, counts, np.nan)[:, None, None]


def over_subjects(values: Reals) -> Band:
    """The mean over subjects, the first axis, with Student's interval; NaN is left out."""
    n = (~np.isnan(values)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=0) / n
        variance = np.nansum((values - mean) ** 2, axis=0) / (n - 1)
        margin = t.ppf(0.975, n - 1) * np.sqrt(variance / n)
    return Band(mean, mean - margin, mean + margin)


def telling_channels(averages: Averages, n: int = 3) -> list[str]:
    """The channels whose classes differ most, each otherwise than those before it.

    A channel whose course is like that of one already chosen is passed over.
    """
    courses = [over_subjects(contrast).mean for contrast in averages.contrasts.values()]
    with np.errstate(invalid="ignore"):  # of channels that stand still
        like = np.abs(np.corrcoef(np.concatenate(courses, axis=1))).reshape(2 * [len(courses[0])])
    chosen: list[int] = []
    for channel in np.argsort(-averages.strength.max(axis=1), kind="stable").tolist():
        if len(chosen) < n and not any(like[channel, c] > ALIKE for c in chosen):
            chosen.append(channel)
    return [averages.info.ch_names[c] for c in chosen]


def peaks(averages: Averages, n: int = 3) -> list[int]:
    """The samples at which the classes differ most over all channels, in order of time."""
    course = np.sqrt((averages.strength**2).mean(axis=0))
    distance = max(round(APART * averages.info.sfreq), 1)
    padded = np.concatenate([[0.0], course, [0.0]])  # so that the ends may be peaks
    found = find_peaks(padded, height=TALL * course.max(), distance=distance)[0] - 1
    highest: Sequence[int] = sorted(found.tolist(), key=lambda i: -float(course[i]))[:n]
    return sorted(highest)
