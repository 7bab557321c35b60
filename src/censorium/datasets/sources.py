"""What a source is, as a person names it in one string, and its parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from censorium.datasets.arrayfile import array_parts
from censorium.datasets.bids import bids_parts
from censorium.datasets.moabb import moabb_parts
from censorium.datasets.prepare import Part
from censorium.datasets.recordings import recording_parts
from censorium.errors import FileError

MOABB = "moabb:"


def parts_of(source: str | Path, **options: Any) -> dict[str, Part]:
    """The parts of a dataset of MOABB ("moabb:BI2014a"), a BIDS folder, recordings, or arrays.

    The options are those of `moabb_parts`, `bids_parts`, `read_recording` or `read_arrays`.
    """
    if str(source).startswith(MOABB):
        return moabb_parts(str(source).removeprefix(MOABB), **options)
    path = Path(source)
    if not path.exists():
        raise FileError(
            f"There is no file or folder {path}. A dataset of MOABB is {MOABB}NAME, as in "
            f"{MOABB}BI2014a."
        )
    return reader_of(path)(path, **options)


def reader_of(path: Path) -> Callable[..., dict[str, Part]]:
    """What reads the parts of the file or folder at `path`."""
    if (path / "dataset_description.json").is_file():
        return bids_parts
    return array_parts if path.suffix in (".npz", ".npy") else recording_parts
