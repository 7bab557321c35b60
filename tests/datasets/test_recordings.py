"""Recordings in files: what comes back is what was recorded."""

import pickle

import mne
import numpy as np
import pytest
from recorded import BUMP, CHANNELS, NAMES, ONSETS, SFREQ, recording, signals, write, write_eeglab

from censorium.datasets.recordings import read_recording, recording_parts
from censorium.errors import CensoriumWarning, DataError, FileError, OptionError
from censorium.signal import cut

PLAIN = {"band": (0.5, 30.0), "notch": None, "decimate": 1, "seconds": 0.6, "causal": False}
QUICK = {"subject": "anna", "notch": None}
STEP = 2e-7  # V: BrainVision's files are written in steps of 0.1 µV, EDF's in smaller ones


def difference(trials):
    """Targets, the second class, less the others, on average: (channels, times)."""
    return trials.x[trials.y == 1].mean(0) - trials.x[trials.y == 0].mean(0)


@pytest.mark.parametrize("kind", ["fif", "edf", "bdf", "vhdr", "set"])
def test_every_kind_of_file_gives_what_was_recorded(tmp_path, kind):
    """Signals in volt, channels in order, labels: as they were before a file held them."""
    name = "sub-07_ses-2_raw" if kind == "fif" else "sub-07_ses-2_eeg"
    trials = read_recording(write(tmp_path / f"{name}.{kind}"), **PLAIN)
    expected = cut(signals(), SFREQ, np.round(ONSETS * SFREQ).astype(int), **PLAIN)
    np.testing.assert_allclose(trials.x, expected, atol=STEP)
    assert trials.info.ch_names == CHANNELS
    assert (trials.info.sfreq, trials.info.tmin) == (SFREQ, 0.0)
    said = [trials.info.class_names[k].removeprefix("Comment/") for k in trials.y]
    assert said == NAMES.tolist()
    assert (set(trials.subject), set(trials.session)) == ({"07"}, {"2"})
    # The band takes little of a bump of this width; noise of 1 µV, averaged, is 0.3 µV.
    peak = difference(trials)[:, round(0.3 * SFREQ)]
    np.testing.assert_allclose(peak, [0, BUMP, 0], atol=0.15 * BUMP)


def test_trials_begin_where_they_are_told_to():
    """With tmin, samples are those from the nearest one on; rate and true first time are told."""
    whole = read_recording(recording(), subject=1, **PLAIN)
    later = read_recording(recording(), subject=1, **{**PLAIN, "tmin": 0.201, "seconds": 0.4})
    np.testing.assert_array_equal(later.x, whole.x[:, :, 50:])
    assert later.info.tmin == 0.2
    thin = read_recording(recording(), subject=1, **{**PLAIN, "decimate": 4})
    np.testing.assert_array_equal(thin.x, whole.x[:, :, ::4])
    assert thin.info.sfreq == SFREQ / 4


@pytest.mark.parametrize(("end", "step"), [(20.0, 3), (31.0, 2), (40.0, 1), (2.0, 31)])
def test_as_many_samples_are_left_out_as_the_band_allows(end, step):
    """By default the rate that is left is four times the band's end or more, but for one step."""
    trials = read_recording(recording(), band=(0.5, end), **QUICK)
    assert trials.info.sfreq == SFREQ / step
    assert SFREQ / step >= 4 * end or step == 1
    assert SFREQ / (step + 1) < 4 * end


def test_a_stim_channel_tells_events_where_there_are_no_annotations():
    """Codes are the names of the events; annotations go first, and a channel can be named."""
    coded = np.where(NAMES == "target", "2", "1").tolist()
    bare = read_recording(recording(stim=True, annotated=False), **QUICK)
    assert [bare.info.class_names[k] for k in bare.y] == coded
    named = read_recording(recording(stim=True), events="STI", **QUICK)
    assert [named.info.class_names[k] for k in named.y] == coded
    both = read_recording(recording(stim=True), **QUICK)
    assert both.info.class_names == ("other", "target")
    assert both.info.ch_names == bare.info.ch_names == CHANNELS


