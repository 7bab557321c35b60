"""The Sinkhorn divergence against plain Sinkhorn iterations, and against laws where it is known."""

import numpy as np
import pytest
import torch

from censorium.dependence import sinkhorn
from censorium.dependence.mmd import squared_distances
from censorium.dependence.sinkhorn import BLUR, Sinkhorn, divergence

S = torch.tensor([0] * 6 + [1] * 3 + [2] * 2)


def transport(cost, a, b):
    """The entropic cost of moving a to b, by Sinkhorn's scalings: cost + 1 x relative entropy."""
    kernel = np.exp(-cost)
    v = np.ones_like(b)
    for _ in range(500):
        u = 1 / (kernel @ (b * v))
        v = 1 / (kernel.T @ (a * u))
    plan = a[:, None] * u[:, None] * kernel * v * b
    np.testing.assert_allclose(plan.sum(1), a, rtol=1e-6)
    return a @ np.log(u) + b @ np.log(v)


@pytest.fixture
def converged(monkeypatch):
    monkeypatch.setattr(sinkhorn, "TOLERANCE", 1e-13)
    monkeypatch.setattr(sinkhorn, "MAX_ITERATIONS", 2000)


def some_cost(seed=0):
    z = torch.randn(len(S), 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return squared_distances(z).fill_diagonal_(torch.inf)


@pytest.mark.usefixtures("converged")
def test_it_is_what_sinkhorn_finds():
    """The value is that of plain scalings, value by value, no trial staying where it is."""
    cost = some_cost().numpy()
    expected = 0.0
    for value in range(3):
        own = value == S.numpy()
        share = own.mean()
        here = np.full(own.sum(), 1 / own.sum())
        everywhere = np.full(len(own), 1 / len(own))
        expected += share * transport(cost[own], here, everywhere)
        expected -= share * transport(cost[own][:, own], here, here) / 2
    assert divergence(some_cost(), S).item() == pytest.approx(expected, rel=1e-8)


def test_the_iterations_suffice():
    """Where they stop by themselves, the value is near that of very many."""
    for seed in range(3):
        found = divergence(some_cost(seed), S).item()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sinkhorn, "TOLERANCE", 0.0)
            patch.setattr(sinkhorn, "MAX_ITERATIONS", 1000)
            assert found == pytest.approx(divergence(some_cost(seed), S).item(), rel=1e-3)


@pytest.mark.usefixtures("converged")
def test_the_gradient_is_the_slope():
    """Along a direction of the costs the value climbs as its gradient says."""
    cost = some_cost().requires_grad_()
    direction = torch.randn(
        len(S), len(S), generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    divergence(cost, S).backward()
    ends = [divergence(cost.detach() + step * direction, S).item() for step in (1e-4, -1e-4)]
    slope = (cost.grad * direction).sum().item()
    # A central difference is wrong by the square of its step.
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-6)


def test_far_points_cost_what_wasserstein_does():
    """Two points, half the trials at each: half of each value's mass goes all the way, squared."""
    s = torch.arange(200) % 2
    z = 10.0 * s[:, None].double()
    torch.manual_seed(0)
    found = [Sinkhorn(1, 2).distance(z, s).item() for _ in range(20)]
    # What is subtracted: of a random 100 of these 2.8 on average, with a deviation of 2.1, are too
    # many at one of the points, as when drawing without return. Three standard errors.
    expected = 10.0**2 * (1 / 2 - 2.8 / 100)
    assert np.mean(found) == pytest.approx(expected, abs=3 * 2.1 / 20**0.5)


@pytest.mark.parametrize(("gap", "deviation"), [(1.5, 1.0), (0.0, 3.0), (1.0, 2.0)])
def test_it_is_the_divergence_of_the_laws(gap, deviation):
    """Two normals: the mean over batches is the divergence of the densities, on a fine grid."""
    grid = np.linspace(-14, 14, 281)
    laws = [np.exp(-((grid - c) ** 2) / (2 * d**2)) / d for c, d in ((-gap, 1.0), (gap, deviation))]
    laws = [law / law.sum() for law in laws]
    pooled = sum(laws) / 2
    blur = BLUR * 2 * (pooled @ grid**2 - (pooled @ grid) ** 2)
    cost = (grid[:, None] - grid) ** 2 / blur
    truth = 0.0
    for law in laws:
        truth += transport(cost, law, pooled) - transport(cost, law, law) / 2
    truth = blur * (truth / 2 - transport(cost, pooled, pooled) / 2)

    generator = torch.Generator().manual_seed(0)
    s = torch.arange(300) % 2
    scale = torch.tensor([1.0, deviation], dtype=torch.float64)[s]
    found = []
    torch.manual_seed(0)
    for _ in range(20):
        noise = torch.randn(300, generator=generator, dtype=torch.float64)
        z = (2 * gap * s - gap + scale * noise)[:, None]
        found.append(Sinkhorn(1, 2).distance(z, s).item())
    # Three standard errors, and one part in a hundred for what 150 trials of a value leave of bias.
    error = 3 * np.std(found) / 20**0.5 + 0.01 * truth
    assert np.mean(found) == pytest.approx(truth, abs=error)
    assert error < 0.15 * truth
