"""`censorium study`: many runs described in one file; planned, run, watched and written out."""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table

from censorium.cli.options import Name, OutFile
from censorium.cli.progress import clock, progress
from censorium.cli.tables import table_writer
from censorium.errors import FileError
from censorium.executors import executor_of
from censorium.mirror import mirror
from censorium.store import Store
from censorium.study import Results, Run, execute
from censorium.study.cost import estimate
from censorium.study.drive import drive
from censorium.study.file import BASELINE, StudyFile, preset, presets, read_study
from censorium.study.keep import KEEPERS
from censorium.trials import Trials

EVERY = 2.0  # s between two looks of `status --watch`
DEFAULT_ON = f"processes:{os.cpu_count() or 1}"

study_argument = click.argument("study")
data_option = click.option(
    "--data", type=click.Path(path_type=Path), help="A folder of trials, in place of the file's."
)
store_option = click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Where finished runs are kept.  [default: the study's name with .sqlite]",
)
on_option = click.option(
    "--on",
    default=DEFAULT_ON,
    show_default="processes:N, one per core",
    help="local, processes:N, ray or ray:ADDRESS.",
)


@click.group()
def study() -> None:
    """Compare many models on many splits of subjects, in runs that can be stopped anywhere.

    STUDY is a file (censorium study preset quick > study.yaml writes one) or the name of a preset.

    \b
    Examples:
      censorium study plan quick
      censorium study run quick
      censorium study status quick --watch
      censorium report quick
    """


@study.command("preset")
@click.argument("name", required=False)
def show_preset(name: str | None) -> None:
    """Print a preset, to be changed and run; without a name, say which there are.

    \b
    Examples:
      censorium study preset
      censorium study preset paper-small > study.yaml
    """
    if name:
        click.echo(preset(name), nl=False)
        return
    for known, text in sorted(presets().items()):
        about = " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))
        click.echo(f"{known}: {about}")


@study.command()
@study_argument
@data_option
@on_option
def plan(study: str, data: Path | None, on: str) -> None:
    """Say how many runs there are, how long they will take here, and how much disk.

    Each kind of run is tried for a few epochs.

    \b
    Examples:
      censorium study plan study.yaml
      censorium study plan quick --data trials --on processes:2
    """
    console, said = Console(), read_study(study)
    trials = trials_of(said, data)
    runs = said.study(trials).runs()
    with progress(console, "trying each kind of run", 0) as tell:
        found = estimate(runs, trials, on_kind=lambda done, total: tell(done, total=total))
    n = n_workers(on)
    console.print(f"{trials}", soft_wrap=True)
    n_models, n_seeds = len(said.models), len(said.seeds)
    n_splits = len(runs) // (n_models * n_seeds)
    console.print(
        f"{len(runs):,} runs: {n_models} models x {n_splits} splits x {n_seeds} seeds",
        soft_wrap=True,
    )
    console.print(f"time: {clock(found.seconds / n)} on {on} ({clock(found.seconds)} in all)")
    console.print(f"disk: {found.n_bytes / 1e6:,.1f} MB")


@study.command()
@study_argument
@data_option
@store_option
@on_option
@click.option(
    "--gpus", type=float, default=0.0, show_default=True, help="Of each run's share, on Ray: 0.25."
)
@click.option("--retry-failed", is_flag=True, help="Take just the runs that failed before.")
@click.option(
    "--keep",
    type=Name("thing to keep", KEEPERS),
    multiple=True,
    help="Keep weights or predictions of each network; may be given twice, for both.",
)
def run(
    study: str,
    data: Path | None,
    store: Path | None,
    on: str,
    gpus: float,
    retry_failed: bool,
    keep: Sequence[str],
) -> None:
    """Do the runs that are not done yet; the same command goes on after any break.

    \b
    Examples:
      censorium study run study.yaml
      censorium study run study.yaml --on processes:4
      censorium study run study.yaml --on ray:auto
      censorium study run study.yaml --retry-failed
    """
    console, said = Console(), read_study(study)
    execute_all = executor_of(on, gpus=gpus)
    trials = trials_of(said, data)
    runs = said.study(trials).runs()
    with Store.open(store_of(study, store), write=True) as kept:
        kept.remember(str(study), {"models": said.models, "planned": len(runs)})
        with progress(console, "running", len(runs)) as tell:
            done = drive(
                runs,
                trials,
                kept,
                execute_all,
                work=partial(execute, keep=tuple(keep)),
                files=lambda outcome: outcome.files,
                retry_failed=retry_failed,
                on_found=lambda found: console.print(str(found), soft_wrap=True),
                on_outcome=lambda _, n: tell(n),
            )
        console.print(str(done), soft_wrap=True)
        for failure in kept.failures()[-1:]:
            last = failure.traceback.strip().splitlines()[-1]
            console.print(f"The last failure, {failure.run.model}: {last}", soft_wrap=True)
    console.print(f"Next: censorium report {study}", soft_wrap=True)


