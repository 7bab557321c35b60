"""Laws of the driver: whatever ends it, driving again goes on, and no run counts twice."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from censorium.errors import DataError, FileError
from censorium.executors import local
from censorium.store import Store
from censorium.study import Failure, Results, execute
from censorium.study.drive import Found, drive, look
from works import BASE, MODELS, Watched, small, tiny_runs

DRIVER = Path(__file__).parents[1] / "driver.py"
N_KILLS = 5


@pytest.fixture(scope="module")
def trials():
    return small()


@pytest.fixture
def place(tmp_path):
    return tmp_path / "study.sqlite"


@pytest.fixture
def work(tmp_path):
    return Watched(tmp_path / "log")


def begun(place, work, on, n_seeds):
    """A driver that has begun to drive."""
    command = [sys.executable, DRIVER, place, work.log, on, str(n_seeds)]
    driver = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert driver.stdout.readline() == "found\n"
    return driver


def same_rows(found, expected):
    """Whether results agree in all but the seconds that they took."""
    for f in fields(Results):
        if f.name != "seconds":
            a, b = getattr(found, f.name), getattr(expected, f.name)
            np.testing.assert_array_equal(a, b, err_msg=f.name)
    return len(found) == len(expected)


def uninterrupted(runs, trials):
    """The results of runs, one after the other, by key."""
    return Results.of(sorted((execute(run, trials) for run in runs), key=lambda o: o.run.key))


@pytest.mark.slow
def test_five_kills_cost_the_runs_under_way_and_nothing_else(place, work, trials):
    """Killed with -9 at five moments, the study ends with the rows of an uninterrupted one.

    While it runs, a second driver is refused, and who reads sees what is finished.
    """
    rng, runs = np.random.default_rng(5), tiny_runs(seeds=range(20))
    held = [0]
    for _ in range(N_KILLS):
        driver = begun(place, work, "local", 20)
        with pytest.raises(FileError, match="Another process runs a study"):
            Store.open(place, write=True)
        for _ in range(rng.integers(4)):
            driver.stdout.readline()
        time.sleep(rng.uniform(0, 0.2))
        driver.send_signal(signal.SIGKILL)
        assert driver.wait() == -signal.SIGKILL
        with Store.open(place) as store:
            held.append(len(store.keys().finished))
    assert held == sorted(held)
    assert 0 < held[-1] < len(runs)
    with Store.open(place, write=True) as store:
        summary = drive(runs, trials, store, local(), work=work)
        assert summary.found.n_finished == held[-1]
        assert summary.n_finished == len(runs) - held[-1]
        assert same_rows(store.results(), uninterrupted(runs, trials))
    assert len(work.tries()) <= len(runs) + N_KILLS


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_driver_leaves_nobody_behind(place, work, trials, how):
    """Ctrl-C, which all of a terminal's processes hear, or -9: none lives on or has its say.

    What is stored stays, and driving again goes on.
    """
    driver = begun(place, work, "processes:2", 200)
    line = driver.stdout.readline()
    family = psutil.Process(driver.pid).children(recursive=True)
    assert {p.pid for p in family} >= set(work.tries())
    start = time.monotonic()
    (os.killpg if how == signal.SIGINT else os.kill)(driver.pid, how)
    assert driver.wait(timeout=60) == -how
    assert driver.stderr.read().count("Traceback") <= (how == signal.SIGINT)
    psutil.wait_procs(family, timeout=10)
    assert not [p for p in family if p.is_running()]
    assert time.monotonic() - start < 15
    with Store.open(place, write=True) as store:
        finished = store.keys().finished
        assert line.strip() in finished
        some = tiny_runs(seeds=range(200))[: len(finished) + 4]
        summary = drive(some, trials, store, local(), work=work)
        assert summary.n_finished == sum(run.key not in finished for run in some) > 0


def test_what_is_stored_is_not_done_again(place, work, trials):
    """A driver that comes back says what it found, and does the rest; a run named twice is one."""
    runs = tiny_runs()
    seen = []
    with Store.open(place, write=True) as store:
        drive(runs[:2], trials, store, local(), work=work)
        again = drive([*runs, *runs], trials, store, local(), work=work, on_found=seen.append)
        assert again.found == Found(n_runs=6, n_finished=2, n_failed=0, n_to_do=4, n_others=0)
        assert seen == [again.found]
        assert str(again.found) == "6 runs: 2 finished before, 0 failed before, 4 to do."
        assert again.n_finished == 4
        assert same_rows(store.results(), uninterrupted(runs, trials))
        nothing = drive(runs, trials, store, local(), work=work)
        assert (nothing.n_finished, nothing.found.n_to_do) == (0, 0)
    assert len(work.tries()) == len(runs)


def test_a_changed_study_leaves_finished_runs_alone(place, work, trials):
    """New runs are added; those that are gone stay in the store, out of what is asked for."""
    more = {**MODELS, "stronger": {**BASE, "measure": "density-ratio", "strength": 2.0}}
    before, after = tiny_runs(seeds=[0, 1]), tiny_runs(seeds=[1, 2], models=more)
    with Store.open(place, write=True) as store:
        drive(before, trials, store, local(), work=work)
        times = store.times()
        found = drive(after, trials, store, local(), work=work).found
        assert found == Found(n_runs=6, n_finished=2, n_failed=0, n_to_do=4, n_others=2)
        assert str(found).endswith("; 2 in the store are of no run of it, and stay as they are.")
        assert {key: store.times()[key] for key in times} == times
        results = store.results([run.key for run in after])
        assert set(results.seed) == {1, 2}
        assert len(results) == 6


def test_failures_stop_nothing_and_are_tried_when_asked(place, trials, tmp_path):
    """A failed run is kept with its error and passed over, until just those are asked for."""
    bad, good = Watched(tmp_path / "bad", fail=[1]), Watched(tmp_path / "good")
    runs, told = tiny_runs(), []
    with Store.open(place, write=True) as store:
        first = drive(runs[:4], trials, store, local(), work=bad)
        assert (first.n_finished, first.n_failed) == (2, 2)
        assert str(first).startswith("2 runs finished, 2 failed, in ")
        assert {f.run for f in map(key_of, store.failures())} == {r.key for r in runs[2:4]}
        assert look(runs, store)[1] == runs[4:]
        retry = {"retry_failed": True, "on_outcome": lambda result, n: told.append(n)}
        drive(runs, trials, store, local(), work=bad, **retry)
        assert len(store.failures()) == 2
        drive(runs, trials, store, local(), work=good, **retry)
        assert store.failures() == []
        assert store.keys().finished == {run.key for run in runs[:4]}
        assert len(good.tries()) == 2
    assert told == [3, 4, 3, 4]


def key_of(failure):
    """A failure, with its run's key in place of the run."""
    return Failure(failure.run.key, failure.traceback, failure.seconds)


