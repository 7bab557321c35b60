"""BIDS folders, as MNE-BIDS writes them."""

import pickle
import sys

import mne_bids
import numpy as np
import pytest
from recorded import CHANNELS, NAMES, recording

from censorium.datasets.bids import bids_parts
from censorium.datasets.recordings import read_recording
from censorium.errors import CensoriumWarning, DataError, FileError, OptionError

QUICK = {"notch": None}


def put(root, subject, session=None, run=None, *, task="speller", bad=(), seed=0):
    """Write one recording; where it came to lie."""
    path = mne_bids.BIDSPath(
        subject=subject, session=session, run=run, task=task, datatype="eeg", root=root
    )
    raw = recording(seed=seed)
    raw.info["bads"] = [*bad]
    raw.info["line_freq"] = 50
    return mne_bids.write_raw_bids(
        raw, path, format="BrainVision", allow_preload=True, verbose="error"
    )


@pytest.fixture
def root(tmp_path):
    """Two people, one of them in two sessions, one of these of two runs."""
    put(tmp_path, "02", "early", seed=1)
    put(tmp_path, "02", "late", "1")
    put(tmp_path, "02", "late", "2")
    put(tmp_path, "10", "early", seed=2)
    return tmp_path


def test_each_recording_is_a_part(root):
    """Ids are the entities; signals, labels and channels are those that were written."""
    parts = bids_parts(root, **QUICK)
    names = ["sub-02_ses-early", "sub-02_ses-late_run-1", "sub-02_ses-late_run-2"]
    assert list(parts) == [*names, "sub-10_ses-early"]
    trials = pickle.loads(pickle.dumps(parts["sub-10_ses-early"]))()  # noqa: S301
    expected = read_recording(recording(seed=2), subject="10", **QUICK)
    np.testing.assert_allclose(trials.x, expected.x, atol=2e-7)
    assert trials.info == expected.info
    assert trials.info.ch_names == CHANNELS
    assert [trials.info.class_names[k] for k in trials.y] == NAMES.tolist()
    assert (trials.subjects, set(trials.session)) == (["10"], {"early"})


def test_subjects_and_sessions_are_chosen(root):
    """By label, with or without what stands before it; an unknown one gets the nearest."""
    assert list(bids_parts(root, subjects=["sub-10"])) == ["sub-10_ses-early"]
    chosen = bids_parts(root, subjects="02", sessions=["late"])
    assert list(chosen) == ["sub-02_ses-late_run-1", "sub-02_ses-late_run-2"]
    assert list(bids_parts(root, subjects=[2], sessions="ses-early")) == ["sub-02_ses-early"]
    with pytest.raises(OptionError, match=r"Unknown subject '100'\. Did you mean '10'\?"):
        bids_parts(root, subjects=["100"])
    with pytest.raises(DataError, match="no recording of these subjects in these sessions"):
        bids_parts(root, subjects=["10"], sessions=["late"])


def test_without_sessions_there_is_one(tmp_path):
    """A folder that knows no sessions gives one, called "1"."""
    put(tmp_path, "01")
    assert set(bids_parts(tmp_path, **QUICK)["sub-01"]().session) == {"1"}


def test_several_tasks_ask_for_one(root):
    """Where there are several tasks, the error lists them; one that is not there is unknown."""
    put(root, "02", "early", task="rest")
    with pytest.raises(OptionError, match=r"several tasks: rest, speller\. .*task=\.\.\."):
        bids_parts(root)
    assert list(bids_parts(root, task="rest")) == ["sub-02_ses-early"]
    with pytest.raises(OptionError, match=r"Unknown task 'spelle'.*'speller'"):
        bids_parts(root, task="spelle")


def test_bad_channels_are_told(tmp_path):
    """A channel that channels.tsv calls bad is named."""
    put(tmp_path, "01", bad=["Cz"])
    with pytest.warns(CensoriumWarning, match=r"marked bad .*\['Cz'\]"):
        bids_parts(tmp_path, **QUICK)["sub-01"]()


def test_events_after_the_end_are_an_error(tmp_path):
    """A recording that is shorter than its events.tsv says so."""
    path = put(tmp_path, "01")
    data = path.fpath.with_suffix(".eeg")
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    with (
        pytest.warns(CensoriumWarning, match="outside data range"),
        pytest.raises(DataError, match=r"18 of 36 events lie outside of .* cut short\?"),
    ):
        bids_parts(tmp_path, **QUICK)["sub-01"]()


def test_an_empty_folder_and_a_missing_one_are_file_errors(tmp_path):
    """Each says what is missing."""
    with pytest.raises(FileError, match="no EEG recording in the BIDS folder"):
        bids_parts(tmp_path)
    with pytest.raises(FileError, match="There is no folder"):
        bids_parts(tmp_path / "gone")


def test_options_are_those_that_bids_does_not_tell(root):
    """Unknown options are named; events and ids come from the folder."""
    with pytest.raises(OptionError, match=r"Unknown option of a BIDS folder 'secs'"):
        bids_parts(root, secs=1)
    with pytest.raises(OptionError, match=r"Unknown option of a BIDS folder 'events'"):
        bids_parts(root, events="events.tsv")


def test_without_mne_bids_the_error_says_what_to_install(monkeypatch, tmp_path):
    """A missing extra is named."""
    monkeypatch.setitem(sys.modules, "mne_bids", None)
    with pytest.raises(OptionError, match=r"needs mne_bids: pip install 'censorium\[bids\]'"):
        bids_parts(tmp_path)
