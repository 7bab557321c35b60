"""The density ratio estimator (Algorithms 2 and 3): joint pairs against shuffled ones."""

from torch import Tensor
from torch.nn.functional import softplus

from censorium.dependence.base import Dependence, Pairs


class DensityRatio(Dependence):
    """I(Z;S) as the mean of J(z, s), where J learns log p(z,s) / p(z)p(s)."""

    unit = "nats"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.critic = Pairs(n_features, n_nuisance)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        return self.critic(features, nuisance, given).joint.mean()  # type: ignore[no-any-return]

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        joint, product = self.critic(features, nuisance, given)
        # -log sigmoid(u) = softplus(-u), which neither overflows nor loses digits.
        return softplus(-joint).mean() + softplus(product).mean()
