"""Laws of resuming: a run that was stopped goes on as if it had not been."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import censorium
from censorium import MEASURES, MODES, CensoredClassifier, tensorfile
from censorium.errors import FileError
from censorium.modes import Term
from censorium.recipe import Strength
from planted import OPTIONS, DropoutCritic, Result, data_of, fit, planted, recipe_of, same

POINTS = ("final", "averaged", "best-validation")
TRIALS = planted()
DATA, VALID = data_of(TRIALS.of([1, 2, 3])), data_of(TRIALS.of([4]))


def stop_after(epoch: int) -> Any:
    """What a user's Ctrl-C after that epoch does."""

    def on_epoch(model: Any, record: Any) -> None:
        if record.epoch == epoch:
            raise KeyboardInterrupt

    return on_epoch


def equal(a: Result, b: Result) -> bool:
    """Whether two results have the same weights at every point and the same records."""
    points = a.weights.keys() == b.weights.keys()
    return (
        points and all(same(a.weights[p], b.weights[p]) for p in a.weights)
    ) and a.records == b.records


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", [None, *sorted(MEASURES), DropoutCritic])
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path, measure: Any, mode: str) -> None:
    """Stopped after two of four epochs and refitted: weights and records of a run never stopped."""
    options: dict[str, Any] = {"measure": measure, "mode": mode, "valid": VALID}
    recipe = recipe_of(epochs=4, critic_steps=2, evaluation_points=POINTS)
    file = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        fit(DATA, recipe, checkpoint=file, on_epoch=stop_after(2), **options)
    seen: list[int] = []
    resumed = fit(
        DATA, recipe, checkpoint=file, on_epoch=lambda _, r: seen.append(r.epoch), **options
    )
    assert seen == [3, 4]
    assert equal(resumed, fit(DATA, recipe, **options))


def test_a_run_stopped_after_every_epoch_is_still_the_same(tmp_path: Path) -> None:
    """However often a run is stopped, and with a projector and a shared schedule, it is one run."""
    recipe = recipe_of(epochs=4, strength=Strength(1.0, 2, (3,)))
    options: dict[str, Any] = {"measure": "wasserstein", "projection": "projected"}
    for epoch in range(1, 5):
        with pytest.raises(KeyboardInterrupt):
            fit(DATA, recipe, checkpoint=tmp_path / "run", on_epoch=stop_after(epoch), **options)
    resumed = fit(DATA, recipe, checkpoint=tmp_path / "run", **options)
    assert equal(resumed, fit(DATA, recipe, **options))


def test_a_checkpoint_beside_does_not_change_the_run(tmp_path: Path) -> None:
    """Writing a checkpoint costs time only."""
    with_file = fit(DATA, recipe_of(), measure="adversarial", checkpoint=tmp_path / "run")
    assert equal(with_file, fit(DATA, recipe_of(), measure="adversarial"))


def test_a_finished_run_is_read_and_not_trained_again(tmp_path: Path) -> None:
    """A checkpoint that holds all epochs gives the result without another step."""
    recipe = recipe_of(evaluation_points=POINTS)
    first = fit(DATA, recipe, measure="adversarial", valid=VALID, checkpoint=tmp_path / "run")
    again = fit(
        DATA,
        recipe,
        measure="adversarial",
        valid=VALID,
        checkpoint=tmp_path / "run",
        on_epoch=lambda *_: pytest.fail("It trained again."),
    )
    assert equal(first, again)


def test_more_epochs_go_on_from_a_finished_run(tmp_path: Path) -> None:
    """Two epochs and then five with one checkpoint equal five in one go."""
    options: dict[str, Any] = {"measure": "density-ratio", "valid": VALID}
    short, long = (recipe_of(epochs=n, evaluation_points=POINTS) for n in (2, 5))
    fit(DATA, short, checkpoint=tmp_path / "run", **options)
    resumed = fit(DATA, long, checkpoint=tmp_path / "run", **options)
    assert equal(resumed, fit(DATA, long, **options))


CHANGED_X = DATA._replace(x=np.concatenate([DATA.x[:-1], DATA.x[-1:] + 1e-3]))


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": {"learning_rate": 2e-3}},
        {"recipe": {"batch_size": 32}},
        {"recipe": {"strength": 0.25}},
        {"recipe": {"critic_steps": 2}},
        {"recipe": {"evaluation_points": POINTS}},
        {"measure": "adversarial"},
        {"measure": None},
        {"mode": "conditional"},
        {"projection": "projected"},
        {"seed": 3},
        {"data": CHANGED_X},
        {"data": DATA._replace(y=1 - DATA.y)},
        {"data": DATA._replace(s=DATA.s[::-1].copy())},
        {"valid": VALID._replace(x=VALID.x + 1)},
        {"valid": None},
    ],
    ids=str,
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    """Other data, options or seed: an error that names the file and what to do, and no change."""
    file = tmp_path / "run"
    base: dict[str, Any] = {"measure": "density-ratio", "valid": VALID}
    fit(DATA, recipe_of(epochs=1), checkpoint=file, **base)
    before = file.read_bytes()
    recipe = recipe_of(epochs=2, **change.get("recipe", {}))
    options = {**base, **{k: v for k, v in change.items() if k not in ("recipe", "data")}}
    with pytest.raises(
        FileError, match=r"run belongs to a run with other data or options\. Delete"
    ):
        fit(change.get("data", DATA), recipe, checkpoint=file, **options)
    assert file.read_bytes() == before


def scaled(factor: float) -> Any:
    """A mode whose closure holds a number."""
    return lambda z, y: (Term(+1, factor * z),)


