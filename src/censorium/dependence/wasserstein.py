"""The Wasserstein critic (Algorithm 4): W1 between p(Z,S) and p(Z)p(S) by its dual."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from censorium.dependence.base import Dependence, Pairs
from censorium.nets import HIDDEN, mlp


class MaxMin(nn.Module):
    """Sorts the two halves against each other: 1-Lipschitz, and no gradient is lost."""

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=-1)
        return torch.cat([torch.maximum(a, b), torch.minimum(a, b)], dim=-1)


def lipschitz_mlp(n_in: int, n_out: int, *, hidden: Sequence[int] = HIDDEN) -> nn.Module:
    """Linear layers under spectral norm with nothing else that stretches: 1-Lipschitz."""
    sizes = [n_in, *hidden]
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [spectral_norm(rotation(a, b)), MaxMin()]
    return nn.Sequential(*layers, spectral_norm(rotation(sizes[-1], n_out)))


def rotation(n_in: int, n_out: int) -> nn.Linear:
    """A linear layer that begins by shortening nothing.

    Spectral norm bounds the largest singular value only. From the usual random start the others
    are far below it, and what a few such layers let through falls short of the distance.
    """
    layer = nn.Linear(n_in, n_out)
    nn.init.orthogonal_(layer.weight)
    return layer


def spectral_mlp(n_in: int, n_out: int) -> nn.Module:
    """The common MLP with spectral norm on every linear layer, as published."""
    net = mlp(n_in, n_out)
    for module in net.modules():
        if isinstance(module, nn.Linear):
            spectral_norm(module)
    return net


class Wasserstein(Dependence):
    """W1 between joint and product pairs, features beside the one-hot nuisance value."""

    unit = "distance"

    def __init__(
        self, n_features: int, n_nuisance: int, net: Callable[[int, int], nn.Module] = lipschitz_mlp
    ) -> None:
        super().__init__()
        self.critic = Pairs(n_features, n_nuisance, net)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        joint, product = self.critic(features, nuisance, given)
        return joint.mean() - product.mean()  # type: ignore[no-any-return]

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return -self.estimate(features, nuisance, given)


wasserstein_published = partial(Wasserstein, net=spectral_mlp)
