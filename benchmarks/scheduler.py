"""How many workers one driver keeps busy, and what a second process on this machine gives.

The driver and its store are the real ones; the workers are simulated. Their clock goes on by what
the driver really takes for each outcome (to read its message, store it and send the next run), and
by the seconds that a run is drawn to take, which nobody waits for. So nothing of the driver is
compressed. For more workers than that, the same measured costs are drawn again.

`make bench-scheduler` prints the tables; STORE gives the distribution of a real study's seconds.
"""

import argparse
import heapq
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from multiprocessing import Pipe
from pathlib import Path

import cloudpickle
import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from censorium import SubjectSplit, Trials, subject_kfold
from censorium.auditing import Probe
from censorium.executors import Executor, Work, executor_of, processes, ray
from censorium.recipe import EpochRecord
from censorium.store import Store
from censorium.study import Evaluation, Failure, Outcome, Run, Scores, Study
from censorium.study.drive import drive

MEAN = 60.0  # s of a run
SPREAD = 0.3  # of the logarithm of the seconds, where no study is given
BAR = 0.95
N_EPOCHS = 100
POINTS = ("final", "best-validation")
FLEETS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
SPLIT = SubjectSplit(range(24), range(24, 28), range(28, 32))
CENSORED = {"measure": "density-ratio", "mode": "conditional", "epochs": N_EPOCHS}
Floats = NDArray[np.float64]


@dataclass
class Ledger:
    """What a simulation wrote down: when each run was at work, and what it cost the driver."""

    begun: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    full: float = 0.0  # when every worker had a run
    over: float = 0.0  # when the last run was given out

    def busy(self, n_workers: int) -> float:
        """The share of the time between `full` and `over` in which workers were at work."""
        begun, ended = (np.clip(t, self.full, self.over) for t in (self.begun, self.ended))
        return float((ended - begun).sum() / (n_workers * (self.over - self.full)))


def simulate(
    n_workers: int, n_runs: int, seconds: Iterator[float], step: Callable[[bool], float]
) -> Ledger:
    """Workers that wait for the driver, who does one thing at a time.

    `step` is one thing that the driver does, and says what it took: with True he takes an outcome
    and gives out a run, with False he only gives out a run.
    """
    ledger, now, at_work = Ledger(), 0.0, list[float]()

    def give() -> None:
        duration = next(seconds)
        ledger.begun.append(now)
        ledger.ended.append(now + duration)
        heapq.heappush(at_work, now + duration)

    for _ in range(n_workers):
        now += step(False)
        give()
    ledger.full = now
    for _ in range(n_runs - n_workers):
        now = max(now, heapq.heappop(at_work))
        cost = step(True)
        ledger.costs.append(cost)
        now += cost
        give()
    ledger.over = now
    return ledger


def simulated(n_workers: int, seconds: Iterator[float], ledgers: list[Ledger]) -> Executor:
    """An executor whose driver is the real one, in lockstep with `simulate`."""

    def carry_out(
        work: Work, trials: Trials, runs: Iterable[Run]
    ) -> Generator[Outcome | Failure, None, None]:
        given, ours, theirs = list(runs), *Pipe()
        messages = cycle([cloudpickle.dumps(drawn(run)) for run in given[:50]])
        queue, steps = iter(given), []

        def send(run: Run) -> None:
            ours.send_bytes(cloudpickle.dumps(run))

        for run in given[:n_workers]:
            start = time.perf_counter()
            send(run)
            steps.append(time.perf_counter() - start)
            theirs.recv_bytes()
        for run, later in zip(queue, given[n_workers:], strict=False):
            theirs.send_bytes(next(messages))
            start = time.perf_counter()
            outcome = cloudpickle.loads(ours.recv_bytes())
            yield Outcome(run, outcome.scores, outcome.history, outcome.seconds)
            send(later)
            steps.append(time.perf_counter() - start)
            theirs.recv_bytes()
        taken = iter(steps)
        ledgers.append(simulate(n_workers, len(given), seconds, lambda _: next(taken)))

    return carry_out


def drawn(run: Run) -> Outcome:
    """An outcome of the paper's size: two evaluation points, 32 people, 100 epochs."""
    rng = np.random.default_rng(run.seed)

    def evaluation(people: Sequence[int]) -> Evaluation:
        probe = Probe(float(rng.uniform()), 1 / len(people))
        return Evaluation(float(rng.uniform()), {s: float(rng.uniform()) for s in people}, probe)

    def record(epoch: int) -> EpochRecord:
        a, b, c, d, e, f = rng.uniform(size=6).tolist()
        return EpochRecord(epoch, 0.5, a, b, (c,), d, e, f)

    split = run.split
    scores = {p: Scores(*map(evaluation, (split.train, split.valid, split.test))) for p in POINTS}
    history = [record(epoch) for epoch in range(1, N_EPOCHS + 1)]
    return Outcome(run, scores, history, float(rng.lognormal(np.log(MEAN), SPREAD)))


def seconds_of(store: Path | None, rng: np.random.Generator) -> Iterator[float]:
    """What runs take, with a mean of `MEAN`: those of a real study, or log-normal ones."""
    if store is None:
        while True:
            yield MEAN * float(rng.lognormal(-(SPREAD**2) / 2, SPREAD))
    with Store.open(store) as kept:
        found = kept.results()
    known: Floats = found.seconds[np.unique(found.key, return_index=True)[1]]
    while True:
        yield MEAN * float(rng.choice(known)) / float(known.mean())


