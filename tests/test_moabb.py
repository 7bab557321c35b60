"""Laws of the classifier inside MOABB: subjects reach training with no line by the user."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import mne
import moabb
import numpy as np
import pandas as pd
import pytest
from moabb.datasets.fake import FakeDataset
from moabb.evaluations import CrossSubjectEvaluation
from moabb.paradigms import P300
from sklearn.pipeline import make_pipeline

from censorium import CensoredClassifier


class Spy(CensoredClassifier):
    """Remembers what each fit was given and what it made of it."""

    fits: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X: Any, y: Any = None, *, subjects: Any = None, sessions: Any = None) -> Any:
        """Fit, and remember."""
        super().fit(X, y, subjects=subjects, sessions=sessions)
        self.fits.append(
            {
                "input": type(X),
                "n_trials": len(X),
                "subjects": None if subjects is None else np.unique(subjects).tolist(),
                "split": self.split_,
                "n_nuisance": self.n_nuisance_,
                "dependence": self.history_[-1].dependence,
            }
        )
        return self


@pytest.fixture(autouse=True)
def no_fits_so_far() -> Iterator[None]:
    """Each test sees its own fits only; MOABB's log is quiet meanwhile."""
    Spy.fits.clear()
    moabb.set_log_level("error")
    yield
    Spy.fits.clear()


def evaluate(folder: Path, **options: Any) -> pd.DataFrame:
    """MOABB's scores of a censored classifier over three subjects with two sessions each."""
    dataset = FakeDataset(
        event_list=["Target", "NonTarget"],
        n_sessions=2,
        n_subjects=3,
        paradigm="p300",
        sfreq=128,
        duration=60,
        n_events=40,
    )
    evaluation = CrossSubjectEvaluation(
        paradigm=P300(resample=64),
        datasets=[dataset],
        overwrite=True,
        hdf5_path=str(folder),
        **options,
    )
    model = Spy(epochs=2, batch_size=64, latent_size=8, random_state=0)
    return evaluation.process({"censored": make_pipeline(model)})


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("as_epochs", [False, True])
def test_cross_subject_evaluation_censors_by_subject(tmp_path: Path, as_epochs: bool) -> None:
    """Each fold trains on two subjects who are told apart, and scores on the third."""
    scores = evaluate(tmp_path, **({"return_epochs": True} if as_epochs else {}))
    assert sorted(scores["subject"].astype(int).tolist()) == [1, 1, 2, 2, 3, 3]
    assert np.isfinite(scores["score"]).all()
    assert [sorted(fit["split"].train) for fit in Spy.fits] == [[2, 3], [1, 3], [1, 2]]
    assert [fit["subjects"] for fit in Spy.fits] == [[2, 3], [1, 3], [1, 2]]
    for fit in Spy.fits:
        assert len(fit["dependence"]) == 1
        if as_epochs:
            assert issubclass(fit["input"], mne.BaseEpochs)
            assert fit["n_nuisance"] == 4  # the metadata tells the two sessions apart
        else:
            assert fit["input"] is np.ndarray
            assert fit["n_nuisance"] == 2
