"""Matrices from MATLAB's files, of version 5 and 7.3."""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat
from scipy.io.matlab import MatReadError

from censorium.errors import FileError, OptionError
from censorium.extras import required

HDF5 = b"\x89HDF\r\n\x1a\n"
USER_BLOCK = 512  # bytes that MATLAB puts before the HDF5 file
DAMAGED = (  # what SciPy and h5py raise at a file that breaks off
    OSError,
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    RuntimeError,
    MatReadError,
    zlib.error,
)

Matrix = NDArray[np.float64]


def matrix(path: Path, name: str) -> Matrix:
    """The variable `name`, a matrix of real numbers, rows first as MATLAB shows it."""
    read = matrix_of_7_3 if is_7_3(path) else matrix_of_5
    try:
        found = read(path, name)
    except (FileError, OptionError):
        raise
    except DAMAGED as error:
        raise FileError(f"{path.name} is damaged or cut short: {error}.") from error
    if found is None:
        raise FileError(f"{path.name} has no variable {name!r}.")
    if found.ndim != 2 or found.dtype.kind not in "iuf":
        raise FileError(
            f"{name} in {path.name} must be a matrix of real numbers; it is {found.dtype} of shape "
            f"{found.shape}."
        )
    return found.astype(np.float64, copy=False)


def is_7_3(path: Path) -> bool:
    """Whether it is HDF5, as MATLAB writes it since version 7.3."""
    with path.open("rb") as file:
        return file.read(USER_BLOCK + len(HDF5)).endswith(HDF5)


def matrix_of_5(path: Path, name: str) -> NDArray[Any] | None:
    """That of a file of version 5; only this variable is read."""
    if name not in {found for found, _, _ in whosmat(path)}:
        return None
    held: Mapping[str, Any] = loadmat(path, variable_names=[name])
    return np.asarray(held[name])


def matrix_of_7_3(path: Path, name: str) -> NDArray[Any] | None:
    """That of a file of version 7.3, which holds matrices transposed."""
    h5py = required("h5py", "matlab", f"{path.name}, a MATLAB file of version 7.3,")
    with h5py.File(path) as file:
        if name not in file:
            return None
        kind = file[name].attrs.get("MATLAB_class")
        if not isinstance(file[name], h5py.Dataset) or kind == b"char":  # codes of letters
            raise FileError(f"{name} in {path.name} is no matrix.")
        return np.asarray(file[name][()]).T
