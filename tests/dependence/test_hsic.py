"""HSIC against its definition as a sum over four trials, and against clusters where it is known."""

from itertools import permutations

import numpy as np
import pytest
import torch

from censorium.dependence.hsic import HSIC, unbiased_hsic

N = 8
S = torch.tensor([0, 0, 1, 2, 2, 2, 1, 0])


def u_statistic(a, b):
    """The mean over all ordered sets of four trials of what they say of HSIC."""
    terms = [
        a[i, j] * b[i, j] + a[i, j] * b[q, r] - 2 * a[i, j] * b[i, q]
        for i, j, q, r in permutations(range(len(a)), 4)
    ]
    return np.mean(terms)


def test_the_estimate_is_the_u_statistic():
    """HSIC of a batch is the U-statistic of two kernels: one of features, one of equality."""
    z = torch.randn(N, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    apart = ((z[:, None] - z) ** 2).sum(-1).numpy()
    a = np.exp(-apart / (2 * apart.sum() / (N * (N - 1))))
    b = (S[:, None] == S).numpy().astype(float)
    assert HSIC(2, 3).distance(z, S).item() == pytest.approx(u_statistic(a, b), rel=1e-10)


def test_the_estimate_is_unbiased():
    """Two Gaussian clusters, with a bandwidth of 1: the mean over batches is HSIC by integrals."""
    generator = torch.Generator().manual_seed(1)
    n_batches, n, gap, share = 4000, 30, 2.0, 0.3
    s = (torch.rand(n_batches, n, generator=generator) < share).double()
    z = gap * s + torch.randn(n_batches, n, generator=generator, dtype=torch.float64)
    kernels = torch.exp(-((z[:, :, None] - z[:, None]) ** 2) / 2)
    equal = (s[:, :, None] == s[:, None]).double()
    found = torch.stack([unbiased_hsic(a, b) for a, b in zip(kernels, equal, strict=True)])
    # The kernel's mean within a cluster is 1/sqrt(3), between two exp(-gap²/6)/sqrt(3).
    apart = 2 * (1 - np.exp(-(gap**2) / 6)) / np.sqrt(3)  # MMD² of the clusters
    truth = 2 * (share * (1 - share)) ** 2 * apart  # p(s)² (1 - p(s))² MMD², of both
    # Four standard errors of the mean of 4000 batches.
    assert found.mean().item() == pytest.approx(truth, abs=4 * found.std().item() / 4000**0.5)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_trials_tell_nothing(n):
    """Below four trials the estimate is 0."""
    z = torch.randn(n, 2, generator=torch.Generator().manual_seed(2))
    assert HSIC(2, 3).distance(z, torch.arange(n)) == 0
