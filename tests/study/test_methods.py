"""Classical yardsticks: run by the same machinery, on the same splits."""

import numpy as np
import pytest

from censorium import SubjectSplit
from censorium.datasets import load
from censorium.errors import OptionError
from censorium.study import Run, execute
from censorium.study.methods import METHODS, lda
from planted import planted

SPLIT = SubjectSplit([1, 2], [3], [4])


@pytest.mark.parametrize("method", METHODS)
def test_a_yardstick_reads_what_is_planted(method):
    """On people whose responses are clear, each method reads an unseen one."""
    knobs = {"n_sessions": 1, "n_trials": 330, "snr": 3.0, "subject_strength": 0.3}
    people = load("simulated", n_subjects=7, **knobs)
    outcome = execute(Run(method, {}, SubjectSplit([1, 2, 3, 4, 5], [6], [7]), 0, method), people)
    assert list(outcome.scores) == ["final"]
    # 30 targets: chance is 0.5 with a deviation of about 0.05.
    assert outcome.test.balanced_accuracy > 0.8
    assert list(outcome.test.per_subject) == [7]
    assert outcome.history == []
    assert outcome.test.identity is None


@pytest.mark.parametrize("method", METHODS)
def test_a_yardstick_does_not_see_who_tests(method):
    """Whatever the test subject's trials hold, the scores of the others stay."""
    from dataclasses import replace

    trials = planted()
    mine = trials.subject == 4
    x = np.where(mine[:, None, None], 10 * trials.x[::-1], trials.x)
    a, b = (execute(Run(method, {}, SPLIT, 0, method), t) for t in (trials, replace(trials, x=x)))
    assert (a.train, a.valid) == (b.train, b.valid)
    assert a.test != b.test


def test_unknown_methods_are_refused():
    """A method that there is not is an error with the nearest name."""
    with pytest.raises(OptionError, match="Did you mean 'lda'"):
        execute(Run("m", {}, SPLIT, 0, "ldaa"), planted())


def test_classes_count_alike():
    """Of a rare class as many are read as of a common one, where they overlap alike."""
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 20 == 0).astype(int)
    x = rng.standard_normal((4000, 2, 20)) + 0.3 * y[:, None, None]
    predicted = lda(2).fit(x[:2000], y[:2000]).predict(x[2000:])
    recalls = [np.mean(predicted[y[2000:] == k] == k) for k in (0, 1)]
    # 100 trials of the rare class: a recall near 0.8 has a standard error of 0.04.
    assert abs(recalls[0] - recalls[1]) < 0.15
