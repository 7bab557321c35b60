"""Finished runs written into MLflow, for those who look at all their runs there."""

from collections.abc import Callable
from typing import Any

from censorium.errors import FileError
from censorium.extras import required
from censorium.store import Store
from censorium.study.run import Outcome

TAG = "censorium.key"
PAGE = 1000  # runs that MLflow is asked for at once
PIECE = 500  # metrics that it takes at once


def mirror(
    store: Store,
    uri: str,
    *,
    experiment: str,
    on_run: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the finished runs that MLflow at `uri` lacks into an experiment; how many there were.

    A run has its options as parameters, balanced accuracies as metrics, and each epoch's record as
    steps of metrics. The store stays what counts: nothing is read back.
    """
    make_client, entities, broken = mlflow()
    try:
        client = make_client(tracking_uri=uri)
        found = client.get_experiment_by_name(experiment)
        place = found.experiment_id if found else client.create_experiment(experiment)
        lacking = sorted(store.keys().finished - mirrored(client, place))
        for done, key in enumerate(lacking, start=1):
            write(client, entities, place, store.outcome(key))
            on_run(done, len(lacking))
    except broken as error:
        raise FileError(f"MLflow at {uri} cannot be written to: {error}") from error
    return len(lacking)


def mlflow() -> tuple[Any, Any, type[Exception]]:
    """MLflow's client, entities and error; an `OptionError` if it is not installed."""
    client, entities, exceptions = (
        required(module, "mlflow", "A mirror")
        for module in ("mlflow", "mlflow.entities", "mlflow.exceptions")
    )
    return client.MlflowClient, entities, exceptions.MlflowException


def mirrored(client: Any, place: str) -> set[str]:
    """The keys of the runs that are in the experiment already, whole."""
    keys, token = set(), None
    while True:
        page = client.search_runs([place], max_results=PAGE, page_token=token)
        whole = [run.data.tags for run in page if run.info.status == "FINISHED"]
        keys |= {tags[TAG] for tags in whole if TAG in tags}
        token = page.token
        if not token:
            return keys


def write(client: Any, entities: Any, place: str, outcome: Outcome) -> None:
    """One run: it counts as finished once all of it is there."""
    run = outcome.run
    made = client.create_run(place, run_name=run.model, tags={TAG: run.key})
    stamp = made.info.start_time
    values = [(name, value, 0) for name, value in scores_of(outcome).items()]
    values += [
        (f"epoch.{name}", value, record.epoch)
        for record in outcome.history
        for name, value in (
            ("task_loss", record.task_loss),
            ("train_balanced_accuracy", record.train_balanced_accuracy),
            ("valid_balanced_accuracy", record.valid_balanced_accuracy),
        )
        if value is not None
    ]
    metrics = [entities.Metric(name, value, stamp, step) for name, value, step in values]
    about = {"method": run.method, "seed": run.seed, "test_subjects": list(run.split.test)}
    params = [entities.Param(name, str(v)) for name, v in {**run.options, **about}.items()]
    client.log_batch(made.info.run_id, params=params)
    for first in range(0, len(metrics), PIECE):
        client.log_batch(made.info.run_id, metrics=metrics[first : first + PIECE])
    client.set_terminated(made.info.run_id)


def scores_of(outcome: Outcome) -> dict[str, float]:
    """Balanced accuracies by evaluation point and part, and how long it took."""
    found = {"seconds": outcome.seconds}
    for point, scores in outcome.scores.items():
        for part in ("train", "valid", "test"):
            evaluation = getattr(scores, part)
            if evaluation is not None:
                found[f"{point}.{part}"] = evaluation.balanced_accuracy
    return found
