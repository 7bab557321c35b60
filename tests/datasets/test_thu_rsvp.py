"""Laws of the RSVP benchmark's preparation, on simulated people in exactly its format."""

import shutil
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.signal import butter, iirnotch, lfilter, sosfilt

from censorium import paper_folds
from censorium.datasets import load, thu_rsvp
from censorium.datasets.thu_rsvp import published
from censorium.datasets.thu_rsvp.simulated import variables, write_mat, write_simulated
from censorium.errors import CensoriumError, FileError, OptionError
from served import serving

SUBJECTS = [3, 12]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """The zips of two simulated people, and their digests."""
    folder = tmp_path_factory.mktemp("published")
    return folder, write_simulated(folder, SUBJECTS, n_sequences=1)


@pytest.fixture(scope="module")
def trials(raw, tmp_path_factory):
    """Their trials, all of them, prepared in this process."""
    place = tmp_path_factory.mktemp("prepared") / "all"
    return thu_rsvp.load(place, source=raw[0], subjects=SUBJECTS, ratio=None, workers=1)


@pytest.fixture(scope="module")
def held():
    """What one session's file holds."""
    return variables(1, "A", n_sequences=1)


def prepare(folder: Path, source: Path, subjects=(1,), **options):
    return thu_rsvp.load(folder, source=source, subjects=subjects, workers=1, **options)


def by_hand(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The paper's preparation of a session in plain SciPy: trials in volt, and labels."""
    file, trials, labels = loadmat(path), [], []
    notch = iirnotch(50, 30, fs=250)
    band = butter(5, [1, 20], "bandpass", fs=250, output="sos")
    for block in (0, 1):
        data = np.delete(file[f"EEGdata{block + 1}"], [32, 42], axis=0)
        clean = sosfilt(band, lfilter(*notch, data - data[:, :1]))
        for position, label in zip(
            file["trigger_positions"][block], file["class_labels"][block], strict=True
        ):
            first = int(position) - 1
            trials.append(1e-6 * clean[:, first : first + 125 : 2])
            labels.append(int(label == 1))
    return np.array(trials), np.array(labels)


def test_trials_are_those_of_a_plain_script(raw, trials, tmp_path):
    """Each session's trials and labels are those of the paper's preparation in plain SciPy."""
    for subject in SUBJECTS:
        for session in "AB":
            name = f"sub{subject}{session}.mat"
            with ZipFile(raw[0] / published.zip_of(subject)) as archive:
                archive.extract(name, tmp_path)
            x, y = by_hand(tmp_path / name)
            mine = trials[(trials.subject == subject) & (trials.session == session)]
            np.testing.assert_array_equal(mine.y, y)
            # Single precision keeps seven digits of the largest value.
            np.testing.assert_allclose(mine.x, x, rtol=0, atol=2e-7 * np.abs(x).max())


def test_what_trials_say_of_themselves(trials):
    """62 channels without mastoids, 63 times at 125 Hz, 0 for non-targets and 1 for targets."""
    assert trials.signals.shape == (2 * 2 * 200, 62, 63)
    assert trials.info.sfreq == 125
    assert trials.info.tmin == 0
    assert trials.info.class_names == ("non-target", "target")
    assert not {"M1", "M2"} & set(trials.info.ch_names)
    assert trials.info.ch_names[-5:] == ("CB1", "O1", "Oz", "O2", "CB2")
    assert trials.subjects == SUBJECTS
    assert len(np.unique(trials.nuisance())) == 4


def test_the_published_facts():
    """Rows 33 and 43 are the mastoids; seven zips hold 64 people; each has a digest of its own."""
    assert (published.ROWS[32], published.ROWS[42]) == ("M1", "M2")
    assert len(published.ROWS) == 64 == len(set(published.ROWS))
    zips = [published.zip_of(s) for s in range(1, 65)]
    assert list(dict.fromkeys(zips)) == [n for n in published.SHA256 if n.endswith(".zip")]
    assert zips.count("S61-S64.mat.zip") == 4
    assert len(set(published.SHA256.values())) == 8
    assert len(paper_folds(thu_rsvp.subject_numbers(None))) == 10


def test_ten_others_for_each_target(raw, trials, tmp_path):
    """Each session keeps all targets and ten others for each, in order; a seed decides which."""
    one, same, other = (
        prepare(tmp_path / name, raw[0], SUBJECTS, seed=seed)
        for name, seed in (("one", 0), ("same", 0), ("other", 1))
    )
    for cell in range(4):
        whole, kept = (t[t.nuisance() == cell] for t in (trials, one))
        assert np.bincount(kept.y).tolist() == [10 * whole.y.sum(), whole.y.sum()]
        places = [np.flatnonzero((whole.x == x).all(axis=(1, 2)))[0] for x in kept.x]
        assert places == sorted(places)
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


def test_zero_phase_sees_the_future(raw, trials, tmp_path):
    """Filtered both ways, trials differ, and the average to all images peaks earlier."""
    both = prepare(tmp_path / "both", raw[0], SUBJECTS, ratio=None, causal=False)
    power = [np.square(t.x).mean() for t in (trials, both)]
    assert not np.allclose(trials.x, both.x)
    assert 0.3 < power[1] / power[0] < 1.1


def test_both_versions_of_files_give_the_same(tmp_path):
    """Files of MATLAB 5 and 7.3, in zips or loose, give the same bits."""
    write_simulated(tmp_path / "v5", [1], n_sequences=1)
    write_simulated(tmp_path / "v7", [1], n_sequences=1, version="7.3")
    with ZipFile(tmp_path / "v5" / "S1-S10.mat.zip") as archive:
        archive.extractall(tmp_path / "loose" / "S1-S10")
    made = [prepare(tmp_path / f"of {n}", tmp_path / n) for n in ("v5", "v7", "loose")]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0].x, other.x)
        np.testing.assert_array_equal(made[0].y, other.y)


