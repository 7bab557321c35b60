"""Sinkhorn divergence: what it costs to move each nuisance value's features to those of all."""

import math

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from censorium.dependence.base import CriticFree, shuffled
from censorium.dependence.mmd import mean_squared_distance, squared_distances

BLUR = 0.1
TOLERANCE = 1e-3
MAX_ITERATIONS = 100


class Sinkhorn(CriticFree):
    """The sum over s of p(s) S(p(Z|s), p(Z)), with S near the squared distance W2².

    S(P, Q) = OT(P, Q) - OT(P, P) / 2 - OT(Q, Q) / 2, with OT the least mean squared distance of a
    transport plus `BLUR` times the batch's mean squared distance times its relative entropy. No
    trial may stay where it is: no fresh trial would find itself there. Still, a few trials lie far
    from all by chance; so do as many drawn anyhow, whose divergence is subtracted: independence
    has expectation 0. Values that occur once are left out.
    """

    unit = "distance squared"

    def distance(self, features: Tensor, nuisance: Tensor) -> Tensor:
        kept = (nuisance[:, None] == nuisance).sum(-1) > 1
        features, nuisance = features[kept], nuisance[kept]
        if not len(features):
            return features.sum()
        blur = BLUR * mean_squared_distance(features)
        # Infinite where a trial meets itself.
        cost = (squared_distances(features) / blur).fill_diagonal_(torch.inf)
        return blur * (divergence(cost, nuisance) - divergence(cost, shuffled(nuisance)))


def divergence(cost: Tensor, nuisance: Tensor) -> Tensor:
    """The sum over s of p(s) S(p(Z|s), p(Z)) of these trials, but for OT(p(Z), p(Z)) / 2.

    `cost` and the result are in units of the blur. A gradient reaches `cost` by the envelope
    theorem: at their optimum the potentials may be held fixed.
    """
    s = torch.unique(nuisance, return_inverse=True)[1]
    member = one_hot(s).T.to(cost.dtype)
    size = member.sum(-1, keepdim=True)
    to_all = cost + math.log(len(cost))
    to_own = torch.where(s[:, None] == s, cost + size[s].log(), torch.inf)
    with torch.no_grad():
        f = own = torch.zeros_like(cost[0])
        for _ in range(MAX_ITERATIONS):
            before = torch.cat([f, own])
            g = -log_sums(f[:, None] - cost, s, member) + size.log()
            f, own = least(to_all - g[s]), (own + least(to_own - own)) / 2
            if (torch.cat([f, own]) - before).abs().mean() < TOLERANCE:
                break
    across = least(to_all - g[s]).mean() + g[s].mean()
    return across - (least(to_own - own).mean() + own.mean()) / 2


def least(x: Tensor) -> Tensor:
    """The least of each row, softly."""
    return -torch.logsumexp(-x, -1)


def log_sums(x: Tensor, s: Tensor, member: Tensor) -> Tensor:
    """For each value of `s`, the logarithm of the sum of exp over its rows."""
    top = torch.full_like(member, -torch.inf).scatter_reduce(0, s[:, None].expand_as(x), x, "amax")
    return torch.log(member @ torch.exp(x - top[s])) + top
