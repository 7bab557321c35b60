"""Every planted fault is found and named, and a clean set gives nothing."""

import os
from pathlib import Path

import numpy as np
import pytest
from faults import INFO, NAMES, changed, clean, cut, labelled, of, replace_signals

from censorium import Trials, arrays, datasets
from censorium.quality import findings

DATA = Path(__file__).parents[3] / "shared" / "data"


def flat_everywhere(_, x):
    x[:, 3] = 2.5


def flat_in_a_session(trials, x):
    x[of(trials, 2, 1), 5] = 0.1


def nearly_flat_in_a_session(trials, x):
    x[of(trials, 2, 1), 5] *= 1e-5


def flat_in_some(_, x):
    x[[26, 28], 2] = 0


def flat_all_channels(_, x):
    x[[26, 28, 50]] = 0


def nan(_, x):
    x[30, 4, 7] = np.nan


def infinite_in_two(_, x):
    x[[70, 71], [0, 7]] = np.inf


def loud(trials, x):
    x[of(trials, 3, 2), 6] *= 40


def faint(trials, x):
    x[of(trials, 1, 1), 0] /= 40


def microvolt(_, x):
    x *= 1e6


def millivolt(_, x):
    x *= 1e3


def huge(_, x):
    x *= 1e12


def one_session_in_microvolt(trials, x):
    x[of(trials, 4, 1)] *= 1e6


def leak(trials, x):
    x[of(trials, 4, 2)] = x[of(trials, 1, 1)]


def twice(_, x):
    x[[3, 15]] = x[[2, 2]]


def copy_everywhere(_, x):
    x[:, 7] = x[:, 1]


def copy_in_a_session(trials, x):
    x[of(trials, 2, 2), 7] = x[of(trials, 2, 2), 1]


def jump(_, x):
    x[40, :, 31:] += 1e-3 * (1 + np.arange(8))[:, None]


PLANTED = {
    flat_everywhere: [("warning", "flat", None, None, ("C3",), ())],
    flat_in_a_session: [("error", "flat", 2, 1, ("C4",), ())],
    nearly_flat_in_a_session: [("error", "flat", 2, 1, ("C4",), ())],
    flat_in_some: [("warning", "flat", 2, 1, ("F4",), (26, 28))],
    flat_all_channels: [
        ("warning", "flat", 2, 1, NAMES, (26, 28)),
        ("warning", "flat", 3, 1, NAMES, (50,)),
    ],
    nan: [("error", "broken", 2, 1, ("Cz",), (30,))],
    infinite_in_two: [("error", "broken", 3, 2, ("F3", "Pz"), (70, 71))],
    loud: [("warning", "wild", 3, 2, ("P3",), ())],
    faint: [("warning", "wild", 1, 1, ("F3",), ())],
    microvolt: [("warning", "scale", None, None, (), ())],
    millivolt: [("warning", "scale", None, None, (), ())],
    huge: [("warning", "scale", None, None, (), ())],
    one_session_in_microvolt: [("error", "scale", 4, 1, (), ())],
    leak: [
        ("error", "copied", 1, None, (), tuple(range(12))),
        ("error", "copied", 4, None, (), tuple(range(84, 96))),
    ],
    twice: [("warning", "copied", 1, None, (), (2, 3, 15))],
    copy_everywhere: [("warning", "alike", None, None, ("Fz", "Pz"), ())],
    copy_in_a_session: [("warning", "alike", 2, 2, ("Fz", "Pz"), ())],
    jump: [("warning", "jump", 2, 2, (), (40,))],
}


def told(trials):
    """What each finding is and where it is."""
    return [
        (f.severity, f.kind, f.subject, f.session, f.channels, f.trials) for f in findings(trials)
    ]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_fault_in_the_signals_is_found_where_it_is(fault):
    """One fault, one finding: of its kind, with the subject, session, channels and trials."""
    assert told(changed(fault)()) == PLANTED[fault]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_findings_do_not_depend_on_how_signals_are_read(fault, tmp_path, monkeypatch):
    """Read from disk, and in pieces of five trials, they are the same."""
    trials = changed(fault)()
    whole = findings(trials)
    trials.save(tmp_path / "kept")
    monkeypatch.setattr(arrays, "CHUNK", 5)
    assert findings(Trials.load(tmp_path / "kept")) == whole


def test_several_faults_are_all_found_errors_first():
    """Faults do not hide one another."""
    faults = (flat_in_a_session, nan, loud, twice)

    def all_of_them(trials, x):
        for fault in faults:
            fault(trials, x)

    found = told(changed(all_of_them)())
    assert sorted(found, key=str) == sorted((PLANTED[f][0] for f in faults), key=str)
    assert [f[0] for f in found] == ["error"] * 2 + ["warning"] * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [(microvolt, ("microvolt", "1e-6")), (millivolt, ("millivolt", "1e-3")), (huge, ("", "unit"))],
)
def test_a_unit_is_named_with_what_makes_it_volt(change, words):
    """Signals in microvolt or millivolt are told from those in no unit of EEG."""
    (finding,) = findings(changed(change)())
    assert words[0] in finding.what
    assert words[1] in finding.advice


