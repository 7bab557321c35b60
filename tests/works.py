"""What executors are given to do in tests: real runs that wait, fail or die where a test says."""

import os
import signal
import time
from pathlib import Path

from censorium import SubjectSplit
from censorium.study import Study, execute
from planted import OPTIONS, planted

BASE = {name: value for name, value in OPTIONS.items() if name != "random_state"} | {"epochs": 2}
MODELS = {"baseline": {**BASE, "measure": None}, "censored": {**BASE, "measure": "density-ratio"}}
PATIENCE = 120  # s until a test that waits gives up


def small():
    """Trials on which a run takes a tenth of a second."""
    return planted(n_subjects=4, n_sessions=1, n_per_session=20)


def tiny_runs(*, seeds=range(3), models=MODELS):
    """Runs of two models on one split."""
    return Study(models, [SubjectSplit([1, 2], [3], [4])], seeds).runs()


def wait_for(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


class Watched:
    """`execute`, which writes down where each run is carried out; of some seeds it does more.

    Runs whose seed is in `fail` raise, those in `die` kill their process the first `times` times,
    those in `hang` wait until they are killed.
    """

    def __init__(self, log: Path, *, fail=(), die=(), hang=(), times=1):
        self.log, self.fail, self.die, self.hang, self.times = log, fail, die, hang, times

    def __call__(self, run, trials):
        """The outcome of the run, if a test wants one."""
        with self.log.open("a") as log:
            log.write(f"{run.key} {os.getpid()}\n")
        if run.seed in self.fail:
            raise ValueError(f"Nothing comes of seed {run.seed}.")
        if run.seed in self.die and len(self.tries(run)) <= self.times:
            os.kill(os.getpid(), signal.SIGKILL)
        if run.seed in self.hang:
            time.sleep(PATIENCE)
        return execute(run, trials)

    def tries(self, run=None):
        """The processes in which a run was tried, or those of all runs, in order."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [int(pid) for key, pid in map(str.split, lines) if run is None or key == run.key]
