"""MMD against a transcription by loops, and against clusters whose discrepancy is known."""

import numpy as np
import pytest
import torch

from censorium.dependence.mmd import MMD, WIDTHS, contrast

# Three values that occur several times and one that occurs once.
S = torch.tensor([0] * 10 + [1] * 5 + [2] * 3 + [3])
CENTRES = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.5, 1.5], [5.0, 5.0]], dtype=torch.float64)
BANDWIDTH = 1.3


def kernel_between(a, b, bandwidth=BANDWIDTH):
    """The mean Gaussian kernel between unit normals at two places: a Gaussian integral."""
    width = bandwidth**2 + 2
    apart = ((a - b) ** 2).sum()
    return (bandwidth**2 / width) ** (len(a) / 2) * np.exp(-apart / (2 * width))


def squared_discrepancy(centres, share, k=kernel_between):
    """The sum over s of p(s) MMD²(p(Z|s), p(Z)), term by term as MMD is defined."""
    n = range(len(share))
    pooled = sum(share[i] * share[j] * k(centres[i], centres[j]) for i in n for j in n)
    to_pooled = [sum(share[j] * k(centres[i], centres[j]) for j in n) for i in n]
    return sum(share[i] * (k(centres[i], centres[i]) - 2 * to_pooled[i] + pooled) for i in n)


def test_the_estimate_is_unbiased():
    """Over batches of one composition, its mean is the discrepancy of values that recur."""
    generator = torch.Generator().manual_seed(0)
    weights = contrast(S, torch.float64)
    z = CENTRES[S] + torch.randn(4000, len(S), 2, generator=generator, dtype=torch.float64)
    kernels = torch.exp(-torch.cdist(z, z).square() / (2 * BANDWIDTH**2))
    found = (weights * kernels).sum((1, 2))
    truth = squared_discrepancy(CENTRES[:3].numpy(), np.array([10, 5, 3]) / 18)
    # Four standard errors of the mean of 4000 batches.
    assert found.mean().item() == pytest.approx(truth, abs=4 * found.std().item() / 4000**0.5)
    # The same with each trial beside itself, as is often seen, would fail: by ten times as much.
    assert 4 * found.std().item() / 4000**0.5 < 0.01


def test_the_weights_compare_within_and_between():
    """Every pair of trials weighs what its place in the two sums gives it."""
    s = S[:-1].numpy()
    share = np.bincount(s) / len(s)
    size = np.bincount(s)
    expected = np.zeros((len(s), len(s)))
    for i, a in enumerate(s):
        for j, b in enumerate(s):
            if a == b and i != j:
                expected[i, j] = share[a] * (1 - share[a]) / (size[a] * (size[a] - 1))
            elif a != b:
                expected[i, j] = -share[a] * share[b] / (size[a] * size[b])
    found = contrast(S, torch.float64).numpy()
    np.testing.assert_allclose(found[:-1, :-1], expected, rtol=1e-12)
    assert (found[-1] == 0).all()
    assert (found[:, -1] == 0).all()
    assert found.sum() == pytest.approx(0, abs=1e-12)


def test_the_kernel_is_a_mean_of_gaussians_as_wide_as_the_batch():
    """The measure, written out with the bandwidths that the batch's mean distance gives."""
    z = torch.randn(len(S), 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    apart = ((z[:, None] - z) ** 2).sum(-1).numpy()
    n = len(S)
    scale = apart.sum() / (n * (n - 1))
    kernel = sum(np.exp(-apart / (2 * w * scale)) for w in WIDTHS) / len(WIDTHS)
    expected = (contrast(S, torch.float64).numpy() * kernel).sum()
    assert MMD(3, 4).distance(z, S).item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_size_of_all_features_is_of_no_account(scale):
    """Features all larger or smaller give the same MMD, and no gradient to shrink or grow."""
    z = CENTRES[S] + torch.randn(
        len(S), 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )
    scaled = (scale * z).requires_grad_()
    found = MMD(2, 4).distance(scaled, S)
    found.backward()
    torch.testing.assert_close(found.detach(), MMD(2, 4).distance(z, S))
    outwards = (scaled.grad * scaled).sum().abs()
    assert outwards < 1e-10 * scaled.grad.norm() * scaled.detach().norm()
