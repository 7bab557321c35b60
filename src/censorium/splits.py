"""Who trains, who chooses, who tests: splits of subjects that cannot leak."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from censorium.arrays import identifiers, listed
from censorium.errors import DataError, SplitError
from censorium.trials import Trials

BLOCK = 4  # subjects in one of the paper's blocks
N_BLOCKS = 16  # of the 64 subjects
N_FOLDS = 10
N_TRAIN_BLOCKS = 6


@dataclass(frozen=True)
class SubjectSplit:
    """Subjects that train, subjects that choose the epoch, subjects that test; none is in two.

    One id alone, a string or a number, stands for one subject.

    Examples
    --------
    >>> from censorium import SubjectSplit
    >>> SubjectSplit(train=[1, 2, 3], test=[3, 4])
    Traceback (most recent call last):
    censorium.errors.SplitError: Subject 3 is in both train and test.
    """

    train: Sequence[Any]
    valid: Sequence[Any] = ()
    test: Sequence[Any] = ()

    def __post_init__(self) -> None:
        for part in ("train", "valid", "test"):
            object.__setattr__(self, part, tuple(listed(getattr(self, part))))
        if not self.train:
            raise SplitError("A split needs at least one training subject.")
        seen: dict[Any, str] = {}
        for part in ("train", "valid", "test"):
            for subject in getattr(self, part):
                if subject in seen:
                    both = f"{seen[subject]} and {part}"
                    where = f"twice in {part}" if seen[subject] == part else f"in both {both}"
                    raise SplitError(f"Subject {subject!r} is {where}.")
                seen[subject] = part

    def apply(self, trials: Trials) -> tuple[Trials, Trials, Trials]:
        """The trials of the training, validation and test subjects."""
        try:
            return trials.of(self.train), trials.of(self.valid), trials.of(self.test)
        except DataError as error:
            raise SplitError(f"The split does not fit these trials: {error}") from error


def paper_folds(subjects: Trials | Iterable[Any], *, validation: bool = True) -> list[SubjectSplit]:
    """The paper's ten partly overlapping folds of 64 subjects in 16 blocks of 4.

    Fold k validates on block k, tests on block k + 1 and trains on the six blocks after it,
    wrapping around: 24 / 4 / 4 subjects. Without validation, block k joins training: 28 / 4.
    Blocks follow the ids in order, digits within strings by their value: S2 before S10.
    """
    ids = sorted(_distinct(subjects), key=_natural)
    if len(ids) != BLOCK * N_BLOCKS:
        raise SplitError(
            f"The paper's folds need {BLOCK * N_BLOCKS} subjects, got {len(ids)}. "
            "For another number use subject_kfold or leave_one_subject_out."
        )
    blocks = [tuple(ids[i : i + BLOCK]) for i in range(0, len(ids), BLOCK)]

    def fold(k: int) -> SubjectSplit:
        after = [blocks[(k + 2 + i) % N_BLOCKS] for i in range(N_TRAIN_BLOCKS)]
        train = sum(after, start=())
        valid, test = blocks[k], blocks[(k + 1) % N_BLOCKS]
        return (
            SubjectSplit(train, valid, test)
            if validation
            else SubjectSplit(valid + train, (), test)
        )

    return [fold(k) for k in range(N_FOLDS)]


def leave_one_subject_out(subjects: Trials | Iterable[Any]) -> list[SubjectSplit]:
    """One split per subject, who is its only test subject."""
    ids = _at_least(2, _distinct(subjects))
    return [SubjectSplit([s for s in ids if s != out], (), [out]) for out in ids]


def subject_kfold(
    subjects: Trials | Iterable[Any], n_folds: int = 5, *, n_valid: int = 0, seed: int = 0
) -> list[SubjectSplit]:
    """`n_folds` splits in which each subject tests once; membership is drawn from `seed`.

    `n_valid` subjects of each training part are set aside for validation.
    """
    ids = _at_least(n_folds, _distinct(subjects))
    if n_folds < 2:
        raise SplitError(f"n_folds must be 2 or more, got {n_folds}.")
    if n_valid < 0:
        raise SplitError(f"n_valid must not be negative, got {n_valid}.")
    order = [ids[i] for i in np.random.default_rng(seed).permutation(len(ids))]
    parts = [order[k::n_folds] for k in range(n_folds)]
    splits = []
    for test in parts:
        rest = [s for s in order if s not in test]
        if n_valid >= len(rest):
            raise SplitError(f"n_valid={n_valid} leaves none of {len(rest)} subjects to train on.")
        splits.append(SubjectSplit(rest[n_valid:], rest[:n_valid], test))
    return splits


def _distinct(subjects: Trials | Iterable[Any]) -> list[Any]:
    if isinstance(subjects, Trials):
        return subjects.subjects
    ids = listed(subjects)
    try:
        return list(np.unique(identifiers("subject", ids, len(ids))).tolist())
    except DataError as error:
        raise SplitError(f"These subjects cannot be told apart: {error}") from error


def _natural(subject: Any) -> tuple[list[str | int], str]:
    # Splitting at digits gives text and numbers by turns, so that like is compared with like.
    parts = re.split(r"(\d+)", str(subject))
    return [int(p) if i % 2 else p for i, p in enumerate(parts)], str(subject)


def _at_least(n: int, ids: Sequence[Any]) -> Sequence[Any]:
    if len(ids) < n:
        raise SplitError(f"{n} subjects are needed, got {len(ids)}.")
    return ids
