"""braindecode's windows become trials."""

import mne
import numpy as np
import pytest
from braindecode.datasets import BaseConcatDataset, RawDataset, create_from_X_y
from braindecode.preprocessing import create_windows_from_events

from censorium.datasets.windows import from_windows
from censorium.errors import CensoriumWarning, DataError, OptionError

ONSETS, NAMES = [1.0, 2.0, 3.0, 4.0], ["left", "right", "right", "left"]


def raw(seed, kinds=("eeg", "eeg"), sfreq=100.0):
    """Six seconds of noise with four cues of half a second."""
    x = 1e-5 * np.random.default_rng(seed).standard_normal((len(kinds), 600))
    made = mne.io.RawArray(
        x, mne.create_info([f"C{k}" for k in range(len(kinds))], sfreq, [*kinds]), verbose="error"
    )
    return made.set_annotations(mne.Annotations(ONSETS, 0.5, NAMES))


def recorded(*raws):
    """Recordings of Anna in two sessions, and whoever follows."""
    said = [("anna", 1), ("anna", 2), ("ben", 1)]
    return BaseConcatDataset(
        [
            RawDataset(one, {"subject": who, "session": day})
            for one, (who, day) in zip(raws, said, strict=False)
        ]
    )


@pytest.mark.parametrize("epochs", [False, True])
def test_windows_of_events_are_trials(epochs):
    """Signals, ids and labels come over, whether windows are read from Raw or held as Epochs."""
    raws = [raw(seed) for seed in range(3)]
    windows = create_windows_from_events(
        recorded(*raws), mapping={"left": 0, "right": 1}, preload=True, use_mne_epochs=epochs
    )
    trials = from_windows(windows)
    expected = [
        one.get_data()[:, int(100 * onset) : int(100 * onset) + 50]
        for one in raws
        for onset in ONSETS
    ]
    np.testing.assert_allclose(trials.x, expected, rtol=1e-6)
    assert trials.y.tolist() == [0, 1, 1, 0] * 3
    assert trials.info.class_names == ("0", "1")
    assert (trials.info.ch_names, trials.info.sfreq) == (("C0", "C1"), 100.0)
    assert trials.subject.tolist() == ["anna"] * 8 + ["ben"] * 4
    assert trials.session.tolist() == [1] * 4 + [2] * 4 + [1] * 4
    one = from_windows(windows.datasets[1], session=9)
    np.testing.assert_array_equal(one.x, trials.x[4:8])
    assert set(one.session) == {9}


@pytest.mark.filterwarnings("ignore:.drop_last_window. is deprecated")
def test_windows_of_arrays_take_ids():
    """Where the description does not say who is who, ids are given, or the error says how."""
    x = np.random.default_rng(0).standard_normal((4, 2, 50))
    windows = create_from_X_y(x, ["a", "b", "b", "a"], drop_last_window=False, sfreq=50)
    trials = from_windows(windows, subject=["x", "x", "y", "y"])
    np.testing.assert_allclose(trials.x, x, rtol=1e-6)
    assert [trials.info.class_names[k] for k in trials.y] == ["a", "b", "b", "a"]
    assert trials.subject.tolist() == ["x", "x", "y", "y"]
    assert trials.nuisance().tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match=r"no column 'subject' .*set_description.*subject=\[\.\.\."):
        from_windows(windows)
    windows.set_description({"subject": [3, 3, 4, 4]})
    assert from_windows(windows).subject.tolist() == [3, 3, 4, 4]


def test_other_channels_are_refused_and_bad_ones_told():
    """A trigger or an eye among the signals is an error; a channel marked bad a warning."""
    for kind in ("eog", "stim"):
        windows = create_windows_from_events(recorded(raw(0, ("eeg", kind))))
        with pytest.raises(DataError, match=rf"no signals of the brain: 'C1' \({kind}\)"):
            from_windows(windows)
    bad = raw(0)
    bad.info["bads"] = ["C1"]
    windows = create_windows_from_events(recorded(bad))
    with pytest.warns(CensoriumWarning, match=r"marked bad .*\['C1'\]"):
        from_windows(windows)


def test_recordings_must_be_alike():
    """Another rate, other channels or windows of another size are named."""
    first = create_windows_from_events(recorded(raw(0)))
    short = raw(1)
    short.annotations.set_durations(0.3)
    for other, said in (
        (raw(1, sfreq=50.0), r"differ in sampling rate: 100\.0 and 50\.0"),
        (raw(1, ("eeg",)), r"differ in channels: \['C0', 'C1'\] and \['C0'\]"),
        (short, r"one size, channels x times; got \[\(2, 30\), \(2, 50\)\]"),
    ):
        windows = create_windows_from_events(recorded(other))
        with pytest.raises(DataError, match=said):
            from_windows(BaseConcatDataset([first, windows]))


def test_what_holds_no_windows_is_refused():
    """Recordings that are not cut yet, and anything else."""
    for given in (recorded(raw(0)), [1, 2]):
        with pytest.raises(OptionError, match=r"windows of braindecode's, got .*Cut recordings"):
            from_windows(given)
