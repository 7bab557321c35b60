"""Joints whose dependence is known: the truths agree with closed forms and with samples."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import xlogy
from scipy.stats import norm, wasserstein_distance

from censorium.datasets.joints import (
    SHAPES,
    Joint,
    gaussian_clusters,
    independent,
    label_between,
    uniform_mixture,
)
from censorium.errors import OptionError

TABLE = np.array([[0.3, 0.1, 0.1], [0.05, 0.15, 0.3]])


@pytest.mark.parametrize("m", [2, 3, 8, 128])
def test_the_uniform_mixture_has_its_published_information(m: int) -> None:
    """Gao et al.: I = log m - (m - 1) / m log 2."""
    expected = np.log(m) - (m - 1) / m * np.log(2)
    assert uniform_mixture(m).mutual_information == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("m", [2, 8, 128])
def test_clusters_far_apart_tell_all_and_clusters_together_nothing(m: int) -> None:
    """At 20 deviations I is H(S) = log m; at none, and for `independent`, it is 0."""
    assert gaussian_clusters(m, 20.0).mutual_information == pytest.approx(np.log(m), rel=1e-12)
    assert gaussian_clusters(m, 20.0).entropy == pytest.approx(np.log(m), rel=1e-12)
    for joint in (gaussian_clusters(m, 0.0), independent(m, n_features=5)):
        assert joint.mutual_information == pytest.approx(0, abs=1e-12)


def test_weak_dependence_is_half_the_signal_to_noise_ratio() -> None:
    """Two unit normals at ±a: I = a²/2 - a⁴/4 + O(a⁶), from the Gaussian channel's expansion."""
    a = 0.1
    expected = a**2 / 2 - a**4 / 4
    assert gaussian_clusters(2, 2 * a).mutual_information == pytest.approx(expected, abs=a**6)


@pytest.mark.parametrize(
    "joint", [gaussian_clusters(4, 1.5), uniform_mixture(5), label_between(TABLE, shift=0.7)]
)
def test_information_is_the_mean_log_ratio_of_a_sample(joint: Joint) -> None:
    """The mean of log p(s|z) / p(s) over a million draws, within five standard errors."""
    drawn = joint.sample(1_000_000, seed=0)
    z = drawn.features[:, 0].astype(float)
    density = SHAPES[joint.shape].pdf(z - joint.centres[:, :, None])
    joined = np.einsum("ys,ysn->sn", joint.table, density)
    share = joint.table.sum(axis=0)
    there = np.arange(len(z))
    ratio = np.log(joined[drawn.nuisance, there] / joined.sum(axis=0) / share[drawn.nuisance])
    # Single precision moves a few trials of the uniform mixture over an edge.
    ratio = ratio[np.isfinite(ratio)]
    assert len(ratio) > len(z) - 20
    assert abs(ratio.mean() - joint.mutual_information) < 5 * ratio.std() / 1000


def test_given_the_label_is_the_mean_over_labels() -> None:
    """I(Z;S|Y) is the p(y)-weighted I of each label's own joint, and is not I(Z;S)."""
    joint = label_between(TABLE)
    of_label = [
        Joint("one label", row[None] / row.sum(), centres[None])
        for row, centres in zip(joint.table, joint.centres, strict=True)
    ]
    expected = TABLE.sum(axis=1) @ [one.mutual_information for one in of_label]
    assert joint.given_label == pytest.approx(expected, rel=1e-9)
    assert abs(joint.given_label - joint.mutual_information) > 0.1


def test_the_chain_rule() -> None:
    """I(Z,Y;S) = I(Z;S|Y) + I(Y;S), the last from the table alone."""
    joint = label_between(TABLE)
    y, s = TABLE.sum(axis=1), TABLE.sum(axis=0)
    of_label = xlogy(TABLE, TABLE).sum() - xlogy(y, y).sum() - xlogy(s, s).sum()
    assert joint.of_label == pytest.approx(of_label, rel=1e-12)
    assert joint.with_label == pytest.approx(joint.given_label + of_label, rel=1e-12)


