"""Datasets of MOABB, through its own paradigms."""

import pickle
import sys

import moabb
import numpy as np
import pytest
from moabb.datasets.fake import FakeDataset
from moabb.paradigms import P300, FilterBankMotorImagery

from censorium.datasets.moabb import dataset_called, moabb_parts
from censorium.errors import FileError, OptionError

KINDS = [
    ("p300", ["Target", "NonTarget"], None),
    ("imagery", ["left_hand", "right_hand", "feet"], None),
    ("imagery", ["left_hand", "right_hand"], "LeftRightImagery"),
    ("ssvep", ["13", "17", "21"], None),
]


@pytest.fixture(autouse=True)
def quiet():
    """MOABB's log says errors only."""
    moabb.set_log_level("error")


def fake(kind="p300", events=("Target", "NonTarget"), **options):
    """Two people in two sessions of three runs, each of 20 s: noise of 20 µV, twelve events."""
    sizes = {
        "n_subjects": 2,
        "n_sessions": 2,
        "n_runs": 3,
        "duration": 20,
        "n_events": 12,
        "seed": 0,
    }
    return FakeDataset(list(events), paradigm=kind, **sizes | options)


@pytest.mark.parametrize(("kind", "events", "paradigm"), KINDS)
def test_each_paradigm_gives_trials(kind, events, paradigm):
    """A part is one subject with both sessions, the runs in them; signals are in volt."""
    parts = moabb_parts(fake(kind, events), paradigm=paradigm, fmin=1, fmax=40, tmax=1.0)
    assert list(parts) == ["sub-1", "sub-2"]
    trials = pickle.loads(pickle.dumps(parts["sub-2"]))()  # noqa: S301
    assert trials.subjects == [2]
    assert np.bincount(trials.nuisance()).tolist() == [36, 36]
    assert set(trials.session) == {"0", "1"}
    assert trials.info.ch_names == ("C3", "Cz", "C4")
    assert trials.info.class_names == tuple(sorted(events))
    assert (trials.info.sfreq, trials.info.tmin) == (128.0, 0.0)
    # Events take turns in every run.
    assert np.bincount(trials.y).tolist() == [72 // len(events)] * len(events)
    # The band keeps 39 of 64 Hz of white noise.
    assert trials.x.std() == pytest.approx(20e-6 * (39 / 64) ** 0.5, rel=0.1)


def test_options_go_to_the_paradigm():
    """Rate, channels, window and classes are those asked for."""
    imagery = fake("imagery", ["left_hand", "right_hand", "feet"])
    parts = moabb_parts(
        imagery,
        events=["feet", "left_hand"],
        channels=["C4", "C3"],
        resample=64,
        tmin=0.5,
        tmax=1.5,
        subjects=["2"],
    )
    trials = parts["sub-2"]()
    assert len(parts) == 1
    assert trials.info.class_names == ("feet", "left_hand")
    assert (trials.info.ch_names, trials.info.sfreq, trials.info.tmin) == (("C4", "C3"), 64.0, 0.5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fmn": 1}, r"Unknown option of P300 'fmn'\. Did you mean 'fm(in|ax)'\?"),
        ({"subjects": [3]}, r"Unknown subject of FakeDataset.* '3'\..*Known: 1, 2\."),
        ({"paradigm": "p3000"}, r"Unknown paradigm 'p3000'.*LeftRightImagery"),
        ({"paradigm": "SSVEP"}, r"\(p300\) does not fit SSVEP .*Its events: Target, NonTarget"),
        ({"events": ["Tarjet"]}, r"does not fit P300 with these options"),
        ({"tmin": 1.0, "tmax": 0.5}, r"P300 refuses its options: tmax must be greater"),
        ({"paradigm": P300(), "fmin": 1}, r"Give fmin to P300 itself"),
    ],
)
def test_bad_options_are_named(options, said):
    """What is not there, or does not fit, is refused before anything is downloaded."""
    with pytest.raises(OptionError, match=said):
        moabb_parts(fake(), **options)


def test_a_bank_of_filters_is_refused():
    """It would give each trial once for each band."""
    with pytest.raises(OptionError, match="several times; choose one band"):
        moabb_parts(fake("imagery", ["feet", "tongue"]), paradigm=FilterBankMotorImagery())


def test_datasets_are_known_by_class_and_code():
    """Both names give the dataset; another gets the nearest one."""
    assert type(dataset_called("BI2014a")).__name__ == "BI2014a"
    assert type(dataset_called("BrainInvaders2014a")).__name__ == "BI2014a"
    with pytest.raises(OptionError, match=r"Unknown dataset of MOABB 'BI2014'.*mean 'BI2014"):
        dataset_called("BI2014")


class FakeGone(FakeDataset):
    """A dataset whose server does not answer."""

    def _get_single_subject_data(self, subject):
        raise ConnectionError(f"no answer about {subject}")


def test_what_cannot_be_downloaded_is_named():
    """A download that fails says which subject of which dataset, and what MOABB said."""
    dataset = FakeGone(["Target", "NonTarget"], paradigm="p300", n_subjects=2)
    with pytest.raises(
        FileError, match=r"Subject 2 of FakeDataset.* could not .*no answer about 2"
    ):
        moabb_parts(dataset)["sub-2"]()


def test_without_moabb_the_error_says_what_to_install(monkeypatch):
    """A missing extra is named."""
    monkeypatch.setitem(sys.modules, "moabb", None)
    with pytest.raises(OptionError, match=r"needs moabb: pip install 'censorium\[moabb\]'"):
        moabb_parts("BI2014a")
