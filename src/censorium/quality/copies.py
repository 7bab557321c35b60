"""Trials that are equal in every bit, of one subject or of several."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from censorium.arrays import Ints
from censorium.quality.survey import Cell


class Copied(NamedTuple):
    """Trials of a subject that are there more than once; `others` have them too, if anybody."""

    subject: Any
    others: tuple[Any, ...]
    places: Ints


def copies(cells: Sequence[Cell]) -> Iterator[Copied]:
    """For each subject, the trials that others have too, and those that only this one has twice.

    Trials without any signal, flat or broken throughout, are not compared.
    """
    subjects = list(dict.fromkeys(c.subject for c in cells))
    owner = np.concatenate([np.full(int(c.speaks.sum()), subjects.index(c.subject)) for c in cells])
    place = np.concatenate([c.places[c.speaks] for c in cells])
    digest = np.concatenate([c.digest[c.speaks] for c in cells])
    _, group, counts = np.unique(digest, return_inverse=True, return_counts=True)
    again = counts[group] > 1
    owner, place, group = owner[again], place[again], group[again]
    first = np.full(len(counts), len(subjects))
    last = np.full(len(counts), -1)
    np.minimum.at(first, group, owner)
    np.maximum.at(last, group, owner)
    shared = (first != last)[group]
    for k in np.unique(owner).tolist():
        mine = owner == k
        theirs = np.isin(group, group[mine & shared]) & ~mine
        others = tuple(subjects[i] for i in np.unique(owner[theirs]).tolist())
        for part, who in ((mine & shared, others), (mine & ~shared, ())):
            if part.any():
                yield Copied(subjects[k], who, np.sort(place[part]))
