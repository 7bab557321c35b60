"""Trials: the one value that every loader makes and everything else takes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from censorium.arrays import Floats, Ids, Ints, identifiers, labels, listed, nuisance_of, signals
from censorium.epochs import brain_signals, event_names, ids_of
from censorium.errors import DataError, FileError, OptionError
from censorium.folder import ARRAYS, read, write
from censorium.selection import Held, Selection, select


@dataclass(frozen=True)
class Info:
    """What the numbers are; `sfreq` in Hz, `tmin` the time of the first sample in s."""

    sfreq: float
    ch_names: tuple[str, ...]
    class_names: tuple[str, ...]
    tmin: float = 0.0

    def __post_init__(self) -> None:
        for name, kind, least in (("ch_names", "Channel", 1), ("class_names", "Class", 0)):
            object.__setattr__(self, name, _names(kind, getattr(self, name), least))
        object.__setattr__(self, "sfreq", _number("sfreq", self.sfreq))
        object.__setattr__(self, "tmin", _number("tmin", self.tmin))
        if self.sfreq <= 0:
            raise DataError(f"sfreq must be above 0 Hz, got {self.sfreq:g}.")


def _number(name: str, value: Any) -> float:
    real = isinstance(value, int | float | np.integer | np.floating) and type(value) is not bool
    try:
        number = float(value) if real else math.nan
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise DataError(f"{name} must be a finite number, got {value!r}.")
    return number


def _names(kind: str, values: Any, least: int) -> tuple[str, ...]:
    """`values` as distinct strings of `least` letters or more, or a `DataError`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DataError(f"{kind} names must be a list of strings, got {values!r}.")
    names = tuple(str(v) if isinstance(v, str) else v for v in values)
    for i, name in enumerate(names):
        if not isinstance(name, str) or len(name) < least:
            raise DataError(f"{kind} names must be strings that name something, got {name!r}.")
        if name in names[:i]:
            raise DataError(f"{kind} names must be distinct; {name!r} comes twice.")
    return names


