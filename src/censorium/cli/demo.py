"""`censorium demo`: simulated people, a small study of plain and censored decoders, a report."""

import sys
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import click
import torch
from rich.console import Console

from censorium import datasets
from censorium.cli.options import OutFile, seed_option
from censorium.cli.progress import Tell, progress
from censorium.cli.terminal import scores_of_models
from censorium.recipe import EpochRecord
from censorium.splits import subject_kfold
from censorium.study import Outcome, Run, Study, execute
from censorium.trials import Trials

PEOPLE: Mapping[str, Any] = {"n_subjects": 12, "n_sessions": 2, "n_trials": 300}
N_FOLDS = 3
N_VALID = 2

# Larger steps than the paper's: a demonstration has few trials and little time.
TRAINING: Mapping[str, Any] = {"epochs": 10, "batch_size": 128, "learning_rate": 1e-3}

# Round numbers, large enough that something shows in so short a training, and not tuned further:
# a demonstration must not select by its test scores.
MODELS: Mapping[str, Mapping[str, Any]] = {
    "baseline": {"measure": None, **TRAINING},
    "adversarial": {"measure": "adversarial", "mode": "marginal", "strength": 1.0, **TRAINING},
    "density-ratio": {"measure": "density-ratio", "mode": "marginal", "strength": 1.0, **TRAINING},
    "wasserstein": {"measure": "wasserstein", "mode": "marginal", "strength": 1.0, **TRAINING},
}


def people(seed: int, on_subject: Callable[[int, int], None] | None = None) -> Trials:
    """The people of the demonstration."""
    return datasets.load("simulated", **PEOPLE, seed=seed, on_subject=on_subject)


def plan(trials: Trials, seed: int) -> Study:
    """Every model on every fold; some training subjects are set aside to watch over training."""
    return Study(MODELS, subject_kfold(trials, N_FOLDS, n_valid=N_VALID, seed=seed), seeds=(seed,))


@click.command()
@click.option(
    "--out",
    type=OutFile(),
    default=Path("censorium-demo.html"),
    show_default=True,
    help="Where the report goes.",
)
@seed_option
@click.option(
    "--open/--no-open",
    "show",
    default=None,
    help="Open the report in a browser. [default: if a person is watching]",
)
def demo(out: Path, seed: int, show: bool | None) -> None:
    """Compare plain and censored decoders; write a report.

    Both are trained on simulated people and tested on others. Takes a few minutes.

    \b
    Examples:
      censorium demo
      censorium demo --out report.html --seed 1 --no-open
    """
    from censorium.report import write_report  # noqa: PLC0415  (matplotlib is slow to import)

    # Batches this small gain nothing from a second thread (measured: 103 s with one, 105 s with
    # two), and two threads beside a busy core take several times as long.
    torch.set_num_threads(1)
    console = Console()
    with progress(console, "simulating people", PEOPLE["n_subjects"]) as tell:
        trials = people(seed, lambda done, _: tell(done))
    console.print(str(trials))
    runs = plan(trials, seed).runs()
    with progress(console, "training", sum(run.options["epochs"] for run in runs)) as tell:
        outcomes = execute_all(runs, trials, tell)
    write_report(out, trials, outcomes)
    console.print(scores_of_models(outcomes))
    console.print(f"Report: [bold]{out.resolve()}[/bold]")
    if show if show is not None else sys.stdout.isatty():
        click.launch(out.resolve().as_uri())


def execute_all(runs: list[Run], trials: Trials, tell: Tell) -> list[Outcome]:
    """The outcomes of all runs; `tell` hears of every epoch."""
    epochs = count(1)
    outcomes = []
    for number, run in enumerate(runs, start=1):

        def watch(record: EpochRecord, run: Run = run, number: int = number) -> None:
            said = f"run {number} of {len(runs)}: {run.model}, epoch {record.epoch}"
            tell(next(epochs), said)

        outcomes.append(execute(run, trials, on_epoch=watch))
    return outcomes
