"""`censorium report`: finished runs -> one page, and its figures and tables as files."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from censorium.cli.options import OutFile
from censorium.cli.study import store_of
from censorium.errors import DataError
from censorium.splits import SubjectSplit
from censorium.store import Store
from censorium.study import Results


@click.command()
@click.argument("study")
@click.option(
    "--out", type=OutFile(), help="Where the page goes.  [default: the study's name with .html]"
)
@click.option("--compare", multiple=True, metavar="STUDY", help="Another study to put beside it.")
@click.option(
    "--store", type=click.Path(path_type=Path), help="Where the study's finished runs are."
)
def report(study: str, out: Path | None, compare: Sequence[str], store: Path | None) -> None:
    """Write what a study found: one page, and beside it every figure and table.

    STUDY is a study's file or preset, or the .sqlite file of its runs. Runs may be missing.

    \b
    Examples:
      censorium report study.yaml
      censorium report study.yaml --out study.html --compare other.yaml
    """
    from censorium.report import write_study  # noqa: PLC0415  (matplotlib is slow to import)

    place = store_of(study, store)
    results, splits, about = read(place)
    others = {Path(other).stem: read(store_of(other, None)) for other in compare}
    title = place.stem
    page = place.with_suffix(".html") if out is None else out
    write_study(
        page,
        results,
        title=title,
        about=about,
        compare={name: found for name, (found, _, _) in others.items()},
        splits={title: splits} | {name: theirs for name, (_, theirs, _) in others.items()},
    )
    console = Console()
    console.print(f"{len(results):,} rows of {len(set(results.key)):,} runs", soft_wrap=True)
    console.print(f"Report: [bold]{page}[/bold]; figures and tables: {page.stem}-files")


def read(place: Path) -> tuple[Results, list[SubjectSplit], dict[str, int]]:
    """The finished runs in a store, their splits, and how many were planned and how many failed."""
    with Store.open(place) as kept:
        keys, results, splits, named = kept.keys(), kept.results(), kept.splits(), kept.study()
    if not len(results):
        raise DataError(f"{place} holds no finished run yet.")
    planned = named[1].get("planned", len(keys.finished)) if named else len(keys.finished)
    return results, splits, {"planned": planned, "failed": len(keys.failed)}
