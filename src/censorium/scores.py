"""Scores of whole sets and of each subject; never averaged over batches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import recall_score

from censorium.arrays import Ids


def balanced_accuracy(
    y: ArrayLike, predicted: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """The mean, over the classes that occur in `y`, of the share of their trials named right."""
    labels, weight = np.unique(np.asarray(y)), sample_weight
    score = recall_score(
        y, predicted, labels=labels, average="macro", sample_weight=weight, zero_division=0
    )
    return float(score)


def per_subject(y: ArrayLike, predicted: ArrayLike, subject: Ids) -> dict[Any, float]:
    """Balanced accuracy of each subject, by sorted subject."""
    y, predicted = np.asarray(y), np.asarray(predicted)
    return {
        s: balanced_accuracy(y[subject == s], predicted[subject == s])
        for s in np.unique(subject).tolist()
    }
