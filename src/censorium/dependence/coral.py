"""Correlation alignment over many subjects: do features share one mean and one covariance?"""

from torch import Tensor

from censorium.dependence.base import CriticFree
from censorium.dependence.mmd import contrast


class Coral(CriticFree):
    """The sum over s of p(s) (|mean_s - mean|² / d + |C_s - C|² / d²) for d features, unbiased.

    C_s is the covariance given s and C the mean of them, p(s)-weighted; between is what the means
    add. So it is the mean squared difference of an entry. No square of a mean is known
    from fewer than two trials, none of a covariance from fewer than four: rarer values are
    left out of that part.
    """

    unit = "squared difference per entry"

    def distance(self, features: Tensor, nuisance: Tensor) -> Tensor:
        d = features.shape[-1]
        x = features - features.mean(0)
        means = (contrast(nuisance, x.dtype) * (x @ x.T)).sum()
        return means / d + covariances(x, nuisance) / d**2


def covariances(x: Tensor, nuisance: Tensor) -> Tensor:
    """The sum over s of p(s) |C_s - C|², of the values with four trials or more, unbiased."""
    same = nuisance[:, None] == nuisance
    kept = same.sum(-1) > 3
    x, same = x[kept], same[kept][:, kept].to(x.dtype)
    n = same.sum(-1)
    share = n / max(len(x), 1)
    x = x - same @ x / n[:, None]
    gram = same * (x @ x.T)
    own = gram.diagonal()
    # Each trial's part of its value's |C_s|², as the sample covariance has it ...
    rows = gram.square().sum(-1)
    biased = rows / (n - 1) ** 2
    # ... and by the U-statistic over four distinct trials.
    total = own * (same @ own)
    unbiased = rows - own.square() * n / (n - 2) + total / ((n - 1) * (n - 2))
    unbiased = unbiased / (n * (n - 3))
    # |C|² needs the mending of its terms |C_s|² only: two values' covariances are independent.
    pooled = x.T @ (x * (share / (n - 1))[:, None])
    mended = pooled.square().sum() + (share**2 * (unbiased - biased)).sum()
    return (share * unbiased).sum() - mended
