"""Every model of a study beside the baseline: the paper's test, and those that stay honest."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from censorium.errors import DataError
from censorium.splits import SubjectSplit
from censorium.stats.correction import holm, max_t
from censorium.stats.effect import bootstrap, standardised
from censorium.stats.flips import flip_test
from censorium.stats.groups import (
    BASELINE,
    Family,
    Group,
    groups,
)
from censorium.stats.harm import Harm, harm
from censorium.stats.overlap import Overlap, in_order, overlap_of
from censorium.stats.paired import Verdict, marks, overlap_t, paired_t, resampled_t
from censorium.stats.selection import choices, selected
from censorium.study.results import Results


class Comparison(NamedTuple):
    """One model beside the baseline, on test people.

    `mean`, `low` and `high` are of the difference in balanced accuracy. `paper_t`, `paper_p` and
    `mark` are the paper's, over repetitions. The other p are over units, which are folds with their
    seeds averaged: `resampled_p` is Nadeau and Bengio's, `flip_p` by sign flips of the same
    statistic, `overlap_p` the strictest; `holm_p` and `max_t_p` correct the first two for the
    number of models in the family. `people_p` is by sign flips of people one by one, who share
    trained models: too often significant. The last four are as in `Harm`.
    """

    family: Family
    model: str
    strength: float
    n_runs: int
    n_units: int
    mean: float
    low: float
    high: float
    standardised: float
    paper_t: float
    paper_p: float
    mark: str
    people_p: float
    resampled_p: float
    flip_p: float
    overlap_p: float
    holm_p: float
    max_t_p: float
    worse: float
    loss: float
    worst_quarter: float
    worst_before: float


class Chosen(NamedTuple):
    """What a family comes to when validation people choose: a model of it, or the baseline.

    `by` is whose scores chose, as in `choices`; `shares` are how often each model was chosen, the
    baseline first. The rest is as in a `Comparison`, without a correction: there was one question.
    """

    family: Family
    by: str
    shares: dict[str, float]
    n_units: int
    mean: float
    low: float
    high: float
    resampled_p: float
    flip_p: float
    overlap_p: float


def compare(results: Results, splits: Iterable[SubjectSplit]) -> list[Comparison]:
    """Every model of the results beside the baseline; `splits` are those of the study's runs."""
    ordered = in_order(splits)
    return [row for group in groups(results) for row in _compared(group, ordered)]


def choose(
    results: Results, splits: Iterable[SubjectSplit], *, by: str | None = None
) -> list[Chosen]:
    """The selection-safe figure of every family that has validation scores.

    `by` is as in `choices`; None is `"other-folds"` where every fold has some, else
    `"other-seeds"`, or `"run"` where there is one seed only.
    """
    ordered = in_order(splits)
    return [
        _chosen(group, ordered, by)
        for group in groups(results)
        if np.isfinite(group.valid[0]).any()
    ]


def _compared(group: Group, splits: Sequence[SubjectSplit]) -> list[Comparison]:
    """A row for each model of the group."""
    ratio, shared, _ = overlap(group, splits)
    d = group.by_unit(group.test[1:] - group.test[0])
    people = group.by_person(group.scores[1:] - group.scores[0])
    paper, resampled = paired_t(group.repetitions), resampled_t(d, ratio=ratio)
    interval = bootstrap(d, ratio=ratio)
    columns = {
        "n_runs": np.isfinite(group.repetitions).sum(axis=0),
        "n_units": np.isfinite(d).sum(axis=0),
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "standardised": standardised(people),
        "paper_t": paper.statistic,
        "paper_p": paper.p,
        "people_p": flip_test(people).p,
        "resampled_p": resampled.p,
        "flip_p": flip_test(d, ratio=ratio).p,
        "overlap_p": overlap_t(d, overlap=shared).p,
        "holm_p": holm(resampled.p),
        "max_t_p": max_t(d, ratio=ratio),
        **_harm(group)._asdict(),
    }
    each = {name: column.tolist() for name, column in columns.items()}
    signs = marks(paper)
    return [
        Comparison(
            family=group.family,
            model=model,
            strength=float(group.strengths[i]),
            mark=signs[i],
            **{name: column[i] for name, column in each.items()},
        )
        for i, model in enumerate(group.models)
    ]


def _harm(group: Group) -> Harm:
    """The harm of each model, on runs that the baseline has beside it."""
    pairs = np.isfinite(group.scores[1:]) & np.isfinite(group.scores[0])
    mine = group.by_person(np.where(pairs, group.scores[1:], np.nan))
    plain = group.by_person(np.where(pairs, group.scores[0], np.nan))
    return harm(mine, plain)


def _chosen(group: Group, splits: Sequence[SubjectSplit], by: str | None) -> Chosen:
    """The row of a group."""
    ratio, shared, apart = overlap(group, splits)
    if by is None:
        alone = "run" if len(group.seeds) == 1 else "other-seeds"
        by = "other-folds" if apart.any(axis=1).all() else alone
    gain = selected(group.valid, group.test, by=by, apart=apart)
    d = group.by_unit(gain)[:, None]
    interval = bootstrap(d, ratio=ratio)
    names = (BASELINE, *group.models)
    chosen = choices(group.valid, by=by, apart=apart)[np.isfinite(gain)]
    times = np.bincount(chosen, minlength=len(names)) / max(len(chosen), 1)

    def p(tested: Verdict) -> float:
        return float(tested.p[0])

    return Chosen(
        family=group.family,
        by=by,
        shares=dict(zip(names, times.tolist(), strict=True)),
        n_units=int(np.isfinite(d).sum()),
        mean=float(interval.mean[0]),
        low=float(interval.low[0]),
        high=float(interval.high[0]),
        resampled_p=p(resampled_t(d, ratio=ratio)),
        flip_p=p(flip_test(d, ratio=ratio)),
        overlap_p=p(overlap_t(d, overlap=shared)),
    )


def overlap(group: Group, splits: Sequence[SubjectSplit]) -> Overlap:
    """The overlap of a group's folds; what they share, of its units. `splits` are in order."""
    if len(splits) <= group.folds.max():
        raise DataError(f"The results have fold {group.folds.max()}, got {len(splits)} splits.")
    mine = [splits[k] for k in group.folds]
    for k, split, people in zip(group.folds, mine, group.people, strict=True):
        tested = {group.names[p] for p in people if p >= 0}
        if tested != {str(s) for s in split.test}:
            raise DataError(
                f"Fold {k} of the results tests {sorted(tested)}, but split {k} tests "
                f"{[str(s) for s in split.test]}: give the splits of these results."
            )
    found = overlap_of(mine)
    member = (group.units == np.unique(group.units)[:, None]).astype(float)
    member /= member.sum(axis=1, keepdims=True)
    return found._replace(shared=member @ found.shared @ member.T)
