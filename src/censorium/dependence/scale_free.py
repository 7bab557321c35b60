"""Any measure of standardised features: to shrink is not to forget."""

from functools import partial

import torch
from torch import Tensor

from censorium.dependence.base import Dependence, Measure


class ScaleFree(Dependence):
    """Another measure, shown each feature less its mean over the batch in standard deviations.

    The gradient passes through both, so features cannot lower the estimate by growing smaller,
    nor one feature beside the others.
    """

    unit = "of standardised features"

    def __init__(self, n_features: int, n_nuisance: int, *, measure: Measure) -> None:
        super().__init__()
        self.measure = measure(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        return self.measure.estimate(standardised(features), nuisance, given)

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return self.measure.critic_loss(standardised(features), nuisance, given)


def standardised(x: Tensor) -> Tensor:
    """Features of mean 0 and variance 1; those that do not vary beyond round-off become 0."""
    kind = torch.finfo(x.dtype)
    variance, mean = torch.var_mean(x, dim=0, correction=0)
    flat = variance <= (100 * kind.eps * mean.detach()).square().clamp(min=kind.tiny)
    return (x - mean) * torch.where(flat, 0, torch.where(flat, 1, variance).rsqrt())


def scale_free(measure: Measure) -> Measure:
    """`measure` of standardised features."""
    return partial(ScaleFree, measure=measure)
