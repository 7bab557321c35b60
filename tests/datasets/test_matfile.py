"""Matrices from MATLAB's files: both versions give the same, and damage is told."""

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from censorium.datasets.matfile import HDF5, matrix
from censorium.datasets.thu_rsvp.simulated import write_mat
from censorium.errors import FileError

A = np.random.default_rng(0).standard_normal((64, 500))
HELD = {"first": np.arange(6.0).reshape(2, 3), "A": A, "last": np.ones((1, 1))}


def v5(path, held):
    savemat(path, held, do_compression=True)


def plain(path, held):
    savemat(path, held)


def v7_3(path, held):
    write_mat(path, held, "7.3")


WRITERS = pytest.mark.parametrize("write", [v5, plain, v7_3])


@WRITERS
def test_each_version_gives_the_same(tmp_path, write):
    """The matrix as MATLAB shows it, rows first, in double precision."""
    write(tmp_path / "a.mat", HELD)
    for name, values in HELD.items():
        np.testing.assert_array_equal(matrix(tmp_path / "a.mat", name), values, strict=True)


@WRITERS
@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", ">f8"])
def test_other_numbers_become_doubles(tmp_path, write, dtype):
    """Integers and single precision are real numbers too."""
    values = np.arange(6).reshape(2, 3)
    write(tmp_path / "a.mat", {"A": values.astype(dtype)})
    np.testing.assert_array_equal(
        matrix(tmp_path / "a.mat", "A"), values.astype(float), strict=True
    )


@WRITERS
def test_a_missing_variable_is_told(tmp_path, write):
    """The error names the file and the variable."""
    write(tmp_path / "a.mat", HELD)
    with pytest.raises(FileError, match=r"a\.mat has no variable 'B'"):
        matrix(tmp_path / "a.mat", "B")


OTHERS = {
    "struct": {"field": A},
    "cell": np.array([[A, A]], object),
    "char": "words",
    "three dimensions": np.zeros((2, 3, 4)),
    "complex": 1j * A,
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_matrix_of_version_5(tmp_path, kind):
    """A struct, a cell, text, complex numbers: an error that names the variable."""
    savemat(tmp_path / "a.mat", {"A": OTHERS[kind]})
    with pytest.raises(FileError, match=r"A in a\.mat must be a matrix of real numbers"):
        matrix(tmp_path / "a.mat", "A")


def as_matlab(file, kind):
    """What MATLAB writes for a value of some kind called A."""
    if kind == "struct":
        file.create_group("A").attrs["MATLAB_class"] = np.bytes_("struct")
        file["A/field"] = A
    elif kind == "cell":
        file["#refs#/a"] = A
        file["A"] = np.array([[file["#refs#/a"].ref]], h5py.ref_dtype)
        file["A"].attrs["MATLAB_class"] = np.bytes_("cell")
    elif kind == "char":
        file["A"] = np.array([[ord(c)] for c in "words"], np.uint16)
        file["A"].attrs["MATLAB_class"] = np.bytes_("char")
    else:
        file["A"] = OTHERS[kind]


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_matrix_of_version_7_3(tmp_path, kind):
    """As in version 5: an error that names the variable."""
    v7_3(tmp_path / "a.mat", {"B": A})
    with h5py.File(tmp_path / "a.mat", "r+") as file:
        as_matlab(file, kind)
    with pytest.raises(FileError, match=r"A in a\.mat (is no|must be a) matrix"):
        matrix(tmp_path / "a.mat", "A")


@WRITERS
@pytest.mark.parametrize("fraction", np.linspace(0, 0.999, 12))
def test_a_file_that_is_cut_short_is_told(tmp_path, write, fraction):
    """Wherever it is cut, reading its last variable is an error that names the file."""
    path = tmp_path / "a.mat"
    write(path, {"A": A})
    content = path.read_bytes()
    path.write_bytes(content[: int(fraction * len(content))])
    with pytest.raises(FileError, match=r"a\.mat"):
        matrix(path, "A")


@WRITERS
@pytest.mark.parametrize("n_bytes", [1, 4, 100, 124, 127, 128, 130, 136, 300, 511, 512, 515, 520])
def test_a_file_cut_in_its_head_is_told(tmp_path, write, n_bytes):
    """A cut within the first bytes, which tell the version, is an error too."""
    path = tmp_path / "a.mat"
    write(path, {"A": A})
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(FileError, match=r"a\.mat"):
        matrix(path, "A")


def test_altered_signals_are_told(tmp_path):
    """MATLAB's compressed variables have a check sum, which tells of a bad byte."""
    path = tmp_path / "a.mat"
    v5(path, {"A": A})
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(4) + content[middle + 4 :])
    with pytest.raises(FileError, match=r"a\.mat is damaged"):
        matrix(path, "A")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no MATLAB file, but a text of some length\n" * 20,
        b"PK\x03\x04" + bytes(600),
        bytes(600),
    ],
    ids=["empty", "text", "zip", "zeros"],
)
def test_what_is_no_file_of_matlab(tmp_path, content):
    """Whatever it holds, it is an error that names the file."""
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(FileError, match=r"a\.mat"):
        matrix(tmp_path / "a.mat", "A")


def test_hdf5_of_others_is_no_file_of_matlab(tmp_path):
    """MATLAB's has a header before the HDF5 file; one without is not taken for version 7.3."""
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["A"] = A
    assert (tmp_path / "a.mat").read_bytes().startswith(HDF5)
    with pytest.raises(FileError, match=r"a\.mat"):
        matrix(tmp_path / "a.mat", "A")
