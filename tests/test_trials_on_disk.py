"""Trials kept on disk: whole or not at all, and nothing in them can execute."""

import errno
import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from censorium.errors import FileError
from censorium.trials import Info, Trials

ARRAYS = ("x", "y", "subject", "session")


def assert_same(a, b):
    assert a.info == b.info
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)


@pytest.fixture
def folder(tmp_path, small_trials):
    """A folder of trials, alone in the folder it is in."""
    small_trials().save(tmp_path / "kept")
    return tmp_path / "kept"


def test_what_was_saved_is_loaded(folder, small_trials):
    """Trials come back from disk bit for bit."""
    assert_same(Trials.load(folder), small_trials())


def test_string_ids_and_no_trials_come_back(tmp_path, small_trials):
    """String identifiers, times before 0 and empty selections come back as they were."""
    trials = small_trials()
    named = replace(
        trials,
        subject=np.array([f"sübject {s}" for s in trials.subject]),
        info=replace(trials.info, tmin=-0.2),
    )
    named.save(tmp_path / "named")
    named[:0].save(tmp_path / "deeper" / "empty")
    assert_same(Trials.load(tmp_path / "named"), named)
    assert_same(Trials.load(tmp_path / "deeper" / "empty"), named[:0])


def test_loaded_signals_stay_on_disk(folder):
    """Loaded signals are mapped from the file, in slices too, and cannot be written."""
    trials = Trials.load(folder)
    for x in (trials.x, trials[2:5].x):
        base = x
        while not isinstance(base, np.memmap) and base is not None:
            base = base.base
        assert isinstance(base, np.memmap)
        assert not x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        trials.x[0] = 1


def test_nothing_is_pickled(tmp_path, folder):
    """No file holds objects, even where identifiers came as objects: none is ever unpickled."""
    ids = np.array(["a", "b", "a"], object)
    x = np.zeros((3, 2, 5))
    Trials.from_arrays(x, ids, ids, ids, sfreq=100).save(tmp_path / "objects")
    for path in (*folder.glob("*.npy"), *(tmp_path / "objects").glob("*.npy")):
        assert not np.load(path, allow_pickle=False).dtype.hasobject


def test_a_folder_holds_five_files(folder):
    """A folder of trials holds an array for each part and the info, and nothing lies beside it."""
    assert {p.name for p in folder.iterdir()} == {*(f"{a}.npy" for a in ARRAYS), "info.json"}
    assert list(folder.parent.iterdir()) == [folder]


def edit(header):
    def damage(folder):
        path = folder / "info.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **header}))

    return damage


def cut(name, n_bytes):
    def damage(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:n_bytes])

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        pytest.param(cut("x.npy", -1), "damaged", id="x lacks a byte"),
        pytest.param(cut("x.npy", 500), "damaged", id="x cut in the signals"),
        pytest.param(cut("x.npy", 40), "damaged", id="x cut in its header"),
        pytest.param(cut("x.npy", 0), "damaged", id="x empty"),
        pytest.param(cut("y.npy", -8), "damaged", id="y cut"),
        pytest.param(cut("subject.npy", 3), "damaged", id="subject cut"),
        pytest.param(cut("info.json", 40), "damaged", id="info cut"),
        pytest.param(cut("info.json", 0), "damaged", id="info empty"),
        pytest.param(edit({"info": None}), "damaged", id="no info"),
        pytest.param(edit({"info": {"ch_names": []}}), "damaged", id="little info"),
        pytest.param(
            edit({"info": asdict(Info(100.0, ("a",), ("a", "b")))}), "damaged", id="few channels"
        ),
        pytest.param(edit({"format": "mine"}), "is not a folder of trials", id="foreign"),
        pytest.param(
            edit({"version": 2}), "in version 2 of the format; this .* reads version 1", id="newer"
        ),
        *(
            pytest.param(lambda f, n=n: (f / n).unlink(), f"of trials: .*{n} is missing", id=n)
            for n in (*(f"{a}.npy" for a in ARRAYS), "info.json")
        ),
    ],
)
def test_a_damaged_folder_is_a_file_error(folder, damage, message):
    """A folder that is cut short, incomplete, foreign or newer is an error that names it."""
    damage(folder)
    with pytest.raises(FileError, match=message) as caught:
        Trials.load(folder)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '"censorium-trials"'])
def test_json_of_another_kind_is_a_file_error(folder, text):
    """An info file that is JSON but no header is an error that names the folder."""
    (folder / "info.json").write_text(text)
    with pytest.raises(FileError, match=str(folder)):
        Trials.load(folder)


def test_arrays_that_do_not_fit_are_a_file_error(folder):
    """Arrays of a folder that disagree in length are an error that names the folder."""
    np.save(folder / "y.npy", np.zeros(3, int))
    with pytest.raises(FileError, match=f"{folder} is damaged: y has shape"):
        Trials.load(folder)


def test_pickled_arrays_are_refused(folder):
    """A folder whose identifiers were replaced by pickled objects is refused, not unpickled."""
    np.save(folder / "subject.npy", np.array([{}] * 96, object), allow_pickle=True)
    with pytest.raises(FileError, match="damaged"):
        Trials.load(folder)


def test_what_is_no_folder_is_a_file_error(tmp_path):
    """A path with nothing there, or with a file, is an error that names it."""
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "none", tmp_path / "file"):
        with pytest.raises(FileError, match=f"There is no folder {path}"):
            Trials.load(path)


def test_save_does_not_overwrite_unasked(folder, small_trials):
    """Onto a folder that is there, save is refused and changes nothing."""
    with pytest.raises(FileError, match=f"{folder} exists already"):
        small_trials(seed=1).save(folder)
    assert_same(Trials.load(folder), small_trials())


def test_save_overwrites_when_asked(folder, small_trials):
    """Asked to, save replaces the folder whole and leaves nothing of the old one."""
    small_trials(seed=1, n_subjects=2).save(folder, overwrite=True)
    assert_same(Trials.load(folder), small_trials(seed=1, n_subjects=2))
    assert list(folder.parent.iterdir()) == [folder]


def test_trials_can_be_saved_over_themselves(folder, small_trials):
    """A selection of mapped trials can replace the folder it is mapped from."""
    Trials.load(folder)[10:20].save(folder, overwrite=True)
    assert_same(Trials.load(folder), small_trials()[10:20])


def test_somebody_elses_folder_is_never_overwritten(tmp_path, small_trials):
    """A folder or file that is not of trials is left alone even when asked to overwrite."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "info.json").write_text('{"format": "photos"}')
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("photos", "empty", "file"):
        with pytest.raises(FileError, match="something else than trials; it is left alone"):
            small_trials().save(tmp_path / name, overwrite=True)
    assert (tmp_path / "photos" / "info.json").read_text() == '{"format": "photos"}'
    assert (tmp_path / "file").read_text() == "mine"
    assert {p.name for p in tmp_path.iterdir()} == {"photos", "empty", "file"}


def test_a_failed_save_changes_nothing(folder, small_trials, monkeypatch):
    """Where saving fails halfway, the old folder is as it was and nothing lies beside it."""
    trials = small_trials(seed=1)

    def full(*_, **__):  # the arrays are written by then
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json, "dumps", full)
    with pytest.raises(OSError, match="No space"):
        trials.save(folder, overwrite=True)
    with pytest.raises(OSError, match="No space"):
        trials.save(folder.with_name("other"))
    assert_same(Trials.load(folder), small_trials())
    assert list(folder.parent.iterdir()) == [folder]
