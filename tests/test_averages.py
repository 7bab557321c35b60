"""Class averages of subjects, and what differs."""

import numpy as np
import pytest

from censorium import Trials, arrays, datasets
from censorium.averages import Averages, over_subjects, peaks, telling_channels
from censorium.errors import DataError
from censorium.stats import paired_difference


def planted(small_trials, *, n_classes=2):
    """Trials of faint noise in volt; in the last class channels 1 and 2 peak at samples 5, 15."""
    trials = small_trials(n_channels=4)
    y = np.arange(len(trials)) % n_classes
    x = 1e-7 * trials.x
    hill = np.exp(-0.5 * ((np.arange(20) - np.array([[5], [15]])) / 1.5) ** 2)
    x[y == n_classes - 1, 1] += 1e-5 * hill[0]
    x[y == n_classes - 1, 3] += 0.9e-5 * hill[0]
    x[y == n_classes - 1, 2] -= 0.5e-5 * hill[1]
    names = [f"class {k}" for k in y]
    return Trials.from_arrays(x, names, trials.subject, trials.session, sfreq=100, tmin=-0.05)


def test_averages_are_means_over_each_subjects_trials(small_trials, tmp_path, monkeypatch):
    """Of each subject and class, in RAM and read from disk in pieces."""
    trials = small_trials()
    trials.save(tmp_path / "kept")
    monkeypatch.setattr(arrays, "CHUNK", 5)
    for given in (trials, Trials.load(tmp_path / "kept")):
        found = Averages.of(given)
        for i, subject in enumerate(trials.subjects):
            for k in (0, 1):
                mine = (trials.subject == subject) & (trials.y == k)
                np.testing.assert_allclose(
                    found.means[i, k], trials.x[mine].mean(axis=0), atol=1e-6
                )
                assert found.counts[i, k] == mine.sum()


def test_intervals_are_students_over_subjects():
    """The interval is that of paired differences, whoever is left out for want of a class."""
    values = np.random.default_rng(0).standard_normal((9, 2, 3))
    holed = values.copy()
    holed[[1, 4]] = np.nan
    for given, used in ((values, values), (holed, np.delete(values, [1, 4], axis=0))):
        band = over_subjects(given)
        for at in np.ndindex(2, 3):
            mine = used[:, *at]
            expected = paired_difference(mine, np.zeros(len(mine)))
            found = [line[at] for line in band]
            np.testing.assert_allclose(found, expected[:3])
    lone = over_subjects(values[:1])
    np.testing.assert_allclose(lone.mean, values[0])
    assert np.isnan([lone.low, lone.high]).all()


def test_two_classes_differ_by_the_second_less_the_first(small_trials):
    """More than two each by their mean; NaN for who lacks a class; else averages as they are."""
    two = Averages.of(planted(small_trials))
    ((name, contrast),) = two.contrasts.items()
    assert name == "class 1 less class 0"
    np.testing.assert_array_equal(contrast, two.means[:, 1] - two.means[:, 0])
    trials = planted(small_trials, n_classes=3)
    some = trials[(trials.subject != 2) | (trials.y != 1)]
    three = Averages.of(some)
    assert list(three.contrasts) == [f"class {k} less mean" for k in range(3)]
    assert np.isnan(three.contrasts["class 0 less mean"][1]).all()
    total = sum(three.contrasts.values())
    np.testing.assert_allclose(total[[0, 2, 3]], 0, atol=1e-12)
    alone = Averages.of(trials[(trials.y == trials.subject % 2) & (trials.y < 2)])
    assert not alone.compared
    assert list(alone.contrasts) == ["class 0", "class 1"]
    assert not np.isnan(alone.strength).any()


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_what_tells_is_found(small_trials, n_classes):
    """The channel of the largest difference, then of another course; the peaks in time."""
    averages = Averages.of(planted(small_trials, n_classes=n_classes))
    assert telling_channels(averages, 2) == ["ch1", "ch2"]
    assert peaks(averages, 2) == [5, 15]
    assert peaks(averages, 1) == [5]
    np.testing.assert_allclose(averages.milliseconds[[0, 5]], [-50, 0], atol=1e-9)


def test_a_peak_may_be_at_the_end(small_trials):
    """Where the difference grows to the end, its peak is the last sample."""
    trials = small_trials()
    trials.x[:] = 0
    trials.x[trials.y == 1] += np.arange(20)
    assert peaks(Averages.of(trials)) == [19]


def test_simulated_targets_tell_at_the_crown_late():
    """The P300 that was put in is found where it is: parietal, 300 to 450 ms."""
    trials = datasets.load("simulated", n_subjects=4, n_sessions=1, n_trials=110)
    averages = Averages.of(trials)
    assert telling_channels(averages, 1)[0] in {"Pz", "P1", "P2", "CPz", "CP1", "CP2", "Cz", "POz"}
    assert 300 <= averages.milliseconds[peaks(averages, 1)[0]] <= 450


def test_only_what_can_be_volt_is(small_trials):
    """Signals of 1e-5 can be in volt, those of 1 cannot."""
    assert Averages.of(planted(small_trials)).volt
    assert not Averages.of(small_trials()).volt


def test_what_has_no_average_is_an_error(small_trials):
    """No trials, and trials with NaN, are told; of the latter, whose they are."""
    trials = small_trials()
    with pytest.raises(DataError, match="no trials"):
        Averages.of(trials[:0])
    trials.x[30, 1, 2] = np.nan
    with pytest.raises(DataError, match="Subject 2 has NaN"):
        Averages.of(trials)
