"""Files from the web: verified, resumed where a break left them, put in place whole."""

import errno
import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from filelock import FileLock

from censorium.errors import FileError
from censorium.files import require_place

BLOCK = 1 << 20
ATTEMPTS = 5  # in a row without a byte gained
PAUSE = 1.0  # s after the first failed attempt; twice as long after each further one
TIMEOUT = 60.0  # s without a byte
MISSING, BUSY = (403, 404, 410), (408, 429)
FULL = (errno.ENOSPC, errno.EDQUOT)
SPARE = 1 << 28  # bytes of the disk that are left alone

OnBytes = Callable[[int, int], None]


class Wanted(NamedTuple):
    """A file by name, and the SHA-256 of what must be in it.

    One without may be missing, and is taken as it comes.
    """

    name: str
    sha256: str | None = None


class Stopped(Exception):  # noqa: N818  (nothing is wrong with this file, another one failed)
    """Another download failed, or the user has had enough."""


class Tally:
    """How many bytes are there, of how many; several threads count."""

    def __init__(self, done: int, total: int, on_bytes: OnBytes) -> None:
        self.done, self.total, self.on_bytes = done, total, on_bytes
        self.stop, self._turn = Event(), Lock()

    def add(self, n_bytes: int) -> None:
        """Count more of them, or fewer; raise `Stopped` if it is time to."""
        if self.stop.is_set():
            raise Stopped
        with self._turn:
            self.done += n_bytes
            self.on_bytes(self.done, max(self.total, self.done))


def fetch(
    files: Sequence[Wanted],
    folder: Path,
    base: str,
    *,
    connections: int = 4,
    on_bytes: OnBytes = lambda _done, _total: None,
) -> None:
    """Download what of `files` is not in `folder` yet from below `base`, several at a time.

    `on_bytes` is called with the bytes that are there and those there will be. What a break leaves
    is in `NAME.part`, from where another call goes on.
    """
    if urlsplit(base).scheme not in ("http", "https"):
        raise FileError(
            f"{base!r} is no address of the web, which begins with http:// or https://."
        )
    require_place(folder / "file")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"), ThreadPoolExecutor(connections) as pool:
        lacking = [wanted for wanted in files if not (folder / wanted.name).is_file()]
        sizes = dict(zip(lacking, pool.map(partial(size_of, base), lacking), strict=True))
        there = sum(size(folder / f"{wanted.name}.part") for wanted in lacking)
        total = sum(n_bytes or 0 for n_bytes in sizes.values())
        require_space(folder, total - there)
        tally = Tally(there, total, on_bytes)

        def one(wanted: Wanted) -> None:
            try:
                fetch_one(wanted, folder, address(base, wanted), tally)
            except BaseException:
                tally.stop.set()
                raise

        jobs = [pool.submit(one, w) for w, n_bytes in sizes.items() if n_bytes is not None]
        try:
            failed = [error for job in jobs if (error := job.exception())]
        except BaseException:  # Ctrl-C
            tally.stop.set()
            raise
    for error in failed:
        if not isinstance(error, Stopped):
            raise error


def address(base: str, wanted: Wanted) -> str:
    """Where the file is."""
    return f"{base.rstrip('/')}/{quote(wanted.name)}"