def fleet(n_workers: int, rounds: int, store: Path | None, place: Path) -> Ledger:
    """The real driver and store, with so many simulated workers."""
    rng, ledgers = np.random.default_rng(0), list[Ledger]()
    runs = [Run("censored", CENSORED, SPLIT, seed) for seed in range(rounds * n_workers)]
    trials = Trials.from_arrays(np.zeros((4, 1, 4)), [0, 1, 0, 1], [0, 0, 1, 1], sfreq=100)
    with Store.open(place / "fleet.sqlite", write=True) as kept:
        drive(runs, trials, kept, simulated(n_workers, seconds_of(store, rng), ledgers))
    return ledgers[0]


def redrawn(costs: Floats, n_workers: int, rounds: int, store: Path | None) -> float:
    """The busy share of so many workers, where the driver costs what it was measured to cost."""
    rng = np.random.default_rng(1)
    seconds = seconds_of(store, rng)
    n_runs = rounds * n_workers
    return simulate(n_workers, n_runs, seconds, lambda _: float(rng.choice(costs))).busy(n_workers)


def tell_fleet(console: Console, args: argparse.Namespace, place: Path) -> None:
    """Print what outcomes cost the driver, and the busy share of ever more workers."""
    start = time.perf_counter()
    ledger = fleet(args.workers, args.rounds, args.store, place)
    costs, n = np.array(ledger.costs), args.workers
    size = (place / "fleet.sqlite").stat().st_size / len(costs)
    median, high = np.quantile(costs, (0.5, 0.99))
    console.print(
        f"{len(costs):,} outcomes of {N_EPOCHS} epochs in {time.perf_counter() - start:.0f} s, "
        f"{size / 1e3:.1f} kB each.\nAn outcome costs the driver {1e3 * costs.mean():.2f} ms in "
        f"the mean, {1e3 * median:.2f} in the median, {1e3 * high:.2f} at 99 %."
    )
    table = Table("workers", f"busy at {MEAN:.0f} s a run", "how")
    busy = {n: ledger.busy(n)}
    table.add_row(f"{n:,}", f"{busy[n]:.2%}", "real driver, real store")
    for more in (more for more in FLEETS if more > n):
        busy[more] = redrawn(costs, more, args.rounds, args.store)
        table.add_row(f"{more:,}", f"{busy[more]:.2%}", "the same costs drawn again")
        if busy[more] < BAR:
            break
    console.print(table)
    full = MEAN / costs.mean()
    console.print(f"The driver has no rest from {full:,.0f} workers on.")
    console.print(f"Bar: {n:,} workers above {BAR:.0%}: {'kept' if busy[n] > BAR else 'BROKEN'}")


def tell_scaling(console: Console, place: Path) -> None:
    """Print what real runs give in one process and in two, with one thread each and with two."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(8), 50)
    x = rng.standard_normal((len(who), 62, 63))
    trials = Trials.from_arrays(x, rng.integers(2, size=len(who)), who, sfreq=128)
    options = {"measure": "density-ratio", "mode": "conditional", "epochs": 3, "batch_size": 100}
    runs = Study({"censored": options}, subject_kfold(trials, 4), range(5)).runs()
    first = 0.0
    for n, threads in ((1, 1), (2, 1), (1, 2), (2, 2)):
        ends: list[float] = []
        with Store.open(place / f"scaling-{n}-{threads}.sqlite", write=True) as kept:
            drive(
                runs,
                trials,
                kept,
                processes(n, threads=threads),
                on_outcome=lambda _, __, ends=ends: ends.append(time.perf_counter()),
            )
        # From the end of the first runs on: what starting the processes takes is told apart.
        rate = 60 * (len(ends) - n) / (ends[-1] - ends[n - 1])
        first = first or rate
        gain = rate / first
        console.print(
            f"{n} x {threads} threads: {rate:.1f} runs a minute, {gain:.2f} times those of one "
            f"process with one thread; efficiency {gain / n:.0%}"
        )


def tell_ray(console: Console, place: Path) -> None:
    """Print what an outcome costs where real Ray carries out runs that take no time.

    As many are given out at a time as to a fleet: to wait for them costs what it does there.
    """
    ray.AHEAD = max(1, 2 * FLEETS[0] // cpu_count())
    runs = [Run("censored", CENSORED, SPLIT, seed) for seed in range(9000)]
    trials = Trials.from_arrays(np.zeros((4, 1, 4)), [0, 1, 0, 1], [0, 0, 1, 1], sfreq=100)
    ends: list[float] = []
    with Store.open(place / "ray.sqlite", write=True) as kept:
        drive(
            runs,
            trials,
            kept,
            executor_of("ray:local"),
            work=lambda run, _: drawn(run),
            on_outcome=lambda _, __: ends.append(time.perf_counter()),
        )
    late = ends[len(ends) // 3 :]  # until then Ray starts its processes
    cost = (late[-1] - late[0]) / (len(late) - 1)
    console.print(
        f"By Ray, {2 * FLEETS[0]:,} runs given out at a time, its scheduler and two workers on the "
        f"same cores: {1e3 * cost:.2f} ms an outcome, so {MEAN / cost:,.0f} workers at most."
    )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", type=int, default=FLEETS[0])
    parser.add_argument("--rounds", type=int, default=6, help="runs for each worker")
    parser.add_argument("--store", type=Path, help="a study whose runs' seconds are drawn")
    parser.add_argument("--only", choices=["fleet", "scaling", "ray"])
    parser.add_argument("--out", type=Path, default=Path("out/bench-scheduler"))
    args, console = parser.parse_args(), Console()
    shutil.rmtree(args.out, ignore_errors=True)
    args.out.mkdir(parents=True)
    parts = {
        "fleet": lambda: tell_fleet(console, args, args.out),
        "scaling": lambda: tell_scaling(console, args.out),
        "ray": lambda: tell_ray(console, args.out),
    }
    for name in [args.only] if args.only else parts:
        parts[name]()
    shutil.rmtree(args.out)


if __name__ == "__main__":
    main()
