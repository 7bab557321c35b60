"""Outcomes of runs that never ran: every field drawn from a seed."""

import numpy as np

from censorium import SubjectSplit, subject_kfold
from censorium.auditing import Probe
from censorium.recipe import EpochRecord
from censorium.study import NETWORK, Evaluation, Outcome, Run, Scores

PEOPLE = tuple(range(1, 9))
SPLITS = subject_kfold(PEOPLE, 4, n_valid=2)
CENSORED = {"measure": "wasserstein", "mode": "conditional", "strength": 0.5, "epochs": 2}


def runs(n, *, model="censored", options=CENSORED, method=NETWORK):
    """Distinct runs on different splits."""
    return [Run(model, options, SPLITS[k % len(SPLITS)], k, method) for k in range(n)]


def drawn(run, *, points=("final",), n_epochs=2, seed=0, terms=1):
    """An outcome of `run` with all that one can have."""
    rng = np.random.default_rng([seed, run.seed])

    def evaluation(people, probed):
        per_subject = {who: float(rng.uniform(0.4, 1)) for who in people}
        probe = Probe(float(rng.uniform()), 1 / len(people)) if probed else None
        return Evaluation(float(rng.uniform(0.4, 1)), per_subject, probe)

    def scores(split: SubjectSplit):
        valid = evaluation(split.valid, False) if split.valid else None
        return Scores(evaluation(split.train, True), valid, evaluation(split.test, True))

    def record(epoch):
        dependence = tuple(rng.standard_normal(terms).tolist())
        values = rng.uniform(0, 1, 4).tolist()
        return EpochRecord(epoch, 0.5, *values[:2], dependence, values[2], None, values[3])

    return Outcome(
        run=run,
        scores={point: scores(run.split) for point in points},
        history=[record(epoch) for epoch in range(1, n_epochs + 1)],
        seconds=float(rng.lognormal(4, 0.3)),
        peak_memory=int(rng.integers(1 << 28, 1 << 40)),
        versions={"censorium": "0.1.0", "torch": "2.6"},
    )
