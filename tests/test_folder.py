"""A folder on disk: where it may lie, what it lets others see, what it is damaged by."""

import json
import os
import zipfile

import numpy as np
import pytest

from censorium import folder as module
from censorium.errors import FileError
from censorium.folder import ARRAYS, is_trials_folder, read, require_free, write
from censorium.trials import Trials

CONTENT = {name: np.arange(6.0).reshape(3, 2) for name in ARRAYS}
INFO = {"sfreq": 1.0}


def put(folder, **options):
    write(folder, CONTENT, INFO, **{"overwrite": False, **options})


def test_what_is_written_is_read(tmp_path):
    """Arrays and description come back as they were; x alone stays on disk."""
    put(tmp_path / "a" / "b")
    arrays, info = read(tmp_path / "a" / "b")
    assert info == INFO
    for name in ARRAYS:
        np.testing.assert_array_equal(arrays[name], CONTENT[name])
        assert isinstance(arrays[name], np.memmap) == (name == "x")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o755), (0o077, 0o700), (0o002, 0o775)])
def test_modes_are_the_umasks(tmp_path, mask, mode):
    """A folder and its files let others in as far as the umask says, as new folders do."""
    before = os.umask(mask)
    try:
        put(tmp_path / "f")
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == mode
    assert {p.stat().st_mode & 0o777 for p in (tmp_path / "f").iterdir()} == {mode & 0o666}


def test_files_are_on_the_disk_before_they_replace_others(tmp_path, monkeypatch):
    """Each of the five files is synced while the old folder is still in its place."""
    put(tmp_path / "f")
    inode = (tmp_path / "f").stat().st_ino
    synced = []

    def fsync(descriptor):
        assert (tmp_path / "f").stat().st_ino == inode
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(module.os, "fsync", fsync)
    put(tmp_path / "f", overwrite=True)
    assert (tmp_path / "f").stat().st_ino != inode
    assert sorted(synced) == sorted(p.stat().st_size for p in (tmp_path / "f").iterdir())


def test_a_link_is_followed(tmp_path):
    """Overwriting through a link replaces the folder it leads to, and keeps the link."""
    put(tmp_path / "f")
    (tmp_path / "link").symlink_to(tmp_path / "f")
    put(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {"f", "link"}
    assert is_trials_folder(tmp_path / "f")


def test_a_place_below_a_file_is_refused(tmp_path):
    """Where a parent is a file, the error names it, and nothing is made."""
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file" / "f", tmp_path / "file" / "deep" / "f"):
        with pytest.raises(FileError, match=f"{tmp_path / 'file'} is a file"):
            require_free(place, overwrite=False)
        with pytest.raises(FileError, match=f"{tmp_path / 'file'} is a file"):
            put(place)


def test_a_place_without_permission_is_refused(tmp_path, monkeypatch):
    """Where the nearest parent that exists may not be written to, the error names it."""
    # Root may write anywhere, so the system's answer is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(FileError, match=f"no permission to write in {tmp_path}"):
        require_free(tmp_path / "deep" / "f", overwrite=False)


def test_free_places_are_free(tmp_path):
    """A new place, however deep, is free; so is a folder of trials that may be overwritten."""
    require_free(tmp_path / "a" / "b", overwrite=False)
    assert not (tmp_path / "a").exists()
    put(tmp_path / "f")
    require_free(tmp_path / "f", overwrite=True)
    with pytest.raises(FileError, match="exists already"):
        require_free(tmp_path / "f", overwrite=False)


def archive(path):
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("x.npy", b"")


def huge(path):
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (10**15, 62, 63)}
        np.lib.format.write_array_header_1_0(file, header)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"PK\x03\x04" + bytes(50)),
        lambda path: path.write_bytes(b"\x80\x04K\x01."),
        lambda path: np.save(path, np.array([{}], object), allow_pickle=True),
        archive,
        huge,
    ],
    ids=["begins with PK", "a pickle", "objects", "an archive", "says it is huge"],
)
def test_files_that_are_no_plain_arrays(tmp_path, name, damage):
    """An archive, a pickle or objects: an error that names the file, and no way round it."""
    put(tmp_path / "f")
    damage(tmp_path / "f" / f"{name}.npy")
    with pytest.raises(FileError, match=f"is damaged: {name}.npy") as caught:
        read(tmp_path / "f")
    assert "trust" not in str(caught.value)
    assert "pickle" not in str(caught.value)


def test_a_folder_in_the_place_of_a_file(tmp_path):
    """What the system says of a file that cannot be read becomes a FileError too."""
    put(tmp_path / "f")
    (tmp_path / "f" / "y.npy").unlink()
    (tmp_path / "f" / "y.npy").mkdir()
    with pytest.raises(FileError, match=f"{tmp_path / 'f'} cannot be read: Is a directory"):
        read(tmp_path / "f")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sfreq": "abc"}, "sfreq must be a finite number, got 'abc'"),
        ({"sfreq": None}, "sfreq must be a finite number, got None"),
        ({"sfreq": 0}, "sfreq must be above 0"),
        ({"sfreq": float("nan")}, "sfreq must be a finite number"),
        ({"sfreq": 10**400}, "sfreq must be a finite number"),
        ({"tmin": []}, "tmin must be a finite number"),
        ({"ch_names": "abc"}, "Channel names must be a list"),
        ({"ch_names": None}, "Channel names must be a list"),
        ({"ch_names": [1, 2, 3]}, "Channel names must be strings"),
        ({"class_names": ["a", "a"]}, "Class names must be distinct"),
        ({"more": 1}, "info.json lacks a value, or has one more"),
    ],
    ids=str,
)
def test_wrong_info_is_damage(tmp_path, small_trials, change, words):
    """A description with impossible values is an error that names the folder and the value."""
    small_trials().save(tmp_path / "f")
    path = tmp_path / "f" / "info.json"
    header = json.loads(path.read_text())
    header["info"].update(change)
    path.write_text(json.dumps(header))
    with pytest.raises(FileError, match=f"{tmp_path / 'f'} is damaged: {words}"):
        Trials.load(tmp_path / "f")


def test_deep_json_is_damage(tmp_path):
    """JSON nested too deeply to be read is damage, and no folder that may be overwritten."""
    put(tmp_path / "f")
    (tmp_path / "f" / "info.json").write_text("[" * 100_000)
    with pytest.raises(FileError, match=r"info\.json is cut short or altered"):
        read(tmp_path / "f")
    assert not is_trials_folder(tmp_path / "f")
