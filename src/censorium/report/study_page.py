"""The report of a study: one HTML file, and its figures and tables beside it as files."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure

from censorium.files import replacing
from censorium.report import study_boxes, study_figures, study_people, study_tables, study_words
from censorium.report.figures import style
from censorium.report.page import write_page
from censorium.report.study_chapter import Chapter, chapters
from censorium.splits import SubjectSplit
from censorium.study import Results

Nothing: Mapping[str, Any] = MappingProxyType({})

LARGEST = 1_500_000  # bytes of a drawing; a larger one stands in the page as a picture
SHARP = 150  # pixels an inch
READABLE = 700  # pixels; a wider figure is scrolled on a small screen rather than shrunk


def write_study(
    out: Path | str,
    results: Results,
    *,
    title: str,
    about: Mapping[str, Any] = Nothing,
    compare: Mapping[str, Results] = Nothing,
    splits: Mapping[str, Sequence[SubjectSplit]] = Nothing,
) -> None:
    """Write the report of a study, and beside it every figure and table, in ``<stem>-files``.

    Parameters
    ----------
    out
        The HTML file.
    results
        The finished runs.
    title
        What the study is called.
    about
        What else to say of the study, by name. "planned" and "failed" are numbers of runs.
    compare
        Other studies, or the same one on other data, to put beside this one.
    splits
        Those of each study by its name; without them the tests that allow for the overlap of folds
        suppose that all who do not test train.
    """
    out = Path(out)
    mine = chapters(results, splits.get(title, ()))
    studies = {title: mine} | {
        name: chapters(r, splits.get(name, ())) for name, r in compare.items()
    }
    files = Files(out.with_name(f"{out.stem}-files"))
    for name, rows in study_tables.tables(mine, studies).items():
        files.table(name, rows)
    with style():
        write_page(
            out,
            "study.html",
            filters=FILTERS,
            title=title,
            about={k: v for k, v in about.items() if k not in ("planned", "failed")},
            progress=study_words.progress(results, about),
            facts=facts(results),
            headline=study_words.headline(mine),
            chapters=mine,
            drawn={chapter.point: draw(chapter, files) for chapter in mine},
            studies=studies,
            comparison=files.image(
                "studies", study_figures.compared(studies), "Studies side by side."
            )
            if compare
            else None,
            known_splits=title in splits,
            folder=files.folder.name,
        )


def draw(chapter: Chapter, files: "Files") -> dict[str, Markup]:
    """The figures of one evaluation point."""
    at, point = chapter.at, chapter.point
    marks = {s: found.mark for s, found in chapter.found.items()}
    worse = {s: found.worse for s, found in chapter.found.items()}
    drawn = {}
    if at.ways:
        drawn["boxes"] = files.image(
            f"{point}-strengths",
            study_boxes.strength_boxes(at, marks),
            "Box plots of balanced test accuracy by strength.",
        )
        drawn["overfit"] = files.image(
            f"{point}-overfit",
            study_figures.overfit(at),
            "Balanced test accuracy against the overfit ratio.",
        )
    if chapter.compared:
        drawn["gains"] = files.image(
            f"{point}-subjects",
            study_people.gains(chapter.compared),
            "What each test subject gains or loses.",
        )
        if len({s.strength for s in at.settings if s.way.measure}) > 1:
            drawn["harm"] = files.image(
                f"{point}-harm", study_people.harm(at, worse), "Share of subjects read worse."
            )
    drawn["side"] = files.image(
        f"{point}-side-by-side",
        study_figures.side_by_side(at, chapter.shown),
        "Accuracy, cost and what features tell, side by side.",
    )
    return drawn


def facts(results: Results) -> dict[str, str]:
    """What was run, in a few numbers."""
    _, first = np.unique(results.key, return_index=True)  # a run of two points took its time once
    hours = float(results.seconds[first].sum()) / 3600
    took = f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"
    return {
        "runs": f"{len(first):,}",
        "models": f"{len(set(results.model.tolist())):,}",
        "test subjects": f"{len(set(results.subjects.ravel().tolist()) - {''}):,}",
        "folds": f"{len(np.unique(results.fold)):,}",
        "seeds": f"{len(np.unique(results.seed)):,}",
        "computing": took,
    }


@dataclass(frozen=True)
class Files:
    """The folder beside the page, into which figures and tables are written."""

    folder: Path

    def image(self, name: str, figure: Figure, alternative: str) -> Markup:
        """The figure inside the page, after both its forms were written as files."""
        svg = self._write(f"{name}.svg", figure, format="svg", metadata={"Date": None}, dpi=SHARP)
        png = self._write(f"{name}.png", figure, format="png", dpi=SHARP)
        kind, data = ("png", png) if len(svg) > LARGEST else ("svg+xml", svg)
        inside = base64.b64encode(data).decode()
        width = round(figure.get_figwidth() * 97)
        large = "large" if width > READABLE else ""
        return Markup(
            '<img alt="{}" class="{}" style="width: {}px" src="data:image/{};base64,{}">'
        ).format(alternative, large, width, kind, inside)

    def table(self, name: str, rows: Sequence[study_tables.Row]) -> None:
        """A table as CSV; none if it is empty."""
        if rows:
            with replacing(self.folder / f"{name}.csv") as new:
                new.write_text(study_tables.csv_of(rows), encoding="utf-8")

    def _write(self, name: str, figure: Figure, **options: Any) -> bytes:
        made = io.BytesIO()
        figure.savefig(made, **options)
        with replacing(self.folder / name) as new:
            new.write_bytes(made.getvalue())
        return made.getvalue()


FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "at_point": study_words.at_point,
    "sentences": study_words.sentences,
    "bounds": study_words.bounds,
    "chosen_by": study_words.chosen_by,
    "gain": study_words.gain,
    "number": study_words.number,
    "share": study_words.share,
    "p_value": study_words.p_value,
    "cost": study_figures.cost,
}