def test_a_leak_names_the_other_subject():
    """Of trials under two names each finding says the other one."""
    first, second = findings(changed(leak)())
    assert "12 trials are also those of 4" in first.what
    assert "12 trials are also those of 1" in second.what


def beat(n, *, slip):
    """Onsets every twelve samples with a pause, one of them late by `slip` samples."""
    onsets = 12 * np.arange(n) + 500 * (np.arange(n) >= n // 2)
    onsets[20] += slip
    return onsets


@pytest.mark.parametrize("thinned", [1, 2])
def test_a_trial_off_the_beat_is_found(thinned):
    """Where trials overlap, one that begins a sample late is named with the one after it."""
    trials = cut(beat(60, slip=thinned))
    (finding,) = findings(replace_signals(trials, trials.x[:, :, ::thinned]))
    assert (finding.kind, finding.severity, finding.subject) == ("slip", "warning", 1)
    assert finding.trials == (20, 21)
    assert f"{12 // thinned} samples" in finding.what


@pytest.mark.parametrize("pace", [12, 25])
def test_an_even_beat_with_pauses_and_missing_trials_is_none(pace):
    """Overlapping trials of an even beat, some left out, and thinned by two, give no finding."""
    onsets = pace * np.arange(60) + 500 * (np.arange(60) >= 30)
    some = np.delete(onsets, [7, 8, 33])
    assert findings(cut(some)) == []
    thinned = cut(some)
    assert findings(replace_signals(thinned, thinned.x[:, :, ::2])) == []


def test_labels_of_one_subject():
    """A subject with one class only, or with other shares than the others, is named."""
    lone = labelled(lambda t: np.where(t.subject == 3, 1, t.y))
    assert told(lone) == [("warning", "one class", 3, None, (), ())]
    odd = labelled(
        lambda t: np.where((t.subject == 2) & (np.arange(len(t)) % 20 > 0), 1, t.y),
        n_per_session=40,
    )
    assert told(odd) == [("warning", "ratio", 2, None, (), ())]
    assert "5% of the trials are of class 'rest'" in findings(odd)[0].what


def test_labels_of_everybody():
    """Where there is one class, or the label is the person's, that is said once."""
    for y in (lambda t: 0 * t.y, lambda t: t.subject % 2):
        assert told(labelled(y)) == [("warning", "one class", None, None, (), ())]


def test_hardly_any_trials():
    """A subject, or a session of one, with fewer than ten trials is named; none at all is said."""
    trials = clean()
    short = trials[~of(trials, 2, 2) | (np.arange(len(trials)) % 6 < 2)]
    assert told(short) == [("warning", "few", 2, 2, (), ())]
    shorter = short[~of(short, 2, 1)]
    assert told(shorter) == [("warning", "few", 2, None, (), ())]
    assert [(f.severity, f.kind) for f in findings(trials[:0])] == [("error", "empty")]


@pytest.mark.parametrize("seed", range(10))
def test_a_clean_set_gives_nothing(seed):
    """Clean trials, with labels drawn at random, give no finding."""
    trials = clean(seed)
    y = np.random.default_rng(seed).integers(2, size=len(trials))
    drawn = Trials(trials.x, y, trials.subject, trials.session, INFO)
    assert findings(drawn) == []


@pytest.mark.parametrize("seed", range(4))
def test_simulated_people_give_nothing(seed):
    """People as they are simulated by default are clean."""
    trials = datasets.load("simulated", n_subjects=4, n_sessions=2, n_trials=55, seed=seed)
    assert findings(trials) == []


@pytest.mark.parametrize("name", ["uci_smni20", "ssvep_exo12", "arith36"])
def test_recordings_of_people_give_no_error(name):
    """Recordings that others have analysed give warnings at most."""
    path = DATA / f"{name}.npz"
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail("The recordings in ../shared/data are missing in CI.")
        pytest.skip("The recordings in ../shared/data are not part of the repository.")
    held = np.load(path, allow_pickle=False)
    scalp = ~np.isin(held["ch_names"], ["X", "Y", "nd"])
    trials = Trials.from_arrays(
        held["X_int16"][:, scalp].astype(np.float32) * held["scale"] * 1e-6,
        held["y"],
        held["subject"],
        held["session"],
        sfreq=float(held["sfreq"]),
        ch_names=held["ch_names"][scalp].tolist(),
    )
    assert [f for f in findings(trials) if f.severity == "error"] == []
