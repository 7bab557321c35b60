"""Fresh critics: trained to their end they find what is known to be there, on other trials."""

from functools import cache

import pytest
import torch

from censorium.datasets.joints import (
    gaussian_clusters,
    independent,
    label_between,
    uniform_mixture,
)
from censorium.dependence import MEASURES, MMD, Adversarial, DensityRatio, Wasserstein
from censorium.dependence.fitting import (
    Sample,
    calibrate,
    cross_fit,
    estimate,
    evaluate,
    folds,
    settle,
)
from censorium.errors import DataError

TWO = gaussian_clusters(2, 2.0)
DIFFER = label_between([[0.3, 0.1, 0.1], [0.05, 0.15, 0.3]])
SLAB = uniform_mixture(2, scale=0.4)


@cache
def drawn(joint, n=3000, seed=0, beside=False):
    """Features in standard deviations, beside the one-hot label if asked for; nuisance, label."""
    sample = joint.sample(n, seed=seed)
    z, s, y = (torch.from_numpy(part) for part in (sample[0], sample[2], sample[1]))
    z = z if joint is SLAB else (z - z.mean(0)) / z.std(0)
    return torch.cat([z, torch.eye(2)[y]], dim=1) if beside else z, s, y


@cache
def found(measure, joint, beside=False, given=False):
    z, s, y = drawn(joint, beside=beside)
    return estimate(MEASURES[measure], z, s, y if given else None, n_folds=2)


# 3,000 trials: the mean log ratio of a fresh sample has a standard error of 0.015 nats, and so has
# what the critic learnt from the half that it saw; three of both together, and what is lost by
# half of the trials to train on.
CLOSE = 0.07


@pytest.mark.parametrize("measure", ["density-ratio", "donsker-varadhan", "nwj", "info-nce"])
def test_an_estimate_in_nats_is_the_mutual_information(measure):
    """Two Gaussians, I = 0.337 nats."""
    assert found(measure, TWO).value == pytest.approx(TWO.mutual_information, abs=CLOSE)


@pytest.mark.parametrize("measure", ["adversarial", "gradient-reversal"])
def test_the_adversarys_estimate_and_the_entropy_are_the_mutual_information(measure):
    """With H(S) added."""
    value = found(measure, TWO).value + TWO.entropy
    assert value == pytest.approx(TWO.mutual_information, abs=CLOSE)


def test_independence_is_zero():
    """Nothing that a critic says stands unless other trials bear it out: under 0.02 nats."""
    for joint in (independent(2), independent(20, n_features=30)):
        assert abs(found("density-ratio", joint).value) < 0.02
        assert abs(found("adversarial", joint).value + joint.entropy) < 0.02


def test_given_the_label_the_density_ratio_is_the_conditional_information():
    """Shuffled within each label it finds I(Z;S|Y), which is far from I(Z,Y;S)."""
    value = found("density-ratio", DIFFER, given=True).value
    assert value == pytest.approx(DIFFER.given_label, abs=CLOSE)
    assert DIFFER.with_label - DIFFER.given_label > 2 * CLOSE


def test_beside_the_label_the_density_ratio_is_the_joint_information():
    """Shuffled over all it finds I(Z,Y;S), the chain rule's form of the conditional mode."""
    value = found("density-ratio", DIFFER, beside=True).value
    assert value == pytest.approx(DIFFER.with_label, abs=CLOSE)


def test_the_wasserstein_critic_is_below_the_distance_and_near_it():
    """What the tight critic says of other trials: at most W1, and within 15 % of it."""
    held_out = found("wasserstein", SLAB).held_out
    # Each half of the trials has a mean of its own: the distance of 1,500 varies by some 0.007.
    assert 0.85 * SLAB.wasserstein < held_out < SLAB.wasserstein + 0.02


def test_what_was_seen_is_better_known_than_what_was_not():
    """In many directions that tell nothing, critics fit noise: too much seen, too little not."""
    joint = gaussian_clusters(8, 1.0, n_features=30)
    z, s, _ = drawn(joint)
    two = estimate(Adversarial, z, s, n_folds=2)
    truth = joint.mutual_information - joint.entropy
    assert two.held_out < truth - 0.1
    assert two.seen > truth + 0.1
    assert two.value == pytest.approx((two.held_out + two.seen) / 2)


def test_a_measure_without_a_critic_is_what_it_is():
    """Nothing is trained: the mean over pieces of the trials."""
    z, s, _ = drawn(TWO)
    one = estimate(MMD, z[:900], s[:900])
    assert one.value == one.held_out == one.seen
    assert one.value == pytest.approx(MMD(1, 2).estimate(z[:900], s[:900]).item(), rel=1e-4)


