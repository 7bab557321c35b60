"""What arrays of trials must be: identifiers that identify, numbers that are finite."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from censorium.errors import DataError

CHUNK = 4096  # trials looked at in one piece, so that memory-mapped data stays on disk

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Ids = NDArray[Any]  # subject or session identifiers: integers or strings


def nuisance_of(subject: Ids, session: Ids) -> Ints:
    """Subject x session as contiguous integers from 0, in sorted order."""
    _, a = np.unique(subject, return_inverse=True)
    _, b = np.unique(session, return_inverse=True)
    pairs = a * (b.max(initial=0) + 1) + b
    return np.unique(pairs, return_inverse=True)[1].astype(np.int64)


def identifiers(kind: str, values: ArrayLike, n: int) -> Ids:
    """`values` as `n` integer or string identifiers, or a `DataError`."""
    # A list becomes objects first: NumPy would turn [1, "a"] into strings without a word, and
    # casts its strings of variable length to fixed ones no other way.
    ids = np.asarray(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    if ids.dtype.kind == "T":
        ids = ids.astype(object)
    if ids.dtype.kind == "O":
        if all(isinstance(v, str) for v in ids.ravel()):
            ids = ids.astype(str)
        elif all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in ids.ravel()):
            ids = ids.astype(np.int64)
        else:
            raise DataError(f"{kind} ids must be all integers or all strings.")
    if ids.dtype.kind not in "iuU":
        raise DataError(f"{kind} ids must be integers or strings, got {ids.dtype}.")
    if ids.shape != (n,):
        raise DataError(f"{kind} has shape {ids.shape}, but there are {n} trials.")
    return ids


def event_names(epochs: Any) -> NDArray[np.str_]:
    """The name of each epoch's event."""
    names = {code: name for name, code in epochs.event_id.items()}
    return np.array([names[code] for code in epochs.events[:, 2]])


def chunks(x: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """`x` in pieces of trials small enough to hold, in order."""
    for start in range(0, len(x), CHUNK):
        yield x[start : start + CHUNK]


def require_finite(x: NDArray[Any], ch_names: Sequence[str] | None = None) -> None:
    """Raise a `DataError` that names the first trial and channel that hold NaN or infinity."""
    for i, chunk in enumerate(chunks(x)):
        bad = ~np.isfinite(chunk).all(axis=tuple(range(2, chunk.ndim)))
        if bad.any():
            trial, channel = np.argwhere(bad)[0]
            name = f"channel {channel}" if ch_names is None else f"channel {ch_names[channel]!r}"
            raise DataError(f"Trial {i * CHUNK + trial} has NaN or infinite values in {name}.")
