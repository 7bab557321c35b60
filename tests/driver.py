"""A driver as a process of its own, which tests kill: STORE, LOG, EXECUTOR, number of seeds."""

import sys
from pathlib import Path

from censorium.executors import executor_of
from censorium.store import Store
from censorium.study.drive import drive
from works import Watched, small, tiny_runs


def main(place: str, log: str, on: str, n_seeds: str) -> None:
    """Drive, and say what is stored."""
    with Store.open(place, write=True) as store:
        drive(
            tiny_runs(seeds=range(int(n_seeds))),
            small(),
            store,
            executor_of(on),
            work=Watched(Path(log)),
            on_found=lambda found: say("found"),
            on_outcome=lambda result, n: say(result.run.key),
        )


def say(line: str) -> None:
    """Tell the test at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