@pytest.mark.parametrize("name", ["all-eve.fif", "all-eve.txt", "events.tsv", "events.csv"])
def test_events_in_a_file_are_those_of_the_recording(tmp_path, name):
    """MNE's files, and tables in any order, give the same trials as annotations; n/a is none."""
    path = tmp_path / name
    if "eve." in name:
        codes = np.where(NAMES == "target", 2, 1)
        at = np.round(ONSETS * SFREQ).astype(int)
        mne.write_events(path, np.column_stack([at, 0 * at, codes]), verbose="error")
        classes = {2: "target", 1: "other"}
    else:
        said = zip(ONSETS[::-1] - 0.45 / SFREQ, NAMES[::-1], strict=True)
        rows = [("onset", "duration", "trial_type"), ("4.4", "0", "n/a")]
        rows += [(str(onset), "0", name) for onset, name in said]
        mark = "\t" if name.endswith("tsv") else ","
        path.write_text("\n".join(mark.join(row) for row in rows))
        classes = None
    bare = recording(annotated=False)
    trials = read_recording(bare, events=path, classes=classes, **QUICK)
    expected = read_recording(recording(), **QUICK)
    np.testing.assert_array_equal(trials.x, expected.x)
    np.testing.assert_array_equal(trials.y, expected.y)
    assert trials.info == expected.info


def test_onsets_count_from_the_first_sample_that_is_kept(tmp_path):
    """A recording that MNE cropped, whose samples count from the amplifier's start, is no other."""
    raw = recording(stim=True).crop(2.0)
    raw.save(tmp_path / "sub-1_raw.fif", verbose="error")
    for events in (None, "STI"):
        trials = read_recording(tmp_path / "sub-1_raw.fif", events=events, **PLAIN)
        assert np.abs(difference(trials)[1]).argmax() == round(0.3 * SFREQ)


def test_classes_choose_and_name_events():
    """A list takes those events only; a mapping names, and joins, them."""
    whole = read_recording(recording(), **QUICK)
    one = read_recording(recording(), classes=["target"], **QUICK)
    np.testing.assert_allclose(one.x, whole.x[whole.y == 1])
    assert one.info.class_names == ("target",)
    joined = read_recording(recording(), classes={"other": "any", "target": "any"}, **QUICK)
    assert joined.info.class_names == ("any",)
    assert len(joined) == len(whole)


def test_an_unknown_event_gets_the_nearest_name():
    """A name that no event has is an error that knows what is meant and what is there."""
    said = r"Unknown event 'targt'\. Did you mean 'target'\? Known: other, target\."
    with pytest.raises(OptionError, match=said):
        read_recording(recording(), classes=["targt", "other"], **QUICK)


def test_seams_and_new_segments_are_no_events():
    """What programs note of themselves becomes no class."""
    raw = recording()
    raw.annotations.append([1, 2, 2.5], 0, ["New Segment/", "boundary", "EDGE boundary"])
    assert read_recording(raw, **QUICK).info.class_names == ("other", "target")


def test_seams_in_a_recording_are_told(tmp_path):
    """Where EEGLAB cut pieces out, a filter runs over the seam: that is warned of."""
    raw = recording()
    raw.annotations.append(20.2, 0, "boundary")
    write_eeglab(tmp_path / "sub-1.set", raw)
    with pytest.warns(CensoriumWarning, match=r"sub-1\.set: The data contains 'boundary' events"):
        trials = read_recording(tmp_path / "sub-1.set")
    assert trials.info.class_names == ("other", "target")


def test_trials_that_leave_the_recording_are_dropped_and_counted():
    """Of events near its ends it is warned; where none is left, that is an error."""
    raw = recording()
    raw.annotations.append([0.01, 59.8, 59.9], 0, "other")
    with pytest.warns(CensoriumWarning, match=r"2 of 39 trials begin before .* left out\."):
        assert len(read_recording(raw, **QUICK)) == 37
    with pytest.warns(CensoriumWarning, match=r"1 of 39 trials begin before"):
        assert len(read_recording(raw, tmin=-0.5, seconds=0.1, **QUICK)) == 38
    with pytest.raises(DataError, match=r"No trial is left\. 36 of 36 trials"):
        read_recording(recording(), seconds=60, **QUICK)


def test_trials_in_bad_stretches_are_dropped_and_counted():
    """A trial that overlaps a stretch marked bad is left out, one that touches it is not."""
    raw = recording()
    raw.annotations.append([4.9, 6.5], [1.1, 0.99], ["BAD_jump", "bad"])
    with pytest.warns(CensoriumWarning, match=r"1 of 36 trials overlap .* marked bad"):
        trials = read_recording(raw, seconds=0.5, **QUICK)
    whole = read_recording(recording(), **QUICK)
    np.testing.assert_array_equal(trials.x, np.delete(whole.x, 1, axis=0))
    np.testing.assert_array_equal(trials.y, np.delete(whole.y, 1))


