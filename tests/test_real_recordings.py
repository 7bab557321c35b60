"""A decoder trained on recordings of real people reads others, whom it has never seen."""

import os
from pathlib import Path

import numpy as np
import pytest

from censorium import CensoredClassifier, Trials, subject_kfold

RECORDINGS = Path(__file__).parents[2] / "shared" / "data" / "uci_smni20.npz"


@pytest.fixture(scope="module")
def pictures():
    """Twenty people who see a first or a second picture; 61 scalp channels at 128 Hz."""
    if not RECORDINGS.exists():
        if os.environ.get("CI"):
            pytest.fail("The recordings in ../shared/data are missing in CI.")
        pytest.skip("The recordings in ../shared/data are not part of the repository.")
    held = np.load(RECORDINGS, allow_pickle=False)
    names = held["ch_names"]
    scalp = ~np.isin(names, ["X", "Y", "nd"])
    return Trials.from_arrays(
        held["X_int16"][:, scalp, ::2].astype(np.float32) * held["scale"],
        np.where(held["y"] == 1, "second", "first"),
        held["subject"],
        held["session"],
        sfreq=float(held["sfreq"]) / 2,
        ch_names=names[scalp].tolist(),
    )


@pytest.mark.parametrize("measure", [None, "density-ratio"])
def test_unseen_people_are_read_above_chance(pictures, measure):
    """Trained on fifteen people, plain or censored, the other five are read far above chance."""
    train, _, test = subject_kfold(pictures, 4)[0].apply(pictures)
    options = {"epochs": 12, "batch_size": 128, "learning_rate": 1e-3, "random_state": 0}
    model = CensoredClassifier(measure, **options).fit(train)
    # 260 trials of both classes: chance is 0.5 with a deviation of about 0.033.
    assert len(test) > 200
    assert model.score(test) > 0.5 + 3 * 0.033
