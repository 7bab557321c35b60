"""One file of tensors and JSON, which notices damage."""

import numpy as np
import pytest
import torch

from censorium import tensorfile
from censorium.errors import FileError

HEADER = {"options": {"strength": 0.1, "mode": "marginal"}, "names": ["a", "é"], "none": None}


def tensors():
    generator = torch.Generator().manual_seed(0)
    return {
        "weight": torch.randn(4, 3, generator=generator),
        "double": torch.randn(2, 2, generator=generator, dtype=torch.float64).T,
        "state": torch.arange(7, dtype=torch.uint8),
        "count": torch.tensor(3),
        "empty": torch.zeros(0, 2),
    }


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.censorium"
    tensorfile.write(path, "model", tensors(), HEADER)
    return path


def test_what_was_written_is_read(path):
    """Tensors come back bit for bit, with type and shape, and the header as it was."""
    content = tensorfile.read(path, "model")
    assert content.header == HEADER
    assert content.tensors.keys() == tensors().keys()
    for name, expected in tensors().items():
        assert content.tensors[name].dtype == expected.dtype
        assert torch.equal(content.tensors[name], expected)


def test_writing_leaves_nothing_beside_the_file(path):
    """The folder holds the file alone, after it was written over too."""
    tensorfile.write(path, "model", {"one": torch.ones(1)}, {})
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert list(tensorfile.read(path, "model").tensors) == ["one"]


def test_a_failed_write_keeps_the_old_file(path):
    """A header that JSON cannot hold leaves the old file, and nothing beside it."""
    with pytest.raises(TypeError):
        tensorfile.write(path, "model", {}, {"x": object()})
    assert tensorfile.read(path, "model").header == HEADER
    assert list(path.parent.iterdir()) == [path]


def test_folders_are_made(tmp_path):
    """A file is written into folders that are not there yet."""
    tensorfile.write(tmp_path / "a" / "b" / "c", "model", tensors(), {})
    assert tensorfile.read(tmp_path / "a" / "b" / "c", "model").header == {}


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_a_file_error(path, share):
    """A file cut short anywhere is an error that names it."""
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileError, match=path.name):
        tensorfile.read(path, "model")


def test_a_file_with_more_at_its_end_is_a_file_error(path):
    """A file with bytes after its end is an error."""
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(FileError, match=path.name):
        tensorfile.read(path, "model")


def test_every_altered_byte_is_noticed(path):
    """One byte altered, wherever it is and whatever it becomes, is an error that names the file."""
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in range(len(content)):
        altered = bytearray(content)
        altered[position] ^= int(rng.integers(1, 256))
        path.write_bytes(altered)
        with pytest.raises(FileError, match=path.name):
            tensorfile.read(path, "model")


def test_another_kind_is_refused(path):
    """A file of another kind is an error that names both kinds."""
    with pytest.raises(FileError, match="holds a censorium-model, not a censorium-checkpoint"):
        tensorfile.read(path, "checkpoint")


def test_a_newer_version_is_refused(path, monkeypatch):
    """A file of a later format is an error that names both versions."""
    monkeypatch.setattr(tensorfile, "VERSION", 2)
    tensorfile.write(path, "model", {}, {})
    monkeypatch.undo()
    with pytest.raises(FileError, match="format version 2; this censorium reads 1"):
        tensorfile.read(path, "model")


def test_a_missing_file_is_a_file_error(tmp_path):
    """A file that is not there, or is a folder, is an error that names it."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(FileError, match=f"There is no file {path}"):
            tensorfile.read(path, "model")


def test_pickles_are_refused(tmp_path):
    """A file of pickled objects is refused and not opened."""
    path = tmp_path / "pickled"
    torch.save({"weight": torch.ones(2)}, path)
    with pytest.raises(FileError, match="no model file"):
        tensorfile.read(path, "model")


def test_somebody_elses_safetensors_are_refused(tmp_path):
    """A safetensors file that censorium did not write is an error that says so."""
    from safetensors.torch import save_file

    path = tmp_path / "foreign"
    save_file({"weight": torch.ones(2)}, path)
    with pytest.raises(FileError, match="not a model that censorium wrote"):
        tensorfile.read(path, "model")
    save_file({"weight": torch.ones(2)}, path, {"json": "[]", "sha256": ""})
    with pytest.raises(FileError, match="not a model that censorium wrote"):
        tensorfile.read(path, "model")
