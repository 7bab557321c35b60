"""What a study will take: a short calibration of each kind of run, on this machine."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np

from censorium.estimator import CensoredClassifier
from censorium.modelfile import plain
from censorium.study.execute import execute
from censorium.study.run import NETWORK, Outcome, Run
from censorium.trials import Trials

EPOCHS = 3  # of a calibration: the first is slower, as everything is met for the first time
DEFAULT_EPOCHS = CensoredClassifier().epochs
ROW_OVERHEAD = 1.5  # of a store over the plain text of its rows: indices and pages


class Cost(NamedTuple):
    """Seconds and bytes of a run: what every one takes, and what each epoch adds."""

    seconds: float
    seconds_per_epoch: float
    n_bytes: float
    bytes_per_epoch: float


@dataclass(frozen=True)
class Estimate:
    """What runs will take, one after another."""

    n_runs: int
    seconds: float
    n_bytes: float


def estimate(
    runs: Sequence[Run],
    trials: Trials,
    *,
    on_kind: Callable[[int, int], None] = lambda _done, _total: None,
) -> Estimate:
    """What `runs` will take, by one short run of each kind; kinds differ but in strength and seed.

    The short runs train on the splits on which the real ones do, the first of each kind's.
    """
    kinds = {kind_of(run): run for run in reversed(runs)}
    costs = {}
    for done, (kind, run) in enumerate(kinds.items(), start=1):
        costs[kind] = calibrated(run, trials)
        on_kind(done, len(kinds))
    seconds = n_bytes = 0.0
    for run in runs:
        cost, epochs = costs[kind_of(run)], epochs_of(run)
        seconds += cost.seconds + epochs * cost.seconds_per_epoch
        n_bytes += cost.n_bytes + epochs * cost.bytes_per_epoch
    return Estimate(len(runs), seconds, ROW_OVERHEAD * n_bytes)


def kind_of(run: Run) -> str:
    """What decides a run's cost: all of it but strength, seed and which subjects are in a part."""
    options = {k: v for k, v in run.options.items() if k not in ("strength", "epochs")}
    sizes = [len(part) for part in (run.split.train, run.split.valid, run.split.test)]
    return json.dumps([run.method, options, sizes], sort_keys=True, default=plain)


def epochs_of(run: Run) -> int:
    """How many epochs it trains; a yardstick none."""
    return int(run.options.get("epochs", DEFAULT_EPOCHS)) if run.method == NETWORK else 0


def calibrated(run: Run, trials: Trials) -> Cost:
    """The cost of runs of this kind, by one of a few epochs."""
    if run.method != NETWORK:
        start = time.perf_counter()
        outcome = execute(run, trials)
        return Cost(time.perf_counter() - start, 0.0, size_of(outcome), 0.0)
    short = replace(run, options={**run.options, "epochs": EPOCHS})
    outcome = execute(short, trials)
    epoch = float(np.median([record.seconds for record in outcome.history[1:]]))
    rest = outcome.seconds - epoch * len(outcome.history)
    records = sum(len(json.dumps(asdict(record))) for record in outcome.history)
    per_epoch = records / len(outcome.history)
    return Cost(max(rest, 0.0), epoch, size_of(outcome) - records, per_epoch)


def size_of(outcome: Outcome) -> float:
    """Bytes of the outcome as plain text."""
    return float(len(json.dumps(asdict(outcome), default=plain)))