def test_the_total_variation_of_two_clusters() -> None:
    """Clusters at ±a: the ratio differs from 1 by tanh(a z), so TV is (2 Phi(a) - 1) / 2."""
    found = gaussian_clusters(2, 2.0).divergence(lambda u: np.abs(u - 1) / 2)
    assert found == pytest.approx((2 * norm.cdf(1.0) - 1) / 2, abs=1e-4)


def test_the_wasserstein_distance_of_two_slabs_is_half_their_shift() -> None:
    """Two values whose features differ by a shift of d: half of each value's mass moves by d."""
    joint = uniform_mixture(2, scale=0.4)
    assert joint.wasserstein == pytest.approx(0.4 / 2, rel=1e-6)


@pytest.mark.parametrize(("m", "scale"), [(2, 0.47), (3, 0.35), (5, 0.23)])
def test_the_wasserstein_distance_is_that_of_the_best_transport(m: int, scale: float) -> None:
    """A linear programme over a grid finds the same cost, to half the grid's step."""
    joint = uniform_mixture(m, scale=scale)
    n = 4 * (m + 1)  # cells, so that each value's features fill eight of them
    at = scale * (np.arange(n) + 0.5) / 4
    own = np.array([[4 * s <= i < 4 * s + 8 for i in range(n)] for s in range(m)]) / (8.0 * m)
    pooled = np.tile(own.sum(axis=0) / m, (m, 1))
    place, value = np.tile(at, m), np.repeat(np.arange(m), n)
    cost = np.hypot(place[:, None] - place, np.sqrt(2) * (value[:, None] != value))
    sends, takes = own.ravel() > 0, pooled.ravel() > 0
    cost = cost[sends][:, takes]
    rows, columns = cost.shape
    marginals = np.concatenate(
        [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    )
    masses = np.concatenate([own.ravel()[sends], pooled.ravel()[takes]])
    best = linprog(cost.ravel(), A_eq=marginals, b_eq=masses).fun
    assert joint.wasserstein == pytest.approx(best, abs=scale / 8)
    assert joint.wasserstein == pytest.approx(best, rel=0.02)


def test_the_wasserstein_distance_agrees_with_samples() -> None:
    """The share-weighted distance of each value's features from the pooled ones, of a sample."""
    joint = uniform_mixture(4, scale=0.28)
    drawn = joint.sample(200_000, seed=1)
    z = drawn.features[:, 0]
    found = np.mean([wasserstein_distance(z[drawn.nuisance == s], z) for s in range(4)])
    assert found == pytest.approx(joint.wasserstein, rel=0.01)


def test_where_it_could_pay_to_change_the_value_the_distance_is_unknown() -> None:
    """Features wider apart than two nuisance values, or without bound: nothing is claimed."""
    assert uniform_mixture(4, scale=0.3).wasserstein is None
    assert gaussian_clusters(2, 0.1).wasserstein is None


@pytest.mark.parametrize("n_features", [1, 7, 128])
def test_a_sample_shows_the_nuisance_in_one_direction(n_features: int) -> None:
    """All features but one direction are unit noise; the table's shares are those of the sample."""
    drawn = gaussian_clusters(6, 3.0, n_features=n_features).sample(20_000, seed=2)
    assert drawn.features.shape == (20_000, n_features)
    assert drawn.features.dtype == np.float32
    assert np.bincount(drawn.nuisance) / 20_000 == pytest.approx(1 / 6, abs=0.015)
    variances = np.linalg.eigvalsh(np.atleast_2d(np.cov(drawn.features.T.astype(float))))
    assert variances[-1] == pytest.approx(1 + 9 * 35 / 12, rel=0.05)
    assert variances[:-1] == pytest.approx(1, abs=0.25)


def test_one_seed_gives_one_sample() -> None:
    """The same bits again; others from another seed."""
    a, b, c = (uniform_mixture(3, n_features=4).sample(50, seed=s) for s in (5, 5, 6))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert not np.array_equal(a.features, c.features)


def test_what_is_no_joint_is_refused() -> None:
    """Shares that do not sum to 1, or fewer than two nuisance values: an error that says so."""
    with pytest.raises(OptionError, match="shares that sum to 1"):
        label_between([[0.5, 0.6]])
    with pytest.raises(OptionError, match="Two nuisance values"):
        independent(1)