def test_channels_are_picked():
    """Names pick channels, in the recording's order; no name and no other kind gets in."""
    trials = read_recording(recording(), picks=["Pz", "Fz"], **QUICK)
    assert set(trials.info.ch_names) == {"Fz", "Pz"}
    with pytest.raises(OptionError, match=r"no channels picks=\['Qz'\].*'VEOG'\], of types"):
        read_recording(recording(), picks=["Qz"], **QUICK)
    with pytest.raises(DataError, match=r"no signals of the brain: 'VEOG' \(eog\).*picks=\"eeg\""):
        read_recording(recording(), picks="all", **QUICK)


def test_bad_channels_are_warned_of():
    """Channels that are marked bad stay, and are named."""
    raw = recording()
    raw.info["bads"] = ["Pz"]
    with pytest.warns(CensoriumWarning, match=r"marked bad .*: \['Pz'\]\..*picks="):
        assert read_recording(raw, **QUICK).info.ch_names == CHANNELS


def test_no_events_is_an_error():
    """A recording without events says where they could come from; so does an empty table."""
    with pytest.raises(DataError, match=r"There are no events: .*events=\.\.\."):
        read_recording(recording(annotated=False), **QUICK)


def test_tables_that_are_none_are_file_errors(tmp_path):
    """An empty table, one without the columns, one whose onset is no number, and no file at all."""
    path = tmp_path / "events.tsv"
    for text, said in (
        ("onset\ttrial_type\n", "There are no events in .*events.tsv"),
        ("time\tkind\n1\ta\n", r"needs the columns onset and trial_type.*\['time', 'kind'\]"),
        ("onset\ttrial_type\nsoon\ta\n", "events.tsv cannot be read as events.*soon"),
    ):
        path.write_text(text)
        with pytest.raises((DataError, FileError), match=said):
            read_recording(recording(), events=path, **QUICK)
    with pytest.raises(FileError, match=r"no file of events .*gone\.tsv, nor a channel"):
        read_recording(recording(), events=tmp_path / "gone.tsv", **QUICK)


def test_events_of_another_recording_are_an_error(tmp_path):
    """Onsets after its end mean that the file is of another recording, or this one is cut."""
    path = tmp_path / "events.csv"
    path.write_text("onset,trial_type\n2,a\n59,b\n61,b\n")
    with pytest.raises(DataError, match=r"1 of 3 events lie outside .* 60\.0 s, .*'b', at 61\.0 s"):
        read_recording(recording(), events=path, **QUICK)


def test_two_labels_at_one_moment_are_an_error():
    """Which of them is the label must be said."""
    raw = recording()
    raw.annotations.append(ONSETS[4], 0, "button")
    said = r"Two events begin at 9\.000 s: '(other|button)' and .*classes="
    with pytest.raises(DataError, match=said):
        read_recording(raw, **QUICK)
    assert len(read_recording(raw, classes=["other", "target"], **QUICK)) == len(ONSETS)


@pytest.mark.parametrize("kind", ["fif", "edf", "bdf", "vhdr", "set"])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.9])
def test_a_file_cut_short_is_an_error(tmp_path, kind, share):
    """Wherever the file breaks off, the error names it; fewer trials never come of it."""
    path = write(tmp_path / f"sub-1_raw.{kind}")
    data = path.with_suffix(".eeg") if kind == "vhdr" else path
    data.write_bytes(data.read_bytes()[: int(share * data.stat().st_size)])
    with pytest.raises(FileError, match=rf"sub-1_raw\.{kind} .*cut short"):
        read_recording(path, notch=None)


def test_a_file_of_something_else_is_an_error(tmp_path):
    """A file of another kind, one that lies about its kind, and one that is not there."""
    for name, said in (
        ("notes.docx", "no recording of a known kind: .fif"),
        ("sub-1.edf", "sub-1.edf cannot be read"),
    ):
        (tmp_path / name).write_text("words")
        with pytest.raises(FileError, match=said):
            read_recording(tmp_path / name)
    with pytest.raises(FileError, match="There is no file"):
        read_recording(tmp_path / "gone.edf")