def test_no_critic_has_seen_what_it_judges():
    """The folds hold each trial once, and what was seen shares none with them."""
    z, s, _ = drawn(TWO, n=200)
    fitted = list(cross_fit(DensityRatio, z, s, n_folds=4))
    assert torch.equal(torch.cat([f.rows for f in fitted]).sort().values, torch.arange(200))
    assert not any(set(f.rows.tolist()) & set(f.seen.tolist()) for f in fitted)
    assert not any(f.critic.training for f in fitted)


def test_other_labels_of_the_fold_change_nothing_in_its_critic():
    """The nuisance values of held-out trials have no part in training, stopping or calibration."""
    z, s, _ = drawn(TWO, n=200)
    first = next(cross_fit(MEASURES["wasserstein-scale-free"], z, s, n_folds=4))
    there = first.rows
    # Features, as a swap of nuisance values would move trials between folds.
    other = z.clone()
    other[there] += 100
    again = next(cross_fit(MEASURES["wasserstein-scale-free"], other, s, n_folds=4))
    assert torch.equal(again.rows, there)
    for a, b in zip(first.critic.parameters(), again.critic.parameters(), strict=True):
        assert torch.equal(a, b)


def test_folds_are_even_in_each_nuisance_value():
    """A value's trials are spread over the folds to within one."""
    s = torch.randint(5, (203,), generator=torch.Generator().manual_seed(0))
    fold = folds(s, 4, seed=1)
    for value in range(5):
        counts = torch.bincount(fold[s == value], minlength=4)
        assert counts.max() - counts.min() <= 1


def test_one_seed_gives_one_estimate_and_the_global_generator_is_left_alone():
    """The same number again, whatever torch's generator holds; and it holds that still."""
    z, s, _ = drawn(TWO, n=200)
    before = torch.get_rng_state()
    first = estimate(DensityRatio, z, s, n_folds=2, seed=3)
    assert torch.equal(before, torch.get_rng_state())
    with torch.random.fork_rng():
        torch.manual_seed(99)
        assert estimate(DensityRatio, z, s, n_folds=2, seed=3) == first
    assert estimate(DensityRatio, z, s, n_folds=2, seed=4) != first


def test_calibration_undoes_a_wrong_scale():
    """A trained critic whose output is doubled and shifted comes back to what it said."""
    z, s, _ = drawn(TWO)
    fitted = next(cross_fit(DensityRatio, z, s, n_folds=2))
    sample = Sample(z, s)
    right = evaluate(fitted.critic, sample.at(fitted.rows), 0)
    last = fitted.critic.critic.net[-1]
    with torch.no_grad():
        last.weight.mul_(2)
        last.bias.mul_(2).add_(1)
    assert evaluate(fitted.critic, sample.at(fitted.rows), 0) > right + 0.5
    calibrate(fitted.critic, sample.at(fitted.seen), 0)
    assert evaluate(fitted.critic, sample.at(fitted.rows), 0) == pytest.approx(right, abs=0.03)


def test_settled_layers_have_norm_one():
    """However far a Wasserstein critic's weights were moved, its norms catch up."""
    critic = Wasserstein(3, 2)
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)))
    settle(critic.eval(), 500)
    norms = [
        torch.linalg.matrix_norm(layer.weight.detach(), 2)
        for layer in critic.modules()
        if isinstance(layer, torch.nn.Linear)
    ]
    torch.testing.assert_close(torch.stack(norms), torch.ones(4), rtol=1e-3, atol=0)


def test_too_few_trials_are_refused():
    """Fewer than two for each fold: an error that says how many are needed."""
    with pytest.raises(DataError, match="4 folds need 8 trials or more, got 7"):
        next(cross_fit(DensityRatio, torch.zeros(7, 2), torch.arange(7) % 2, n_folds=4))


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["density-ratio", "adversarial"])
@pytest.mark.parametrize(
    "joint",
    [
        gaussian_clusters(2, 2.0),
        gaussian_clusters(8, 1.0, n_features=8),
        uniform_mixture(8),
        gaussian_clusters(56, 0.2, n_features=128),
        gaussian_clusters(128, 0.24, n_features=32),
    ],
    ids=lambda joint: joint.name,
)
def test_ten_thousand_trials_are_enough(measure, joint):
    """Within 0.05 nats of the truth or 5 % of it, up to 2 nats, 128 values and 128 features."""
    z, s, _ = drawn(joint, n=10_000, seed=7)
    value = estimate(MEASURES[measure], z, s).value
    truth = joint.mutual_information
    value += joint.entropy * (measure == "adversarial")
    assert abs(value - truth) < max(0.05, 0.05 * truth)
