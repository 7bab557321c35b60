"""What the tests say of each setting: the one place where a report meets `censorium.stats`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import t

from censorium import stats
from censorium.report.study_numbers import Floats, Setting
from censorium.report.study_pairs import by_unit, people

LEVEL = 0.05


@dataclass(frozen=True)
class Found:
    """One setting beside the baseline, on test subjects; NaN where there is nothing to say.

    `gain` is the mean over folds, seeds averaged; `low` and `high` are its 95 % interval, which
    agrees with `corrected`; `effect` is the gain in standard deviations between people. `paper` is
    the p of the paper's paired t-test over repetitions, `corrected` that of the corrected resampled
    t-test over folds, `flipped` that of sign flips of folds, `people` that of sign flips of
    subjects; `holm` and `max_t` correct for the number of strengths.
    """

    n_pairs: int
    n_people: int
    test: float
    gain: float
    low: float
    high: float
    effect: float
    mark: str
    paper: float
    corrected: float
    flipped: float
    people: float
    worse: float
    loss: float
    quarter_before: float
    quarter_gain: float
    holm: float = np.nan
    max_t: float = np.nan

    @property
    def clear(self) -> bool:
        """Whether the corrected t-test finds a difference."""
        return self.corrected <= LEVEL


def find(settings: Sequence[Setting], *, ratio: float) -> dict[Setting, Found]:
    """The numbers of each setting; `ratio` is test over training subjects of a split."""
    runs = _columns([dict(enumerate(s.gain.tolist())) for s in settings])
    units = _columns([by_unit(s) for s in settings])
    each = [people(s) for s in settings]
    after = _columns([dict(zip(p.names, p.scores.tolist(), strict=True)) for p in each])
    before = _columns([dict(zip(p.names, p.before.tolist(), strict=True)) for p in each])
    paper = _if_two(runs, stats.paired_t)
    safe = _if_two(units, lambda d: stats.resampled_t(d, ratio=ratio))
    margin = safe and _margin(units, safe.statistic)
    harm = _if_two(after, lambda scores: stats.harm(scores, before))
    columns = {
        "gain": _mean(units) if len(units) else None,
        "low": safe and _mean(units) - margin,
        "high": safe and _mean(units) + margin,
        "effect": _if_two(after - before, stats.standardised),
        "paper": paper and paper.p,
        "corrected": safe and safe.p,
        "flipped": _if_two(units, lambda d: stats.flip_test(d, ratio=ratio).p),
        "people": _if_two(after - before, lambda d: stats.flip_test(d).p),
        "worse": harm and harm.worse,
        "loss": harm and harm.loss,
        "quarter_before": harm and harm.worst_before,
        "quarter_gain": harm and harm.worst_quarter,
    }
    nobody = ~np.isfinite(after).any(axis=0)
    for name in ("worse", "loss"):
        columns[name] = np.where(nobody, np.nan, columns[name]) if harm else None
    marks = stats.marks(paper) if paper else [""] * len(settings)
    return {
        s: Found(
            n_pairs=len(s.paired.rows),
            n_people=len(each[i].names),
            test=float(s.test.mean()),
            mark=marks[i],
            **{k: np.nan if found is None else float(found[i]) for k, found in columns.items()},
        )
        for i, s in enumerate(settings)
    }


def corrected(
    found: dict[Setting, Found], family: Sequence[Setting], *, ratio: float
) -> dict[Setting, Found]:
    """The numbers of a family with p corrected for its number: by Holm, and by the largest |t|."""
    units = _columns([by_unit(s) for s in family])
    holm = stats.holm([found[s].corrected for s in family])
    max_t = _if_two(units, lambda d: stats.max_t(d, ratio=ratio))
    return {
        s: replace(
            found[s], holm=float(holm[i]), max_t=np.nan if max_t is None else float(max_t[i])
        )
        for i, s in enumerate(family)
    }


def _margin(units: Floats, statistic: Floats) -> Floats:
    """Half the 95 % interval of each column's mean, in agreement with its t."""
    n = np.isfinite(units).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.abs(_mean(units) / statistic)
    return np.asarray(t.ppf(1 - LEVEL / 2, np.maximum(n - 1, 1)) * error)


def _mean(units: Floats) -> Floats:
    """The mean of each column; NaN where there is nothing."""
    there = np.isfinite(units)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, units, 0.0).sum(axis=0) / there.sum(axis=0))


def n_units(settings: Sequence[Setting]) -> int:
    """In how many units, folds with people of their own, these stand beside the baseline."""
    return len({unit for s in settings for unit in by_unit(s)})


def least_p(n: int) -> float:
    """The least p that flipping the signs of `n` units can give."""
    return float(2.0 ** (1 - n))


def _columns(found: Sequence[dict[Any, float]]) -> Floats:
    """A row for each key that any has, a column for each; NaN where one has none."""
    keys = {key: i for i, key in enumerate(dict.fromkeys(k for mine in found for k in mine))}
    table = np.full((len(keys), len(found)), np.nan)
    for column, mine in enumerate(found):
        table[[keys[k] for k in mine], column] = list(mine.values())
    return table


def _if_two(d: Floats, test: Callable[[Floats], Any]) -> Any:
    """What a test says of these differences; None of fewer than two units."""
    return test(d) if d.shape[0] >= 2 and d.shape[1] else None