def test_somebody_was_recorded():
    """Neither option nor name says who: the error says both ways. Options go before the name."""
    with pytest.raises(DataError, match=r"Pass subject=\.\.\., or name .* sub-01_ses-2_eeg"):
        read_recording(recording())
    trials = read_recording(recording(), subject=3, notch=None)
    assert (trials.subjects, set(trials.session)) == ([3], {"1"})


def test_saved_epochs_are_trials(tmp_path):
    """They come as they were saved; ids are the metadata's, the options', or the name's."""
    x = 1e-6 * np.random.default_rng(0).standard_normal((4, 2, 50))
    info = mne.create_info(["Cz", "HEOG"], 100.0, ["eeg", "eog"])
    events = np.column_stack([np.arange(4), np.zeros(4, int), [1, 2, 2, 1]])
    epochs = mne.EpochsArray(x, info, events, -0.1, {"b": 1, "a": 2}, verbose="error")
    path = tmp_path / "sub-4_ses-late-epo.fif"
    epochs.save(path, verbose="error")
    trials = read_recording(path, classes={"a": "left", "b": "right"})
    np.testing.assert_allclose(trials.x, x[:, :1], rtol=1e-6)
    assert [trials.info.class_names[k] for k in trials.y] == ["right", "left", "left", "right"]
    assert (trials.info.sfreq, trials.info.tmin) == (100.0, -0.1)
    assert (trials.subjects, set(trials.session)) == (["4"], {"late"})
    with pytest.raises(OptionError, match=r"band=\(2, 20\) is not for .* filtered and cut already"):
        read_recording(path, band=(2, 20))

    import pandas as pd

    epochs.metadata = pd.DataFrame({"subject": list("aabb"), "session": [1, 2, 1, 2]})
    many = tmp_path / "everybody-epo.fif"
    epochs.save(many, verbose="error")
    assert read_recording(many).subject.tolist() == list("aabb")
    assert set(read_recording(many, session=5).session) == {5}
    assert set(read_recording(many, subject="x").session) == {"1"}
    assert list(recording_parts(many)) == ["everybody"]


def test_a_folder_has_a_part_for_each_recording(tmp_path):
    """Recordings are found in all folders, 2 before 10; other files of MNE's are none."""
    for name in ("sub-10_raw.fif", "sub-2_ses-1_run-2_raw.fif", "sub-2_ses-1_run-1_raw.fif"):
        folder = tmp_path / name.split("_")[0]
        folder.mkdir(exist_ok=True)
        write(folder / name, seed=len(name))
    mne.write_events(tmp_path / "sub-3-eve.fif", np.array([[1, 0, 1]]), verbose="error")
    (tmp_path / "notes.txt").write_text("none")
    parts = recording_parts(tmp_path, notch=None, classes=["target"])
    assert list(parts) == ["sub-2_ses-1_run-1", "sub-2_ses-1_run-2", "sub-10_ses-1"]
    trials = pickle.loads(pickle.dumps(parts["sub-10_ses-1"]))()  # noqa: S301
    assert (trials.subjects, trials.info.class_names) == (["10"], ("target",))
    assert list(recording_parts(tmp_path, subjects=[10])) == ["sub-10_ses-1"]
    with pytest.raises(OptionError, match=r"Unknown subject '3'\..*Known: 10, 2\."):
        recording_parts(tmp_path, subjects=[2, 3])


def test_one_session_cannot_be_two_recordings(tmp_path):
    """Files of the same subject, session and run are an error that names both."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sub-1_ses-1_eeg.edf").touch()
    with pytest.raises(DataError, match=r"a/sub-1_.* and .*b/sub-1_ses-1_eeg\.edf are both sub-1"):
        recording_parts(tmp_path)
    with pytest.raises(OptionError, match=r"Unknown option of a recording 'bandd'.*'band'\?"):
        recording_parts(tmp_path, bandd=(1, 2))
    (tmp_path / "e.tsv").touch()
    with pytest.raises(OptionError, match="cannot be those of all 2 recordings"):
        recording_parts(tmp_path, events=tmp_path / "e.tsv")


def test_a_folder_without_recordings_is_an_error(tmp_path):
    """An empty folder says what was looked for."""
    with pytest.raises(FileError, match=r"no recording in .*\.vhdr"):
        recording_parts(tmp_path)
