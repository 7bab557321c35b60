"""What arrays of trials must be: ids that identify, labels that name, finite numbers."""

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
    """`values` as `n` identifiers, 64-bit integers or strings, or a `DataError`."""
    ids = _alike(kind, f"{kind} ids", values, n)
    if ids.dtype.kind == "b":
        raise DataError(f"{kind} ids must be integers or strings, got booleans.")
    return ids


def labels(values: ArrayLike, n: int) -> tuple[tuple[str, ...], Ints]:
    """The names of the classes, sorted as the labels are, and the class of each of `n` trials."""
    classes, codes = np.unique(_alike("y", "Labels in y", values, n), return_inverse=True)
    return tuple(map(str, classes.tolist())), codes.astype(np.int64)


def listed(ids: Any) -> list[Any]:
    """`ids` as a list of plain values; a lone string or number is one id, not its letters."""
    alone = isinstance(ids, str | int | float | np.generic)
    return [s.item() if isinstance(s, np.generic) else s for s in ([ids] if alone else ids)]


def signals(x: ArrayLike) -> Floats:
    """`x` in single precision, (trials, channels, times), or a `DataError`."""
    try:
        found = x if isinstance(x, np.memmap) else np.asarray(x)
    except ValueError as error:
        raise DataError("x must be one array; its trials differ in channels or times.") from error
    if found.ndim != 3:
        raise DataError(f"x must be (trials, channels, times), got shape {found.shape}.")
    if 0 in found.shape[1:]:
        raise DataError(f"x needs one channel and one time at least, got shape {found.shape}.")
    try:
        if found.dtype.kind in "biufO":
            return found.astype(np.float32, copy=False)
    except (TypeError, ValueError):
        pass
    raise DataError(f"x must hold real numbers, got {found.dtype}.")


def _alike(name: str, what: str, values: ArrayLike, n: int) -> NDArray[Any]:
    """`values` as `n` integers, strings or booleans, all of one kind and none missing."""
    # A list becomes objects first: NumPy would turn [1, "a"] into strings without a word, and
    # casts its strings of variable length to fixed ones no other way.
    found = np.asarray(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    if found.shape != (n,):
        raise DataError(f"{name} has shape {found.shape}, but there are {n} trials.")
    if found.dtype.kind in "fOT":
        for i, value in enumerate(found.tolist()):
            if _is_missing(value):
                raise DataError(f"{what} must be there for every trial; trial {i} has {value}.")
    if found.dtype.kind in "OT":
        found = _unboxed(what, found.astype(object))
    if found.dtype.kind in "uf":
        found = _whole(what, found)
    if found.dtype.kind not in "ibU":
        raise DataError(f"{what} must be integers or strings, got {found.dtype}.")
    return found.astype(np.int64, copy=False) if found.dtype.kind == "i" else found


def _is_missing(value: Any) -> bool:
    """Whether `value` is None, NaN or pandas' NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:  # NA cannot say whether it equals itself
        return True


def _unboxed(what: str, values: NDArray[np.object_]) -> NDArray[Any]:
    """An array of objects as one of booleans, numbers or strings."""
    for kinds, dtype in (
        ((str,), np.str_),
        ((bool, np.bool_), np.bool_),
        ((int, np.integer), np.int64),
        ((int, float, np.integer, np.floating), np.float64),
    ):
        flags = np.bool_ not in kinds  # Python counts True among the integers
        if all(isinstance(v, kinds) and not (flags and isinstance(v, bool)) for v in values):
            try:
                return values.astype(dtype)
            except OverflowError as error:
                raise DataError(f"{what} must fit into 64 bits; write them as strings.") from error
    raise DataError(f"{what} must be all integers or all strings.")


def _whole(what: str, numbers: NDArray[Any]) -> Ints:
    """Unsigned integers or whole floats as 64-bit integers."""
    # Above this a float of that size no longer tells an integer from the next.
    exact = 2 ** (np.finfo(numbers.dtype).nmant + 1) if numbers.dtype.kind == "f" else 2**63 - 1
    bad = np.flatnonzero((np.abs(numbers) > exact) | (numbers != np.floor(numbers)))
    if len(bad):
        raise DataError(
            f"{what} must be integers that 64 bits hold, or strings; got {numbers[bad[0]]}."
        )
    return numbers.astype(np.int64)


def chunks(x: Any, size: int = CHUNK) -> Iterator[NDArray[Any]]:
    """`x` in pieces of trials small enough to hold, in order."""
    for start in range(0, len(x), size):
        yield x[start : start + size]


def require_finite(x: Any, ch_names: Sequence[str] | None = None) -> None:
    """Raise a `DataError` that names the first trial and channel that hold NaN or infinity."""
    for i, chunk in enumerate(chunks(x)):
        bad = ~np.isfinite(chunk).all(axis=tuple(range(2, chunk.ndim)))
        if bad.any():
            trial, channel = np.argwhere(bad)[0]
            name = f"channel {channel}" if ch_names is None else f"channel {ch_names[channel]!r}"
            raise DataError(f"Trial {i * CHUNK + trial} has NaN or infinite values in {name}.")
