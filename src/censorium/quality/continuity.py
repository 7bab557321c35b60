"""Where time does not run on: steps within trials, and trials that overlap otherwise than most."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import Floats, Ints

Flags = NDArray[np.bool_]

# A step: nearly all channels change most at one moment, and by that much more than at any other.
# The largest of a thousand normal changes is about 1.1 times the next, and a filtered signal
# changes nearly as much just before and after; a single electrode steps alone.
NEARLY_ALL = 0.9
STEP = 3.0

LAGS = (1, 2)  # two: where every other sample was kept, every other trial may fall on the same ones
SHARED = 8  # samples that must be the same: of fewer, coarsely rounded signals agree by chance
PAIRS = 10  # overlaps, of which nearly all must be alike before the others are called odd


def stepped(x: Floats) -> Flags:
    """In which trials nearly all channels jump at one moment, as where a recording was cut."""
    found = np.zeros(len(x), dtype=bool)
    if x.shape[2] < 3:
        return found
    with np.errstate(invalid="ignore", over="ignore"):
        change = np.abs(np.diff(x, axis=2))
        largest, at = change.max(axis=2), change.argmax(axis=2)
    moves = largest > 0  # not so where there is NaN
    most = np.sort(at, axis=1)[:, x.shape[1] // 2]
    together = ((at == most[:, None]) & moves).sum(axis=1)
    maybe = np.flatnonzero((together > 0) & (together >= NEARLY_ALL * moves.sum(axis=1)))
    second = np.partition(change[maybe], -2, axis=2)[:, :, -2]
    clear = moves[maybe] & (STEP * second <= largest[maybe])
    found[maybe] = clear.sum(axis=1) >= moves[maybe].sum(axis=1) / 2
    return found


def shifts(x: Floats, before: Floats | None) -> Ints:
    """By how many samples each trial begins after the one before, and after the one before that.

    (trials, lags); 0 where the two do not overlap in the same values. `before` holds the trials
    that come before those of `x`, if there are any.
    """
    joined = x if before is None else np.concatenate([before, x])
    found = np.zeros((len(x), len(LAGS)), dtype=np.int64)
    for column, lag in enumerate(LAGS):
        here = _shift(joined[:-lag], joined[lag:])[-len(x) :]
        found[len(x) - len(here) :, column] = here
    return found


def slipped(found: Ints) -> tuple[Flags, int]:
    """Which trials overlap with one before by another shift than nearly all do, and that shift.

    `found` is what `shifts` says of all trials of a session. A multiple of the usual shift is no
    slip: a trial was left out. The shift is 0 where there is no usual one.
    """
    for column in found.T:
        overlaps = column[column > 0]
        if len(overlaps) < PAIRS:
            continue
        values, counts = np.unique(overlaps, return_counts=True)
        usual = int(values[counts.argmax()])
        if counts.max() >= NEARLY_ALL * len(overlaps):
            return column % usual > 0, usual
    return np.zeros(len(found), dtype=bool), 0


def _shift(first: Floats, second: Floats) -> Ints:
    """By how many samples each trial of `second` begins after its fellow in `first`, or 0."""
    found = np.zeros(len(first), dtype=np.int64)
    n_times = first.shape[2]
    moves = (second != second[:, :, :1]).any(axis=(1, 2))
    same = (first == second[:, :, :1]).all(axis=1) & moves[:, None]
    for shift in _down(np.flatnonzero(same[:, : n_times - SHARED + 1].any(axis=0))):
        rows = np.flatnonzero(same[:, shift])
        overlap = first[rows, :, shift:] == second[rows, :, : n_times - shift]
        found[rows[overlap.all(axis=(1, 2))]] = shift
    return found


def _down(values: Ints) -> Sequence[int]:
    """The shifts above 0, largest first, so that the smallest one that fits is what stays."""
    return [int(v) for v in values[::-1] if v > 0]
