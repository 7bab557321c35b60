"""Many strengths, one question: p-values that allow for their number."""

import numpy as np
from numpy.typing import ArrayLike

from censorium.stats.flips import corrected, flipped_t, nearly, too_few
from censorium.stats.paired import Reals, differences


def holm(p: ArrayLike) -> Reals:
    """Holm's correction of p-values, however they depend on one another; NaN stays and counts not.

    Examples
    --------
    >>> from censorium.stats import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p)  # NaN last
    n = np.isfinite(p).sum()
    times = np.maximum(n - np.arange(len(p)), 1)
    found = np.empty_like(p)
    found[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return found


def max_t(d: ArrayLike, *, ratio: float = 0.0, seed: int = 0) -> Reals:
    """The p of each column (units, columns), corrected for their number by the largest |t|.

    A flip turns a unit's differences at all strengths together, so that what strengths have in
    common is kept: strengths that always agree count as one. `ratio` is as in `flip_test`.
    """
    d = differences(d)
    flipped = np.abs(flipped_t(d, seed=seed))
    seen = corrected(flipped[0], d, ratio)
    largest = np.sort(np.nanmax(flipped, axis=1, initial=0.0))
    below = np.searchsorted(largest, nearly(seen), side="left")
    return np.asarray(np.where(too_few(d), np.nan, 1 - below / len(largest)))