def size(path: Path) -> int:
    """Bytes of a file; 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def size_of(base: str, wanted: Wanted) -> int | None:
    """Bytes of a file, 0 if the server does not say, None if it lacks one that may be missing."""
    url = address(base, wanted)
    try:
        with urlopen(Request(url, method="HEAD"), timeout=TIMEOUT) as answer:  # noqa: S310
            return int(answer.headers.get("Content-Length") or 0)
    except HTTPError as error:
        if error.code in MISSING and wanted.sha256 is None:
            return None
        if error.code in MISSING:
            raise FileError(f"{url} answers {error.code} {error.reason}.") from error
        return 0
    except (OSError, HTTPException) as error:
        raise FileError(f"{url} cannot be reached: {error}.") from error


def fetch_one(wanted: Wanted, folder: Path, url: str, tally: Tally) -> None:
    """Download one file, in as many attempts as bring it forward."""
    part = folder / f"{wanted.name}.part"
    failures = 0
    while True:
        before = size(part)
        try:
            receive(url, part, tally)
            break
        except HTTPError as error:
            if error.code < 500 and error.code not in BUSY:
                raise FileError(f"{url} answers {error.code} {error.reason}.") from error
            reason: Exception = error
        except FileError:
            raise
        except (OSError, HTTPException) as error:
            reason = error
        failures = 0 if size(part) > before else failures + 1
        if failures == ATTEMPTS:
            kept = " What came is kept: the same command goes on from there." if before else ""
            raise FileError(f"{url} cannot be downloaded: {reason}.{kept}") from reason
        if tally.stop.wait(PAUSE * 2.0 ** (failures - 1)):
            raise Stopped
    verify(part, wanted)
    part.replace(folder / wanted.name)


def receive(url: str, part: Path, tally: Tally) -> None:
    """Append to `part` what it lacks of the file at `url`."""
    start = size(part)
    try:
        # An empty file has no range.
        asked = Request(url, headers={"Range": f"bytes={start}-"} if start else {})  # noqa: S310
        answer = urlopen(asked, timeout=TIMEOUT)  # noqa: S310
    except HTTPError as error:
        if error.code == 416 and start:  # nothing is left to send
            return
        raise
    with answer:
        if answer.status != 206:  # a server that knows no ranges begins anew
            tally.add(-start)
            start = 0
        append(answer, part, tally, anew=not start)
        length = int(answer.headers.get("Content-Length") or 0)
        if length and size(part) != start + length:
            raise ConnectionError("the connection was cut")


def append(answer: HTTPResponse, part: Path, tally: Tally, *, anew: bool) -> None:
    """Write what comes to the end of `part`, or to one begun anew."""
    with room_for(part), part.open("wb" if anew else "ab") as file:
        while block := answer.read1(BLOCK):
            file.write(block)
            tally.add(len(block))


@contextmanager
def room_for(part: Path) -> Iterator[None]:
    """Inside, `part` is written; where the disk fills up, it is removed."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        part.unlink()  # or the disk would stay full
        raise FileError(f"No space left for {part}: make room, or name another.") from error


def require_space(folder: Path, n_bytes: int) -> None:
    """Raise a `FileError` unless so many bytes more fit on the disk of `folder`."""
    free = shutil.disk_usage(folder).free
    if n_bytes > 0 and n_bytes + SPARE > free:
        raise FileError(
            f"No space left: {n_bytes / 1e9:.1f} GB are to come, {folder} has "
            f"{free / 1e9:.1f} GB. Make room, or name another folder."
        )


def take(files: Sequence[Wanted], source: Path, folder: Path, *, on_bytes: OnBytes) -> None:
    """Copy what of `files` is not in `folder` yet from a folder that holds them."""
    require_place(folder / "file")
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        lacking = [wanted for wanted in files if not (folder / wanted.name).is_file()]
        for wanted in lacking:
            if wanted.sha256 and not (source / wanted.name).is_file():
                raise FileError(f"{source} lacks {wanted.name}.")
        there = [wanted for wanted in lacking if (source / wanted.name).is_file()]
        total = sum(size(source / wanted.name) for wanted in there)
        require_space(folder, total)
        tally = Tally(0, total, on_bytes)
        for wanted in there:
            part = folder / f"{wanted.name}.part"
            with (
                room_for(part),
                (source / wanted.name).open("rb") as held,
                part.open("wb") as file,
            ):
                while block := held.read(BLOCK):
                    file.write(block)
                    tally.add(len(block))
            verify(part, wanted)
            part.replace(folder / wanted.name)


def verify(part: Path, wanted: Wanted) -> None:
    """Raise a `FileError`, and remove `part`, unless it holds what it must."""
    if wanted.sha256 is None:
        return
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wanted.sha256:
        part.unlink()
        raise FileError(
            f"{wanted.name} is not the published file and was removed: its SHA-256 is {found}, not "
            f"{wanted.sha256}. The source may be damaged or changed; try another."
        )
