"""`censorium train`: a folder of trials -> a saved model and its scores on unseen people."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

import censorium
from censorium.cli.options import Name, OutFile, seed_option
from censorium.cli.progress import progress
from censorium.cli.terminal import scores_of_sets
from censorium.dependence import MEASURES
from censorium.errors import OptionError, lookup
from censorium.estimator import CensoredClassifier
from censorium.files import replacing
from censorium.modelfile import options_of
from censorium.modes import MODES
from censorium.nets import PROJECTIONS
from censorium.recipe import EVALUATION_POINTS
from censorium.splits import SubjectSplit
from censorium.study import Evaluation, Parts, evaluate, to_fit
from censorium.trials import Trials

DEFAULTS = CensoredClassifier().get_params()


@click.command()
@click.argument("trials", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=OutFile(),
    default=Path("model.safetensors"),
    show_default=True,
    help="Where the model goes; its scores go beside it as JSON.",
)
@click.option(
    "--measure",
    type=Name("measure", [*MEASURES, "none"]),
    default=DEFAULTS["measure"],
    show_default=True,
    help="Measure of dependence; none trains the uncensored baseline.",
)
@click.option(
    "--mode",
    type=Name("mode", MODES),
    default=DEFAULTS["mode"],
    show_default=True,
    help="What is to be independent of the subject.",
)
@click.option(
    "--strength",
    type=float,
    default=DEFAULTS["strength"],
    show_default=True,
    help="Weight of the penalty (the paper's lambda).",
)
@click.option(
    "--projection",
    type=Name("projection", PROJECTIONS),
    default=DEFAULTS["projection"],
    show_default=True,
    help="Censor the features themselves, or a projection of them.",
)
@click.option(
    "--epochs",
    type=int,
    default=DEFAULTS["epochs"],
    show_default=True,
    help="Passes over the training trials.",
)
@click.option(
    "--batch-size",
    type=int,
    default=DEFAULTS["batch_size"],
    show_default=True,
    help="Trials in a step.",
)
@click.option(
    "--learning-rate",
    type=float,
    default=DEFAULTS["learning_rate"],
    show_default=True,
    help="Of AdamW, constant.",
)
@click.option(
    "--evaluation-point",
    type=Name("evaluation point", EVALUATION_POINTS),
    default=DEFAULTS["evaluation_point"],
    show_default=True,
    help="Which weights to keep.",
)
@click.option("--test-subjects", metavar="IDS", help="Subjects to test on, by id: 3,7,9.")
@click.option("--n-test", type=click.IntRange(0), help="Or how many to draw.  [default: a fifth]")
@click.option(
    "--n-valid",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Training subjects to set aside for validation.",
)
@click.option(
    "--checkpoint",
    type=OutFile(),
    help="File from which an interrupted training goes on.",
)
@seed_option
@click.option("--device", default=DEFAULTS["device"], show_default=True, help="cpu, cuda or mps.")
def train(
    trials: Path,
    out: Path,
    measure: str,
    test_subjects: str | None,
    n_test: int | None,
    n_valid: int,
    seed: int,
    **options: Any,
) -> None:
    """Train a decoder; score it on people it has not seen.

    TRIALS is a folder of trials. The model and its scores are written to files.

    \b
    Examples:
      censorium train trials --out model.safetensors
      censorium train trials --measure wasserstein --strength 1 --test-subjects 3,7
      censorium train trials --n-valid 4 --evaluation-point best-validation --epochs 30
    """
    if out == options["checkpoint"]:
        raise OptionError("--out and --checkpoint name one file; the model would replace it.")
    all_trials = Trials.load(trials)
    split = choose_split(
        all_trials, test_subjects=test_subjects, n_test=n_test, n_valid=n_valid, seed=seed
    )
    model = CensoredClassifier(
        measure=None if measure == "none" else measure,
        validation_subjects=split.valid,
        random_state=seed,
        **options,
    )
    parts = Parts.of(split, all_trials)
    console, checkpoint = Console(), options["checkpoint"]
    if checkpoint and checkpoint.exists():
        console.print(f"Going on from {checkpoint}")
    with progress(console, "training", model.epochs) as tell:
        model.set_params(on_epoch=lambda record: tell(record.epoch))
        try:
            model.fit(to_fit(split, all_trials))
        except KeyboardInterrupt:
            if checkpoint and checkpoint.exists():
                console.print(f"Interrupted. The same command goes on from {checkpoint}")
            raise
    model.save(out)
    scores = {name: evaluate(model, part) for name, part in parts._asdict().items() if len(part)}
    scores_file = out.with_name(out.name.removesuffix(".safetensors") + ".scores.json")
    write_scores(scores_file, scores, out, model)
    console.print(scores_of_sets(scores))
    console.print(f"Model: [bold]{out}[/bold]\nScores: {scores_file}")


def write_scores(
    file: Path, scores: Mapping[str, Evaluation], model_file: Path, model: CensoredClassifier
) -> None:
    """Write the scores as JSON, with what they are of."""
    about = {
        "censorium": censorium.__version__,
        "model": model_file.name,
        "options": options_of(model),
        "scores": {name: asdict(score) for name, score in scores.items()},
    }
    with replacing(file) as new:
        new.write_text(json.dumps(about, indent=2, default=str))


def choose_split(
    trials: Trials, *, test_subjects: str | None, n_test: int | None, n_valid: int, seed: int
) -> SubjectSplit:
    """Who tests: the subjects named, or so many drawn; of the others `n_valid` validate."""
    ids = trials.subjects
    order = [ids[i] for i in np.random.default_rng(seed).permutation(len(ids))]
    if test_subjects is not None and n_test is not None:
        raise OptionError("Give either --test-subjects or --n-test, not both.")
    if test_subjects is None:
        test = order[: max(1, len(ids) // 5) if n_test is None else n_test]
    else:
        known = {str(s): s for s in ids}
        names = [name.strip() for name in test_subjects.split(",")]
        test = [lookup("subject", name, known) for name in names]
    rest = [s for s in order if s not in test]
    if n_valid >= len(rest):
        raise OptionError(
            f"{len(test)} test and {n_valid} validation subjects leave none of {len(ids)} to train."
        )
    return SubjectSplit(rest[n_valid:], rest[:n_valid], test)
