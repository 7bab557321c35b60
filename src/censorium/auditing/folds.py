"""Folds of trials that lie together in time: what is held out is new, not next to what was seen."""

from collections.abc import Iterator

import numpy as np

from censorium.arrays import Ints

GAP = 5  # trials on either side of a held-out block that do not train: they may overlap with it


def blocked(cell: Ints, rows: Ints, n_folds: int, *, gap: int = GAP) -> Iterator[tuple[Ints, Ints]]:
    """For each fold the trials that train and those held out: a block of each cell's, in order.

    Trials of a session that lie near one another share its drifts, and epochs of a rapid stream
    even samples. Were they drawn at random, a probe would know those it is tried on. Of a block
    that is short, fewer neighbours are left out: a quarter of its length at most.
    """
    pieces = [np.array_split(rows[cell[rows] == c], n_folds) for c in np.unique(cell[rows])]
    for k in range(n_folds):
        train, held = [], []
        for mine in pieces:
            left = min(gap, len(mine[k]) // 4)
            before, after = np.concatenate([[], *mine[:k]]), np.concatenate([[], *mine[k + 1 :]])
            train += [before[: max(len(before) - left, 0)], after[left:]]
            held.append(mine[k])
        yield np.sort(np.concatenate(train)).astype(np.int64), np.sort(np.concatenate(held))


def halves(cell: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The earlier and the later half of each cell's trials."""
    (later, earlier), _ = blocked(cell, rows, 2, gap=0)
    return earlier, later
