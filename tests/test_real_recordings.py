"""A decoder trained on recordings of real people reads others, whom it has never seen."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from censorium import CensoredClassifier, subject_kfold
from censorium.datasets import load

RECORDINGS = Path(__file__).parents[2] / "shared" / "data" / "uci_smni20.npz"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Twenty people who see a first or a second picture; 61 scalp channels at 128 Hz."""
    if not RECORDINGS.exists():
        if os.environ.get("CI"):
            pytest.fail("The recordings in ../shared/data are missing in CI.")
        pytest.skip("The recordings in ../shared/data are not part of the repository.")
    trials = load(
        RECORDINGS,
        folder=tmp_path_factory.mktemp("prepared") / "pictures",
        x="X_int16",
        drop=["X", "Y", "nd"],
        classes={"0": "first", "1": "second"},
    )
    return replace(trials, x=trials.x[:, :, ::2], info=replace(trials.info, sfreq=128.0))


@pytest.mark.parametrize("measure", [None, "density-ratio"])
def test_unseen_people_are_read_above_chance(pictures, measure):
    """Trained on fifteen people, plain or censored, the other five are read far above chance."""
    train, _, test = subject_kfold(pictures, 4)[0].apply(pictures)
    options = {"epochs": 12, "batch_size": 128, "learning_rate": 1e-3, "random_state": 0}
    model = CensoredClassifier(measure, **options).fit(train)
    # 260 trials of both classes: chance is 0.5 with a deviation of about 0.033.
    assert len(test) > 200
    assert model.score(test) > 0.5 + 3 * 0.033
