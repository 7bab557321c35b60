"""A study's columns as settings: each model at each evaluation point, beside the baseline."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from censorium.dependence import MEASURES
from censorium.errors import DataError
from censorium.modes import MODES
from censorium.report.summary import BASELINE
from censorium.study import NETWORK, Results

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

POINTS = ("final", "best-validation", "averaged")
PROJECTIONS = ("direct", "projected")


class Way(NamedTuple):
    """A way to censor: all but the strength.

    `variant` tells apart models that share the rest, as those with weight decay or without.
    """

    measure: str
    mode: str
    projection: str
    variant: str = ""

    @property
    def group(self) -> str:
        """All but the measure."""
        return ", ".join(part for part in self[1:] if part)

    def __str__(self) -> str:
        return f"{self.measure}, {self.group}"


@dataclass(frozen=True, eq=False)
class Setting:
    """One model at one evaluation point: which rows are its runs, and which the baseline's.

    `base` are the baseline's rows of the same folds and seeds, -1 where there is none. `strength`
    is NaN for a model that is not censored, and where it was chosen fold by fold. `units` say which
    folds have people of their own. `said` is a name other than that of the model.
    """

    results: Results
    units: Mapping[int, int]
    rows: Rows
    base: Rows
    model: str
    method: str
    way: Way
    strength: float
    said: str = ""

    def column(self, name: str) -> NDArray[Any]:
        """One of the results' columns, of these runs."""
        found: NDArray[Any] = getattr(self.results, name)[self.rows]
        return found

    @property
    def plain(self) -> bool:
        """Whether it is the baseline."""
        return self.method == NETWORK and not self.way.measure and self.model == BASELINE

    @property
    def test(self) -> Floats:
        """Balanced accuracy on test subjects, of each run."""
        return self.column("test")

    @property
    def paired(self) -> "Setting":
        """The same, of those runs that have a baseline's beside them."""
        has = self.base >= 0
        return self if has.all() else replace(self, rows=self.rows[has], base=self.base[has])

    @property
    def gain(self) -> Floats:
        """Balanced accuracy on test subjects less the baseline's, of each pair of runs."""
        pairs = self.paired
        difference: Floats = pairs.test - self.results.test[pairs.base]
        return difference

    @property
    def name(self) -> str:
        """What the page calls it."""
        return self.said or (f"{self.way}, {self.strength:g}" if self.way.measure else self.model)


@dataclass(frozen=True, eq=False)
class AtPoint:
    """All settings at one evaluation point; those of one way to censor by rising strength."""

    point: str
    baseline: Setting | None
    ways: dict[Way, list[Setting]]
    others: list[Setting]

    @property
    def measures(self) -> list[str]:
        """The measures, each once."""
        return list(dict.fromkeys(way.measure for way in self.ways))

    @property
    def settings(self) -> list[Setting]:
        """All of them, the baseline first."""
        first = [self.baseline] if self.baseline else []
        return first + self.others + [s for mine in self.ways.values() for s in mine]


def at_points(results: Results) -> list[AtPoint]:
    """The settings at each evaluation point of a study.

    A yardstick that has no such point, or another than the rest, stands beside the rest at each.
    """
    if not len(results):
        raise DataError("None of the study's runs is done; there is nothing to report yet.")
    baselines = _baselines(results)
    settings: dict[str, list[Setting]] = {}
    for point, setting in _settings(results):
        settings.setdefault(point, []).append(setting)
    points = [p for p, mine in settings.items() if any(s.way.measure or s.plain for s in mine)]
    return [_at(p, settings, baselines) for p in _ordered(points or settings, POINTS)]


def _settings(results: Results) -> list[tuple[str, Setting]]:
    """Every evaluation point and model, in the order in which they come."""
    names = ("point", "model", "method", "measure", "mode", "projection")
    strength = np.nan_to_num(results.strength.astype(float), nan=-1).tolist()
    columns = [getattr(results, name).tolist() for name in names]
    groups: dict[tuple[Any, ...], list[int]] = {}
    unit = _units(results)
    for i, key in enumerate(zip(*columns, strength, strict=True)):
        groups.setdefault(key, []).append(i)
    return [
        (
            str(point),
            Setting(
                results=results,
                units=unit,
                rows=np.array(rows),
                base=np.full(len(rows), -1),
                model=str(model),
                method=str(method),
                way=Way(str(measure), str(mode), str(projection)),
                strength=value if value >= 0 else np.nan,
            ),
        )
        for (point, model, method, measure, mode, projection, value), rows in groups.items()
    ]


