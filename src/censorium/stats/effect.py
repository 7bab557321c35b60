"""How large is the difference? Its mean, its size in deviations, and intervals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student_t

from censorium.stats.paired import Reals, differences, mean_of, share

LEVEL = 0.95
N_RESAMPLES = 2000
FEW = 8  # units: of fewer, draws of hardly any spread make the interval endless


class Interval(NamedTuple):
    """Means and the ends of their 95 % intervals, one of each for every column."""

    mean: Reals
    low: Reals
    high: Reals


def bootstrap(d: ArrayLike, *, ratio: float = 0.0, seed: int = 0) -> Interval:
    """The mean of each column of differences (units, columns), by bootstrap of whole units.

    Studentised: of a dozen units the percentiles of resampled means are too close together. Of
    fewer than eight, too few to draw from, it is Student's interval. `ratio`, test over training
    people, widens it as Nadeau and Bengio's test.
    """
    d = differences(d)
    drawn = _draws(len(d), seed=seed)
    there = np.isfinite(d).astype(float)
    known = np.where(there > 0, d, 0.0)
    n, mean = there.sum(axis=0), mean_of(d, 0)
    centred = np.where(there > 0, known - mean, 0.0)
    centred[np.abs(centred) < 1e-12 * np.abs(mean)] = 0.0  # equal but for round-off
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = drawn @ there
        means = drawn @ centred / counts
        spread = drawn @ centred**2 / counts - means**2
        spread[spread < 1e-12 * (centred**2).max(axis=0, initial=0.0)] = 0.0
        t = np.where((means == 0) | (n < 2), 0.0, means / np.sqrt(spread / (counts - 1)))
        deviation = np.sqrt((centred**2).sum(axis=0) / (n - 1) * share(n, ratio))
    margins = np.nanquantile(t, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0, method="nearest")
    student = student_t.ppf((1 + LEVEL) / 2, np.maximum(n - 1, 1))
    margins = np.where(n < FEW, [-student, student], margins)
    same = deviation == 0
    low, high = (np.where(same, 0.0, -m * np.where(same, 1, deviation)) for m in margins[::-1])
    few = n < 2
    return Interval(*(np.where(few, np.nan, v) for v in (mean, mean + low, mean + high)))


def _draws(n: int, *, seed: int) -> Reals:
    """How often each of `n` units is drawn, (resamples, n)."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES).astype(float)


def standardised(d: ArrayLike) -> Reals:
    """The mean of each column in standard deviations between people (people, columns).

    0.2 is called small, 0.5 middling, 0.8 large.
    """
    d = differences(d)
    n, mean = np.isfinite(d).sum(axis=0), mean_of(d, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(mean_of((d - mean) ** 2, 0) * n / (n - 1))
        return np.asarray(np.where((mean == 0) & (deviation == 0), 0.0, mean / deviation))