def test_from_the_web_to_trials(raw, tmp_path, monkeypatch):
    """Fetched from a server that cuts the line, prepared, and found again by name alone."""
    folder, digests = raw
    monkeypatch.setenv("CENSORIUM_DATA", str(tmp_path))
    monkeypatch.setattr("censorium.datasets.download.PAUSE", 0)
    with serving(folder, cut_after=300_000, cuts=2) as server:
        told = []
        thu_rsvp.fetch(server.url, digests=digests, on_bytes=lambda *n: told.append(n))
    size = sum((folder / name).stat().st_size for name in digests)
    assert told[-1] == (size, size)
    made = load("thu-rsvp", subjects=SUBJECTS, workers=2)
    shutil.rmtree(thu_rsvp.raw())
    again = load("thu-rsvp", subjects=SUBJECTS)
    np.testing.assert_array_equal(made.x, again.x)


def change(**values):
    """What replaces variables of a session's file; None leaves one out."""

    def edit(held):
        return {k: v for k, v in {**held, **values}.items() if v is not None}

    return edit


def at(name, place, value):
    """What changes one entry of a variable."""

    def edit(held):
        new = held[name].copy()
        new[place] = value
        return {**held, name: new}

    return edit


FAULTS = {
    "EEGdata2 missing": (change(EEGdata2=None), "has no variable 'EEGdata2'"),
    "labels missing": (change(class_labels=None), "has no variable 'class_labels'"),
    "channels": (change(EEGdata1=np.zeros((63, 9000))), r"64 channels, its shape is \(63, 9000\)"),
    "text": (change(EEGdata1="none"), "EEGdata1 in sub1A.mat must be a matrix of real numbers"),
    "one block": (change(trigger_positions=np.ones((1, 100))), "must have 2 rows"),
    "99 images": (change(trigger_positions=np.ones((2, 99))), "sequences of 100 images"),
    "fewer labels": (change(class_labels=np.ones((2, 90))), r"class_labels .* shape \(2, 90\)"),
    "label 3": (at("class_labels", (1, 7), 3), "image 7 in block 2 is 3"),
    "label NaN": (at("class_labels", (0, 0), np.nan), "image 0 in block 1 is nan"),
    "out of order": (at("trigger_positions", (0, 5), 3), "image 5 in block 1 is 3"),
    "at 0": (at("trigger_positions", (0, 0), 0), "image 0 in block 1 is 0"),
    "half a sample": (at("trigger_positions", (0, 0), 10.5), "image 0 in block 1 is 10.5"),
    "past the end": (
        lambda held: {**held, "EEGdata2": held["EEGdata2"][:, :2600]},
        "EEGdata2 in sub1A.mat is cut short: .* it has 2600",
    ),
    "NaN": (
        at("EEGdata1", (3, 800), np.nan),
        "EEGdata1 in sub1A.mat: .* channel 3 from sample 80",
    ),
    "500 Hz": (
        lambda held: {**held, "trigger_positions": 2 * held["trigger_positions"]},
        "not sampled at 250 Hz: .* as if it were 500 Hz",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_file_is_named(tmp_path, held, fault):
    """A file that is not as published is an error that names it and what is wrong with it."""
    edit, message = FAULTS[fault]
    source = tmp_path / "source"
    source.mkdir()
    for session in "AB":
        savemat(source / f"sub1{session}.mat", edit(held))
    with pytest.raises(FileError, match=message):
        prepare(tmp_path / "out", source)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("version", ["5", "7.3"])
def test_a_file_cut_short_is_named(tmp_path, held, version, share):
    """A .mat file that lacks its end is an error that names it."""
    for session in "AB":
        path = tmp_path / f"sub1{session}.mat"
        write_mat(path, held, version)
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileError, match="sub1A"):
        prepare(tmp_path / "out", tmp_path)


def test_a_zip_cut_short_is_named(raw, tmp_path):
    """A zip that lacks its end is an error that says to fetch it again."""
    name = published.zip_of(SUBJECTS[0])
    content = (raw[0] / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(FileError, match=f"{name} is no whole zip file .* fetch it again"):
        prepare(tmp_path / "out", tmp_path, SUBJECTS[:1])


def test_a_zip_with_a_broken_member_is_named(raw, tmp_path):
    """A zip whose content was altered is an error that names the member."""
    name = published.zip_of(SUBJECTS[0])
    content = bytearray((raw[0] / name).read_bytes())
    content[1000] ^= 255
    (tmp_path / name).write_bytes(bytes(content))
    with pytest.raises(FileError, match=r"sub3A.mat in .* is damaged"):
        prepare(tmp_path / "out", tmp_path, SUBJECTS[:1])


@pytest.mark.parametrize("name", ["../sub1A.mat", "/etc/sub1A.mat", "a/../../b.mat", "C:\\b.mat"])
def test_a_zip_that_leads_outside_is_refused(tmp_path, name):
    """A zip with a member that would lie outside of its folder is refused whole."""
    source = tmp_path / "source"
    source.mkdir()
    with ZipFile(source / "S1-S10.mat.zip", "w") as archive:
        archive.writestr(name, "harm")
    with pytest.raises(FileError, match="refused"):
        prepare(tmp_path / "out", source)
    assert [p.name for p in tmp_path.rglob("*.mat")] == []


def test_missing_and_double_sessions_are_named(raw, tmp_path):
    """Subjects whose files lack, and a session that is there twice, are errors before any work."""
    with pytest.raises(FileError, match=r"lacks sub4A.mat, sub4B.mat\. Fetch them"):
        prepare(tmp_path / "out", raw[0], [3, 4])
    with pytest.raises(FileError, match="There is no folder"):
        prepare(tmp_path / "out", tmp_path / "nowhere")
    shutil.copy(raw[0] / "S1-S10.mat.zip", tmp_path)
    (tmp_path / "sub3A.mat").touch()
    with pytest.raises(FileError, match=r"sub3A.mat is there twice: .* Remove one"):
        prepare(tmp_path / "out", tmp_path, [3])


@pytest.mark.parametrize(
    "options", [{"subjects": [0]}, {"subjects": []}, {"subjects": [65]}, {"ratio": 0.5}]
)
def test_impossible_options_are_refused(tmp_path, options):
    """Subjects that there are not, and a ratio below one, are errors."""
    with pytest.raises(OptionError, match="1"):
        thu_rsvp.load(tmp_path, **options)


def test_what_was_done_is_not_done_again(raw, tmp_path):
    """After a failure the sessions that were prepared are taken as they are."""
    source = tmp_path / "source"
    shutil.copytree(raw[0], source)
    whole = (source / "S11-S20.mat.zip").read_bytes()
    broken = bytearray(whole)
    broken[2000] ^= 255
    (source / "S11-S20.mat.zip").write_bytes(bytes(broken))
    with pytest.raises(CensoriumError, match="sub12A"):
        prepare(tmp_path / "out", source, SUBJECTS)
    done = sorted(p.name for p in (tmp_path / ".out.parts").glob("sub*"))
    assert done == ["sub3A", "sub3B"]
    (source / "S11-S20.mat.zip").write_bytes(whole)
    told = []
    prepare(tmp_path / "out", source, SUBJECTS, on_part=lambda *n: told.append(n))
    assert told == [(3, 4), (4, 4)]
    assert not (tmp_path / ".out.parts").exists()
