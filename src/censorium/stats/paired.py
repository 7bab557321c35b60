"""Student's tests of paired differences: the paper's, and two that know of the overlap."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t

from censorium.errors import DataError, OptionError

Reals = NDArray[np.float64]

MARKS = ("\N{DOUBLE DAGGER}", "\N{DAGGER}", "*", "-")
LIMITS = (0.001, 0.01, 0.05)


class Verdict(NamedTuple):
    """A statistic and its two-sided p, one of each for every column."""

    statistic: Reals
    p: Reals


def differences(d: ArrayLike) -> Reals:
    """`d` as (units, columns), or a `DataError`; a lone column becomes the only one."""
    found = np.asarray(d, dtype=np.float64)
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2 or not len(found):
        raise DataError(f"Differences must be (units, columns), got shape {found.shape}.")
    return found


def paired_t(d: ArrayLike) -> Verdict:
    """The paired t-test, of each column of differences (units, columns).

    Over the repetitions of a study this is the paper's test. It takes them as independent, which
    ten seeds of a fold are not: see docs/statistics.md for how often it is wrong. A NaN is a
    difference that is not there; with fewer than two the result is NaN.

    Examples
    --------
    >>> from censorium.stats import paired_t
    >>> paired_t([0.02, 0.01, 0.03, 0.0]).p.round(3).tolist()
    [0.103]
    """
    return resampled_t(d, ratio=0.0)


def resampled_t(d: ArrayLike, *, ratio: float) -> Verdict:
    """The corrected resampled t-test of Nadeau and Bengio (2003), of each column.

    One row for each split, seeds averaged. The variance of the mean of n is (1/n + `ratio`) times
    that of one, where `ratio` is test over training people: what two splits have in common by
    training on the same people makes their mean less sure than n independent ones.
    """
    d = differences(d)
    n = np.isfinite(d).sum(axis=0)
    return _student(d, share(n, ratio), n - 1.0)


def overlap_t(d: ArrayLike, *, overlap: ArrayLike) -> Verdict:
    """A t-test that holds even where training people alone decide who profits, of each column.

    One row for each split, seeds averaged. `overlap` is (splits, splits): which share of their
    training people two splits have in common, taken as the correlation of their differences. The
    true one is at most that, so this test errs to the safe side; where splits share nearly all
    their training people, as in leave-one-out, it can hardly ever reject.
    """
    d, shared = differences(d), np.asarray(overlap, dtype=np.float64)
    if shared.shape != (len(d), len(d)):
        raise DataError(f"The overlap of {len(d)} splits is square, got shape {shared.shape}.")
    there = np.isfinite(d)
    factor, freedom = np.full(d.shape[1], np.nan), np.full(d.shape[1], np.nan)
    for pattern in np.unique(there, axis=1).T:
        same = (there == pattern[:, None]).all(axis=0)
        factor[same], freedom[same] = _of_overlap(shared[np.ix_(pattern, pattern)])
    return _student(d, factor, freedom)


def _of_overlap(c: Reals) -> tuple[float, float]:
    """Variance of a mean in variances seen between its units, which correlate as `c`; freedom."""
    n = len(c)
    centred = c - c.mean(axis=0)  # c, from the left, less the mean
    seen = float(np.trace(centred)) / (n - 1) if n > 1 else 0.0
    if seen <= 1e-12:  # all train on the same people: nothing tells how far they would differ
        return np.inf, 1.0
    # Satterthwaite's: of the quadratic form that the variance is.
    freedom = float(np.trace(centred)) ** 2 / float(np.trace(centred @ centred))
    return float(c.mean()) / seen, freedom


def mean_of(d: Reals, axis: int) -> Reals:
    """The mean of what is there, NaN where nothing is."""
    there = np.isfinite(d)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, d, 0.0).sum(axis=axis) / there.sum(axis=axis))


def share(n: Any, ratio: float) -> Reals:
    """The variance of a mean of `n` splits, in those of one."""
    if not 0 <= ratio < np.inf:
        raise OptionError(f"ratio is test over training people, 0 or more; got {ratio}.")
    return np.asarray(1 / np.maximum(n, 1) + ratio, dtype=np.float64)


def _student(d: Reals, factor: Reals, freedom: Reals) -> Verdict:
    """The t-test whose mean has `factor` times the variance of a unit."""
    there = np.isfinite(d)
    n = there.sum(axis=0)
    known = np.where(there, d, 0.0)
    mean = known.sum(axis=0) / np.maximum(n, 1)
    squares = (np.where(there, d - mean, 0.0) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = mean / np.sqrt(factor * squares / (n - 1))
    # All differences 0: nothing speaks against the null. Fewer than two: nothing is known.
    statistic = np.where((mean == 0) & (squares == 0), 0.0, statistic)
    statistic = np.where(n < 2, np.nan, statistic)
    return Verdict(statistic, np.asarray(2 * t.sf(np.abs(statistic), np.maximum(freedom, 1e-9))))


def marks(tested: Verdict) -> list[str]:
    """The paper's marks: -, *, dagger, double dagger for p above 0.05, 0.01, 0.001 and up to it.

    Only where the statistic is above 0; elsewhere "".
    """
    place = np.searchsorted(LIMITS, np.nan_to_num(tested.p, nan=1.0))
    return [MARKS[i] if up else "" for i, up in zip(place, tested.statistic > 0, strict=True)]
