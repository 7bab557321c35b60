"""Finished runs as columns: what statistics and reports read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from censorium.estimator import CensoredClassifier
from censorium.study.run import NETWORK, Outcome

Column = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Results:
    """One row for each finished run and evaluation point.

    `measure` is "" for a network without censoring and for methods that are none, where `mode` and
    `projection` are "" and `strength` is NaN too. `fold` counts the study's distinct splits from 0,
    in order. `valid`, `identity` and `chance` are NaN where there are none; `identity` is how often
    a probe names a test subject from the features. `subjects` and `scores` are (rows, most test
    subjects): who tested and how each was read, "" and NaN where a fold has fewer.
    """

    key: Column
    model: Column
    method: Column
    measure: Column
    mode: Column
    projection: Column
    strength: Column
    point: Column
    fold: Column
    seed: Column
    train: Column
    valid: Column
    test: Column
    identity: Column
    chance: Column
    seconds: Column
    subjects: Column
    scores: Column

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Self:
        """The columns of these outcomes."""
        return cls.of_rows([row for outcome in outcomes for row in rows_of(outcome)])

    @classmethod
    def of_rows(cls, rows: Sequence[dict[str, Any]]) -> Self:
        """The columns of rows as `rows_of` gives them."""
        folds = {split: k for k, split in enumerate(sorted({row["split"] for row in rows}))}
        widest = max((len(row["people"]) for row in rows), default=0)
        subjects = np.full((len(rows), widest), "", dtype=object)
        scores = np.full((len(rows), widest), np.nan)
        for i, row in enumerate(rows):
            subjects[i, : len(row["people"])] = [str(s) for s in row["people"]]
            scores[i, : len(row["people"])] = list(row["people"].values())
        plain = [f.name for f in fields(cls) if f.name not in ("fold", "subjects", "scores")]
        columns = {name: np.array([row[name] for row in rows]) for name in plain}
        fold = np.array([folds[row["split"]] for row in rows], dtype=np.int64)
        return cls(**columns, fold=fold, subjects=subjects, scores=scores)

    def __len__(self) -> int:
        return len(self.key)

    def __getitem__(self, rows: Any) -> Self:
        """Some of the rows, by a mask or by positions."""
        return type(self)(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @property
    def overfit_ratio(self) -> Column:
        """Balanced accuracy on test over training subjects."""
        return self.test / self.train


def rows_of(outcome: Outcome) -> list[dict[str, Any]]:
    """A row for each evaluation point of an outcome."""
    run = outcome.run
    censor = censoring(run.options) if run.method == NETWORK else censoring({"measure": None})
    return [
        {
            "key": run.key,
            "model": run.model,
            "method": run.method,
            **censor,
            "point": point,
            "split": (run.split.test, run.split.valid, run.split.train),
            "seed": run.seed,
            "train": scores.train.balanced_accuracy,
            "valid": scores.valid.balanced_accuracy if scores.valid else np.nan,
            "test": scores.test.balanced_accuracy,
            "identity": scores.test.identity.balanced_accuracy if scores.test.identity else np.nan,
            "chance": scores.test.identity.chance if scores.test.identity else np.nan,
            "seconds": outcome.seconds,
            "people": dict(scores.test.per_subject),
        }
        for point, scores in outcome.scores.items()
    ]


def censoring(options: Any) -> dict[str, Any]:
    """Which censoring the options of a `CensoredClassifier` ask for."""
    given = {**DEFAULTS, **options}
    if given["measure"] is None:
        return {"measure": "", "mode": "", "projection": "", "strength": np.nan}
    named = {name: str(given[name]) for name in ("measure", "mode", "projection")}
    return {**named, "strength": float(given["strength"])}


DEFAULTS = CensoredClassifier().get_params()
