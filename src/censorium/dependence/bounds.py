"""Lower bounds on I(Z;S) that are no f-divergence's; for NWJ see there. A critic raises each."""

from math import log

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from censorium.dependence.base import Dependence, Pairs
from censorium.nets import mlp


class DonskerVaradhan(Dependence):
    """E_joint T - log E_product exp T: above NWJ's for equal T, and a little high in a batch."""

    unit = "nats"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.critic = Pairs(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        joint, product = self.critic(features, nuisance, given)
        return joint.mean() - product.logsumexp(0) + log(len(product))  # type: ignore[no-any-return]

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return -self.estimate(features, nuisance, given)


class InfoNCE(Dependence):
    """E log [exp T(z,s) / mean of exp T(z,s') over the batch's s']: at most log(batch), and H(S).

    With `given`, over the s' of trials that share its value. The critic scores each z with all
    nuisance values at once, and the mean weighs them by how often they occur.
    """

    unit = "nats"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.n_nuisance = n_nuisance
        self.critic = mlp(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        scores = self.critic(features)
        s = one_hot(nuisance, self.n_nuisance).to(scores.dtype)
        given = torch.zeros_like(nuisance) if given is None else given
        alike = (given[:, None] == given).to(scores.dtype)
        share = alike @ s / alike.sum(-1, keepdim=True)
        joint = scores.gather(1, nuisance[:, None])[:, 0]
        return (joint - (scores + share.log()).logsumexp(-1)).mean()  # type: ignore[no-any-return]

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return -self.estimate(features, nuisance, given)
