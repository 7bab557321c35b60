"""Student's tests of paired differences: SciPy's numbers, the formula's, and the paper's marks."""

import numpy as np
import pytest
from scipy import stats

from censorium import leave_one_subject_out, paper_folds
from censorium.errors import DataError, OptionError
from censorium.stats import marks, overlap_of, overlap_t, paired_t, resampled_t
from censorium.stats.paired import Verdict

RNG = np.random.default_rng(0)
D = RNG.normal(0.3, 1, (12, 5))


def test_the_papers_test_is_scipys():
    """Its t and p are those of a paired t-test, column by column."""
    reference = RNG.normal(0, 1, (12, 5))
    ours, theirs = paired_t(D), stats.ttest_rel(reference + D, reference)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_what_is_missing_has_no_part():
    """A NaN counts as if its row were not there, for its column alone; one number tells nothing."""
    d = D.copy()
    d[:4, 1], d[1:, 2] = np.nan, np.nan
    found, whole = paired_t(d), paired_t(D)
    assert found.p[1] == pytest.approx(stats.ttest_1samp(D[4:, 1], 0).pvalue)
    assert np.isnan(found.p[2])
    assert found.p[[0, 3, 4]] == pytest.approx(whole.p[[0, 3, 4]])
    same = overlap_t(d, overlap=np.eye(12))
    assert same.p[[0, 1, 3, 4]] == pytest.approx(found.p[[0, 1, 3, 4]])


@pytest.mark.parametrize(("d", "p"), [(0.0, 1.0), (0.1, 0.0)])
def test_differences_without_spread_leave_no_doubt(d, p):
    """Models that are equal do not differ; models that always differ alike do."""
    assert paired_t(np.full(6, d)).p == pytest.approx(p, abs=1e-9)


def test_nadeau_and_bengio_by_their_formula():
    """Their t is mean / sqrt((1/n + n_test/n_train) variance), with n - 1 degrees of freedom."""
    d, n, n_test, n_train = D[:, 0], 12, 4, 24
    t = d.mean() / np.sqrt((1 / n + n_test / n_train) * d.var(ddof=1))
    found = resampled_t(d, ratio=n_test / n_train)
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), n - 1))
    assert resampled_t(d, ratio=0).p == pytest.approx(paired_t(d).p)


def test_splits_without_overlap_need_no_correction():
    """Where no training person is shared, the strictest test is the plain one."""
    assert overlap_t(D, overlap=np.eye(12)).p == pytest.approx(paired_t(D).p)


def test_the_strictest_test_by_hand():
    """Equal correlations r: the variance of a mean is (1 + (n - 1) r) / (1 - r) times s2 / n."""
    r, n, d = 0.5, 12, D[:, 0]
    overlap = np.full((n, n), r) + (1 - r) * np.eye(n)
    t = d.mean() / np.sqrt((1 + (n - 1) * r) / (1 - r) * d.var(ddof=1) / n)
    found = overlap_t(d, overlap=overlap)
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), n - 1))
    everyone = overlap_t(d, overlap=np.ones((n, n)))
    assert everyone.p == pytest.approx(1)


def test_the_overlap_of_the_papers_folds():
    """Neighbours share five of six training blocks, the sixth none; four test for 24 who train."""
    ratio, shared, apart = overlap_of(paper_folds(range(64)))
    assert ratio == pytest.approx(4 / 24)
    assert shared[0] == pytest.approx([1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0, 0, 0, 0])
    assert (shared == shared.T).all()
    # Block 1, which tests in fold 0, validates in fold 1 and trains in none: folds 10 to 15 are
    # not there. Block 6, which tests in fold 5, trains in folds 0 to 4 and validates in fold 6.
    assert np.flatnonzero(apart[0]).tolist() == list(range(2, 10))
    assert np.flatnonzero(apart[5]).tolist() == [7, 8, 9]


def test_leaving_one_out_shares_nearly_all():
    """Of 11 people who train, 10 train in any other split; no split is apart from another."""
    ratio, shared, apart = overlap_of(leave_one_subject_out(range(12)))
    assert ratio == pytest.approx(1 / 11)
    assert shared[0, 1:] == pytest.approx(10 / 11)
    assert not apart.any()


def test_the_papers_marks():
    """-, *, dagger, double dagger, each up to its limit, and only where t is above 0."""
    p = np.array([0.2, 0.051, 0.05, 0.011, 0.01, 0.0011, 0.001, 0.0])
    up, down = np.ones(8), -np.ones(8)
    assert marks(Verdict(up, p)) == ["-", "-", "*", "*", "†", "†", "‡", "‡"]
    assert marks(Verdict(down, p)) == [""] * 8
    assert marks(Verdict(np.array([np.nan, 0.0]), np.array([np.nan, 1.0]))) == ["", ""]


def test_what_cannot_be_tested_is_said():
    """Shapes and ratios that mean nothing are refused."""
    with pytest.raises(DataError, match=r"\(units, columns\)"):
        paired_t(np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match="overlap of 12 splits is square"):
        overlap_t(D, overlap=np.eye(3))
    with pytest.raises(OptionError, match="ratio is test over training"):
        resampled_t(D, ratio=-1)
