"""Where the sessions of the RSVP benchmark lie: in its zips, or in files taken out of them."""

import re
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from censorium.datasets.thu_rsvp.published import SESSIONS, mat_of
from censorium.errors import FileError

MAT = re.compile(r"sub([1-9]\d*)([AB])\.mat", re.IGNORECASE)

Key = tuple[int, str]


class Place(NamedTuple):
    """A file, or a member of a zip."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return f"{self.member} in {self.path}" if self.member else str(self.path)


def places(folder: Path, subjects: Sequence[int]) -> dict[Key, Place]:
    """Where both sessions of each of these subjects are, or a `FileError` that says what lacks."""
    if not folder.is_dir():
        raise FileError(
            f"There is no folder {folder}. Fetch the benchmark: censorium data fetch thu-rsvp"
        )
    there = sessions_in(folder)
    wanted = [(subject, session) for subject in subjects for session in SESSIONS]
    lacking = [mat_of(*key) for key in wanted if key not in there]
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        raise FileError(
            f"{folder} lacks {', '.join(lacking[:3])}{more}. Fetch them: censorium data fetch "
            "thu-rsvp; or name the subjects that are there."
        )
    return {key: there[key] for key in wanted}


def sessions_in(folder: Path) -> dict[Key, Place]:
    """All sessions that are in `folder`."""
    found: dict[Key, Place] = {}
    loose = [Place(path) for path in sorted(folder.rglob("*.mat"))]
    zipped = [Place(path, name) for path in sorted(folder.glob("*.zip")) for name in members(path)]
    for place in loose + zipped:
        name = PurePosixPath(place.member or place.path.name).name
        match = MAT.fullmatch(name)
        if not match:
            continue
        key = (int(match[1]), match[2].upper())
        if key in found:
            raise FileError(f"{name} is there twice: {found[key]}, and {place}. Remove one.")
        found[key] = place
    return found


def members(path: Path) -> list[str]:
    """What a zip holds, or a `FileError` if it is damaged or would write outside of its folder."""
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except (BadZipFile, OSError) as error:
        raise FileError(
            f"{path} is no whole zip file ({error}). Remove it and fetch it again."
        ) from error
    for name in names:
        if is_outside(name):
            raise FileError(f"{path} is refused: its member {name!r} would lie outside the folder.")
    return names


def is_outside(name: str) -> bool:
    """Whether a path in a zip leads out of where it is unpacked."""
    return any(
        path.anchor or ".." in path.parts for path in (PurePosixPath(name), PureWindowsPath(name))
    )


@contextmanager
def opened(place: Place, desk: Path) -> Iterator[Path]:
    """The file itself; a member of a zip is unpacked into `desk` for as long as the block lasts."""
    if place.member is None:
        yield place.path
        return
    desk.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=desk) as folder:
        path = Path(folder) / PurePosixPath(place.member).name
        try:
            with (
                ZipFile(place.path) as archive,
                archive.open(place.member) as packed,
                path.open("wb") as file,
            ):
                shutil.copyfileobj(packed, file, 1 << 20)
        except (BadZipFile, EOFError, zlib.error) as error:
            raise FileError(f"{place} is damaged: {error}. Fetch the zip again.") from error
        yield path
