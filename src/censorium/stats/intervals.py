"""How sure are we? Intervals for differences between models."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from censorium.errors import DataError


class Difference(NamedTuple):
    """A mean paired difference, its 95 % interval, and for how many it is above and below 0."""

    mean: float
    low: float
    high: float
    n_better: int
    n_worse: int

    @property
    def clear(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


def paired_difference(scores: ArrayLike, reference: ArrayLike) -> Difference:
    """How much `scores` exceed `reference`, unit by unit, with Student's interval of the mean.

    Give one number for each person: trials or folds of one person are not independent units. The
    interval is exact for normal differences; a percentile bootstrap of a dozen is too narrow.
    """
    d = np.asarray(scores, dtype=float) - np.asarray(reference, dtype=float)
    if d.ndim != 1 or len(d) < 2:
        raise DataError(f"A paired difference needs two people or more, got shape {d.shape}.")
    mean = float(d.mean())
    margin = float(t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d)))
    return Difference(mean, mean - margin, mean + margin, int((d > 0).sum()), int((d < 0).sum()))
