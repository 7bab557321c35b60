"""Finished runs in one SQLite file: each is one transaction, and one driver writes."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock

from censorium.errors import DataError, FileError
from censorium.files import replacing
from censorium.recipe import EpochRecord
from censorium.splits import SubjectSplit
from censorium.storefile import claimed, connected, told
from censorium.study.results import Results
from censorium.study.rows import (
    RESULTS,
    Row,
    evaluations,
    history_of,
    records_of,
    result_rows,
    run_of,
    run_row,
    scores_of,
    text,
)
from censorium.study.run import Failure, Outcome

RUN = "key, model, method, options, split, seed"


class Keys(NamedTuple):
    """The keys of the runs that a store holds."""

    finished: set[str]
    failed: set[str]


class Store:
    """The runs of a study that are finished or failed, in one file.

    Opened to write it creates the file if need be, and refuses a second who would write; who reads
    is never refused. SQLite's log beside the file wants a disk of this machine, not of a network.
    What is kept of a run besides (weights, predictions) lies in the folder ``NAME.files``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from censorium.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store.open(pathlib.Path(folder) / "study.sqlite", write=True) as store:
    ...         store.remember("quick", {"seeds": [0, 1]})
    ...         store.study(), len(store.keys().finished)
    (('quick', {'seeds': [0, 1]}), 0)
    """

    def __init__(self, path: Path, db: sqlite3.Connection, lock: FileLock | None) -> None:
        self.path, self._db, self._lock = path, db, lock

    @classmethod
    def open(cls, path: str | Path, *, write: bool = False) -> Self:
        """Open the file to read it, or as the one who writes."""
        path = Path(path).absolute()
        if not write and not path.is_file():
            raise FileError(f"There is no store of runs {path}.")
        lock = claimed(path) if write else None
        try:
            db = connected(path, write=write)
        except BaseException:
            if lock:
                lock.release()
            raise
        return cls(path, db, lock)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        if self._lock:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def remember(self, study: str, spec: Any) -> None:
        """Write down which study this is, in place of what it was before."""
        with self._transaction():
            for name, value in (("study", study), ("spec", spec)):
                self._insert("about", (name, text(value)), replace=True)

    def study(self) -> tuple[str, Any] | None:
        """The study's name and what it says, if they were written down."""
        name, spec = self._about("study"), self._about("spec")
        return None if name is None else (name, spec)

    def claim(self, data: str) -> None:
        """Write down of which data these runs are, or raise a `DataError` if it is of others."""
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO about VALUES ('data', ?)", (text(data),))
        if (known := self._about("data")) != data:
            raise DataError(
                f"{self.path} holds runs on other trials: their fingerprint is {known}, that of "
                f"these is {data}. Results on two data sets cannot be mixed; name another store."
            )

    def add(self, outcome: Outcome, *, files: Mapping[str, bytes] | None = None) -> bool:
        """Store a finished run, in one transaction; False if it was there, which then stays.

        `files` are kept beside the store, each whole, before the run counts as finished.
        """
        key, found = outcome.run.key, "SELECT 1 FROM run WHERE key = ?"
        if any(self._rows(found, key)):
            return False
        for name, content in (files or {}).items():
            self._keep(key, name, content)
        about = (outcome.seconds, outcome.peak_memory, text(outcome.versions), time.time())
        with self._transaction():
            number = self._insert("run", (None, *run_row(outcome.run), *about))
            for evaluation in evaluations(outcome):
                self._insert("evaluation", (number, *evaluation))
            epochs = text(history_of(outcome.history))
            self._insert("history", (number, epochs))
            self._db.execute("DELETE FROM failure WHERE key = ?", (key,))
        return True

    def add_failure(self, failure: Failure) -> None:
        """Store a run that failed, in place of its failure before; not if it is finished."""
        row = (*run_row(failure.run), failure.traceback, failure.seconds, time.time())
        with self._transaction():
            if not any(self._rows("SELECT 1 FROM run WHERE key = ?", failure.run.key)):
                self._insert("failure", row, replace=True)

    def keys(self) -> Keys:
        """The keys of the runs that are finished and of those that failed."""
        tables = ("run", "failure")
        return Keys(*({key for (key,) in self._rows(f"SELECT key FROM {t}")} for t in tables))  # noqa: S608

    def times(self) -> dict[str, float]:
        """When each finished run was stored, in seconds since 1970, by its key; in that order."""
        return dict(self._rows("SELECT key, stored FROM run ORDER BY id"))

    def failures(self) -> list[Failure]:
        """The runs that failed, those stored last at the end."""
        rows = self._rows(f"SELECT {RUN}, traceback, seconds FROM failure ORDER BY stored")  # noqa: S608
        return [Failure(run_of(row[:6]), *row[6:]) for row in rows]

    def splits(self) -> list[SubjectSplit]:
        """The distinct splits of the finished runs."""
        rows = self._rows("SELECT DISTINCT split FROM run")
        return [SubjectSplit(**json.loads(split)) for (split,) in rows]

    def results(
        self, keys: Iterable[str] | None = None, *, models: Mapping[str, str] | None = None
    ) -> Results:
        """The columns of the finished runs among `keys`, in their order; of all, by key.

        `models` says by key what a model is called now, if not as it was when it ran.
        """
        wanted = sorted(self.keys().finished) if keys is None else list(keys)
        return Results.of_rows(result_rows(self._rows(RESULTS, text(wanted)), models or {}))

    def outcome(self, key: str) -> Outcome:
        """A finished run, as it was added; lists stand where its options held tuples."""
        number, seconds, memory, versions, *run = self._row(
            f"SELECT id, seconds, peak_memory, versions, {RUN} FROM run WHERE key = ?",  # noqa: S608
            key,
        )
        columns = "place, point, part, balanced_accuracy, identity, chance, people"
        query = f"SELECT {columns} FROM evaluation WHERE run = ? ORDER BY place"  # noqa: S608
        rows = self._rows(query, number)
        history, known = self.history(key), json.loads(versions)
        return Outcome(run_of(run), scores_of(rows), history, seconds, memory, known)

    def history(self, key: str) -> list[EpochRecord]:
        """The epoch records of a finished run."""
        query = "SELECT epochs FROM history JOIN run ON run.id = history.run WHERE key = ?"
        (epochs,) = self._row(query, key)
        return records_of(json.loads(epochs))

    def files(self, key: str) -> dict[str, Path]:
        """What is kept of a run beside the store, by name."""
        place = self._place(key)
        return {p.name: p for p in sorted(place.iterdir())} if place.is_dir() else {}

    def _place(self, key: str) -> Path:
        return self.path.with_name(f"{self.path.name}.files") / key

    def _keep(self, key: str, name: str, content: bytes) -> None:
        """Write one file of a run, whole or not at all."""
        try:
            with replacing(self._place(key) / name) as new:
                new.write_bytes(content)
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{name} of run {key} cannot be kept: {error.strerror}.") from error

    def _about(self, name: str) -> Any:
        rows = self._rows("SELECT value FROM about WHERE name = ?", name)
        return next((json.loads(value) for (value,) in rows), None)

    def _row(self, query: str, key: str) -> Row:
        """The one row about a run, or a `DataError` if it is not finished."""
        for row in self._rows(query, key):
            return row
        raise DataError(f"{self.path} holds no finished run {key!r}.")

    def _rows(self, query: str, *values: Any) -> Iterator[Row]:
        with told(self.path):
            yield from self._db.execute(query, values)

    def _insert(self, table: str, row: Row, *, replace: bool = False) -> int | None:
        """Write a row; its number."""
        verb, marks = "REPLACE" if replace else "INSERT", ", ".join("?" * len(row))
        return self._db.execute(f"{verb} INTO {table} VALUES ({marks})", row).lastrowid

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All that happens inside is on the disk when it ends, or none of it ever is."""
        with told(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
