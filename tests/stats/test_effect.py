"""Effects and harm: known answers, and intervals as wide as they say."""

import numpy as np
import pytest
from scipy import stats

from censorium.stats import bootstrap, harm, standardised


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Of 2,000 intervals of ten units around 0.3, 95 % hold it, whatever the shape of the noise."""
    rng = np.random.default_rng(0)
    for noise in (rng.normal(0, 1, (10, 2000)), rng.exponential(size=(10, 2000)) - 1):
        found = bootstrap(0.3 + noise)
        held = np.mean((found.low <= 0.3) & (found.high >= 0.3))
        # The deviation of a share of 2,000 is 0.005; of few and skewed units it is a little off.
        assert held == pytest.approx(0.95, abs=0.025)


def test_the_interval_widens_as_the_test_does():
    """With a ratio the interval is sqrt(1 + n ratio) times as wide, about the same mean."""
    d = np.random.default_rng(1).normal(0.3, 1, (10, 3))
    plain, wide = bootstrap(d), bootstrap(d, ratio=1 / 6)
    assert wide.mean == pytest.approx(d.mean(axis=0))
    assert wide.high - wide.mean == pytest.approx(np.sqrt(1 + 10 / 6) * (plain.high - plain.mean))


def test_intervals_where_there_is_little_to_draw():
    """Equal differences have no width; what is missing has no part; one unit has no interval."""
    same = bootstrap(np.full((6, 1), 0.1))
    assert [float(end[0]) for end in same] == pytest.approx([0.1, 0.1, 0.1])
    d = np.random.default_rng(2).normal(0.3, 1, 9)
    gap = bootstrap(np.stack([[*d, np.nan], [*d, d.mean()]], axis=1))
    assert gap.mean[0] == pytest.approx(d.mean())
    assert gap.low[0] < gap.low[1] < gap.high[1] < gap.high[0]
    assert np.isnan(bootstrap([0.1]).low)


def test_of_few_units_the_interval_is_students():
    """Below eight units: mean plus or minus t times sqrt((1/n + ratio) variance)."""
    d = np.array([0.1, 0.3, -0.2, 0.4])
    found = bootstrap(d, ratio=0.25)
    margin = stats.t.ppf(0.975, 3) * np.sqrt((1 / 4 + 0.25) * d.var(ddof=1))
    assert found.high - found.mean == pytest.approx(margin)
    assert found.mean - found.low == pytest.approx(margin)


def test_the_standardised_effect_by_hand():
    """Differences 1, 2, 3: mean 2, deviation 1; a missing one changes nothing."""
    assert standardised([1, 2, 3, np.nan]) == pytest.approx(2)
    assert standardised(np.zeros(3)) == 0


def test_harm_by_hand():
    """Two of eight fall, by 0.1 and 0.3; the worst two rise from 0.45 to 0.55 on the mean."""
    before = np.array([0.4, 0.5, 0.6, 0.7, 0.7, 0.8, 0.8, 0.9])
    after = np.array([0.6, 0.6, 0.7, 0.7, 0.6, 0.5, 0.9, 0.9])
    found = harm(np.stack([after, before], axis=1), before)
    assert found.worse == pytest.approx([2 / 8, 0])
    assert found.loss == pytest.approx([0.2, 0])
    assert found.worst_before == pytest.approx([0.45, 0.45])
    assert found.worst_quarter == pytest.approx([0.1, 0])


def test_the_worst_quarter_of_six_is_one_and_a_half():
    """The second of six counts by half."""
    scores = np.array([0.5, 0.6, 0.9, 0.9, 0.9, 0.9])
    assert harm(scores, scores).worst_before == pytest.approx((0.5 + 0.6 / 2) / 1.5)


def test_noise_alone_helps_no_worst_quarter():
    """Two noisy looks at the same people: half are 'worse', and the worst quarter gains nothing."""
    rng = np.random.default_rng(3)
    people = rng.normal(0.7, 0.05, 4000)
    first, second = (people + rng.normal(0, 0.05, 4000) for _ in range(2))
    found = harm(first, second)
    assert found.worse == pytest.approx(0.5, abs=0.03)
    # Of those whom the second look reads worst, the first reads many better: it has not helped.
    unlucky = second <= np.quantile(second, 0.25)
    assert (first - second)[unlucky].mean() > 0.02
    assert found.worst_quarter == pytest.approx(0, abs=0.006)
