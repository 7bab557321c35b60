"""What is audited: features, and who gave them in which session under which label."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy
from sklearn.decomposition import PCA

from censorium.arrays import Ids, Ints, identifiers, labels, nuisance_of
from censorium.errors import DataError

MOST_FEATURES = 128  # of more, as many principal components: probes of more learn slowly
FEWEST_TRIALS = 10  # of a subject in a session: they are split into folds, and those into halves

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Standardised features of trials, and codes from 0 of whose they are.

    A cell is a value of the nuisance, a subject in a session; `subject_of` says whose it is.
    """

    features: Reals
    n_given: int
    subjects: tuple[Any, ...]
    subject: Ints
    cell: Ints
    subject_of: Ints
    classes: tuple[str, ...]
    label: Ints | None

    @classmethod
    def of(
        cls,
        features: ArrayLike,
        subjects: ArrayLike,
        sessions: ArrayLike | None,
        classes: ArrayLike | None,
        *,
        seed: int,
    ) -> Self:
        """A sample that can be audited, or a `DataError`."""
        x = matrix(features)
        ids = identifiers("subjects", subjects, len(x))
        sitting = np.zeros(len(x), np.int64)
        if sessions is not None:
            sitting = identifiers("sessions", sessions, len(x))
        names, label = ((), None) if classes is None else labels(classes, len(x))
        require_trials(ids, sitting)
        people, subject = np.unique(ids, return_inverse=True)
        cell = nuisance_of(ids, sitting)
        owner = subject[np.unique(cell, return_index=True)[1]]
        ready = standardised(x, seed=seed)
        who = tuple(people.tolist())
        return cls(ready, x.shape[1], who, subject.astype(np.int64), cell, owner, names, label)

    @property
    def n_cells(self) -> int:
        """How many subject x session there are."""
        return len(self.subject_of)

    def log_share(self, label: Ints | None = None) -> Reals:
        """The log of p(cell), (1, cells); given each trial's label, (trials, cells)."""
        group = np.zeros_like(self.cell) if label is None else label
        counts = np.zeros((int(group.max()) + 1, self.n_cells))
        np.add.at(counts, (group, self.cell), 1)
        with np.errstate(divide="ignore"):
            share: Reals = np.log(counts / counts.sum(axis=1, keepdims=True))
        return share if label is None else share[label]

    def entropy(self, group: Ints, label: Ints | None = None) -> float:
        """H(group of the cell), or that given the label, in nats."""
        told = np.exp(self.log_share(label)) @ np.eye(int(group.max()) + 1)[group]
        return float(-xlogy(told, told).sum(axis=1).mean())


def matrix(features: ArrayLike) -> Reals:
    """Features as (trials, features), whatever shape those of a trial have, or a `DataError`."""
    try:
        x = np.asarray(features)
        x = x.reshape(len(x), -1).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Features must be numbers, an array (trials, features): {error}") from None
    if 0 in x.shape:
        raise DataError(f"An audit needs trials and features, got an array of shape {x.shape}.")
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        raise DataError(f"Trial {bad[0][0]} has a NaN or infinite value in feature {bad[0][1]}.")
    return x


def require_trials(subject: Ids, session: Ids | None) -> None:
    """Raise a `DataError` that says who gave too few trials for an audit."""
    session = np.zeros(len(subject), np.int64) if session is None else session
    if len(np.unique(subject)) < 2:
        raise DataError("An audit asks who gave a trial: it needs two subjects or more.")
    _, first, counts = np.unique(
        nuisance_of(subject, session), return_index=True, return_counts=True
    )
    least = int(counts.argmin())
    if counts[least] < FEWEST_TRIALS:
        who, when = subject[first[least]].item(), session[first[least]].item()
        raise DataError(
            f"Subject {who!r} has {counts[least]} trials in session {when!r}; an audit needs "
            f"{FEWEST_TRIALS} or more of each subject in each session. Leave out who has fewer, "
            "or leave out the sessions."
        )


def standardised(x: Reals, *, seed: int) -> Reals:
    """Each feature with mean 0 and deviation 1, less the constant ones; at most `MOST_FEATURES`.

    The principal components that stand for more look at all trials, but at nobody's name.
    """
    x = scaled(x)
    if x.shape[1] > MOST_FEATURES:
        n = min(MOST_FEATURES, len(x) - 1)
        x = PCA(n, svd_solver="randomized", random_state=seed).fit_transform(x)
        x /= x.std()  # all by one factor: small components are mostly noise
    return x


def scaled(x: Reals) -> Reals:
    """The features that vary, with mean 0 and deviation 1."""
    x = x[:, np.ptp(x, axis=0) > 0]
    if not x.shape[1]:
        raise DataError("All features are constant: they tell nothing of anybody.")
    x = x / np.abs(x).max(axis=0)  # squares of the largest numbers would overflow
    deviation = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1))
