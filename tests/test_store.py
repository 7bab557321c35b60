"""Laws of the store: what was finished stays as it was, once, and one driver writes."""

import sqlite3
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from censorium import SubjectSplit
from censorium.errors import DataError, FileError
from censorium.store import Store
from censorium.storefile import APPLICATION, VERSION
from censorium.study import Failure, Results, Run
from outcomes import CENSORED, SPLITS, drawn, runs

BOTH = ("final", "best-validation")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "study.sqlite"


def whole(outcome):
    """All of an outcome, with what comparison leaves out."""
    return {f.name: getattr(outcome, f.name) for f in fields(outcome)} | {
        "points": list(outcome.scores),
        "epoch seconds": [record.seconds for record in outcome.history],
    }


def test_an_outcome_comes_back_as_it_was(place):
    """Whatever an outcome holds, the store gives it back bit for bit, also when opened anew."""
    strings = SubjectSplit(["S1", "S2"], (), ["S3", "1"])
    plain = {"measure": None, "evaluation_point": ["averaged", "final"], "mode": "ü ⟂"}
    given = [
        drawn(runs(1)[0], points=BOTH, terms=2),
        drawn(Run("baseline", plain, strings, 3), points=BOTH[::-1], n_epochs=0),
        drawn(Run("lda", {}, strings, 2**40, "lda"), points=("final",)),
    ]
    tiny = replace(given[0].first.test, balanced_accuracy=5e-324, identity=None)
    odd = replace(given[0].first, test=tiny, valid=None)
    given.append(replace(given[0], run=runs(2)[1], scores={"final": odd}, seconds=0.1 + 0.2))
    with Store.open(place, write=True) as store:
        assert all(store.add(outcome) for outcome in given)
        for outcome in given:
            assert whole(store.outcome(outcome.run.key)) == whole(outcome)
    with Store.open(place) as store:
        for outcome in given:
            assert whole(store.outcome(outcome.run.key)) == whole(outcome)
            assert store.history(outcome.run.key) == outcome.history
            assert store.outcome(outcome.run.key).run.key == outcome.run.key


def test_results_are_those_of_the_outcomes(place):
    """Column for column what `Results` makes of the outcomes, in the order of the keys."""
    lone = SubjectSplit([1, 2, 3], (), [4])
    given = [
        *(drawn(run, points=BOTH) for run in runs(6)),
        *(drawn(Run("baseline", {"measure": None}, lone, k)) for k in range(2)),
        *(drawn(run) for run in runs(2, model="lda", options={}, method="lda")),
    ]
    with Store.open(place, write=True) as store:
        for outcome in reversed(given):
            store.add(outcome)
        found = store.results([outcome.run.key for outcome in given])
        ordered = store.results()
        some = store.results([given[3].run.key, "unknown"], models={given[3].run.key: "new name"})
    expected = Results.of(given)
    for f in fields(Results):
        a, b = getattr(found, f.name), getattr(expected, f.name)
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b, err_msg=f.name)
    assert list(ordered.key) == sorted(expected.key)
    assert list(some.key) == 2 * [given[3].run.key]
    assert set(some.model) == {"new name"}


def test_an_empty_store_has_empty_results(place):
    """No rows, and every column there."""
    with Store.open(place, write=True) as store:
        assert len(store.results()) == 0
        assert store.keys() == (set(), set())
        assert store.study() is None


def test_a_run_counts_once(place):
    """Of two outcomes of one run the first stays, and the second is said not to be new."""
    run = runs(1)[0]
    first, second = drawn(run, seed=1), drawn(run, seed=2)
    with Store.open(place, write=True) as store:
        assert store.add(first)
        assert not store.add(second)
        assert store.outcome(run.key) == first
        assert len(store.results()) == 1
        assert list(store.times()) == [run.key]


def test_a_failure_lasts_until_the_run_is_finished(place):
    """A later failure replaces it, an outcome ends it, and of a finished run there is none."""
    one, two = runs(2)
    failures = [Failure(run, f"ValueError: {n}", 0.5 + n) for n, run in enumerate((one, one, two))]
    with Store.open(place, write=True) as store:
        for failure in failures:
            store.add_failure(failure)
        assert store.failures() == failures[1:]
        assert [f.seconds for f in store.failures()] == [1.5, 2.5]
        store.add(drawn(two))
        store.add_failure(failures[2])
        assert store.keys() == ({two.key}, {one.key})
        with pytest.raises(DataError, match=f"no finished run '{one.key}'"):
            store.outcome(one.key)


def test_two_data_sets_are_not_mixed(place):
    """Runs on other trials are refused, whoever opens the store; the study is remembered."""
    with Store.open(place, write=True) as store:
        store.claim("abc")
        store.remember("small", {"seeds": [0]})
    with Store.open(place, write=True) as store:
        store.claim("abc")
        store.remember("small", {"seeds": [0, 1]})
        with pytest.raises(DataError, match=r"fingerprint is abc, that of these is xyz.*another"):
            store.claim("xyz")
        assert store.study() == ("small", {"seeds": [0, 1]})


