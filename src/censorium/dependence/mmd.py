"""Maximum mean discrepancy: how far, in a kernel's mean, each nuisance value is from all."""

import torch
from torch import Tensor

from censorium.dependence.base import CriticFree

WIDTHS = (1 / 16, 1 / 4, 1, 4)


class MMD(CriticFree):
    """The sum over s of p(s) MMD²(p(Z|s), p(Z)), unbiased, p(s) being the shares in the batch.

    The kernel is the mean of Gaussians whose squared bandwidths are `WIDTHS` times the batch's mean
    squared distance. That scale passes gradients on: features cannot lower the estimate by
    shrinking together, not even for the one step after which a detached scale would catch up. It is
    the mean, not the median, whose gradient would reach one pair of trials.
    """

    unit = "MMD squared"

    def distance(self, features: Tensor, nuisance: Tensor) -> Tensor:
        apart = squared_distances(features) / mean_squared_distance(features)
        kernel = torch.stack([torch.exp(-apart / (2 * width)) for width in WIDTHS]).mean(0)
        return (contrast(nuisance, kernel.dtype) * kernel).sum()


def contrast(nuisance: Tensor, dtype: torch.dtype) -> Tensor:
    """Weights (batch, batch) under which the sum of any kernel is that unbiased estimate.

    With k(s, t) the mean kernel between trials of s and of t, it is the sum of p(s) (1 - p(s))
    k(s, s) less that of p(s) p(t) k(s, t), s and t distinct; and pairs of different trials estimate
    each k without bias. Values that occur once have no such pair and are left out. The weights
    then sum to 0, and so does the expectation of any batch of independent trials.
    """
    same = nuisance[:, None] == nuisance
    count = same.sum(-1).to(dtype)
    kept = count > 1
    n = kept.sum().clamp(min=1).to(dtype)
    within = (1 - count / n) / (n * (count - 1).clamp(min=1))
    weights = torch.where(same, within[:, None], -1 / n**2)
    return (weights * (kept[:, None] & kept)).fill_diagonal_(0)


def squared_distances(x: Tensor) -> Tensor:
    """Squared distances between all trials, (batch, batch)."""
    # Where they lie does not matter, but round-off grows with it.
    x = x - x.mean(0).detach()
    squares = x.square().sum(-1)
    return (squares[:, None] + squares - 2 * x @ x.T).clamp(min=0)


def mean_squared_distance(x: Tensor) -> Tensor:
    """The mean of `squared_distances` over pairs; of equal trials, round-off's and never 0."""
    kind = torch.finfo(x.dtype)
    floor = (kind.eps**2 * x.detach().square().sum(-1).mean()).clamp(min=kind.tiny / kind.eps)
    return torch.maximum(2 * (x - x.mean(0)).square().sum() / max(len(x) - 1, 1), floor)
