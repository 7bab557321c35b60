"""What the splits of a study have in common, and so how far they repeat one another."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from censorium.splits import SubjectSplit
from censorium.stats.paired import Reals


class Overlap(NamedTuple):
    """What splits have in common.

    `ratio` is test over training people. `shared`, (splits, splits), is the share of training
    people that two splits have in common. `apart`, (splits, splits), is true where the test people
    of the first neither train nor validate in the second, nor test in it.
    """

    ratio: float
    shared: Reals
    apart: NDArray[np.bool_]


def overlap_of(splits: Iterable[SubjectSplit]) -> Overlap:
    """The overlap of these splits, in their order.

    Examples
    --------
    >>> from censorium import subject_kfold
    >>> from censorium.stats import overlap_of
    >>> overlap_of(subject_kfold(range(6), 3)).shared.tolist()
    [[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """
    splits = list(splits)
    train = [set(split.train) for split in splits]
    everyone = [{*split.train, *split.valid, *split.test} for split in splits]
    size = np.array([len(people) for people in train], dtype=float)
    common = np.array([[len(a & b) for b in train] for a in train], dtype=float)
    return Overlap(
        ratio=float(np.mean([len(split.test) / len(split.train) for split in splits])),
        shared=common / np.sqrt(np.outer(size, size)),
        apart=np.array([[not people & set(split.test) for people in everyone] for split in splits]),
    )


def in_order(splits: Iterable[SubjectSplit]) -> list[SubjectSplit]:
    """The distinct splits in the order in which `Results` counts them as folds."""
    return sorted(set(splits), key=lambda split: (split.test, split.valid, split.train))