def test_the_second_who_writes_is_refused_and_who_reads_never(place):
    """While one process writes, another is told so; readers see what is finished."""
    script = (
        "import sys; from censorium.store import Store\n"
        "with Store.open(sys.argv[1]) as store: print(len(store.keys().finished))\n"
        "Store.open(sys.argv[1], write=True)"
    )
    with Store.open(place, write=True) as store:
        store.add(drawn(runs(1)[0]))
        with pytest.raises(FileError, match="Another process runs a study"):
            Store.open(place, write=True)
        with Store.open(place) as reader, pytest.raises(FileError, match="readonly"):
            reader.claim("abc")
        command = [sys.executable, "-c", script, place]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
        assert other.stdout == "1\n"
        assert "FileError: Another process runs a study" in other.stderr
    Store.open(place, write=True).close()


def of_bytes(place):
    place.write_bytes(b"model,score\nbaseline,0.5\n" * 100)


def of_somebody_else(place):
    with sqlite3.connect(place) as db:
        db.execute("CREATE TABLE run (key TEXT)")


def of_tomorrow(place):
    with sqlite3.connect(place) as db:
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION + 1}")


def cut(place):
    with Store.open(place, write=True) as store:
        for run in runs(40):
            store.add(drawn(run))
    place.write_bytes(place.read_bytes()[: 3 * 4096])


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (of_bytes, "is not a store"),
        (of_somebody_else, "is not a store"),
        (of_tomorrow, "version 2 of the format; this censorium knows version 1"),
        (cut, "cannot be read or written: database disk image is malformed"),
    ],
)
def test_what_is_no_store_is_named_and_left_alone(place, make, words, write):
    """A file that we cannot read is a `FileError` that says why, and is not changed."""
    make(place)
    before = place.read_bytes()
    with pytest.raises(FileError, match=words), Store.open(place, write=write) as store:
        store.results()
    assert place.read_bytes() == before


def test_a_file_that_is_not_there(place):
    """Who reads is told; an empty file, which a killed driver may leave, is no study to read."""
    with pytest.raises(FileError, match="There is no store"):
        Store.open(place)
    place.touch()
    with pytest.raises(FileError, match="is not a store"):
        Store.open(place)
    with Store.open(place, write=True) as store:
        assert store.add(drawn(runs(1)[0]))


def test_a_full_disk_keeps_what_was_finished(place):
    """The write that fails is told in plain words; the runs before it stay, and it goes on."""
    script = (
        "import resource, sys\n"
        "from censorium.store import Store\n"
        "from outcomes import drawn, runs\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "with Store.open(sys.argv[1], write=True) as store:\n"
        "    for run in runs(1000):\n"
        "        store.add(drawn(run))\n"
        "        print(run.key, flush=True)\n"
    )
    command = [sys.executable, "-c", script, place]
    full = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    assert "FileError" in full.stderr
    assert "make room and run the same again" in full.stderr
    told = full.stdout.split()
    assert 0 < len(told) < 1000
    with Store.open(place, write=True) as store:
        assert store.keys().finished == set(told)
        for run in runs(len(told) + 1):
            store.add(drawn(run))
        assert store.outcome(runs(1)[0].key) == drawn(runs(1)[0])
        assert len(store.keys().finished) == len(told) + 1


def test_files_are_kept_before_a_run_counts(place):
    """Weights and predictions lie beside the store; where they cannot, the run is not finished."""
    one, two = (drawn(run) for run in runs(2))
    with Store.open(place, write=True) as store:
        store.add(one, files={"weights.safetensors": b"\0" * 9})
        assert store.files(one.run.key)["weights.safetensors"].read_bytes() == b"\0" * 9
        (place.parent / "study.sqlite.files" / two.run.key).write_text("in the way")
        with pytest.raises(FileError):
            store.add(two, files={"weights.safetensors": b""})
        assert store.keys().finished == {one.run.key}
        assert store.files("unknown") == {}


@pytest.mark.slow
def test_the_papers_runs_are_read_in_seconds(place):
    """61,200 runs come as columns within 10 s and 1 GB."""
    with Store.open(place, write=True) as store:
        store._db.execute("PRAGMA synchronous = OFF")
        for k in range(61_200):
            run = Run("censored", {**CENSORED, "strength": float(k % 17)}, SPLITS[k % 4], k)
            store.add(drawn(run))
    script = (
        "import sys, time\n"
        "from censorium.store import Store\n"
        "from censorium.study.execute import peak_memory\n"
        "start = time.perf_counter()\n"
        "with Store.open(sys.argv[1]) as store: n = len(store.results())\n"
        "seconds = time.perf_counter() - start\n"
        "print(n, seconds, peak_memory() / 1e9)"
    )
    command = [sys.executable, "-c", script, place]
    n, seconds, gigabytes = map(float, subprocess.check_output(command, text=True).split())
    assert n == 61_200
    assert seconds < 10
    assert gigabytes < 1
