"""Runs carried out on a cluster by Ray; what comes of them goes to the one driver."""

import time
import traceback
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from censorium.errors import FileError
from censorium.executors.attempt import Executor, Work, attempt
from censorium.executors.sharing import folder_of
from censorium.extras import required
from censorium.study.file import fingerprint
from censorium.study.run import Failure, Outcome, Run
from censorium.trials import Trials

RETRIES = 3  # of a run whose node or process dies under it
AHEAD = 2  # runs given out for each place that there is for one, so that none waits for the driver
LOOK = 5.0  # s between two looks at how large the cluster is
NOT_HERE = None


def on_ray(address: str | None = None, *, gpus: float = 0.0, threads: int = 1) -> Executor:
    """The executor of a Ray cluster, where each run takes one CPU and `gpus` of a GPU.

    Without an address that is the cluster this process is connected to, the one on this machine,
    or a new one here. Trials of a folder are opened by each node that sees it; the others are sent
    them, once for each node. A run whose node dies is given to another, three times.
    """
    ray = required("ray", "ray", "To run on Ray")

    def carry_out(
        work: Work, trials: Trials, runs: Iterable[Run]
    ) -> Generator[Outcome | Failure, None, None]:
        with connected(ray, address):
            options = {"num_cpus": 1, "num_gpus": gpus, "max_retries": RETRIES}
            task = ray.remote(**options)(carry_out_there)
            submission = Submission(ray, task, (ray.put(work), threads), trials)
            try:
                yield from submission.carry_out(iter(runs), gpus)
            finally:
                for reference in submission.pending:
                    ray.cancel(reference, force=True)

    return carry_out


class Submission:
    """The runs that are given out, and how their nodes come by the trials."""

    def __init__(self, ray: Any, task: Any, order: tuple[Any, int], trials: Trials) -> None:
        self.ray, self.task, self.order, self.trials = ray, task, order, trials
        folder = folder_of(trials)
        self.seen = folder and (str(folder), fingerprint(trials))
        self.sent: Any = None
        self.pending: dict[Any, tuple[Run, float]] = {}

    def carry_out(
        self, runs: Iterator[Run], gpus: float
    ) -> Generator[Outcome | Failure, None, None]:
        """What comes of `runs`, of which few more are given out than there are places."""
        n, looked = 0, -LOOK
        while True:
            if time.monotonic() - looked > LOOK:
                n, looked = AHEAD * places(self.ray, gpus), time.monotonic()
            for run in islice(runs, max(0, n - len(self.pending))):
                self.submit(run)
            if not self.pending:
                return
            waiting = list(self.pending)
            self.ray.wait(waiting, timeout=LOOK)
            done, _ = self.ray.wait(waiting, num_returns=len(waiting), timeout=0)
            for reference in done:
                yield from self.receive(reference)

    def submit(self, run: Run) -> None:
        """Give out a run, with the trials or the folder that holds them."""
        if not self.seen and self.sent is None:
            arrays = {n: getattr(self.trials, n) for n in ("x", "y", "subject", "session", "info")}
            self.sent = self.ray.put(arrays)
        # In a list: Ray would fetch the trials for each run, which one process opens once.
        reference = self.task.remote(*self.order, run, self.seen, [self.sent])
        self.pending[reference] = (run, time.perf_counter())

    def receive(self, reference: Any) -> Iterator[Outcome | Failure]:
        """What came of a run; it is given out again if its node does not see the folder."""
        run, since = self.pending.pop(reference)
        try:
            said = self.ray.get(reference)
        except self.ray.exceptions.RayError:
            yield Failure(run, traceback.format_exc(), time.perf_counter() - since)
            return
        if said is NOT_HERE:
            self.seen = None
            self.submit(run)
        else:
            yield said


def carry_out_there(
    work: Work, threads: int, run: Run, seen: tuple[str, str] | None, sent: list[Any]
) -> Outcome | Failure | None:
    """One run, on a node of the cluster; None if the node does not see the trials' folder."""
    if not seen:
        return attempt(work, run, unpacked(sent[0]), threads=threads)
    trials = opened(*seen)
    return NOT_HERE if trials is None else attempt(work, run, trials, threads=threads)


@cache
def opened(folder: str, sample: str) -> Trials | None:
    """The trials of a folder, if it is here and holds the same."""
    try:
        trials = Trials.load(Path(folder))
    except FileError:
        return None
    return trials if fingerprint(trials) == sample else None


@cache
def unpacked(sent: Any) -> Trials:
    """The trials that were sent: pages that all processes of a node share."""
    return Trials(**required("ray", "ray", "To run on Ray").get(sent))


def places(ray: Any, gpus: float) -> int:
    """How many runs the cluster can carry out at a time; 1 at least, for nodes may come."""
    there = ray.cluster_resources()
    n = there.get("CPU", 0.0)
    return max(1, int(min(n, there.get("GPU", 0.0) / gpus) if gpus else n))


@contextmanager
def connected(ray: Any, address: str | None) -> Iterator[None]:
    """Inside, this process is connected to the cluster; it stays so if it was before."""
    if ray.is_initialized():
        yield
        return
    ray.init(address=address, log_to_driver=False, logging_level="WARNING")
    try:
        yield
    finally:
        ray.shutdown()
