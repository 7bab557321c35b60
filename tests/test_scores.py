"""Scores of whole sets and of subjects."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from censorium.scores import balanced_accuracy, per_subject


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(5))
def test_balanced_accuracy_is_scikit_learns(n_classes, seed):
    """Where every class occurs, balanced accuracy is what scikit-learn says."""
    rng = np.random.default_rng(seed)
    y = np.append(rng.integers(n_classes, size=60), np.arange(n_classes))
    predicted = np.where(rng.random(len(y)) < 0.5, y, rng.integers(n_classes, size=len(y)))
    assert balanced_accuracy(y, predicted) == pytest.approx(balanced_accuracy_score(y, predicted))


def test_balanced_accuracy_is_the_mean_share_of_each_class():
    """Three of four in one class and none of one in the other make 3/8, whatever the sizes."""
    assert balanced_accuracy([0, 0, 0, 0, 1], [0, 0, 0, 1, 0]) == pytest.approx(3 / 8)
    assert isinstance(balanced_accuracy(["a", "b"], ["a", "b"]), float)


def test_one_class_gives_no_warning():
    """Of a subject with one class only, the score is the share named right, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert balanced_accuracy([1, 1, 1, 1], [1, 0, 1, 2]) == pytest.approx(0.5)
        assert balanced_accuracy([1, 1], [0, 0]) == 0


def test_per_subject_scores_each_subject_alone():
    """Each subject's score is that of their own trials, in the order of the sorted subjects."""
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(2, size=(2, 90))
    subject = rng.permutation(np.repeat(["c", "a", "b"], 30))
    scores = per_subject(y, predicted, subject)
    assert list(scores) == ["a", "b", "c"]
    for s, score in scores.items():
        assert score == balanced_accuracy(y[subject == s], predicted[subject == s])


def test_per_subject_keys_are_plain():
    """Integer subjects come back as Python integers, which JSON can hold."""
    assert [type(s) for s in per_subject([0, 1], [0, 1], np.array([5, 6]))] == [int, int]
