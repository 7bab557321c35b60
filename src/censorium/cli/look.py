"""`censorium data info`, `check` and `plot`: what a researcher looks at first."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

import censorium
from censorium.averages import Averages
from censorium.cli.look_tables import about, found, people
from censorium.cli.options import OutFile
from censorium.cli.progress import progress
from censorium.errors import OptionError, lookup
from censorium.files import replacing, require_file_place
from censorium.overview import Overview
from censorium.quality import findings
from censorium.trials import Trials

KINDS = {".png": {}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}  # the same each time
DPI = 150

folder_argument = click.argument("folder", type=click.Path(path_type=Path))
json_option = click.option(
    "--json", "json_file", type=OutFile(), help="Write it all to a file as JSON too."
)


@click.command()
@folder_argument
@json_option
def info(folder: Path, json_file: Path | None) -> None:
    """Say what a folder of trials holds: who, which classes, which channels.

    Then a table: for each subject the trials of each session and class, the share of the class
    that they show least often, and by how much their median channel deviates.

    \b
    Examples:
      censorium data info trials
      censorium data info trials --json info.json
    """
    trials, console = Trials.load(folder), Console()
    with progress(console, "reading", len(trials.subjects)) as tell:
        overview = Overview.of(trials, on_subject=lambda done, _: tell(done))
    console.print(about(overview, folder))
    console.print(people(overview))
    if json_file:
        write_json(json_file, folder, {"overview": asdict(overview)})


@click.command()
@folder_argument
@json_option
def check(folder: Path, json_file: Path | None) -> None:
    """Look for what may be wrong with a folder of trials.

    Flat, wild and equal channels, NaN, trials that are there twice or under two subjects, jumps,
    units, odd labels. With errors the exit status is 1; warnings are for you to judge.

    \b
    Examples:
      censorium data check trials
      censorium data check trials --json findings.json
    """
    trials, console = Trials.load(folder), Console()
    with progress(console, "checking", len(trials.subjects)) as tell:
        seen = findings(trials, on_subject=lambda done, _: tell(done))
    console.print(found(seen))
    if json_file:
        write_json(json_file, folder, {"findings": [asdict(finding) for finding in seen]})
    if any(finding.severity == "error" for finding in seen):
        raise click.exceptions.Exit(1)


@click.command()
@folder_argument
@click.option(
    "--out",
    type=OutFile(),
    default=Path("data.png"),
    show_default=True,
    help="A .png, .pdf or .svg file; a second one, of each person, is put beside it.",
)
@click.option(
    "--channels", metavar="NAMES", help="Channels to show: Pz,Oz.  [default: the most telling]"
)
@click.option("--subjects", metavar="IDS", help="Subjects to show: 3,7,9.  [default: all]")
def plot(folder: Path, out: Path, channels: str | None, subjects: str | None) -> None:
    """Draw class averages, what differs, where on the scalp, and each person.

    Lines are means over subjects, with 95 % intervals over subjects. The first channel is the one
    at which each person is shown.

    \b
    Examples:
      censorium data plot trials
      censorium data plot trials --out pz.pdf --channels Pz,Oz --subjects 1,2,3
    """
    if out.suffix not in KINDS:
        raise OptionError(f"--out must end in .png, .pdf or .svg, got {out}.")
    each = out.with_name(f"{out.stem}-people{out.suffix}")
    require_file_place(each)
    trials, console = Trials.load(folder), Console()
    shown = named("channel", channels, trials.info.ch_names)
    if subjects is not None:
        trials = trials.of(named("subject", subjects, trials.subjects))
    with progress(console, "averaging", len(trials.subjects)) as tell:
        averages = Averages.of(trials, on_subject=lambda done, _: tell(done))
    draw(averages, shown, out, each, console)


def draw(
    averages: Averages, channels: Sequence[str], out: Path, each: Path, console: Console
) -> None:
    """Write both figures, and say what they could not show."""
    from censorium.report import figures, trials_figures  # noqa: PLC0415  (slow to import)

    with figures.style():
        first = next(iter(channels), None)
        drawn = {
            out: trials_figures.class_averages(averages, channels),
            each: trials_figures.each_person(averages, first),
        }
        for path, figure in drawn.items():
            with replacing(path) as new:
                kind = path.suffix[1:]
                figure.savefig(new, format=kind, dpi=DPI, metadata=KINDS[path.suffix])
    for said in trials_figures.left_out(averages):
        console.print(escape(said), soft_wrap=True)
    console.print(f"Written to [bold]{escape(str(out))}[/bold] and {escape(str(each))}")


def named(kind: str, names: str | None, there: Sequence[Any]) -> list[Any]:
    """Those of `there` that a list with commas names, Pz or PZ; none where there is no list."""
    known = {str(value): value for value in there}
    spelt = {name.lower(): name for name in known} | {name: name for name in known}
    given = [name.strip() for name in (names or "").split(",") if name.strip()]
    return [lookup(kind, spelt.get(n, spelt.get(n.lower(), n)), known) for n in given]


def write_json(path: Path, folder: Path, content: dict[str, Any]) -> None:
    """Write what was found, and of what it is."""
    whole = {"censorium": censorium.__version__, "trials": folder.name, **content}
    with replacing(path) as new:
        new.write_text(json.dumps(whole, indent=1), encoding="utf-8")