def test_other_trials_are_refused(place, trials):
    """Nothing is run on trials that are not those of the store."""
    other = replace(trials, x=trials.x + 1)
    with Store.open(place, write=True) as store:
        drive([], trials, store, local())
        with pytest.raises(DataError, match="Results on two data sets cannot be mixed"):
            drive(tiny_runs(), other, store, local(), work=lambda run, trials: pytest.fail())


def test_a_full_disk_ends_the_driver_and_its_work(place, trials, work):
    """The error says to make room; the executor is closed; what was finished stays."""
    runs, closed = tiny_runs(seeds=range(60)), []

    def executor(work, trials, runs):
        try:
            yield from local()(work, trials, runs)
        finally:
            closed.append(True)

    def fill(result, n):
        if n == 3:
            (pages,) = store._db.execute("PRAGMA page_count").fetchone()
            store._db.execute(f"PRAGMA max_page_count = {pages}")

    with Store.open(place, write=True) as store:
        with pytest.raises(FileError, match="make room and run the same again"):
            drive(runs, trials, store, executor, work=work, on_outcome=fill)
        assert closed
        n = len(store.keys().finished)
        assert 3 <= n < len(runs) - 2
        store._db.execute("PRAGMA max_page_count = 1000000")
        assert drive(runs[: n + 2], trials, store, local(), work=work).n_finished == 2
        assert same_rows(store.results(), uninterrupted(runs[: n + 2], trials))


def test_files_of_an_outcome_are_kept(place, trials, work):
    """What the caller makes of an outcome lies beside the store."""
    (run,) = tiny_runs(seeds=[0])[:1]

    def files(outcome):
        return {"note.txt": outcome.run.model.encode()}

    with Store.open(place, write=True) as store:
        drive([run], trials, store, local(), work=work, files=files)
        assert store.files(run.key)["note.txt"].read_text() == "baseline"
