"""One run carried out where it is: its outcome, or its failure as a value."""

import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

from censorium.study.run import Failure, Outcome, Run
from censorium.trials import Trials

Work = Callable[[Run, Trials], Outcome]
"""What carries out a run: `censorium.study.execute`, most often."""

Executor = Callable[[Work, Trials, Iterable[Run]], Generator[Outcome | Failure, None, None]]
"""What carries out many, somewhere, and gives what came of each as soon as it is there."""


def attempt(work: Work, run: Run, trials: Trials, *, threads: int) -> Outcome | Failure:
    """The outcome of `run` on so many threads, or the error in which it ended."""
    start = time.perf_counter()
    try:
        with limited(threads):
            return work(run, trials)
    except Exception:  # noqa: BLE001  (whatever it is, it ends this run and not the study)
        return Failure(run, traceback.format_exc(), time.perf_counter() - start)


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Inside, PyTorch and NumPy use so many threads: numbers differ in their last bits by them."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