def _units(results: Results) -> dict[int, int]:
    """The unit of each fold: folds in which one person tests twice are one unit."""
    folds, first = np.unique(results.fold, return_index=True)
    unit = {int(fold): int(fold) for fold in folds}
    home: dict[str, int] = {}
    for fold, names in zip(folds.tolist(), results.subjects[first].tolist(), strict=True):
        for name in filter(None, names):
            old, new = unit[fold], unit[home.setdefault(name, fold)]
            unit = {f: new if u == old else u for f, u in unit.items()}
    return unit


def _baselines(results: Results) -> dict[tuple[str, int, int], int]:
    """The baseline's row of each evaluation point, fold and seed."""
    plain = (results.method == NETWORK) & (results.measure == "") & (results.model == BASELINE)
    columns = (results.point, results.fold, results.seed)
    where = zip(*(column[plain].tolist() for column in columns), strict=True)
    return dict(zip(where, np.flatnonzero(plain).tolist(), strict=True))


def _at(
    point: str,
    settings: dict[str, list[Setting]],
    baselines: dict[tuple[str, int, int], int],
) -> AtPoint:
    """The settings at a point, and those yardsticks that are scored at other points only."""
    here = {s.model for s in settings[point]}
    lent = [
        s
        for other, mine in settings.items()
        for s in mine
        if other != point and s.model not in here and not s.way.measure and not s.plain
    ]
    mine = [_beside(s, point, baselines) for s in settings[point] + lent]
    ways: dict[Way, list[Setting]] = {}
    for setting in _told_apart([s for s in mine if s.way.measure]):
        ways.setdefault(setting.way, []).append(setting)
    return AtPoint(
        point,
        next((s for s in mine if s.plain), None),
        {way: sorted(ways[way], key=lambda s: s.strength) for way in sorted(ways, key=place)},
        list({s.model: s for s in mine if not s.way.measure and not s.plain}.values()),
    )


def _beside(setting: Setting, point: str, baselines: dict[tuple[str, int, int], int]) -> Setting:
    """The same, with the baseline's rows of its folds and seeds at this point."""
    where = zip(setting.column("fold").tolist(), setting.column("seed").tolist(), strict=True)
    base = [baselines.get((point, fold, seed), -1) for fold, seed in where]
    return replace(setting, base=np.array(base, dtype=np.intp))


def _told_apart(settings: Sequence[Setting]) -> list[Setting]:
    """The same, with what is left of a model's name as its variant where several share the rest."""
    counts: dict[Way, list[float]] = {}
    for s in settings:
        counts.setdefault(s.way, []).append(s.strength)
    shared = {way for way, strengths in counts.items() if len(set(strengths)) < len(strengths)}
    return [
        replace(s, way=s.way._replace(variant=_rest(s))) if s.way in shared else s for s in settings
    ]


def _rest(setting: Setting) -> str:
    """What a model's name says beside its measure, mode, projection and strength."""
    known = {*setting.way, f"{setting.strength:g}", str(setting.strength)}
    words = [word for word in re.split(r"[\s,/]+", setting.model) if word not in known]
    return " ".join(words)


def _ordered(names: Iterable[str], first: Iterable[str]) -> list[str]:
    """The names, those of `first` in its order before the others in theirs."""
    known = list(first)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


def place(way: Way) -> tuple[int, str, int, str, int, str, str]:
    """Where a way stands: in the order in which measures and modes are listed."""

    def among(name: str, known: Sequence[str]) -> int:
        return known.index(name) if name in known else len(known)

    return (
        among(way.measure, list(MEASURES)),
        way.measure,
        among(way.mode, list(MODES)),
        way.mode,
        among(way.projection, PROJECTIONS),
        way.projection,
        way.variant,
    )
