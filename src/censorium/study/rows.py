"""Runs and what came out of them as rows of plain values, and back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from censorium.auditing import Probe
from censorium.modelfile import plain
from censorium.recipe import EpochRecord
from censorium.splits import SubjectSplit
from censorium.study.results import censoring
from censorium.study.run import NETWORK, Evaluation, Outcome, Run, Scores

Row = tuple[Any, ...]


def text(value: Any) -> str:
    """`value` as JSON."""
    return json.dumps(value, default=plain, separators=(",", ":"))


def run_row(run: Run) -> Row:
    """Key, model, method, options, split, seed."""
    split = text(asdict(run.split))
    return run.key, run.model, run.method, text(dict(run.options)), split, int(run.seed)


def run_of(row: Sequence[Any]) -> Run:
    """The run of such a row."""
    _, model, method, options, split, seed = row
    return Run(model, json.loads(options), SubjectSplit(**json.loads(split)), seed, method)


def evaluations(outcome: Outcome) -> Iterator[Row]:
    """Place and name of the point, part, score, identity, chance, people: one row for each part."""
    for place, (point, scores) in enumerate(outcome.scores.items()):
        for part in ("train", "valid", "test"):
            found: Evaluation | None = getattr(scores, part)
            if found:
                probe = found.identity
                told = (probe.balanced_accuracy, probe.chance) if probe else (None, None)
                people = text([[who, score] for who, score in found.per_subject.items()])
                yield place, point, part, found.balanced_accuracy, *told, people


def scores_of(rows: Iterable[Sequence[Any]]) -> dict[str, Scores]:
    """The scores by evaluation point of such rows, those of the first point first."""
    found: dict[str, dict[str, Evaluation | None]] = {}
    for _, point, part, score, identity, chance, people in rows:
        probe = None if chance is None else Probe(number(identity), chance)
        evaluation = Evaluation(number(score), dict(json.loads(people)), probe)
        found.setdefault(point, {"valid": None})[part] = evaluation
    return {point: Scores(**parts) for point, parts in found.items()}  # type: ignore[arg-type]


def history_of(records: Sequence[EpochRecord]) -> dict[str, list[Any]]:
    """Epoch records as columns, which take half the room."""
    rows = [asdict(record) for record in records]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def records_of(columns: Mapping[str, Sequence[Any]]) -> list[EpochRecord]:
    """The epoch records of such columns."""
    rows = zip(*columns.values(), strict=True)
    return [EpochRecord.of(dict(zip(columns, row, strict=True))) for row in rows]


RESULTS = """
SELECT run.key, model, method, options, split, seed, seconds, test.point, train.balanced_accuracy,
    valid.balanced_accuracy, test.balanced_accuracy, test.identity, test.chance, test.people
FROM json_each(?) AS wanted
JOIN run ON run.key = wanted.value
JOIN evaluation AS test ON test.run = run.id AND test.part = 'test'
JOIN evaluation AS train ON train.run = run.id AND train.place = test.place AND train.part = 'train'
LEFT JOIN evaluation AS valid
    ON valid.run = run.id AND valid.place = test.place AND valid.part = 'valid'
ORDER BY wanted.key, test.place
"""


def result_rows(rows: Iterable[Sequence[Any]], models: Mapping[str, str]) -> list[dict[str, Any]]:
    """What `Results.of_rows` reads, of the rows that the query `RESULTS` finds."""
    split_of, censoring_of = cache(ordered_split), cache(stored_censoring)
    return [
        {
            "key": key,
            "model": models.get(key, model),
            "method": method,
            **censoring_of(method, options),
            "point": point,
            "split": split_of(split),
            "seed": seed,
            "train": number(train),
            "valid": number(valid),
            "test": number(test),
            "identity": number(identity),
            "chance": number(chance),
            "seconds": seconds,
            "people": dict(json.loads(people)),
        }
        for key, model, method, options, split, seed, seconds, *found in rows
        for point, train, valid, test, identity, chance, people in [found]
    ]


def ordered_split(split: str) -> Row:
    """Who tests, validates and trains: the order in which folds are counted."""
    parts = json.loads(split)
    return tuple(tuple(parts[name]) for name in ("test", "valid", "train"))


def stored_censoring(method: str, options: str) -> dict[str, Any]:
    """Which censoring a run asked for; that of a yardstick is none."""
    return censoring(json.loads(options) if method == NETWORK else {"measure": None})


def number(value: float | None) -> float:
    """NaN where SQLite, which knows none, gives NULL."""
    return np.nan if value is None else value
