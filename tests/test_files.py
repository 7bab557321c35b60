"""Files that appear whole or not at all."""

import os
import stat

import pytest

from censorium.errors import FileError
from censorium.files import replacing, require_place


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_file_is_replaced_when_it_is_whole(tmp_path):
    """Until the writing is done the old content stands; then the new, and nothing beside it."""
    path = tmp_path / "new" / "file"
    for content in ("one", "two"):
        with replacing(path) as new:
            new.write_text(content)
            assert not path.exists() or path.read_text() == "one"
        assert path.read_text() == content
        assert names(path.parent) == ["file"]


def test_an_error_while_writing_leaves_the_old_file(tmp_path):
    """Of a writing that failed half-way nothing stays."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as new:
        new.write_text("half of the ne")
        raise RuntimeError
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_file_is_as_open_as_the_user_lets_files_be(tmp_path):
    """The user's umask decides who may read what is written."""
    before = os.umask(0o077)
    try:
        with replacing(tmp_path / "file") as new:
            new.write_text("mine")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_place_that_cannot_hold_a_file(tmp_path):
    """A folder, and a path that leads through a file, are refused by name."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileError, match="is a folder; name a file"), replacing(tmp_path):
        pass
    through = tmp_path / "file" / "a" / "b"
    with pytest.raises(FileError, match=r"file is a file, so .* cannot lie in it"):
        require_place(through)
    require_place(tmp_path / "new" / "a" / "b")
    assert names(tmp_path) == ["file"]
