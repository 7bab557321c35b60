"""Runs mirrored into a real MLflow, on disk."""

import pytest
from mlflow import MlflowClient

from censorium.errors import FileError
from censorium.mirror import TAG, mirror
from censorium.store import Store
from outcomes import drawn, runs


@pytest.fixture
def store(tmp_path):
    """A store of three runs."""
    with Store.open(tmp_path / "study.sqlite", write=True) as store:
        for run in runs(3):
            store.add(drawn(run, points=("final", "averaged")))
        yield store


@pytest.fixture
def uri(tmp_path, monkeypatch):
    """Where MLflow keeps its runs."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "mlruns").as_uri()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_every_run_is_there_once(store, uri):
    """Each finished run has its options, scores and epochs in MLflow, and is there once."""
    told = []
    assert mirror(store, uri, experiment="study", on_run=lambda *n: told.append(n)) == 3
    assert told == [(1, 3), (2, 3), (3, 3)]
    store.add(drawn(runs(4)[3], points=("final",)))
    assert mirror(store, uri, experiment="study") == 1
    client = MlflowClient(tracking_uri=uri)
    place = client.get_experiment_by_name("study").experiment_id
    found = {run.data.tags[TAG]: run for run in client.search_runs([place])}
    assert set(found) == store.keys().finished
    for key, run in found.items():
        outcome = store.outcome(key)
        assert run.info.status == "FINISHED"
        assert run.data.params["strength"] == str(outcome.run.options["strength"])
        for point, scores in outcome.scores.items():
            assert run.data.metrics[f"{point}.test"] == scores.test.balanced_accuracy
        steps = client.get_metric_history(run.info.run_id, "epoch.task_loss")
        assert [s.value for s in steps] == [r.task_loss for r in outcome.history]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_run_that_was_broken_off_is_written_again(store, uri):
    """What a mirror left half done does not count as there."""
    client = MlflowClient(tracking_uri=uri)
    place = client.create_experiment("study")
    key = min(store.keys().finished)
    client.create_run(place, tags={TAG: key})
    assert mirror(store, uri, experiment="study") == 3


def test_nobody_there_is_said(store):
    """An address at which no MLflow is, is an error in one sentence."""
    with pytest.raises(FileError, match="cannot be written to"):
        mirror(store, "nothing://here", experiment="study")
