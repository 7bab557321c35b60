"""A folder of arrays and their description, written whole or not at all; nothing in it executes."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import chunks
from censorium.errors import FileError
from censorium.files import require_place

FORMAT = "censorium-trials"
VERSION = 1
PIECE = 512  # trials written at once
ARRAYS = ("x", "y", "subject", "session")


def write(
    folder: Path,
    arrays: Mapping[str, Any],
    info: Mapping[str, Any],
    *,
    overwrite: bool,
    made: Mapping[str, Any] | None = None,
) -> None:
    """Write a folder that `read` opens; it appears whole or not at all.

    An array may be anything that is indexed as one: it is read in pieces. `made` says from what
    the trials were made.
    """
    require_free(folder, overwrite=overwrite)
    folder = folder.resolve()  # a link stays, and leads to the new folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = folder.with_name(f".{folder.name}-{secrets.token_hex(4)}")
    old = new.with_name(f"{new.name}.old")
    try:
        new.mkdir()
        for name in ARRAYS:
            with _durable(new / f"{name}.npy") as file:
                _save(file, arrays[name])
        with _durable(new / "info.json") as file:
            header = {"format": FORMAT, "version": VERSION, "info": dict(info), "made": made}
            file.write(json.dumps(header, indent=2).encode())
        if folder.exists():
            folder.replace(old)
        new.replace(folder)
    finally:
        if old.exists() and not folder.exists():
            old.replace(folder)
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def read(folder: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the description; `x` stays on disk, mapped into memory and read-only."""
    if not folder.is_dir():
        raise FileError(f"There is no folder {folder}.")
    try:
        header = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        if header["format"] != FORMAT:
            raise FileError(f"{folder} is not a folder of trials.")
        if header["version"] != VERSION:
            raise FileError(
                f"{folder} was written in version {header['version']} of the format; "
                f"this censorium reads version {VERSION}."
            )
        info = dict(header["info"])
        arrays = {name: _mapped(folder, name) for name in ARRAYS}
    except FileError:
        raise
    except FileNotFoundError as error:
        name = Path(error.filename).name
        raise FileError(f"{folder} is not a folder of trials: {name} is missing.") from error
    except OSError as error:
        raise FileError(f"{folder} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FileError(f"{folder} is damaged: info.json is cut short or altered.") from error
    return {n: a if n == "x" else np.array(a) for n, a in arrays.items()}, info


def made(folder: Path) -> dict[str, Any] | None:
    """From what the folder's trials were made; None where nothing says so."""
    try:
        header = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        return dict(header["made"]) if header["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def require_free(folder: Path, *, overwrite: bool) -> None:
    """Raise a `FileError` unless a folder of trials may be written there."""
    require_place(folder)
    if folder.exists() and not overwrite:
        raise FileError(f"{folder} exists already. Overwrite it, or name another folder.")
    if folder.exists() and not is_trials_folder(folder):
        raise FileError(f"{folder} holds something else than trials; it is left alone.")


def is_trials_folder(folder: Path) -> bool:
    """Whether `folder` is one that `write` wrote (so that it may be overwritten)."""
    try:
        header = json.loads((folder / "info.json").read_text(encoding="utf-8"))
        return bool(header["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _mapped(folder: Path, name: str) -> NDArray[Any]:
    # Not np.load, which would also take archives, and whose errors speak of unpickling.
    try:
        with np.errstate(over="ignore"):  # of a shape that no file holds
            return np.lib.format.open_memmap(folder / f"{name}.npy", mode="r")
    except (ValueError, TypeError, OverflowError, EOFError) as error:
        raise FileError(
            f"{folder} is damaged: {name}.npy is cut short, altered or no array of plain values."
        ) from error


def _save(file: BinaryIO, array: Any) -> None:
    """Write the array, or what is indexed as one, in pieces: it may be larger than memory."""
    header = {"descr": array.dtype.str, "fortran_order": False, "shape": tuple(array.shape)}
    np.lib.format.write_array_header_2_0(file, header)
    for piece in chunks(array, PIECE):
        file.write(np.ascontiguousarray(piece).data)


@contextmanager
def _durable(path: Path) -> Iterator[BinaryIO]:
    """A new file that is on the disk, not only on its way there, when the block ends."""
    with path.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