@dataclass(frozen=True, eq=False)
class Trials:
    """Labelled trials of several people.

    Parameters
    ----------
    x : array of float32, (n, channels, times)
        The signals, in volt where the unit is known. May be memory-mapped.
    y : array of int, (n,)
        The label of each trial, as an index into ``info.class_names``.
    subject, session : array of int or str, (n,)
        Who was recorded, and in which sitting.
    info : Info
        Sampling rate, channel names, class names.

    Examples
    --------
    >>> import numpy as np
    >>> from censorium import Trials
    >>> trials = Trials.from_arrays(
    ...     np.zeros((4, 2, 50)), ["rest", "move", "rest", "move"], subject=[1, 1, 2, 2], sfreq=100
    ... )
    >>> trials
    <Trials: 4 trials of 2 subjects in 2 sessions, 2 channels x 50 times at 100 Hz; move 2, rest 2>
    >>> trials[trials.subject == 2].nuisance()
    array([0, 0])
    """

    x: Floats
    y: Ints
    subject: Ids
    session: Ids
    info: Info

    def __post_init__(self) -> None:
        if not isinstance(self.signals, Selection):
            object.__setattr__(self, "x", signals(self.signals))
        n = len(self)
        object.__setattr__(self, "subject", identifiers("subject", self.subject, n))
        object.__setattr__(self, "session", identifiers("session", self.session, n))
        y = np.asarray(self.y)
        if y.shape != (n,):
            raise DataError(f"y has shape {y.shape}, but x holds {n} trials.")
        n_classes = len(self.info.class_names)
        if y.dtype.kind not in "iu" or (n and not 0 <= y.min() <= y.max() < n_classes):
            raise DataError(f"y must hold integers from 0 to {n_classes - 1}, one per class name.")
        object.__setattr__(self, "y", y.astype(np.int64, copy=False))
        n_channels = self.signals.shape[1]
        if n_channels != len(self.info.ch_names):
            raise DataError(
                f"x has {n_channels} channels, but {len(self.info.ch_names)} are named."
            )

    @classmethod
    def from_arrays(
        cls,
        x: ArrayLike,
        y: ArrayLike,
        subject: ArrayLike,
        session: ArrayLike | None = None,
        *,
        sfreq: float,
        ch_names: Sequence[str] | None = None,
        tmin: float = 0.0,
    ) -> Self:
        """Trials of plain arrays; the sorted labels in `y`, as strings, become class names.

        Labels are strings, integers (or whole floats) or booleans, all of one kind. A decoder
        that is fitted on `Trials` predicts class names: "1" where `y` held 1.
        """
        x = signals(x)
        class_names, codes = labels(y, len(x))
        names = [f"ch{i}" for i in range(x.shape[1])] if ch_names is None else ch_names
        sitting = np.zeros(len(x), dtype=np.int64) if session is None else session
        info = Info(sfreq, names, class_names, tmin)  # type: ignore[arg-type]
        return cls(x, codes, subject, sitting, info)  # type: ignore[arg-type]

    @classmethod
    def from_epochs(
        cls,
        epochs: Any,
        *,
        subject: str | int | ArrayLike = "subject",
        session: str | int | ArrayLike = "session",
    ) -> Self:
        """Trials of an ``mne.Epochs``, whose event names become class names.

        `subject` and `session` are each the name of a column of the metadata, one integer for all
        epochs, or one id for each. Without a session column all trials are of one session.
        """
        who, sitting = (ids_of(given, epochs.metadata, len(epochs)) for given in (subject, session))
        if who is None:
            raise DataError(
                f"The epochs' metadata has no column {subject!r} that says who is who. Name the "
                "column, or pass the ids: subject=[...], one for each epoch, or one integer."
            )
        return cls.from_arrays(
            brain_signals(epochs),
            event_names(epochs),
            who,
            sitting,
            sfreq=epochs.info["sfreq"],
            ch_names=epochs.ch_names,
            tmin=epochs.tmin,
        )

    @property
    def signals(self) -> Held:
        """`x` as it is held: some of the trials of a memory-mapped set are a `Selection`."""
        held: Held = vars(self)["_held"]
        return held

    def __len__(self) -> int:
        return len(self.signals)

    def __repr__(self) -> str:
        counts = np.bincount(self.y, minlength=len(self.info.class_names))
        classes = ", ".join(f"{c} {k}" for c, k in zip(self.info.class_names, counts, strict=True))
        _, channels, times = self.signals.shape
        return (
            f"<Trials: {len(self)} trials of {len(self.subjects)} subjects in "
            f"{len(np.unique(self.nuisance()))} sessions, "
            f"{channels} channels x {times} times at {self.info.sfreq:g} Hz; {classes}>"
        )

    def __getitem__(self, index: slice | ArrayLike) -> Self:
        """The trials that a slice, a mask or an array of positions selects."""
        i: Any = index if isinstance(index, slice) else np.atleast_1d(np.asarray(index))
        if isinstance(index, list) and not index:
            i = i.astype(np.int64)  # numpy would make it an array of floats
        if not isinstance(i, slice) and i.dtype.kind not in "biu":
            raise DataError("Select trials by a slice, a mask or an array of positions.")
        x: Any = select(self.signals, i)
        return type(self)(x, self.y[i], self.subject[i], self.session[i], self.info)

    @property
    def subjects(self) -> list[Any]:
        """Who is in here: each subject once, sorted."""
        return list(np.unique(self.subject).tolist())

    def of(self, subjects: Any) -> Self:
        """The trials of these subjects only; of one, where one id is given."""
        wanted, there = listed(subjects), self.subjects
        missing = [s for s in wanted if s not in there]
        if missing:
            raise DataError(f"No trials of subject {missing[0]!r}. There are: {there}.")
        return self[np.isin(self.subject, wanted)]

    def nuisance(self) -> Ints:
        """The nuisance value of each trial: subject x session as contiguous integers from 0."""
        return nuisance_of(self.subject, self.session)

    def thin(self, ratio: float = 10.0, *, seed: int = 0) -> Self:
        """For each subject, at most `ratio` trials of a class per trial of that subject's rarest.

        Which trials stay is drawn from `seed` and the subject's place among the subjects; their
        order is kept.
        A subject who shows one class only keeps everything.
        """
        if ratio < 1:
            raise OptionError(f"ratio must be at least 1, got {ratio}.")
        keep = np.zeros(len(self), dtype=bool)
        for place, subject in enumerate(self.subjects):
            rng = np.random.default_rng([seed, place])
            mine = self.subject == subject
            _, counts = np.unique(self.y[mine], return_counts=True)
            for label in np.unique(self.y[mine]):
                found = np.flatnonzero(mine & (self.y == label))
                n = min(len(found), int(ratio * counts.min()))
                keep[rng.choice(found, n, replace=False)] = True
        return self[keep]

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write a folder that `load` opens; it appears whole or not at all."""
        arrays = {name: getattr(self, name) for name in ARRAYS} | {"x": self.signals}
        write(Path(folder), arrays, asdict(self.info), overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Open a folder that `save` wrote; `x` stays on disk, mapped into memory and read-only."""
        arrays, info = read(Path(folder))
        try:
            return cls(**arrays, info=Info(**info))
        except DataError as error:
            raise FileError(f"{folder} is damaged: {error}") from error
        except TypeError as error:
            raise FileError(
                f"{folder} is damaged: info.json lacks a value, or has one more."
            ) from error


class _Read:
    """Signals as one array: those of a `Selection` are read from disk each time."""

    def __get__(self, trials: Trials, owner: type) -> Floats:
        held = trials.signals
        return held[:] if isinstance(held, Selection) else held

    def __set__(self, trials: Trials, x: Held) -> None:
        vars(trials)["_held"] = x


Trials.x = _Read()  # type: ignore[assignment]  # once the dataclass has made its __init__


def concatenate(parts: Sequence[Trials]) -> Trials:
    """All trials of `parts`, which must agree on channels, times, rate and classes."""
    if not parts:
        raise DataError("There is nothing to concatenate.")
    first = parts[0]
    for kind in ("subject", "session"):
        if len({getattr(part, kind).dtype.kind for part in parts}) > 1:
            raise DataError(f"{kind} ids must be integers in all parts or strings in all parts.")
    shape = first.signals.shape[1:]
    for part in parts[1:]:
        here = part.signals.shape[1:]
        if part.info != first.info or here != shape:
            raise DataError(
                "Trials differ in channels, times, rate or classes: "
                f"{shape} with {first.info}, and {here} with {part.info}."
            )
    x, y, subject, session = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("x", "y", "subject", "session")
    )
    return Trials(x, y, subject, session, first.info)
