"""Measures of standardised features: shrinking cannot pass for independence."""

import pickle

import pytest
import torch

from censorium.censor import Censor
from censorium.dependence import MEASURES, MMD, scale_free
from censorium.dependence.scale_free import standardised

NAMES = ["wasserstein", "mmd", "sinkhorn", "coral"]
N, N_FEATURES, N_NUISANCE = 120, 6, 3
G = torch.Generator().manual_seed(0)
S = torch.randint(N_NUISANCE, (N,), generator=G)
Y = torch.randint(2, (N,), generator=G)
Z = torch.randn(N, N_FEATURES, generator=G, dtype=torch.float64)
Z[:, :N_NUISANCE] += 3 * torch.eye(N_NUISANCE, dtype=torch.float64)[S]


def estimate(name, z, mode="marginal"):
    """By a critic trained on features of that size: its best answer to their shrinking."""
    censor = Censor(name, mode, n_features=N_FEATURES, n_classes=2, n_nuisance=N_NUISANCE).double()
    parameters = list(censor.parameters())
    if parameters:
        optimizer = torch.optim.Adam(parameters, lr=3e-3)
        for _ in range(30):
            optimizer.zero_grad()
            censor.critic_loss(z, Y, S).backward()
            optimizer.step()
    return censor.penalty(z, Y, S).item()


@pytest.mark.parametrize("factor", [1e-4, torch.logspace(-4, 4, N_FEATURES)], ids=["all", "each"])
@pytest.mark.parametrize("mode", ["marginal", "conditional"])
@pytest.mark.parametrize("name", NAMES)
def test_shrinking_is_of_no_account(name, mode, factor):
    """Features a ten-thousandth the size, or of any sizes, are as dependent, to round-off."""
    found = estimate(f"{name}-scale-free", factor * Z, mode)
    assert found == pytest.approx(estimate(f"{name}-scale-free", Z, mode), rel=1e-6)


@pytest.mark.parametrize("name", ["wasserstein", "sinkhorn", "coral"])
def test_the_plain_measure_shrinks(name):
    """The measures that have a scale-free form need it: to them shrunken features are free."""
    assert estimate(name, 1e-4 * Z) < 1e-3 * estimate(name, Z)


def test_mmd_needs_it_beside_labels():
    """MMD's own bandwidth follows all features at once, so small ones vanish beside the label."""
    assert estimate("mmd", 1e-4 * Z) == pytest.approx(estimate("mmd", Z), rel=1e-6)
    assert abs(estimate("mmd", 1e-4 * Z, "conditional")) < 0.1 * estimate("mmd", Z, "conditional")


@pytest.mark.parametrize("name", NAMES)
def test_no_gradient_shrinks(name):
    """To follow the estimate's gradient makes no feature smaller or larger, to first order."""
    measure = MEASURES[f"{name}-scale-free"](N_FEATURES, N_NUISANCE).double()
    z = Z.clone().requires_grad_()
    measure.estimate(z, S).backward()
    outwards = (z.grad * (Z - Z.mean(0))).sum(0).abs()
    assert (outwards < 1e-9 * z.grad.norm(dim=0) * Z.norm(dim=0)).all()


def test_standardised_is_mean_0_and_variance_1():
    """Each feature has mean 0 and variance 1 over the batch; one that does not vary is 0."""
    z = 5 + 1e-3 * Z
    z[:, 2], z[:, 4] = 0.1, 0.0
    found = standardised(z)
    varies = torch.tensor([True, True, False, True, False, True])
    torch.testing.assert_close(found.mean(0), torch.zeros(N_FEATURES).double(), rtol=0, atol=1e-9)
    torch.testing.assert_close(found.var(0, correction=0), varies.double(), rtol=1e-9, atol=0)


def test_round_off_is_no_feature():
    """What single precision makes of a constant is not blown up to the size of a feature."""
    z = torch.full((N, 1), 0.1) + 1e-8 * torch.randn(N, 1, generator=G)
    assert (standardised(z) == 0).all()


def test_it_is_the_measure_of_standardised_features():
    """The wrapped measure sees nothing but the standardised features."""
    found = scale_free(MMD)(N_FEATURES, N_NUISANCE).estimate(Z, S)
    torch.testing.assert_close(found, MMD(N_FEATURES, N_NUISANCE).estimate(standardised(Z), S))


def test_it_can_be_pickled():
    """A scale-free measure travels to another process and back."""
    again = pickle.loads(pickle.dumps(MEASURES["mmd-scale-free"]))  # noqa: S301
    measures = [m(N_FEATURES, N_NUISANCE) for m in (again, MEASURES["mmd-scale-free"])]
    assert measures[0].estimate(Z, S) == measures[1].estimate(Z, S)
