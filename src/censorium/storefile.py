"""The SQLite file of a store: made, opened and checked; its errors in plain words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from censorium.errors import FileError
from censorium.files import require_file_place

APPLICATION = 0x63656E73  # "cens": tells our files from SQLite's others
VERSION = 1
PATIENCE = 60  # s to wait for another process that has the file for a moment
NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR")

SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, method TEXT NOT NULL,
    options TEXT NOT NULL, split TEXT NOT NULL, seed INTEGER NOT NULL, seconds REAL NOT NULL,
    peak_memory INTEGER NOT NULL, versions TEXT NOT NULL, stored REAL NOT NULL
);
CREATE TABLE evaluation (
    run INTEGER NOT NULL REFERENCES run, place INTEGER NOT NULL, point TEXT NOT NULL,
    part TEXT NOT NULL, balanced_accuracy REAL, identity REAL, chance REAL, people TEXT NOT NULL,
    PRIMARY KEY (run, place, part)
) WITHOUT ROWID;
CREATE TABLE history (run INTEGER PRIMARY KEY REFERENCES run, epochs TEXT NOT NULL);
CREATE TABLE failure (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, method TEXT NOT NULL, options TEXT NOT NULL,
    split TEXT NOT NULL, seed INTEGER NOT NULL, traceback TEXT NOT NULL, seconds REAL NOT NULL,
    stored REAL NOT NULL
);
"""


def claimed(path: Path) -> FileLock:
    """The lock of the one who writes, or a `FileError` if another process has it."""
    require_file_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise FileError(
            f"Another process runs a study and writes to {path}. Wait until it is done or stop it; "
            "to read, none needs to wait."
        ) from None
    return lock


def connected(path: Path, *, write: bool) -> sqlite3.Connection:
    """The open file, or a `FileError` if it is none of ours."""
    with told(path):
        uri = f"{path.as_uri()}?mode={'rwc' if write else 'ro'}"
        db = sqlite3.connect(uri, timeout=PATIENCE, isolation_level=None, uri=True)
        try:
            prepare(db, path, write=write)
        except BaseException:
            db.close()
            raise
        return db


def prepare(db: sqlite3.Connection, path: Path, *, write: bool) -> None:
    """Make a new file a store; raise a `FileError` of what is none that we can read."""
    application, version, tables = (
        db.execute(query).fetchone()[0]
        for query in (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT count(*) FROM sqlite_master",
        )
    )
    new = (application, version, tables) == (0, 0, 0)
    if application != APPLICATION and not (new and write):
        raise FileError(f"{path} is not a store of runs.")
    if version > VERSION:
        raise FileError(
            f"{path} was written in version {version} of the format; this censorium knows version "
            f"{VERSION}. A newer censorium opens it."
        )
    if write:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # what is finished outlives a power cut
    if new:
        about = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
        db.executescript(f"BEGIN IMMEDIATE; {SCHEMA} {about} COMMIT;")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors as a `FileError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(NO_ROOM):
            what = (
                f"{path} cannot be written, most likely for want of room on the disk ({error}). "
                "What was finished stays; make room and run the same again."
            )
        elif name == "SQLITE_NOTADB":
            what = f"{path} is not a store of runs."
        else:
            what = f"{path} cannot be read or written: {error}."
        raise FileError(what) from error
