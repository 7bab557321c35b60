"""Intervals for differences: known answers, and as wide as they say."""

import numpy as np
import pytest

from censorium.errors import DataError
from censorium.stats import paired_difference


def test_a_difference_worked_by_hand():
    """Differences 1, 2, 3, 0: mean 1.5, deviation 1.291, and 3.182 is Student's 97.5 % of 3."""
    d = paired_difference([2, 4, 6, 4], [1, 2, 3, 4])
    assert d.mean == 1.5
    assert d.high - d.mean == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-6)
    assert d.mean - d.low == pytest.approx(d.high - d.mean)
    assert (d.n_better, d.n_worse, d.clear) == (3, 0, False)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Of 4,000 intervals for 12 people whose true difference is 0, 95 % hold 0."""
    scores = np.random.default_rng(0).normal(0, 0.05, (4000, 12))
    held = [not paired_difference(d, np.zeros(12)).clear for d in scores]
    # The deviation of a share of 4,000 is 0.0034; four of those either way.
    assert np.mean(held) == pytest.approx(0.95, abs=0.014)


@pytest.mark.parametrize(("by", "clear"), [(0.0, False), (0.25, True), (-0.25, True)])
def test_people_who_all_differ_alike_leave_no_doubt(by, clear):
    """Without spread the interval is the mean itself."""
    d = paired_difference(np.full(5, 0.5 + by), np.full(5, 0.5))
    assert (d.low, d.mean, d.high) == (by, by, by)
    assert d.clear is clear


@pytest.mark.parametrize("scores", [[0.5], [[0.5, 0.6]]])
def test_one_person_has_no_interval(scores):
    """A difference needs two people or more, one number each."""
    with pytest.raises(DataError, match="two people or more"):
        paired_difference(scores, np.zeros_like(scores))
