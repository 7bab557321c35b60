"""What a dependence measure is, and what most of them are made of."""

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
    With `given` (batch,), whole numbers, it is the dependence that is left among trials that share
    one of these. What it draws, it draws from torch's current generator: `Censor` gives it a
    stream of its own.
    """

    unit: ClassVar[str]
    """What the estimate is counted in, as a label for a figure."""

    @abc.abstractmethod
    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        """The dependence of one batch: the task model acts on it."""

    @abc.abstractmethod
    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        """What the critic lowers in order to estimate well."""


Measure = Callable[[int, int], Dependence]
"""A class or function that makes a `Dependence` from (n_features, n_nuisance)."""


class CriticFree(Dependence):
    """A measure that is a plain function of the batch: it owns no parameters and trains nothing."""

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.n_nuisance = n_nuisance

    @abc.abstractmethod
    def distance(self, features: Tensor, nuisance: Tensor) -> Tensor:
        """The dependence of these trials; 0 where there is nothing to compare."""

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        if given is None:
            return self.distance(features, nuisance)
        parts = [given == value for value in torch.unique(given)]
        shares = [part.to(features.dtype).mean() for part in parts]
        found = [self.distance(features[part], nuisance[part]) for part in parts]
        return torch.stack([w * d for w, d in zip(shares, found, strict=True)]).sum()

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return features.new_zeros(())


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

    def forward(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Scores:
        s = torch.cat([nuisance, shuffled(nuisance, given)])
        s = one_hot(s, self.n_nuisance).to(features.dtype)
        pairs = torch.cat([features.repeat(2, 1), s], dim=-1)
        return Scores(*self.net(pairs).squeeze(-1).chunk(2))


def shuffled(nuisance: Tensor, given: Tensor | None = None) -> Tensor:
    """`nuisance` in random order: beside unmoved features, a sample of p(Z)p(S).

    With `given`, in random order among the trials that share its value: of p(Z|G)p(S|G)p(G).
    """
    order = torch.randperm(len(nuisance), device=nuisance.device)
    if given is None:
        return nuisance[order]
    # A stable sort of a random order is random within each group.
    mixed = order[given[order].argsort(stable=True)]
    moved = torch.empty_like(nuisance)
    moved[given.argsort(stable=True)] = nuisance[mixed]
    return moved
