"""The selection-safe figure: validation people choose, and test people are asked once."""

import numpy as np
import pytest

from censorium.errors import DataError, OptionError
from censorium.stats import choices, selected
from censorium.stats.selection import WAYS

APART = ~np.eye(4, dtype=bool)


def scores(seed=0):
    return np.random.default_rng(seed).normal(0.7, 0.05, (3, 4, 5))


@pytest.mark.parametrize("by", WAYS)
def test_test_scores_have_no_part_in_the_choice(by):
    """Whatever test people score, the choice stays: the gain is that of the same models."""
    valid, chosen = scores(), choices(scores(), by=by, apart=APART)
    assert chosen.any()
    for test in (scores(1), 1 - scores(1), scores(2)):
        expected = np.take_along_axis(test, chosen[None], axis=0)[0] - test[0]
        assert (selected(valid, test, by=by, apart=APART) == expected).all()


def test_whose_validation_scores_choose():
    """A score made the best chooses just there where it may, and nowhere else."""
    where = {
        "run": {(1, 2)},
        "fold": {(1, s) for s in range(5)},
        "other-seeds": {(1, s) for s in (0, 1, 3, 4)},
        "other-folds": {(f, s) for f in (0, 2, 3) for s in range(5)},
    }
    for by, places in where.items():
        valid = np.full((3, 4, 5), 0.5)
        valid[2, 1, 2] = 0.9
        chosen = choices(valid, by=by, apart=APART)
        assert set(zip(*np.nonzero(chosen), strict=True)) == places


def test_of_equals_the_baseline_is_chosen():
    """Without a reason to censor, nothing is gained or lost."""
    valid = np.full((3, 4, 5), 0.7)
    assert not choices(valid).any()
    assert not selected(valid, scores()).any()


def test_what_was_not_run_is_not_chosen():
    """A missing score neither chooses nor is chosen; where nothing can choose there is no gain."""
    valid, test = scores(), scores(1)
    valid[2], valid[:, 3] = np.nan, np.nan
    gain = selected(valid, test)
    assert choices(valid).max() == 1
    assert np.isnan(gain[3]).all()
    assert np.isfinite(gain[:3]).all()


def test_people_may_be_looked_at_one_by_one():
    """Test scores of each person go the way of their fold's and seed's."""
    people = np.random.default_rng(3).normal(0.7, 0.05, (3, 4, 5, 6))
    gain = selected(scores(), people)
    assert gain.shape == (4, 5, 6)
    assert gain.mean(axis=2) == pytest.approx(selected(scores(), people.mean(axis=3)))


def test_what_cannot_be_chosen_by_is_said():
    """No validation scores, one seed, no folds apart, a wrong name or shape: each is an error."""
    with pytest.raises(DataError, match="no validation scores of other seeds"):
        choices(scores()[:, :, :1])
    with pytest.raises(DataError, match="folds that are apart"):
        choices(scores(), by="other-folds")
    with pytest.raises(DataError, match=r"\(models, folds, seeds\)"):
        choices(scores()[0])
    with pytest.raises(OptionError, match="Did you mean 'fold'"):
        choices(scores(), by="folds")
