"""Laws of every executor: the same numbers, failures as values, few runs under way at a time."""

import os
import shutil
import sys
from itertools import islice

import psutil
import pytest
import torch

from censorium import Trials
from censorium.errors import CensoriumError, OptionError
from censorium.executors import executor_of, local, processes
from censorium.study import Failure, Outcome, execute
from works import Watched, small, tiny_runs, wait_for


@pytest.fixture(scope="module")
def trials():
    return small()


@pytest.fixture(scope="module")
def expected(trials):
    """What comes of the runs, one by one."""
    return {run.key: execute(run, trials) for run in tiny_runs()}


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_local_is_this_process(trials, expected, tmp_path):
    """Each run here, when it is asked for, in order; an error is a value with its traceback."""
    work = Watched(tmp_path / "log", fail=[1])
    results = local()(work, trials, iter(tiny_runs()))
    assert not (tmp_path / "log").exists()
    first = next(results)
    assert work.tries() == [os.getpid()]
    rest = list(results)
    failures = [r for r in rest if isinstance(r, Failure)]
    assert [first, *(r for r in rest if isinstance(r, Outcome))] == [
        o for o in expected.values() if o.run.seed != 1
    ]
    assert [f.run.seed for f in failures] == [1, 1]
    assert all("ValueError: Nothing comes of seed 1." in f.traceback for f in failures)


def test_the_number_of_threads_is_left_alone(trials):
    """A run has the threads it was promised, and the process its own again."""
    seen = []

    def work(run, trials):
        seen.append(torch.get_num_threads())
        raise ValueError

    before = torch.get_num_threads()
    list(local(threads=3)(work, trials, tiny_runs(seeds=[0])))
    assert seen == [3, 3]
    assert torch.get_num_threads() == before


@pytest.mark.slow
def test_processes_lose_no_more_than_the_run_under_way(trials, expected, tmp_path):
    """A process that is killed loses its run alone, which is tried once more; then it has failed.

    The others give the same numbers bit for bit, of trials in memory too; nobody is left behind.
    """
    work = Watched(tmp_path / "log", fail=[1], die=[2, 7], times=1)
    always = Watched(tmp_path / "always", die=[9], times=9)
    given = [*tiny_runs(), *tiny_runs(seeds=[7])]
    results = {r.run.key: r for r in processes(2)(work, trials, iter(given))}
    assert results.keys() == {run.key for run in given}
    for run in given:
        result = results[run.key]
        if run.seed == 1:
            assert isinstance(result, Failure)
            assert "ValueError: Nothing comes of seed 1." in result.traceback
        elif run.seed != 7:
            assert result == expected[run.key]
        assert len(work.tries(run)) == (2 if run.seed in (2, 7) else 1)
    (hopeless,) = processes(1)(always, trials, tiny_runs(seeds=[9])[:1])
    assert isinstance(hopeless, Failure)
    assert "ended by SIGKILL, 2 times" in hopeless.traceback
    assert len(always.tries()) == 2
    assert all(gone(pid) for pid in [*work.tries(), *always.tries()])


def test_processes_give_the_same_and_stop_with_who_asked(trials, expected, tmp_path):
    """The numbers are the same bit for bit; few runs are taken at a time; closing ends all."""
    trials.save(tmp_path / "trials")
    taken = []

    def asked():
        for run in (*tiny_runs(seeds=[9])[:1], *tiny_runs(), *tiny_runs(seeds=range(10, 20))):
            taken.append(run)
            yield run

    work = Watched(tmp_path / "log", hang=[9])
    results = processes(2)(work, Trials.load(tmp_path / "trials"), asked())
    for outcome in islice(results, 3):
        assert outcome == expected[outcome.run.key]
        assert outcome.versions
    assert len(taken) <= 5
    wait_for(lambda: work.tries(taken[0]))
    results.close()
    assert len(set(work.tries())) == 2
    assert all(gone(pid) for pid in work.tries())


def test_what_cannot_begin_stops_the_study(trials, tmp_path):
    """A folder that is gone when the processes open it is an error, not a failure of each run."""
    trials.save(tmp_path / "trials")
    mapped = Trials.load(tmp_path / "trials")

    def vanishing():
        shutil.rmtree(tmp_path / "trials")
        yield from tiny_runs(seeds=[0])

    with pytest.raises(CensoriumError, match="cannot open the trials"):
        list(processes(1)(execute, mapped, vanishing()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("proceses:4", "Did you mean 'processes'"),
        ("rays", "Did you mean 'ray'"),
        ("", "Known: local, processes, ray"),
        ("processes:two", "'processes:N' wants a whole number, got 'processes:two'"),
        ("processes:-1", "wants a whole number"),
        ("processes:0", "must be 1 or more, got 0"),
        ("local:2", "Use 'processes:2'"),
    ],
)
def test_an_executor_is_named_in_one_way(text, words):
    """Whatever names none is an error that says what does."""
    with pytest.raises(OptionError, match=words):
        executor_of(text)


def test_options_that_no_executor_has(monkeypatch):
    """A GPU's share is Ray's to give; threads count from one; a missing Ray names its extra."""
    with pytest.raises(OptionError, match="Only Ray"):
        executor_of("processes:2", gpus=0.5)
    with pytest.raises(OptionError, match="1 or more, got 0"):
        executor_of("local", threads=0)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OptionError, match=r"needs ray: pip install 'censorium\[ray\]'"):
        executor_of("ray")
    assert callable(executor_of("processes"))
