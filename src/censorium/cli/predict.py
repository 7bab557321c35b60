"""`censorium predict`: a model and trials -> a table of probabilities."""

from pathlib import Path

import click
import numpy as np

from censorium.cli.options import OutFile
from censorium.cli.tables import table_writer
from censorium.estimator import CensoredClassifier
from censorium.trials import Trials


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("trials", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=OutFile(),
    help="A .csv or .parquet file; without it CSV goes to standard output.",
)
@click.option("--device", default="cpu", show_default=True, help="cpu, cuda or mps.")
def predict(model: Path, trials: Path, out: Path | None, device: str) -> None:
    """Write the class probabilities of each trial.

    MODEL is a file that `train` wrote, TRIALS a folder of trials.

    \b
    Examples:
      censorium predict model.safetensors trials > probabilities.csv
      censorium predict model.safetensors trials --out probabilities.parquet
    """
    write = table_writer(out)
    decoder = CensoredClassifier.load(model, device=device)
    given = Trials.load(trials)
    probability = decoder.predict_proba(given)
    table = {
        "trial": np.arange(len(given)),
        "subject": given.subject,
        "session": given.session,
        "label": np.array(given.info.class_names)[given.y],
        "predicted": decoder.classes_[probability.argmax(axis=1)],
        **{f"p_{name}": probability[:, i] for i, name in enumerate(decoder.classes_)},
    }
    write(table)
    if out:
        click.echo(f"{len(given)} trials written to {out}")
