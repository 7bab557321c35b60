"""What a dependence measure is, and the critic that most of them use."""

import abc
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from censorium.nets import mlp


class Dependence(nn.Module, abc.ABC):
    """How strongly `features` (batch, n_features) depend on `nuisance` (batch,).

    A measure is made as ``measure(n_features, n_nuisance)`` and owns its critic, if it needs one.
    What it draws, it draws from torch's current generator: `Censor` gives it a stream of its own.
    """

    unit: ClassVar[str]
    """What the estimate is counted in, as a label for a figure."""

    @abc.abstractmethod
    def estimate(self, features: Tensor, nuisance: Tensor) -> Tensor:
        """The dependence of one batch: the task model acts on it."""

    @abc.abstractmethod
    def critic_loss(self, features: Tensor, nuisance: Tensor) -> Tensor:
        """What the critic lowers in order to estimate well."""


Measure = Callable[[int, int], Dependence]
"""A class or function that makes a `Dependence` from (n_features, n_nuisance)."""


class Scores(NamedTuple):
    """What a critic says of joint pairs, a sample of p(Z,S), and of product pairs, of p(Z)p(S)."""

    joint: Tensor
    product: Tensor


class Pairs(nn.Module):
    """The usual critic J(z, s): one number for each pair of features and nuisance value.

    Joint and shuffled pairs pass through the network as one batch. In two passes, batch norm would
    show each kind its own mean and deviation, and the critic would tell the kinds apart by those:
    its estimate would grow without bound above the dependence there is.
    """

    def __init__(
        self, n_features: int, n_nuisance: int, net: Callable[[int, int], nn.Module] = mlp
    ) -> None:
        super().__init__()
        self.n_nuisance = n_nuisance
        self.net = net(n_features + n_nuisance, 1)

    def forward(self, features: Tensor, nuisance: Tensor) -> Scores:
        s = torch.cat([nuisance, shuffled(nuisance)])
        s = one_hot(s, self.n_nuisance).to(features.dtype)
        pairs = torch.cat([features.repeat(2, 1), s], dim=-1)
        return Scores(*self.net(pairs).squeeze(-1).chunk(2))


def shuffled(nuisance: Tensor) -> Tensor:
    """`nuisance` in random order: beside unmoved features, a sample of p(Z)p(S)."""
    return nuisance[torch.randperm(len(nuisance), device=nuisance.device)]
