"""What measures are made of: shuffling, and conditioning of critic-free measures."""

import pytest
import torch

from censorium.dependence.base import CriticFree, shuffled

G = torch.Generator().manual_seed(0)
S = torch.randint(5, (400,), generator=G)
GIVEN = torch.randint(3, (400,), generator=G)


class MeanNorm(CriticFree):
    """The largest squared distance between the nuisance values' mean features."""

    unit = "distance squared"

    def distance(self, features, nuisance):
        """Over the values that occur."""
        means = torch.stack([features[nuisance == s].mean(0) for s in nuisance.unique()])
        return torch.cdist(means, means).square().max()


def test_shuffling_keeps_the_values():
    """Shuffled values are those there were, in another order."""
    moved = shuffled(S)
    assert torch.equal(moved.sort().values, S.sort().values)
    assert not torch.equal(moved, S)


def test_shuffling_given_something_stays_within_it():
    """Among the trials that share a value, the nuisance values are those there were, moved."""
    moved = shuffled(S, GIVEN)
    assert not torch.equal(moved, S)
    for value in range(3):
        here = value == GIVEN
        assert torch.equal(moved[here].sort().values, S[here].sort().values)
        assert not torch.equal(moved[here], S[here])


def test_every_order_within_a_group_is_as_likely():
    """Of three trials in a group and one beside it, all six orders occur as often."""
    given = torch.tensor([0, 1, 0, 0])
    draws = [tuple(shuffled(torch.arange(4), given).tolist()) for _ in range(6000)]
    assert all(draw[1] == 1 for draw in draws)
    counts = torch.tensor([draws.count(order) for order in set(draws)], dtype=torch.float64)
    assert len(counts) == 6
    # Chi-square of five degrees of freedom: 25.7 is exceeded once in ten thousand.
    assert ((counts - 1000) ** 2 / 1000).sum() < 25.7


def test_a_critic_free_measure_given_something_is_the_mean_over_it():
    """Each value's trials on their own, weighed by their share; nothing is trained."""
    z = torch.randn(400, 3, generator=G, dtype=torch.float64)
    measure = MeanNorm(3, 5)
    expected = sum(
        (value == GIVEN).double().mean() * measure.distance(z[value == GIVEN], S[value == GIVEN])
        for value in range(3)
    )
    torch.testing.assert_close(measure.estimate(z, S, GIVEN), expected)
    assert measure.critic_loss(z, S, GIVEN) == 0
    assert list(measure.parameters()) == []


def test_one_group_is_no_condition():
    """Given what all trials share, the estimate is the plain one."""
    z = torch.randn(400, 3, generator=G)
    measure = MeanNorm(3, 5)
    assert measure.estimate(z, S, torch.full((400,), 7)) == pytest.approx(
        measure.estimate(z, S).item(), rel=1e-6
    )
