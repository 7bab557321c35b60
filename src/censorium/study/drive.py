"""The driver: runs go to an executor, and what comes of each into the store."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass

from censorium.executors import Executor, Work
from censorium.store import Store
from censorium.study.execute import execute
from censorium.study.file import fingerprint
from censorium.study.run import Failure, Outcome, Run
from censorium.trials import Trials

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """What a store held of a study before the driver began; `n_others` are of none of its runs."""

    n_runs: int
    n_finished: int
    n_failed: int
    n_to_do: int
    n_others: int

    def __str__(self) -> str:
        counts = f"{self.n_finished} finished before, {self.n_failed} failed before"
        others = f"; {self.n_others} in the store are of no run of it, and stay as they are"
        return (
            f"{self.n_runs} runs: {counts}, {self.n_to_do} to do{others if self.n_others else ''}."
        )


@dataclass(frozen=True)
class Summary:
    """What the driver found, and what it added."""

    found: Found
    n_finished: int
    n_failed: int
    seconds: float

    def __str__(self) -> str:
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        return f"{self.n_finished} runs finished{failed}, in {self.seconds:.0f} s."


def look(
    runs: Iterable[Run], store: Store, *, retry_failed: bool = False
) -> tuple[Found, list[Run]]:
    """What the store holds of these runs, and those to do: the new, or those that failed before.

    Runs of one key are one run.
    """
    wanted = {run.key: run for run in runs}
    finished, failed = store.keys()
    to_do = failed if retry_failed else wanted.keys() - finished - failed
    chosen = [run for key, run in wanted.items() if key in to_do]
    return Found(
        n_runs=len(wanted),
        n_finished=len(finished & wanted.keys()),
        n_failed=len(failed & wanted.keys()),
        n_to_do=len(chosen),
        n_others=len((finished | failed) - wanted.keys()),
    ), chosen


def drive(
    runs: Iterable[Run],
    trials: Trials,
    store: Store,
    executor: Executor,
    *,
    work: Work = execute,
    retry_failed: bool = False,
    files: Callable[[Outcome], Mapping[str, bytes]] | None = None,
    on_found: Callable[[Found], None] | None = None,
    on_outcome: Callable[[Outcome | Failure, int], None] | None = None,
) -> Summary:
    """Carry out the runs that the store does not hold, and store each as it ends.

    Whatever ends the driver, what is stored stays, and driving again goes on. `retry_failed` takes
    the runs that failed before, and no others. `files` says what to keep of an outcome beside the
    store. `on_outcome` is told of what is stored, and of how many of the runs the store then holds.
    """
    start = time.perf_counter()
    store.claim(fingerprint(trials))
    found, to_do = look(runs, store, retry_failed=retry_failed)
    logger.info("%s", found)
    if on_found:
        on_found(found)
    n_finished = n_failed = 0
    held = found.n_finished + (0 if retry_failed else found.n_failed)
    with closing(executor(work, trials, to_do)) as results:
        for result in results:
            if isinstance(result, Failure):
                store.add_failure(result)
                n_failed += 1
            else:
                n_finished += store.add(result, files=files(result) if files else None)
            if on_outcome:
                on_outcome(result, held + n_finished + n_failed)
    return Summary(found, n_finished, n_failed, time.perf_counter() - start)
