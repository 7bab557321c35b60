"""`censorium data`: trials made, prepared and looked at."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from censorium import datasets
from censorium.cli.look import check, info, plot
from censorium.cli.options import seed_option
from censorium.cli.prepare import fetch, prepare
from censorium.cli.progress import progress
from censorium.folder import require_free


@click.group()
def data() -> None:
    """Make and prepare trials, and look at them.

    \b
    Examples:
      censorium data simulate trials --subjects 12
      censorium data fetch thu-rsvp
      censorium data prepare thu-rsvp trials
      censorium data info trials
    """


for command in (fetch, prepare, info, check, plot):
    data.add_command(command)


@data.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--subjects", type=int, default=12, show_default=True, help="How many people.")
@click.option("--sessions", type=int, default=2, show_default=True, help="Sessions of each.")
@click.option(
    "--trials", "n_trials", type=int, default=300, show_default=True, help="Trials in a session."
)
@click.option(
    "--subject-strength",
    type=float,
    default=1.0,
    show_default=True,
    help="How much the person shows: 0 not at all, 1 as in life, 2 strongly.",
)
@click.option(
    "--snr",
    type=float,
    default=1.0,
    show_default=True,
    help="Size of the responses over the background, relative to life.",
)
@click.option(
    "--class-shift",
    type=float,
    default=0.0,
    show_default=True,
    help="How much the share of targets differs between people.",
)
@seed_option
@click.option("--overwrite", is_flag=True, help="Replace a folder of trials.")
def simulate(folder: Path, subjects: int, sessions: int, overwrite: bool, **options: Any) -> None:
    """Simulate people who watch a rapid stream of images; write a folder of trials.

    \b
    Examples:
      censorium data simulate trials
      censorium data simulate strong --subjects 20 --subject-strength 2 --seed 1
    """
    require_free(folder, overwrite=overwrite)
    console = Console()
    with progress(console, "simulating people", subjects) as tell:
        trials = datasets.load(
            "simulated",
            n_subjects=subjects,
            n_sessions=sessions,
            on_subject=lambda done, _: tell(done),
            **options,
        )
    trials.save(folder, overwrite=overwrite)
    console.print(f"{trials}\nWritten to {folder}")