@pytest.mark.parametrize(
    "change",
    [
        {"measure": partial(DropoutCritic, rate=0.2)},
        {"measure": lambda a, b: DropoutCritic(a, b, rate=0.5)},
        {"mode": scaled(2.0)},
        {"mode": lambda z, y: (Term(+1, z * z),)},
        {"mode": "marginal"},
    ],
    ids=["partial", "function", "closure", "code", "name"],
)
def test_a_measure_or_mode_of_ones_own_is_told_from_others(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """A run goes on with a measure and mode made anew alike, and is refused with any other."""
    file = tmp_path / "run"
    base = {"measure": partial(DropoutCritic, rate=0.4), "mode": scaled(1.0)}
    fit(DATA, recipe_of(epochs=1), checkpoint=file, **base)
    with pytest.raises(FileError, match="belongs to a run with other data or options"):
        fit(DATA, recipe_of(epochs=2), checkpoint=file, **{**base, **change})
    alike = {"measure": partial(DropoutCritic, rate=0.4), "mode": scaled(1.0)}
    assert len(fit(DATA, recipe_of(epochs=2), checkpoint=file, **alike).records) == 2


class Tied(DropoutCritic):
    """A measure two of whose weights are one."""

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__(n_features, n_nuisance)
        self.again = self.critic


def test_weights_that_are_one_are_saved(tmp_path: Path) -> None:
    """A critic with tied weights resumes like any other."""
    fit(DATA, recipe_of(epochs=1), measure=Tied, checkpoint=tmp_path / "run")
    resumed = fit(DATA, recipe_of(epochs=2), measure=Tied, checkpoint=tmp_path / "run")
    assert equal(resumed, fit(DATA, recipe_of(epochs=2), measure=Tied))


def test_a_truncated_checkpoint_is_refused(tmp_path: Path) -> None:
    """Half a file: an error that names it and says that it was cut short."""
    file = tmp_path / "run"
    fit(DATA, recipe_of(epochs=1), checkpoint=file)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(FileError, match="run is cut short, altered or no checkpoint file"):
        fit(DATA, recipe_of(epochs=2), checkpoint=file)


def test_an_altered_checkpoint_is_refused(tmp_path: Path) -> None:
    """One flipped bit among the tensors: an error that says so."""
    file = tmp_path / "run"
    fit(DATA, recipe_of(epochs=1), checkpoint=file)
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileError, match="run was altered since it was written"):
        fit(DATA, recipe_of(epochs=2), checkpoint=file)


def test_a_saved_model_is_no_checkpoint(tmp_path: Path) -> None:
    """A model file given as a checkpoint is refused by its kind."""
    model = CensoredClassifier(measure=None, **OPTIONS).fit(TRIALS)
    model.save(tmp_path / "model")
    with pytest.raises(FileError, match="holds a censorium-model, not a censorium-checkpoint"):
        CensoredClassifier(measure=None, checkpoint=tmp_path / "model", **OPTIONS).fit(TRIALS)


def test_numpy_numbers_are_options_like_any_other(tmp_path: Path) -> None:
    """Options that a search draws as NumPy numbers write the checkpoint that plain ones go on."""
    plain: dict[str, Any] = {**OPTIONS, "strength": 0.5, "excluded_epochs": (2,), "averaging": 0.5}
    drawn = {
        **plain,
        "epochs": np.int64(2),
        "batch_size": np.int64(64),
        "strength": np.float32(0.5),
        "averaging": np.float32(0.5),
        "excluded_epochs": np.array([2]),
    }
    CensoredClassifier(**drawn, checkpoint=tmp_path / "run").fit(TRIALS)
    resumed = CensoredClassifier(**plain, checkpoint=tmp_path / "run").fit(TRIALS)
    straight = CensoredClassifier(**plain).fit(TRIALS)
    assert resumed.history_ == straight.history_
    assert same(resumed.model_.state_dict(), straight.model_.state_dict())


KILLED = """
import sys, time, torch
torch.set_num_threads(int(sys.argv[2]))
from planted import OPTIONS, planted
from censorium import CensoredClassifier
options = {**OPTIONS, "epochs": 12, "evaluation_point": "averaged"}
CensoredClassifier(
    "wasserstein", **options, checkpoint=sys.argv[1], on_epoch=lambda r: time.sleep(0.3)
).fit(planted())
"""


def test_a_killed_process_loses_one_epoch_at_most(tmp_path: Path) -> None:
    """A process killed with SIGKILL while it trains, continued in another: never interrupted."""
    file = tmp_path / "run"
    source = Path(censorium.__file__).parents[1]
    path = os.pathsep.join([str(source), str(Path(__file__).parent)])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(file), str(torch.get_num_threads())],
        env={**os.environ, "PYTHONPATH": path},
    )
    deadline = time.monotonic() + 120
    while not file.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.4)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    _, header = tensorfile.read(file, "checkpoint")
    assert 1 <= len(header["records"]) < 12

    options = {**OPTIONS, "epochs": 12, "evaluation_point": "averaged"}
    resumed = CensoredClassifier("wasserstein", **options, checkpoint=file).fit(TRIALS)
    straight = CensoredClassifier("wasserstein", **options).fit(TRIALS)
    assert resumed.history_ == straight.history_
    assert same(resumed.model_.state_dict(), straight.model_.state_dict())


def test_a_checkpoint_makes_its_folder_and_leaves_nothing_else(tmp_path: Path) -> None:
    """The folder of the checkpoint is made; after the run it holds that one file."""
    fit(DATA, recipe_of(), checkpoint=tmp_path / "new" / "run")
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["run"]
