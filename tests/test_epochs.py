"""MNE's Epochs: only signals of the brain are taken, and scikit-learn's pieces are refused."""

import mne
import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_val_score

from censorium import CensoredClassifier, Trials
from censorium.epochs import BRAIN, brain_signals, event_names
from censorium.errors import CensoriumWarning, DataError
from censorium.inputs import Signals
from planted import OPTIONS, epochs_of, planted

TRIALS = planted(n_per_session=20)
READERS = [brain_signals, Trials.from_epochs, Signals.of]
FNIRS = ["fnirs_cw_amplitude", "fnirs_fd_ac_amplitude", "fnirs_fd_phase", "fnirs_od"]


def noise(types, **marks):
    """Epochs of these channel types."""
    names = [f"c{i}" for i in range(len(types))]
    info = mne.create_info(names, 100.0, types)
    info["bads"] = marks.get("bads", [])
    x = np.random.default_rng(0).standard_normal((4, len(types), 10))
    events = np.column_stack([np.arange(4), np.zeros(4, int), [1, 2, 2, 1]])
    return mne.EpochsArray(x, info, events, event_id={"b": 1, "a": 2}, verbose="error")


@pytest.mark.parametrize("kind", [*sorted(BRAIN), *FNIRS])
def test_signals_of_the_brain_are_taken(kind):
    """EEG, MEG, electrodes in the brain and its blood come as they are."""
    epochs = noise([kind, kind])
    np.testing.assert_array_equal(brain_signals(epochs), epochs.get_data(copy=False))


@pytest.mark.parametrize("kind", ["stim", "eog", "ecg", "emg", "misc", "resp", "bio", "ref_meg"])
def test_other_channels_are_named(kind):
    """A channel of another type is an error that names it, its type and what to do."""
    with pytest.raises(DataError, match=rf"no signals of the brain: 'c1' \({kind}\)\. .*pick\(\"e"):
        brain_signals(noise(["eeg", kind]))
    with pytest.raises(DataError, match=r"set_channel_types\("):
        brain_signals(noise([kind, "eeg"]))


def test_many_other_channels_are_counted():
    """Of many such channels the first five are named."""
    with pytest.raises(DataError, match=r"'c4' \(misc\) and 3 more\."):
        brain_signals(noise(["misc"] * 8))


@pytest.mark.parametrize("read", READERS)
def test_a_trigger_channel_does_not_leak_the_label(read):
    """Epochs with a stim channel are refused however they are read."""
    epochs = epochs_of(TRIALS).set_channel_types({"ch4": "stim"}, verbose="error")
    with pytest.raises(DataError, match=r"'ch4' \(stim\)"):
        read(epochs)
    assert read(epochs.pick("eeg")) is not None


@pytest.mark.parametrize("read", READERS)
def test_bad_channels_are_warned_of(read):
    """Channels marked bad are named in a warning; the others are not."""
    epochs = epochs_of(TRIALS)
    epochs.info["bads"] = ["ch3", "ch1"]
    with pytest.warns(CensoriumWarning, match=r"marked bad .*: \['ch1', 'ch3'\]\. .*interpolate"):
        read(epochs)
    read(epochs.pick("eeg", exclude="bads"))


def test_events_are_named():
    """Each epoch has the name of its event."""
    assert event_names(noise(["eeg"])).tolist() == ["b", "a", "a", "b"]


@pytest.mark.parametrize("container", [lambda trials: trials, epochs_of], ids=["Trials", "Epochs"])
def test_cross_validation_says_how(container):
    """What scikit-learn makes of Trials and Epochs is refused; the call that is told works."""
    model = CensoredClassifier(**OPTIONS)
    names = np.array(TRIALS.info.class_names)[TRIALS.y]
    with pytest.raises(ValueError, match=r"pass arrays: trials\.x, trials\.y, params=\{\"subjects"):
        cross_val_score(model, container(TRIALS), names, cv=2, error_score="raise")
    people = {"groups": TRIALS.subject, "params": {"subjects": TRIALS.subject}}
    folds = GroupKFold(2)
    assert len(cross_val_score(model, TRIALS.x, TRIALS.y, cv=folds, **people)) == 2


def test_lists_of_numbers_are_still_arrays():
    """A list or tuple of anything else is taken as an array is."""
    for x in (TRIALS.x[:2].tolist(), tuple(TRIALS.x[:2]), [], ()):
        assert Signals.of(x).x is x