@study.command()
@study_argument
@data_option
@store_option
@click.option("--watch", is_flag=True, help="Look again every two seconds, until all is done.")
def status(study: str, data: Path | None, store: Path | None, watch: bool) -> None:
    """Say what is done, what failed, how fast it goes, and which model is best so far.

    \b
    Examples:
      censorium study status study.yaml
      censorium study status study.yaml --watch
    """
    said = read_study(study)
    runs = said.study(trials_of(said, data)).runs()
    place, console = store_of(study, store), Console()
    if not watch:
        console.print(standing(runs, place))
        return
    with Live(standing(runs, place), console=console, auto_refresh=False) as live:
        while len(finished(runs, place)) < len(runs):
            time.sleep(EVERY)
            live.update(standing(runs, place), refresh=True)


@study.command()
@study_argument
@click.option(
    "--out",
    type=OutFile(),
    help="A .csv or .parquet file; without it CSV goes to standard output.",
)
@store_option
def export(study: str, out: Path | None, store: Path | None) -> None:
    """Write a table of one row for each finished run, evaluation point and test subject.

    \b
    Examples:
      censorium study export study.yaml > runs.csv
      censorium study export study.yaml --out runs.parquet
    """
    write = table_writer(out)
    with Store.open(store_of(study, store)) as kept:
        table = tidy(kept.results())
    write(table)
    if out:
        click.echo(f"{len(table['key'])} rows written to {out}")


@study.command("mirror")
@study_argument
@click.argument("uri")
@store_option
def mirror_study(study: str, uri: str, store: Path | None) -> None:
    """Write the finished runs into MLflow at URI, those that it lacks.

    \b
    Examples:
      censorium study mirror study.yaml http://localhost:5000
    """
    place, console = store_of(study, store), Console()
    with Store.open(place) as kept, progress(console, "mirroring", 0) as tell:
        n = mirror(
            kept, uri, experiment=place.stem, on_run=lambda done, total: tell(done, total=total)
        )
    console.print(f"{n:,} runs written to experiment {place.stem} at {uri}", soft_wrap=True)


@study.command("ls")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
def list_studies(folder: Path) -> None:
    """List the stores of runs in a folder, and what is in each.

    \b
    Examples:
      censorium study ls
      censorium study ls studies
    """
    table = Table("store", "study", "finished", "failed", box=None)
    for path in sorted(folder.glob("*.sqlite")):
        try:
            with Store.open(path) as kept:
                named, keys = kept.study(), kept.keys()
        except FileError:
            continue  # somebody else's SQLite file
        name = named[0] if named else ""
        table.add_row(path.name, name, f"{len(keys.finished):,}", f"{len(keys.failed):,}")
    nothing = f"There is no store of runs in {folder.resolve()}."
    Console().print(table if table.row_count else nothing, soft_wrap=True)


def trials_of(said: StudyFile, data: Path | None) -> Trials:
    """The trials in `data`, or those that the study names."""
    return said.trials() if data is None else Trials.load(data)


def store_of(study: str, store: Path | None) -> Path:
    """Where the runs of a study are kept."""
    if store is not None:
        return store
    path = Path(study)
    return path if path.suffix == ".sqlite" else path.with_suffix(".sqlite")


def n_workers(on: str) -> int:
    """How many runs at once an executor of this name does; of a cluster it is not known."""
    _, _, n = on.partition(":")
    return int(n) if n.isdigit() else 1


def finished(runs: Sequence[Run], place: Path) -> list[str]:
    """The keys of those runs that are finished."""
    if not place.exists():
        return []
    with Store.open(place) as kept:
        done = kept.keys().finished
    return [run.key for run in runs if run.key in done]


def standing(runs: Sequence[Run], place: Path) -> Table:
    """How far a study is."""
    table = Table(box=None, show_header=False)
    done = finished(runs, place)
    table.add_row("done", f"{len(done):,} of {len(runs):,}")
    if not done:
        return table
    with Store.open(place) as kept:
        keys, times, results = kept.keys(), kept.times(), kept.results(done)
    failed = keys.failed & {run.key for run in runs}
    table.add_row("failed", f"{len(failed):,}")
    at = sorted(times[key] for key in done)[-50:]
    if len(at) > 1 and at[-1] > at[0]:
        rate = (len(at) - 1) / (at[-1] - at[0])
        table.add_row("rate", f"{3600 * rate:,.0f} runs an hour")
        left = len(runs) - len(done) - len(failed)
        table.add_row("left", clock(left / rate) if left else "nothing")
    for point in dict.fromkeys(results.point.tolist()):
        table.add_row(f"{point}, best so far", best(results[results.point == point]))
    return table


def best(results: Results) -> str:
    """The model with the best mean on unseen people, beside the baseline; a look, no finding."""
    means = {m: results.test[results.model == m].mean() for m in np.unique(results.model)}
    name = max(means, key=lambda m: float(means[m]))
    beside = f" ({BASELINE} {means[BASELINE]:.3f})" if BASELINE in means else ""
    return f"{name} {means[name]:.3f}{beside}"


def tidy(results: Results) -> dict[str, Any]:
    """One row for each run, evaluation point and test subject."""
    rows, place = np.nonzero(~np.isnan(results.scores))
    names = ("key", "model", "method", "measure", "mode", "projection", "strength", "point")
    numbers = ("fold", "seed", "train", "valid", "test", "identity", "chance", "seconds")
    table = {name: getattr(results, name)[rows] for name in (*names, *numbers)}
    return table | {
        "subject": results.subjects[rows, place],
        "subject_test": results.scores[rows, place],
    }
