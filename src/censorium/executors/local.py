"""Runs carried out in this process, one after the other."""

from collections.abc import Generator, Iterable

from censorium.executors.attempt import Executor, Work, attempt
from censorium.study.run import Failure, Outcome, Run
from censorium.trials import Trials


def local(*, threads: int = 1) -> Executor:
    """The executor that needs nothing."""

    def carry_out(
        work: Work, trials: Trials, runs: Iterable[Run]
    ) -> Generator[Outcome | Failure, None, None]:
        for run in runs:
            yield attempt(work, run, trials, threads=threads)

    return carry_out
