"""CORAL against its definition as a sum over four trials, and against known covariances."""

from itertools import permutations

import numpy as np
import pytest
import torch

from censorium.dependence.coral import Coral, covariances

# Two values with trials enough for a covariance, one without.
S = torch.tensor([0] * 6 + [1] * 5 + [2] * 3)


def squared_covariance(x):
    """|C|² as a mean over four distinct trials: two differences, each of covariance 2 C."""
    quadruples = permutations(range(len(x)), 4)
    return np.mean([((x[i] - x[j]) @ (x[k] - x[m])) ** 2 / 4 for i, j, k, m in quadruples])


def test_covariances_are_compared_by_four_trials():
    """Squares of a covariance by U-statistic, products of two by the sample's; few are left out."""
    x = torch.randn(len(S), 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    parts = [x[value == S].numpy() for value in (0, 1)]
    p, q = 6 / 11, 5 / 11
    product = (np.cov(parts[0].T) * np.cov(parts[1].T)).sum()
    squares = [squared_covariance(part) for part in parts]
    expected = p * (1 - p) * squares[0] + q * (1 - q) * squares[1] - 2 * p * q * product
    assert covariances(x, S).item() == pytest.approx(expected, rel=1e-10)


def test_the_estimate_is_unbiased():
    """Its mean over batches is the mean squared difference of means and of covariances."""
    generator = torch.Generator().manual_seed(1)
    s = torch.tensor([0] * 8 + [1] * 5)
    share = np.array([8, 5]) / 13
    roots = torch.tensor([[[1.0, 0.0], [0.5, 1.0]], [[2.0, 0.0], [0.0, 0.5]]]).double()
    centres = torch.tensor([[0.0, 0.0], [1.0, -0.5]]).double()
    noise = torch.randn(6000, len(s), 2, generator=generator, dtype=torch.float64)
    batches = centres[s] + torch.einsum("sij,bsj->bsi", roots[s], noise)
    found = torch.stack([Coral(2, 2).distance(z, s) for z in batches])

    c = (roots @ roots.transpose(1, 2)).numpy()
    means = share @ ((centres.numpy() - share @ centres.numpy()) ** 2).sum(1)
    pooled = np.tensordot(share, c, 1)
    truth = means / 2 + share @ ((c - pooled) ** 2).sum((1, 2)) / 4
    # Four standard errors of the mean of 6000 batches.
    error = 4 * found.std().item() / 6000**0.5
    assert found.mean().item() == pytest.approx(truth, abs=error)
    assert error < 0.2 * truth


def test_it_is_a_mean_over_entries():
    """Features twice over, side by side, give the same: width is of no account."""
    z = torch.randn(len(S), 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    once, twice = Coral(3, 3).distance(z, S), Coral(6, 3).distance(torch.cat([z, z], 1), S)
    torch.testing.assert_close(once, twice)
