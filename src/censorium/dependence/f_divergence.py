"""f-divergences between p(Z,S) and p(Z)p(S) by their variational bound.

D_f(P, Q), which is E_Q f(dP/dQ), is the largest E_P T - E_Q f*(T). The critic gives any number v;
T = g(v) keeps to where the conjugate f* is finite.
"""

from collections.abc import Callable
from math import log
from typing import ClassVar, NamedTuple

from torch import Tensor, tanh
from torch.nn.functional import softplus

from censorium.dependence.base import Dependence, Pairs


class Conjugate(NamedTuple):
    """T = g(v), and f*(T) straight from v: neither overflows nor loses digits."""

    activation: Callable[[Tensor], Tensor]
    conjugate: Callable[[Tensor], Tensor]


def capped(v: Tensor) -> Tensor:
    """`v`, bent to stay below 10: log p(s|z)/p(s) does so too where p(s) is above 1 in 20,000."""
    return 10 - softplus(10 - v)


CONJUGATES = {
    # f(u) = (u log u - (u + 1) log((u + 1) / 2)) / 2, T = log(2 sigmoid(v)) / 2
    "jensen-shannon": Conjugate(
        lambda v: (log(2) - softplus(-v)) / 2, lambda v: (softplus(v) - log(2)) / 2
    ),
    # f(u) = (u - 1)²
    "chi-square": Conjugate(lambda v: v, lambda v: v + v.square() / 4),
    # f(u) = |u - 1| / 2
    "total-variation": Conjugate(lambda v: tanh(v) / 2, lambda v: tanh(v) / 2),
    # f(u) = u log u, T = 1 + v: any bound on v is allowed, and this one keeps exp from overflowing.
    "kullback-leibler": Conjugate(lambda v: 1 + capped(v), lambda v: capped(v).exp()),
}


class FDivergence(Dependence):
    """The bound by one row of `CONJUGATES`; its critic raises it."""

    row: ClassVar[str]

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.critic = Pairs(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        joint, product = self.critic(features, nuisance, given)
        activation, conjugate = CONJUGATES[self.row]
        return activation(joint).mean() - conjugate(product).mean()

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return -self.estimate(features, nuisance, given)


class JensenShannon(FDivergence):
    """From 0 to log 2: how far both are, on average, from their even mixture."""

    unit = "nats, at most log 2"
    row = "jensen-shannon"


class ChiSquare(FDivergence):
    """Pearson's, the variance of p(s|z)/p(s): from 0 to the number of nuisance values less 1."""

    unit = "chi-square"
    row = "chi-square"


class TotalVariation(FDivergence):
    """From 0 to 1: the most by which one event's probabilities differ."""

    unit = "total variation"
    row = "total-variation"


class NWJ(FDivergence):
    """I(Z;S), by the bound of Nguyen, Wainwright and Jordan: E_joint T - E_product exp(T - 1)."""

    unit = "nats"
    row = "kullback-leibler"
