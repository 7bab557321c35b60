"""The selection-safe figure: a strength chosen on validation people, scored once on test people."""

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from censorium.errors import DataError, lookup
from censorium.stats.paired import Reals, mean_of

Ints = NDArray[np.int64]


def choices(valid: ArrayLike, *, by: str = "other-seeds", apart: ArrayLike | None = None) -> Ints:
    """Which model validation people choose for each fold and seed, (folds, seeds).

    `valid` is (models, folds, seeds): balanced accuracy on validation people, the baseline first;
    NaN where a model was not run. Of equals the first is chosen, so the baseline before all others.
    `by` says whose scores choose, each the mean over:

    - `"other-folds"`: the folds that are `apart`, (folds, folds), see `Overlap`: those that have
      nothing to do with the fold's test people. What is chosen is a strength.
    - `"other-seeds"`: the fold's other seeds. What is chosen is a strength for these training
      people; that one suits them by chance is a gain too, but censoring has not earned it.
    - `"fold"`: all seeds of the fold.
    - `"run"`: the fold and seed themselves. What is chosen is a trained model: the best of eighteen
      trainings beats one training of the baseline even if censoring does nothing.

    Never the mean over all folds: in the paper's, the people who validate one test another.
    """
    choosing = _choosing(valid, by, apart)
    return np.asarray(np.where(np.isfinite(choosing), choosing, -np.inf).argmax(axis=0))


def selected(
    valid: ArrayLike, test: ArrayLike, *, by: str = "other-seeds", apart: ArrayLike | None = None
) -> Reals:
    """How much the chosen model exceeds the baseline on test people, (folds, seeds, ...).

    `test` is (models, folds, seeds, ...), the baseline first. It has no part in the choice; the
    rest is as in `choices`.
    """
    test, chosen = np.asarray(test, dtype=np.float64), choices(valid, by=by, apart=apart)
    place = chosen.reshape(1, *chosen.shape, *[1] * (test.ndim - 3))
    gain = np.take_along_axis(test, place, axis=0)[0] - test[0]
    gain[~np.isfinite(_choosing(valid, by, apart)).any(axis=0)] = np.nan  # no choice, no score
    return np.asarray(gain)


def _choosing(valid: ArrayLike, by: str, apart: ArrayLike | None) -> Reals:
    """The scores that choose, (models, folds, seeds)."""
    valid = np.asarray(valid, dtype=np.float64)
    if valid.ndim != 3:
        raise DataError(f"valid must be (models, folds, seeds), got shape {valid.shape}.")
    n = valid.shape[1]
    away = np.zeros((n, n), bool) if apart is None else np.asarray(apart, dtype=bool)
    choosing = lookup("way to choose", by, WAYS)(valid, away)
    if not np.isfinite(choosing).any():
        raise DataError(f"There is nothing to choose by: no validation scores of {SOURCES[by]}.")
    return choosing


def _run(valid: Reals, apart: NDArray[np.bool_]) -> Reals:
    return valid


def _fold(valid: Reals, apart: NDArray[np.bool_]) -> Reals:
    return np.asarray(np.broadcast_to(mean_of(valid, 2)[..., None], valid.shape))


def _other_seeds(valid: Reals, apart: NDArray[np.bool_]) -> Reals:
    there = np.isfinite(valid)
    known = np.where(there, valid, 0.0)
    rest, n = known.sum(axis=2, keepdims=True) - known, there.sum(axis=2, keepdims=True) - there
    with np.errstate(invalid="ignore"):
        return np.asarray(rest / n)


def _other_folds(valid: Reals, apart: NDArray[np.bool_]) -> Reals:
    folds = mean_of(valid, 2)
    away = np.where(apart, folds[:, None, :], np.nan)  # (models, folds, folds that choose)
    return np.asarray(np.broadcast_to(mean_of(away, 2)[..., None], valid.shape))


WAYS: MappingProxyType[str, Callable[[Reals, NDArray[np.bool_]], Reals]] = MappingProxyType(
    {"fold": _fold, "other-folds": _other_folds, "other-seeds": _other_seeds, "run": _run}
)
SOURCES = MappingProxyType(
    {
        "fold": "a fold",
        "other-folds": "folds that are apart",
        "other-seeds": "other seeds",
        "run": "a run",
    }
)
