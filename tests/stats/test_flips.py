"""Sign flips: exact by enumeration, corrected for their number, and for the overlap."""

from itertools import product

import numpy as np
import pytest

from censorium.stats import flip_test, holm, max_t
from censorium.stats.flips import EXACT, N_FLIPS, signs

RNG = np.random.default_rng(1)


def t_of(d):
    return d.mean(axis=0) / np.sqrt(d.var(axis=0, ddof=1) / len(d))


def by_enumeration(d, ratio=0.0):
    """The p of each column, and that of the largest, by trying all flips one after another."""
    flipped = np.abs([t_of(np.array(s)[:, None] * d) for s in product((1, -1), repeat=len(d))])
    seen = np.abs(t_of(d)) / np.sqrt(1 + len(d) * ratio) - 1e-9
    return (flipped >= seen).mean(axis=0), (flipped.max(axis=1)[:, None] >= seen).mean(axis=0)


@pytest.mark.parametrize("ratio", [0.0, 1 / 6])
@pytest.mark.parametrize("n", [2, 5, 8])
def test_small_studies_are_tested_exactly(n, ratio):
    """The p is the share of all 2**n flips whose t is as large, alone and as the largest of all."""
    d = RNG.normal(0.5, 1, (n, 4))
    alone, largest = by_enumeration(d, ratio)
    assert flip_test(d, ratio=ratio).p == pytest.approx(alone)
    assert max_t(d, ratio=ratio) == pytest.approx(largest)


def test_the_least_p_is_two_flips():
    """Where all units agree, no flip but the one seen and its mirror is as large."""
    assert flip_test(np.full(10, 0.1)).p == pytest.approx(2 / 2**10)
    assert flip_test(np.full(10, 0.1), ratio=1 / 6).p == pytest.approx(2 / 2**10)
    assert flip_test(np.zeros(10)).p == pytest.approx(1)
    assert np.isnan(flip_test([0.1]).p)


def test_many_units_are_sampled_and_the_one_seen_is_among_them():
    """Beyond 14 units flips are drawn; p is never 0 and near the exact one."""
    assert signs(EXACT, seed=0).shape == (2 ** (EXACT - 1), EXACT)
    drawn = signs(EXACT + 1, seed=0)
    assert drawn.shape == (N_FLIPS, EXACT + 1)
    assert (drawn[0] == 1).all()
    assert flip_test(np.full(40, 0.1)).p == pytest.approx(1 / N_FLIPS)
    d = RNG.normal(0.2, 1, 15)
    exact, _ = by_enumeration(d[:, None])
    # The deviation of a share of 10,000 is at most 0.005; four of those.
    assert flip_test(d).p == pytest.approx(exact, abs=0.02)


def test_a_missing_unit_is_not_there():
    """A NaN leaves the p of the other units."""
    d = RNG.normal(0.5, 1, 8)
    assert flip_test([*d, np.nan]).p == pytest.approx(flip_test(d).p)


def test_holm_by_hand():
    """0.01 x 4, then 0.02 x 3, then 0.03 x 2, no less than before it; then 0.5."""
    assert holm([0.03, 0.01, 0.5, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1, 1]
    found = holm([0.02, np.nan, 0.03])
    assert found[[0, 2]] == pytest.approx([0.04, 0.04])
    assert np.isnan(found[1])


def test_strengths_that_agree_count_as_one():
    """Of copies of one strength the corrected p is the p of one; Holm knows no better."""
    d = RNG.normal(0.8, 1, (10, 1))
    copies = np.repeat(d, 17, axis=1)
    assert max_t(copies) == pytest.approx(np.repeat(flip_test(d).p, 17))
    assert holm(flip_test(copies).p)[0] == pytest.approx(min(1, 17 * flip_test(d).p[0]))


def test_max_t_keeps_the_chance_of_any_false_finding():
    """Of 1,000 studies of 17 strengths alike, one without a true effect is found in 5 %.

    Half of the strengths have an effect, the rest none: the correction must hold for those alone.
    """
    rng, hits = np.random.default_rng(2), []
    for _ in range(1000):
        d = rng.normal(0, 1, (10, 17)) + rng.normal(0, 1, (10, 1))
        effect = np.where(np.arange(17) < 4, 2.0, 0.0)
        found = max_t(d + effect) <= 0.05
        hits.append((found[4:].any(), (max_t(d) <= 0.05).any(), found[:4].any()))
    partly, wholly, power = np.mean(hits, axis=0)
    # The deviation of a share of 1,000 is 0.007; three of those above 5 %.
    assert partly < 0.071
    assert 0.029 < wholly < 0.071
    assert power > 0.5
