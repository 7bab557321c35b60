"""`censorium data fetch` and `prepare`: real recordings -> a folder of trials."""

import json
import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from censorium import datasets
from censorium.cli.options import Name
from censorium.cli.progress import progress
from censorium.datasets import thu_rsvp
from censorium.errors import FileError, OptionError

MB = 10**6


@click.command()
@click.argument("name", type=Name("dataset", [thu_rsvp.NAME]))
@click.option(
    "--from",
    "source",
    default=thu_rsvp.URL,
    show_default=True,
    help="The address of a mirror, or a folder that the files were copied to.",
)
@click.option("--to", "folder", type=click.Path(path_type=Path), help="Where to keep them.")
@click.option("--subjects", metavar="IDS", help="Some of them only: 1-10,12.")
@click.option(
    "--digests",
    type=click.Path(path_type=Path),
    help="SHA-256 of the source's own files, as sha256sum prints them; else the published ones.",
)
def fetch(
    name: str, source: str, folder: Path | None, subjects: str | None, digests: Path | None
) -> None:
    """Download a dataset and verify it; a broken download goes on where it stopped.

    thu-rsvp is the RSVP benchmark of 64 people, about 15 GB. It is kept in the folder that the
    environment's CENSORIUM_DATA names, or in censorium_data in your home.

    \b
    Examples:
      censorium data fetch thu-rsvp
      censorium data fetch thu-rsvp --subjects 1-10
      censorium data fetch thu-rsvp --from /media/disk/rsvp
    """
    console = Console()
    with progress(console, "fetching, MB", 0) as tell:
        place = thu_rsvp.fetch(
            source,
            folder,
            subjects=None if subjects is None else numbers(subjects),
            digests=None if digests is None else digests_in(digests),
            on_bytes=lambda done, total: tell(done // MB, total=-(-total // MB)),
        )
    console.print(f"The files are in [bold]{place}[/bold]", soft_wrap=True)
    console.print(f"Next: censorium data prepare {name} FOLDER", soft_wrap=True)


@click.command()
@click.argument("source")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--subjects", metavar="IDS", help="Some of them only: 1-10,12.")
@click.option(
    "--option",
    "-o",
    "given",
    metavar="NAME=VALUE",
    multiple=True,
    help="An option of the source, as its docs name it; may be given several times.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=os.cpu_count() or 1,
    show_default="one per core",
    help="Recordings prepared at once, each in a process of its own.",
)
def prepare(
    source: str, folder: Path, subjects: str | None, given: tuple[str, ...], workers: int
) -> None:
    """Make a folder of trials from recordings.

    SOURCE is thu-rsvp, a dataset of MOABB as moabb:NAME, a folder in BIDS layout, a recording that
    MNE reads or a folder of them, or an .npz or .npy file. Who was interrupted goes on by the same
    command.

    \b
    Examples:
      censorium data prepare thu-rsvp trials
      censorium data prepare thu-rsvp trials --subjects 1-10 -o causal=false
      censorium data prepare moabb:BNCI2014_009 trials -o resample=128
      censorium data prepare recordings trials -o classes=target,standard -o band=0.5,30
    """
    options = dict(map(option, given))
    if subjects is not None:
        options["subjects"] = numbers(subjects)
    console = Console()
    with progress(console, "preparing", 0) as tell:
        trials = datasets.load(
            source,
            folder=folder,
            workers=workers,
            on_part=lambda done, total: tell(done, total=total),
            **options,
        )
    console.print(f"{trials}\nWritten to {folder}", soft_wrap=True)
    console.print(f"Next: censorium data check {folder}", soft_wrap=True)


def numbers(text: str) -> list[Any]:
    """Ids in text: 1-10,12 or sub1,sub2."""
    found: list[Any] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if dash and first.isdigit() and last.isdigit():
            found += range(int(first), int(last) + 1)
        else:
            found.append(value(part.strip()))
    return found


def option(text: str) -> tuple[str, Any]:
    """A name and a value: band=1,20."""
    name, sign, said = text.partition("=")
    if not sign or not name:
        raise OptionError(f"An option is NAME=VALUE, as in -o band=1,20; got {text!r}.")
    listed = "," in said and not said.startswith(("{", "["))
    return name, [value(part) for part in said.split(",")] if listed else value(said)


def value(text: str) -> Any:
    """What JSON makes of it, if it is that; true, false, none; or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def digests_in(path: Path) -> dict[str, str]:
    """The digest of each file that is listed at `path`."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        digest, _, name = line.strip().partition(" ")
        if len(digest) != 64 or not name.strip(" *"):
            raise FileError(f"{path} must have lines of a SHA-256 and a name, not {line!r}.")
        found[name.strip(" *")] = digest.lower()
    return found
