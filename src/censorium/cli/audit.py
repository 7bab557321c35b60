"""`censorium audit`: a model and trials -> what its features tell about who the subject is."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import torch
from rich.console import Console

import censorium
from censorium.auditing import Audit, groups, views
from censorium.auditing.run import n_steps
from censorium.auditing.sample import require_trials
from censorium.cli.options import OutFile, seed_option
from censorium.cli.progress import progress
from censorium.cli.terminal import told_of_people
from censorium.errors import DataError, OptionError
from censorium.estimator import CensoredClassifier
from censorium.files import replacing
from censorium.trials import Trials

KINDS = (".html", ".json")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("trials", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=OutFile(),
    multiple=True,
    help="An .html page or a .json file; may be given twice, for both.",
)
@click.option(
    "--sessions/--no-sessions",
    default=True,
    show_default=True,
    help="Tell sessions of a subject apart too, or subjects only.",
)
@seed_option
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or mps.")
def audit(
    model: Path, trials: Path, out: Sequence[Path], sessions: bool, seed: int, device: str
) -> None:
    """Say how much a model's features tell about who the subject is.

    MODEL is a file that `train` wrote, TRIALS a folder of trials. Fresh probes look at the
    features before and after the projector and, as a yardstick, at the raw signal: of the subjects
    who trained the model and of those it has not seen, apart. Takes one to two minutes.

    \b
    Examples:
      censorium audit model.safetensors trials
      censorium audit model.safetensors trials --out audit.html --out audit.json
    """
    for path in out:
        if path.suffix not in KINDS:
            raise OptionError(f"--out must end in .html or .json, got {path}.")
    console = Console()
    decoder = CensoredClassifier.load(model, device=device)
    parts = auditable(groups(decoder, Trials.load(trials)), console, sessions=sessions)
    # Batches this small gain nothing from a second thread; see `demo`.
    torch.set_num_threads(1)
    audits = audit_all(decoder, parts, console, sessions=sessions, seed=seed)
    console.print(told_of_people(audits))
    for path in out:
        write(path, audits, f"{model.name} on {trials.name}")
        console.print(f"Written to [bold]{path}[/bold]")


def auditable(parts: dict[str, Trials], console: Console, *, sessions: bool) -> dict[str, Trials]:
    """The groups of two subjects or more; of a lone one it is said that nobody can be told apart.

    Whether all have trials enough is known at once, before any work starts.
    """
    found = {}
    for people, part in parts.items():
        names = ", ".join(str(s) for s in part.subjects)
        console.print(f"{people}: {names}", soft_wrap=True)
        if len(part.subjects) < 2:
            console.print("  one only, from whom nobody can be told apart: left out")
            continue
        try:
            require_trials(part.subject, part.session if sessions else None)
        except DataError as error:
            raise DataError(f"Among the {people}: {error}") from error
        found[people] = part
    if not found:
        raise DataError("No group has two subjects to tell apart; give trials of more people.")
    return found


def audit_all(
    decoder: CensoredClassifier,
    parts: dict[str, Trials],
    console: Console,
    *,
    sessions: bool,
    seed: int,
) -> list[Audit]:
    """An audit of each view of each group."""
    seen = {people: views(decoder, part) for people, part in parts.items()}
    total = sum(n_steps(part.y) * len(seen[people]) for people, part in parts.items())
    audits, before = [], 0
    with progress(console, "auditing", total) as tell:
        for people, part in parts.items():
            for view, features in seen[people].items():

                def on_step(
                    done: int,
                    n: int,
                    *,
                    before: int = before,
                    words: str = f"auditing {view}, {people}",
                ) -> None:
                    tell(before + done, words)

                found = censorium.audit(
                    features,
                    part.subject,
                    sessions=part.session if sessions else None,
                    labels=[part.info.class_names[k] for k in part.y],
                    people=people,
                    view=view,
                    seed=seed,
                    on_step=on_step,
                )
                before += n_steps(part.y)
                audits.append(found)
    return audits


def write(path: Path, audits: Sequence[Audit], source: str) -> None:
    """Write the audits as the page or the JSON that `path` asks for."""
    from censorium.report import write_audit  # noqa: PLC0415  (matplotlib is slow to import)

    if path.suffix == ".html":
        write_audit(path, audits, source=source)
        return
    about = {
        "censorium": censorium.__version__,
        "audited": source,
        "audits": [asdict(found) for found in audits],
    }
    with replacing(path) as new:
        new.write_text(json.dumps(about, indent=1), encoding="utf-8")
