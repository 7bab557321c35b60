"""A study's tables as rows of plain values, and rows as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from censorium.report.study_chapter import Chapter
from censorium.report.study_figures import cost
from censorium.report.study_numbers import Setting
from censorium.report.study_pairs import by_person, people
from censorium.report.study_tests import Found

Row = dict[str, Any]


def tables(
    chapters: Sequence[Chapter], studies: Mapping[str, Sequence[Chapter]]
) -> dict[str, list[Row]]:
    """Every table of the report, by the name of its file."""
    return {
        "settings": [row for chapter in chapters for row in settings(chapter)],
        "chosen-on-validation": [row for chapter in chapters for row in choices(chapter)],
        "subjects": [row for chapter in chapters for row in subjects(chapter)],
        "studies": [row for name, mine in studies.items() for c in mine for row in study(name, c)],
    }


def settings(chapter: Chapter) -> list[Row]:
    """Every setting with all its numbers."""
    return [_row(chapter, s, chapter.found[s]) for s in chapter.at.settings]


def choices(chapter: Chapter) -> list[Row]:
    """What validation subjects choose: of all, and of each way; p corrected for the ways."""
    found = dict(chapter.safe)
    if chapter.overall:
        found = {chapter.overall: chapter.found[chapter.overall], **found}
    return [{"chosen": s.name, **_row(chapter, s, f)} for s, f in found.items()]


def _row(chapter: Chapter, setting: Setting, found: Found) -> Row:
    numbers = asdict(found)
    return {
        "point": chapter.point,
        "model": setting.said or setting.model,
        "method": setting.method,
        **setting.way._asdict(),
        "strength": setting.strength,
        "n_runs": len(setting.rows),
        "train": float(setting.column("train").mean()),
        "overfit_ratio": float((setting.test / setting.column("train")).mean()),
        "identity": _mean(setting.column("identity")),
        "chance": _mean(setting.column("chance")),
        "times_the_seconds": cost(setting),
        **numbers,
    }


def _mean(values: Any) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else np.nan


def subjects(chapter: Chapter) -> list[Row]:
    """Each test subject by each shown setting, beside the baseline where there is one."""
    rows = []
    for setting in (*chapter.at.others, *chapter.standing.values()):
        who = people(setting)
        before = dict(zip(who.names, who.before.tolist(), strict=True))
        for name, score in by_person(setting.results, setting.rows).items():
            rows.append(
                {
                    "point": chapter.point,
                    "model": setting.name,
                    "subject": name,
                    "score": score,
                    "baseline": before.get(name, np.nan),
                }
            )
    return rows


def study(name: str, chapter: Chapter) -> list[Row]:
    """A study's baseline, its choice on validation and its best on test."""
    kinds = (("chosen on validation", chapter.overall), ("highest on test", chapter.highest))
    first = {"study": name, "point": chapter.point, "baseline": chapter.baseline}
    return [
        {**first, "what": kind, "setting": s.name, **asdict(chapter.found[s])}
        for kind, s in kinds
        if s
    ]


def csv_of(rows: Sequence[Row]) -> str:
    """The rows as CSV; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if _unknown(value) else value for name, value in row.items()})
    return text.getvalue()


def _unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
