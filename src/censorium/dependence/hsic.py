"""The Hilbert-Schmidt independence criterion: do trials alike in features share their nuisance?"""

import torch
from torch import Tensor

from censorium.dependence.base import CriticFree
from censorium.dependence.mmd import mean_squared_distance, squared_distances


class HSIC(CriticFree):
    """HSIC(Z, S), unbiased, by a Gaussian kernel on features and equality on the nuisance.

    It is the sum over s of p(s)² MMD²(p(Z|s), p(Z)): with n equally frequent values, 1/n of the
    one-kernel MMD. The squared bandwidth is the mean squared distance between two trials, for
    the reasons that `MMD` gives.
    """

    unit = "HSIC"

    def distance(self, features: Tensor, nuisance: Tensor) -> Tensor:
        apart = squared_distances(features) / mean_squared_distance(features)
        equal = (nuisance[:, None] == nuisance).to(features.dtype)
        return unbiased_hsic(torch.exp(-apart / 2), equal)


def unbiased_hsic(a: Tensor, b: Tensor) -> Tensor:
    """HSIC from two kernel matrices as a U-statistic (Song et al., 2012); 0 below four trials."""
    n = len(a)
    if n < 4:
        return 0 * a.sum()
    others = 1 - torch.eye(n, dtype=a.dtype, device=a.device)
    a, b = a * others, b * others
    pairs = (a * b).sum()
    triples = (a.sum(0) * b.sum(0)).sum()
    quadruples = a.sum() * b.sum()
    return (pairs - 2 * triples / (n - 2) + quadruples / ((n - 1) * (n - 2))) / (n * (n - 3))
