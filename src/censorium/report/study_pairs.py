"""What validation subjects choose; settings beside the baseline, by fold and by person."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from censorium.errors import DataError
from censorium.report.study_numbers import Floats, Rows, Setting
from censorium.stats import choices, selected
from censorium.study import Results


class Choosing(NamedTuple):
    """Whose validation scores choose a strength; see `censorium.stats.choices`."""

    by: str
    apart: NDArray[np.bool_] | None = None


def how_to_choose(baseline: Setting | None, apart: NDArray[np.bool_] | None) -> Choosing:
    """By folds that are apart where each has some, else by other seeds, else by the run itself."""
    if baseline is None:
        return Choosing("run")
    folds = np.unique(baseline.column("fold"))
    if apart is not None and apart[np.ix_(folds, folds)].any(axis=1).all():
        return Choosing("other-folds", apart)
    return Choosing("run" if len(folds) == len(baseline.rows) else "other-seeds")


def chosen(
    baseline: Setting | None, settings: Sequence[Setting], how: Choosing, said: str
) -> Setting | None:
    """What validation subjects choose, for each fold and seed, of the baseline and `settings`.

    Only repetitions count in which all are done and validated; None if there are none.
    """
    if baseline is None or not settings:
        return None
    folds, rows = _grid([baseline, *settings])
    valid, test = (
        np.where(rows >= 0, column[rows], np.nan)
        for column in (baseline.results.valid, baseline.results.test)
    )
    whole = np.isfinite(valid).all(axis=0)
    valid[:, ~whole] = np.nan
    options: Any = {
        "by": how.by,
        "apart": None if how.apart is None else how.apart[np.ix_(folds, folds)],
    }
    try:
        gain, pick = selected(valid, test, **options), choices(valid, **options)
    except DataError:  # no scores that could choose
        return None
    whole &= np.isfinite(gain)
    if not whole.any():
        return None
    picked = np.take_along_axis(rows, pick[None], axis=0)[0]
    first = settings[0]
    return replace(first, rows=picked[whole], base=rows[0][whole], strength=np.nan, said=said)


def _grid(settings: Sequence[Setting]) -> tuple[Rows, Rows]:
    """The folds, and the row of each setting, fold and seed, -1 where it is not done."""
    folds, fold = np.unique(
        np.concatenate([s.column("fold") for s in settings]), return_inverse=True
    )
    seeds, seed = np.unique(
        np.concatenate([s.column("seed") for s in settings]), return_inverse=True
    )
    rows = np.full((len(settings), len(folds), len(seeds)), -1)
    which = np.repeat(np.arange(len(settings)), [len(s.rows) for s in settings])
    rows[which, fold, seed] = np.concatenate([s.rows for s in settings])
    return folds, rows


def by_unit(setting: Setting) -> dict[int, float]:
    """What each unit gains over the baseline: mean over a fold's seeds, then over its folds."""
    folds, code = np.unique(setting.paired.column("fold"), return_inverse=True)
    means = np.bincount(code, weights=setting.gain) / np.bincount(code)
    found: dict[int, list[float]] = {}
    for fold, mean in zip(folds.tolist(), means.tolist(), strict=True):
        found.setdefault(setting.units[fold], []).append(mean)
    return {key: float(np.mean(values)) for key, values in found.items()}


def by_person(results: Results, rows: Rows) -> dict[str, float]:
    """Each test subject's balanced accuracy, mean over the rows in which they test."""
    who, scores = results.subjects[rows].ravel(), results.scores[rows].ravel()
    there = ~np.isnan(scores.astype(float))
    names, code = np.unique(who[there].astype(str), return_inverse=True)
    means = np.bincount(code, weights=scores[there]) / np.bincount(code)
    return dict(zip(names.tolist(), means.tolist(), strict=True))


class People(NamedTuple):
    """Each test subject's balanced accuracy by a model, and the baseline's in the same runs."""

    names: list[str]
    scores: Floats
    before: Floats

    @property
    def gain(self) -> Floats:
        """What each gains."""
        return self.scores - self.before


def people(setting: Setting) -> People:
    """The test subjects of the runs that have a baseline's beside them."""
    pairs = setting.paired
    after, before = (by_person(setting.results, rows) for rows in (pairs.rows, pairs.base))
    names = [name for name in after if name in before]
    return People(names, np.array([after[n] for n in names]), np.array([before[n] for n in names]))
