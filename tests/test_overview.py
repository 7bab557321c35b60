"""What a set of trials holds."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from censorium import Trials, arrays
from censorium.electrodes import head_places
from censorium.overview import Overview, deviations


def test_counts_are_those_of_the_trials(small_trials):
    """Subjects, sessions and classes are counted; times, rate and size are what they are."""
    trials = small_trials()
    found = Overview.of(trials[5:])
    assert (found.n_trials, found.n_sessions) == (91, 8)
    assert found.classes == {"a": 68, "b": 23}
    assert [p.subject for p in found.people] == [1, 2, 3, 4]
    assert [p.n_trials for p in found.people] == [19, 24, 24, 24]
    assert found.people[0].sessions == {0: 7, 1: 12}
    assert found.people[0].classes == {"a": 14, "b": 5}
    assert found.people[0].rarest_share == 5 / 19
    assert (found.n_times, found.sfreq, found.tmin, found.tmax) == (20, 100, 0, 0.19)
    assert found.n_bytes == 91 * 3 * 20 * 4
    assert (found.ch_names, found.unplaced) == (("ch0", "ch1", "ch2"),) * 2


def test_a_class_that_somebody_lacks_is_their_rarest(small_trials):
    """Who shows one class of two has a share of 0 of the other."""
    trials = small_trials()
    lone = Overview.of(trials[(trials.subject != 2) | (trials.y == 0)])
    assert [p.rarest_share for p in lone.people] == [0.25, 0, 0.25, 0.25]


def test_the_deviation_is_that_of_the_median_trial_and_channel(small_trials):
    """It is NumPy's, whatever the offset of the channels and trials."""
    trials = small_trials()
    trials.x[:, 1] *= 10
    trials.x[:] += 5 * np.arange(len(trials))[:, None, None]
    for person in Overview.of(trials).people:
        mine = trials.of(person.subject).x.astype(np.float64)
        expected = np.median(np.median(mine.std(axis=2), axis=0))
        assert person.deviation == pytest.approx(expected, rel=1e-3)


def test_deviations_are_numpys():
    """Of each trial and channel; exactly 0 where it stands still, at whatever height."""
    x = np.random.default_rng(0).standard_normal((5, 3, 40)).astype(np.float32)
    x[1, 2], x[3, 0, 5], x[4, 1, 0] = 1e6, np.nan, np.inf
    found = deviations(x)
    assert found[1, 2] == 0
    bad = ~np.isfinite(found)
    assert np.argwhere(bad).tolist() == [[3, 0], [4, 1]]
    whole = np.where(bad[:, :, None], 0, x)
    np.testing.assert_allclose(found[~bad], whole.std(axis=2)[~bad], rtol=1e-4)
    assert deviations(x[:, :, 6:7]) == pytest.approx(abs(x[:, :, 6]), nan_ok=True)


def test_broken_trials_have_no_say_in_the_deviation(small_trials):
    """NaN in a trial changes nothing much; in all of a subject's there is no deviation."""
    trials = small_trials()
    trials.x[0], trials.x[trials.subject == 3] = np.nan, np.inf
    found = Overview.of(trials)
    assert [p.deviation is None for p in found.people] == [False, False, True, False]
    assert found.deviation == pytest.approx(1, rel=0.1)


def test_the_overview_does_not_depend_on_where_signals_are(small_trials, tmp_path, monkeypatch):
    """Read from disk in pieces it is the same, but for saying so; it goes into JSON."""
    trials = small_trials()
    trials.save(tmp_path / "kept")
    monkeypatch.setattr(arrays, "CHUNK", 5)
    told = []
    read = Overview.of(Trials.load(tmp_path / "kept"), on_subject=lambda *n: told.append(n))
    assert replace(read, on_disk=False) == Overview.of(trials)
    assert read.on_disk
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert json.loads(json.dumps(asdict(read)))["people"][0]["classes"] == {"a": 18, "b": 6}


def test_an_empty_set_has_an_overview(small_trials):
    """Of no trials there are no people, no deviation, and no class has any."""
    found = Overview.of(small_trials()[:0])
    assert (found.people, found.deviation, found.classes) == ((), None, {"a": 0, "b": 0})


def test_channels_find_their_place_however_spelt():
    """Letters may be small or large; names that share a place give it to the first."""
    names = ["FPZ", "cz", "T7", "T3", "EOG", "PO8"]
    places = {"FPZ": "Fpz", "cz": "Cz", "T7": "T7", "PO8": "PO8"}
    assert head_places(names) == places
