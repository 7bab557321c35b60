"""The adversary by gradient reversal: task model and critic move at the same moment."""

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from censorium.dependence.base import Dependence
from censorium.nets import mlp


class GradientReversal(Dependence):
    """Minus the cross-entropy of q(S|Z) as it was before the critic's step.

    Reversal trains both by one backward pass, in which the task model meets the critic that has
    not moved yet; here the critic moves first, so its loss keeps the weights as it found them. They
    are no part of the state: training goes on from a loss, which keeps them anew. In evaluation
    nothing moves, and the weights are those there are.
    """

    unit = "nats - H(S)"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.critic = mlp(n_features, n_nuisance)
        self.before: dict[str, Tensor] = {}
        self.register_load_state_dict_post_hook(forget)  # type: ignore[no-untyped-call]

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        before = self.before if self.training else {}
        now = self.critic.state_dict()
        # `to`: the measure may have been moved or made double since.
        weights = {name: before.get(name, t).to(t) for name, t in now.items()}
        return -cross_entropy(functional_call(self.critic, weights, features), nuisance)

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        self.before = {name: t.clone() for name, t in self.critic.state_dict().items()}
        return cross_entropy(self.critic(features), nuisance)


def forget(measure: torch.nn.Module, _: object) -> None:
    """Loaded weights are the ones to use: what was kept of others is out of date."""
    measure.before = {}  # type: ignore[assignment]
