"""Runs carried out by processes of this machine that share the pages of the trials."""

import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import cloudpickle
from joblib.externals.loky.backend import get_context

from censorium.errors import CensoriumError, OptionError
from censorium.executors.attempt import Executor, Work, attempt
from censorium.executors.sharing import on_disk
from censorium.study.run import Failure, Outcome, Run
from censorium.trials import Trials

logger = logging.getLogger(__name__)

TRIES = 2  # of a run whose process dies under it
STARTS = 3  # of processes in a row that die before they can begin
READY = None


@dataclass
class Job:
    """A run, how often its process died under it, and when it began."""

    run: Run
    losses: int = 0
    since: float = 0.0


class Worker:
    """A process, our end of the line to it, and the job it has."""

    def __init__(self, work: Work, folder: Path, threads: int) -> None:
        # Loky's processes begin afresh, as spawned ones do, but leave the user's script alone.
        context = get_context("loky")
        self.line, theirs = context.Pipe()
        args = (theirs, work, folder, threads)
        self.process: Any = context.Process(target=serve, args=args, daemon=True)
        with deaf():
            self.process.start()
        theirs.close()
        self.ready = False
        self.job: Job | None = None

    def take(self, job: Job) -> None:
        """Begin with a job; if the process is dead, `hear` will tell."""
        self.job, job.since = job, time.perf_counter()
        with suppress(OSError):
            self.line.send_bytes(cloudpickle.dumps(job.run))

    def hear(self) -> Any:
        """What the process says next; an `EOFError` if it is dead."""
        try:
            return cloudpickle.loads(self.line.recv_bytes())
        except OSError as error:
            raise EOFError from error

    def dismiss(self) -> int | None:
        """End the process, whatever it does; how it ended."""
        self.process.terminate()
        self.process.join()
        self.line.close()
        return self.process.exitcode  # type: ignore[no-any-return]


def processes(n: int, *, threads: int = 1) -> Executor:
    """The executor of `n` processes with so many threads each.

    A run whose process is killed is tried once more.
    """
    if n < 1:
        raise OptionError(f"The number of processes must be 1 or more, got {n}.")

    def carry_out(
        work: Work, trials: Trials, runs: Iterable[Run]
    ) -> Generator[Outcome | Failure, None, None]:
        with on_disk(trials) as folder:
            crew = Crew(work, folder, threads)
            try:
                yield from crew.carry_out(iter(runs), n)
            finally:
                for worker in crew.workers:
                    worker.dismiss()

    return carry_out


class Crew:
    """The processes at work, and the jobs that were lost and wait for another."""

    def __init__(self, work: Work, folder: Path, threads: int) -> None:
        self.place = (work, folder, threads)
        self.workers: list[Worker] = []
        self.lost: list[Job] = []
        self.false_starts = 0

    def carry_out(self, runs: Iterator[Run], n: int) -> Generator[Outcome | Failure, None, None]:
        """What comes of `runs`, of which `n` are under way at a time."""
        while True:
            busy = sum(worker.job is not None for worker in self.workers)
            for job in self.next_jobs(runs, n - busy):
                idle = (worker for worker in self.workers if not worker.job)
                (next(idle, None) or self.hire()).take(job)
            if not any(worker.job for worker in self.workers):
                return
            for line in wait([worker.line for worker in self.workers]):
                worker = next(w for w in self.workers if w.line is line)
                yield from self.listen(worker)

    def next_jobs(self, runs: Iterator[Run], k: int) -> list[Job]:
        """At most `k` jobs: those that were lost first."""
        again, self.lost = self.lost[:k], self.lost[k:]
        return [*again, *(Job(run) for run in islice(runs, k - len(again)))]

    def hire(self) -> Worker:
        """One process more."""
        worker = Worker(*self.place)
        self.workers.append(worker)
        return worker

    def listen(self, worker: Worker) -> Iterator[Outcome | Failure]:
        """What comes of a worker's run, if it says so; its job for another, if it is dead."""
        try:
            said = worker.hear()
        except EOFError:
            self.workers.remove(worker)
            yield from self.bury(worker)
            return
        if said is READY:
            worker.ready, self.false_starts = True, 0
        elif not worker.ready:
            raise CensoriumError(f"A process cannot open the trials:\n{said}")
        elif job := worker.job:
            worker.job = None
            late = time.perf_counter() - job.since
            yield Failure(job.run, said, late) if isinstance(said, str) else said

    def bury(self, worker: Worker) -> Iterator[Failure]:
        """Give the job of a dead process to another, or give it up."""
        how, job = ended(worker.dismiss()), worker.job
        if not worker.ready:
            self.false_starts += 1
            if self.false_starts == STARTS:
                raise CensoriumError(
                    f"{STARTS} processes in a row ended before they could begin, the last {how}. "
                    "What is finished is stored; try with fewer processes."
                )
        if not job:
            return
        job.losses += worker.ready
        if job.losses < TRIES:
            logger.warning("A process ended %s; its run is tried once more.", how)
            self.lost.append(job)
        else:
            what = f"The process of this run ended {how}, {TRIES} times: for want of memory?"
            yield Failure(job.run, what, time.perf_counter() - job.since)


def serve(line: Connection, work: Work, folder: Path, threads: int) -> None:
    """The life of a process: runs in, outcomes out, until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the driver's to stop
    inbox: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=receive, args=(line, inbox), daemon=True).start()
    try:
        trials = Trials.load(folder)
    except Exception:  # noqa: BLE001  (told to the driver, who stops)
        line.send_bytes(cloudpickle.dumps(traceback.format_exc()))
        return
    line.send_bytes(cloudpickle.dumps(READY))
    while True:
        message = inbox.get()
        try:
            run = cloudpickle.loads(message)
            said = cloudpickle.dumps(attempt(work, run, trials, threads=threads))
        except Exception:  # noqa: BLE001  (a run or an outcome that cannot travel)
            said = cloudpickle.dumps(traceback.format_exc())
        line.send_bytes(said)


def receive(line: Connection, inbox: "SimpleQueue[bytes]") -> None:
    """Put what comes into the inbox; end the process, busy or not, when the driver is gone."""
    with suppress(EOFError, OSError):
        while True:
            inbox.put(line.recv_bytes())
    os._exit(1)


def ended(code: int | None) -> str:
    """How a process ended, in words."""
    return f"by {signal.Signals(-code).name}" if code and code < 0 else f"with exit code {code}"


@contextmanager
def deaf() -> Iterator[None]:
    """Processes started inside do not hear Ctrl-C; ours hears it when the block ends."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
