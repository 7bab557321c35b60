"""How much do these features know about who the subject is?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from censorium.arrays import Floats, Ids
from censorium.errors import DataError
from censorium.scores import balanced_accuracy

PROBE_FOLDS = 5


@dataclass(frozen=True)
class Probe:
    """How well a fresh linear classifier names the subject, and how well it would by guessing."""

    balanced_accuracy: float
    chance: float


def probe(features: Floats, subject: Ids) -> Probe:
    """Name the subject of each trial from its features, by cross-validated shrinkage LDA.

    Trials come in the order in which they were recorded.

    The critic that trained a model has no part in it: a probe is fitted afresh. It reads only what
    is linear in the features, so a low score does not prove that nothing is left.
    """
    names, counts = np.unique(subject, return_counts=True)
    if len(names) < 2 or counts.min() < PROBE_FOLDS:
        raise DataError(
            f"A probe needs two subjects or more with {PROBE_FOLDS} trials or more each."
        )
    # Nearly constant features would make the shrinkage ill-conditioned; their scale says nothing.
    deviation = features.std(axis=0)
    scaled = features / np.where(deviation > 0, deviation, 1)
    # Unshuffled, the folds are stretches of each subject's recording: trials of a rapid stream
    # overlap, and a probe that has seen a trial's neighbours knows it.
    folds = StratifiedKFold(PROBE_FOLDS)
    chance = 1 / len(names)
    equal = np.full(len(names), chance)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=equal)
    predicted = cross_val_predict(lda, scaled, subject, cv=folds)
    return Probe(balanced_accuracy(subject, predicted), chance)


def mean_probe(probes: Sequence[Probe | None]) -> Probe | None:
    """The mean of the probes there are."""
    found = [p for p in probes if p]
    if not found:
        return None
    named, chance = ([getattr(p, name) for p in found] for name in ("balanced_accuracy", "chance"))
    return Probe(float(np.mean(named)), float(np.mean(chance)))
