"""One string names any source."""

import mne_bids
import numpy as np
import pytest
from recorded import recording, write

from censorium.datasets.prepare import prepared
from censorium.datasets.sources import parts_of
from censorium.errors import FileError, OptionError


def test_each_kind_of_source_is_known(tmp_path):
    """A file, a folder of them, a BIDS folder, arrays, a dataset of MOABB: by what is there."""
    (tmp_path / "plain").mkdir()
    file = write(tmp_path / "plain" / "sub-1_raw.fif")
    assert list(parts_of(file)) == list(parts_of(str(tmp_path / "plain"))) == ["sub-1_ses-1"]
    bids = mne_bids.BIDSPath(subject="2", task="rest", datatype="eeg", root=tmp_path / "bids")
    raw = recording()
    raw.info["line_freq"] = 50
    mne_bids.write_raw_bids(raw, bids, format="BrainVision", allow_preload=True, verbose="error")
    assert list(parts_of(tmp_path / "bids")) == ["sub-2"]
    np.savez(tmp_path / "few.npz", x=np.zeros((2, 1, 5)), y=[0, 1], subject=[1, 2], sfreq=5)
    assert parts_of(tmp_path / "few.npz")["few"]().subjects == [1, 2]
    assert list(parts_of("moabb:BI2014a", subjects=[3], resample=64)) == ["sub-3"]


def test_an_option_of_another_kind_is_refused(tmp_path):
    """Each kind knows its own options, and the nearest name is told."""
    file = write(tmp_path / "sub-1_raw.fif")
    with pytest.raises(OptionError, match=r"option of a recording 'second'.*'seconds'\?"):
        parts_of(file, second=1)
    with pytest.raises(OptionError, match=r"option of P300 'resampl'.*'resample'\?"):
        parts_of("moabb:BI2014a", resampl=64)
    with pytest.raises(OptionError, match=r"dataset of MOABB 'BI2014x'"):
        parts_of("moabb:BI2014x")


def test_nothing_there_is_a_file_error(tmp_path):
    """A path without anything says how MOABB's datasets are named."""
    with pytest.raises(FileError, match=r"no file or folder .*gone\. .* moabb:BI2014a\."):
        parts_of(tmp_path / "gone")


def test_parts_are_prepared_into_one_folder(tmp_path):
    """Recordings of several people, prepared part by part, hold what each part holds."""
    for name in ("sub-1", "sub-2"):
        write(tmp_path / f"{name}_raw.fif", seed=len(name) + int(name[-1]))
    parts = parts_of(tmp_path, notch=None)
    trials = prepared(tmp_path / "trials", lambda: parts, {"source": "here"})
    assert trials.subjects == ["1", "2"]
    for name, part in zip(trials.subjects, parts.values(), strict=True):
        np.testing.assert_array_equal(trials.of(name).x, part().x)
