"""Trials of MNE's epochs."""

import numpy as np
import pytest

from censorium.errors import DataError
from censorium.trials import Info, Trials


@pytest.fixture
def epochs():
    """Six epochs of an MNE recording, of two subjects."""
    import mne
    import pandas as pd

    x = 1e-6 * np.random.default_rng(0).standard_normal((6, 3, 50))
    events = np.column_stack([np.arange(6), np.zeros(6, int), [2, 1, 1, 2, 2, 1]])
    metadata = pd.DataFrame({"subject": list("aabbbb"), "session": [1, 2, 1, 1, 2, 2]})
    return mne.EpochsArray(
        x,
        mne.create_info(["Fz", "Cz", "Pz"], 100.0, "eeg"),
        events,
        tmin=-0.1,
        event_id={"target": 1, "other": 2},
        metadata=metadata,
        verbose="error",
    )


def test_epochs_become_trials(epochs):
    """Signals, event names, metadata, rate, channels and first time come over from MNE."""
    trials = Trials.from_epochs(epochs)
    np.testing.assert_array_equal(trials.x, epochs.get_data(copy=False).astype(np.float32))
    assert trials.info == Info(100.0, ("Fz", "Cz", "Pz"), ("other", "target"), -0.1)
    assert [trials.info.class_names[i] for i in trials.y] == [
        "other",
        "target",
        "target",
        "other",
        "other",
        "target",
    ]
    assert trials.subject.tolist() == list("aabbbb")
    assert trials.session.tolist() == [1, 2, 1, 1, 2, 2]


def test_epochs_without_sessions_are_of_one(epochs):
    """Without a session column all trials are of one session; columns can have other names."""
    epochs.metadata = epochs.metadata[["subject"]].rename(columns={"subject": "who"})
    trials = Trials.from_epochs(epochs, subject="who")
    assert trials.nuisance().tolist() == [0, 0, 1, 1, 1, 1]


def test_integer_columns_of_pandas_are_ids(epochs):
    """A column of pandas' own integers is taken as integers."""
    epochs.metadata["subject"] = epochs.metadata["session"].astype("Int64")
    assert Trials.from_epochs(epochs).subjects == [1, 2]


def test_ids_can_be_given(epochs):
    """One id for each epoch, or one integer for all, with a table or without."""
    names = ["x", "x", "y", "y", "z", "z"]
    for given in (names, np.array(names)):
        assert Trials.from_epochs(epochs, subject=given).subject.tolist() == names
    trials = Trials.from_epochs(epochs, subject=7, session=[3, 3, 3, 4, 4, 4])
    assert trials.subjects == [7]
    assert trials.session.tolist() == [3, 3, 3, 4, 4, 4]
    epochs.metadata = None
    assert Trials.from_epochs(epochs, subject=7).nuisance().tolist() == [0] * 6
    with pytest.raises(DataError, match=r"subject has shape \(2,\), but there are 6 trials"):
        Trials.from_epochs(epochs, subject=[1, 2])


def test_epochs_that_do_not_say_who_is_who_are_a_data_error(epochs):
    """Epochs without the subject column, or without metadata, are an error that names it."""
    with pytest.raises(DataError, match=r"no column 'person' .* subject=\[\.\.\.\]"):
        Trials.from_epochs(epochs, subject="person")
    epochs.metadata = None
    with pytest.raises(DataError, match="no column 'subject'"):
        Trials.from_epochs(epochs)
