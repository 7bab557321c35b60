"""A study's results as groups: models that differ in strength, beside the baseline, as tables."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from censorium.errors import DataError
from censorium.stats.paired import Reals, mean_of
from censorium.study.results import Results
from censorium.study.run import NETWORK

BASELINE = "baseline"


class Family(NamedTuple):
    """What the models of a group have in common; "" for methods that censor nothing."""

    method: str
    measure: str
    mode: str
    projection: str
    point: str


@dataclass(frozen=True, eq=False)
class Group:
    """Models of one family and, before them, the baseline at the same evaluation point.

    `valid` and `test` are (1 + models, folds, seeds), `scores` (1 + models, folds, seeds, people),
    each person by the number of their name in `names`, -1 where a fold has fewer. Folds and seeds
    are those that the family was run on. NaN where there is no run.
    """

    family: Family
    models: tuple[str, ...]
    strengths: Reals
    folds: NDArray[np.int64]
    seeds: NDArray[Any]
    names: tuple[str, ...]
    people: NDArray[np.int64]
    valid: Reals
    test: Reals
    scores: Reals

    @property
    def repetitions(self) -> Reals:
        """Differences from the baseline, (folds x seeds, models): what the paper tests."""
        d = self.test[1:] - self.test[0]
        return np.asarray(d.reshape(len(d), -1).T)

    @property
    def units(self) -> NDArray[np.int64]:
        """The unit of each fold: folds in which one person tests twice are one unit."""
        fold, place = np.nonzero(self.people >= 0)
        shape = (len(self.folds), len(self.names))
        tested = coo_array((np.ones(len(fold)), (fold, self.people[fold, place])), shape=shape)
        return np.asarray(connected_components(tested @ tested.T, directed=False)[1], np.int64)

    def by_unit(self, d: Reals) -> Reals:
        """Means of `d` (..., folds, seeds) over seeds, then over a unit's folds, (units, ...)."""
        folds = np.moveaxis(mean_of(d, -1), -1, 0)
        return np.stack([mean_of(folds[self.units == u], 0) for u in np.unique(self.units)])

    def by_person(self, d: Reals) -> Reals:
        """Means of `d` (..., folds, seeds, people) over seeds and folds, (names, ...)."""
        folds = np.moveaxis(mean_of(d, -2), (-2, -1), (0, 1))
        return np.stack([mean_of(folds[self.people == p], 0) for p in range(len(self.names))])


def groups(results: Results) -> list[Group]:
    """The families of a study's results, each beside the baseline at its evaluation point.

    What censors nothing and has no baseline at its own point, a classical method or a network whose
    weights are averaged, stands beside the baseline at each point that shares folds with it.
    """
    plain = (results.model == BASELINE) & (results.measure == "") & (results.method == NETWORK)
    columns = [getattr(results, name).astype(str) for name in Family._fields]
    codes = np.zeros(len(results), dtype=np.int64)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        codes = codes * len(values) + code
    found = []
    for code in np.unique(codes[~plain]):
        rows = np.flatnonzero((codes == code) & ~plain)
        family = Family(*(str(column[rows[0]]) for column in columns))
        beside = plain & np.isin(results.fold, results.fold[rows])
        points = np.unique(columns[-1][beside]).tolist()
        if family.point in points or family.measure:
            points = [family.point]
        for point in points:
            base = np.flatnonzero(beside & (columns[-1] == point))
            if not len(base):
                raise DataError(
                    f"There is no baseline at evaluation point {point!r} to compare with: a "
                    f"network without a measure that the study calls {BASELINE!r}."
                )
            found.append(_group(family._replace(point=point), results, rows, base))
    return found


def _group(family: Family, results: Results, rows: NDArray[Any], base: NDArray[Any]) -> Group:
    """The tables of the models in `rows` and of the baseline in `base`."""
    names, first = np.unique(results.model[rows], return_index=True)
    order = np.lexsort((names, results.strength[rows][first]))
    folds, seeds = np.unique(results.fold[rows]), np.unique(results.seed[rows])
    base = base[np.isin(results.fold[base], folds) & np.isin(results.seed[base], seeds)]
    place = np.empty(len(names), dtype=np.int64)
    place[order] = 1 + np.arange(len(names))
    mine = np.concatenate([base, rows])
    model = np.concatenate(
        [np.zeros(len(base), np.int64), place[np.searchsorted(names, results.model[rows])]]
    )
    fold = np.searchsorted(folds, results.fold[mine])
    cell = (model, fold, np.searchsorted(seeds, results.seed[mine]))
    shape = (1 + len(names), len(folds), len(seeds))
    _once(cell, shape, [BASELINE, *names[order].tolist()])
    known, people = _people(results.subjects[mine], fold, len(folds))

    def table(values: NDArray[Any]) -> Reals:
        whole = np.full((*shape, *values.shape[1:]), np.nan)
        whole[cell] = values
        return whole

    return Group(
        family=family,
        models=tuple(map(str, names[order])),
        strengths=results.strength[rows][first][order].astype(float),
        folds=folds,
        seeds=seeds,
        names=known,
        people=people,
        valid=table(results.valid[mine].astype(float)),
        test=table(results.test[mine].astype(float)),
        scores=table(results.scores[mine]),
    )


def _once(cell: tuple[Any, ...], shape: tuple[int, ...], models: list[str]) -> None:
    """Raise a `DataError` where a model was run twice on one fold from one seed."""
    flat = np.ravel_multi_index(cell, shape)
    times = np.bincount(flat)
    if times.max(initial=0) > 1:
        model = models[np.unravel_index(times.argmax(), shape)[0]]
        raise DataError(
            f"Model {model!r} has two rows of one fold, seed and evaluation point; "
            "give models that differ in their options names of their own."
        )


def _people(
    subjects: NDArray[Any], fold: NDArray[np.int64], n_folds: int
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The names of all who test, and the number of each of a fold's."""
    _, first = np.unique(fold, return_index=True)
    each = subjects[first]
    if not (subjects == each[fold]).all():
        raise DataError("The runs of one fold name different test subjects, or in another order.")
    names = sorted({str(s) for s in each.ravel()} - {""})
    number = {name: i for i, name in enumerate(names)} | {"": -1}
    people = np.array([[number[str(s)] for s in row] for row in each], dtype=np.int64)
    return tuple(names), people.reshape(n_folds, subjects.shape[1])
