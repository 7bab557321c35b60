"""The first estimator: a calibrated linear classifier of who gave a trial, cross-validated."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf

from censorium.arrays import Ints
from censorium.auditing.folds import blocked, halves
from censorium.auditing.probe import PROBE_FOLDS
from censorium.auditing.sample import Reals, Sample

INNER_FOLDS = 4
FLATTEST, SHARPEST = 0.02, 3.0  # between these the classifier's certainty is chosen
RIDGE = 1e-9  # of a feature's variance: it may come twice, or not vary within cells
SHARPNESS = np.geomspace(0.05, 2.0, 16)


class Curve(NamedTuple):
    """Held-out log q(cell | z) / p(cell), (trials, cells), at two sizes of the training part.

    `tempered` is calibrated inside the training part. `whole` was trained on all of that, `halves`
    on its two halves; their sharpness is such that the limit of many trials is best.
    """

    tempered: Reals
    whole: Reals
    halves: tuple[Reals, Reals]
    fold: Ints


def linear_curve(sample: Sample, label: Ints | None = None) -> Curve:
    """Log ratios by linear discriminants trained on other trials, given the label if there is one.

    Given the label, what each label adds to the features is taken off for all cells alike.
    """
    share, n = sample.log_share(label), len(sample.cell)
    logits = np.empty((3, n, sample.n_cells))
    tempered, fold = np.empty((n, sample.n_cells)), np.empty(n, np.int64)
    for k, (train, test) in enumerate(blocked(sample.cell, np.arange(n), PROBE_FOLDS)):
        fold[test] = k
        for size, part in enumerate((train, *halves(sample.cell, train))):
            logits[size, test] = discriminant(sample, label, part)(test)
        sharpness = calibrated(sample, label, train)
        tempered[test] = ratios(logits[0, test], at(share, test), sharpness)
    best = limit_sharpness(logits, share, sample.cell)
    whole, one, other = (ratios(each, share, best) for each in logits)
    return Curve(tempered, whole, (one, other), fold)


def discriminant(sample: Sample, label: Ints | None, train: Ints) -> Callable[[Ints], Reals]:
    """Shrinkage LDA fitted to the trials `train`: what gives log p(z | cell), up to a constant."""
    x, design = sample.features[train], np.eye(sample.n_cells)[sample.cell[train]]
    n_labels = 0 if label is None else int(label.max()) + 1
    if label is not None:
        design = np.hstack([design, np.eye(n_labels)[label[train]]])
    effects = np.linalg.lstsq(design.T @ design, design.T @ x, rcond=None)[0]
    means, shifts = effects[: sample.n_cells], effects[sample.n_cells :]
    rest = x - design @ effects
    # Shrinkage is towards a multiple of the identity: within cells, features must be of one size.
    size = np.sqrt(np.mean(rest**2, axis=0)).clip(min=1e-6)
    covariance, _ = ledoit_wolf(rest / size, assume_centered=True)
    covariance *= len(x) / max(len(x) - design.shape[1], 1)
    covariance += RIDGE * np.eye(len(covariance))
    means = means / size
    weights = np.linalg.solve(covariance, means.T)
    offset = (means.T * weights).sum(axis=0) / 2

    def logits(rows: Ints) -> Reals:
        z = sample.features[rows] - (0 if label is None else shifts[label[rows]])
        return np.asarray(z / size @ weights - offset)

    return logits


def calibrated(sample: Sample, label: Ints | None, train: Ints) -> float:
    """The sharpness that serves best on trials that were held out inside the training part."""
    share = at(sample.log_share(label), train)
    logits = np.empty((len(train), sample.n_cells))
    place = np.empty(len(sample.cell), np.int64)
    place[train] = np.arange(len(train))
    for inner, held in blocked(sample.cell, train, INNER_FOLDS):
        logits[place[held]] = discriminant(sample, label, inner)(held)

    def loss(log_sharpness: float) -> float:
        told = ratios(logits, share, float(np.exp(log_sharpness)))
        return -float(own(told, sample.cell[train]).mean())

    bounds = (np.log(FLATTEST), np.log(SHARPEST))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return float(np.exp(found.x))


def limit_sharpness(logits: Reals, share: Reals, cell: Ints) -> float:
    """The sharpness nearest to 1 whose limit of many trials is not clearly below the best.

    At 1 the limit is unbiased where features are Gaussian; where they are not, a linear
    discriminant stays too sure of itself however many trials it is given.
    """

    def limit(sharpness: float) -> Reals:
        whole, one, other = (own(ratios(each, share, sharpness), cell) for each in logits)
        return np.asarray(2 * whole - (one + other) / 2)

    found = {s: limit(s) for s in (1.0, *SHARPNESS.tolist())}
    best = max(found.values(), key=lambda terms: float(terms.mean()))
    nearest = sorted(found, key=lambda s: abs(np.log(s)))
    return next(float(s) for s in nearest if not clearly_above(best - found[s]))


def clearly_above(difference: Reals) -> bool:
    """Whether the mean is above 0 by more than two standard errors."""
    return bool(difference.mean() > 2 * difference.std() / np.sqrt(len(difference)))


def ratios(logits: Reals, share: Reals, sharpness: float = 1.0) -> Reals:
    """The log of q(cell | z) / p(cell), by a classifier with these logits less its prior."""
    sharp = sharpness * logits
    return np.asarray(sharp - logsumexp(sharp + share, axis=1, keepdims=True))


def own(table: Reals, cell: Ints) -> Reals:
    """Each trial's entry for its own cell."""
    return np.asarray(np.take_along_axis(table, cell[:, None], axis=1)[:, 0])


def at(share: Reals, rows: Ints) -> Reals:
    """The log shares of these trials: the same for all, or each its own."""
    return share if len(share) == 1 else share[rows]
