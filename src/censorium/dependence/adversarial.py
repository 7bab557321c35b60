"""The adversarial classifier (Algorithm 1): how well can a classifier name the nuisance?"""

from torch import Tensor
from torch.nn.functional import cross_entropy

from censorium.dependence.base import Dependence
from censorium.nets import mlp


class Adversarial(Dependence):
    """Minus the cross-entropy of q(S|Z): with H(S) added, a lower bound on I(Z;S)."""

    unit = "nats - H(S)"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.critic = mlp(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        return -cross_entropy(self.critic(features), nuisance)

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        return cross_entropy(self.critic(features), nuisance)
