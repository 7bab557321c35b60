"""Laws of every device that this machine has: the CPU, and an accelerator where there is one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from censorium import MEASURES, MODES, CensoredClassifier
from censorium.recipe import EpochRecord
from planted import OPTIONS, planted, same

DEVICES = [
    "cpu",
    *["cuda"] * torch.cuda.is_available(),
    *["mps"] * torch.backends.mps.is_available(),
]
TRIALS = planted()


def fit(device: str, measure: Any, **options: Any) -> CensoredClassifier:
    """A model trained there for a few epochs."""
    return CensoredClassifier(measure, **{**OPTIONS, **options}, device=device).fit(TRIALS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("device", DEVICES)
def test_one_seed_gives_one_model(device: str, measure: str, mode: str) -> None:
    """Trained twice on one device from one seed, weights and records agree bit for bit."""
    a, b = (fit(device, measure, mode=mode, projection="projected") for _ in range(2))
    assert same(a.model_.state_dict(), b.model_.state_dict())
    assert a.history_ == b.history_


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("device", DEVICES)
def test_strength_zero_is_the_baseline(device: str, measure: str) -> None:
    """On every device a censor of strength 0 leaves the baseline as it is, bit for bit."""
    plain, censored = fit(device, None), fit(device, measure, strength=0.0)
    assert same(plain.model_.state_dict(), censored.model_.state_dict())


@pytest.mark.parametrize("device", DEVICES)
def test_a_stopped_run_goes_on_bit_for_bit(device: str, tmp_path: Path) -> None:
    """Stopped after an epoch and continued from its checkpoint: as if it had not been."""
    options: dict[str, Any] = {"validation_subjects": 1, "evaluation_point": "best-validation"}

    def stop(record: EpochRecord) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(device, "wasserstein", checkpoint=tmp_path / "run", on_epoch=stop, **options)
    resumed = fit(device, "wasserstein", checkpoint=tmp_path / "run", **options)
    straight = fit(device, "wasserstein", **options)
    assert same(resumed.model_.state_dict(), straight.model_.state_dict())
    assert resumed.history_ == straight.history_


@pytest.mark.parametrize("device", DEVICES)
def test_a_model_trained_there_predicts_the_same_here(device: str, tmp_path: Path) -> None:
    """Saved from any device and loaded on the CPU, it says what it said there, to round-off."""
    model = fit(device, "density-ratio")
    model.save(tmp_path / "model")
    here = CensoredClassifier.load(tmp_path / "model")
    there = CensoredClassifier.load(tmp_path / "model", device=device)
    expected = model.predict_proba(TRIALS)
    for found in (here.predict_proba(TRIALS), there.predict_proba(TRIALS)):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_the_global_generators_are_left_alone(device: str) -> None:
    """Training draws nothing from the generators that the user seeds, of the CPU or the device."""

    def states() -> list[list[int]]:
        held = [torch.get_rng_state().tolist()]
        if device == "cuda":
            held.append(torch.cuda.get_rng_state().tolist())
        elif device == "mps":
            held.append(torch.mps.get_rng_state().tolist())
        return held

    before = states()
    fit(device, "density-ratio")
    assert states() == before
