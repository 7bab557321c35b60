"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from censorium.errors import FileError


def require_place(path: Path) -> None:
    """Raise a `FileError` unless something new can come to lie at `path`."""
    place = next(p for p in path.absolute().parents if p.exists())
    if not place.is_dir():
        raise FileError(f"{place} is a file, so {path} cannot lie in it.")
    if not os.access(place, os.W_OK):
        raise FileError(f"There is no permission to write in {place}.")


def require_file_place(path: Path) -> None:
    """Raise a `FileError` unless a file can come to lie at `path`, or replace the one there."""
    if path.is_dir():
        raise FileError(f"{path} is a folder; name a file.")
    require_place(path)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write a file that takes the place of `path` when it is whole and on the disk."""
    require_file_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        yield new
        with new.open("r+b") as file:
            os.fsync(file.fileno())  # a machine that goes down keeps the old file or the new one
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
