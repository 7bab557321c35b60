"""Trials are prepared once, part by part, and whatever ends the work, it goes on."""

import multiprocessing
import os
import signal
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from censorium.datasets import prepare
from censorium.datasets.home import VARIABLE, home, place_of
from censorium.datasets.prepare import prepared
from censorium.errors import CensoriumWarning, DataError, FileError
from censorium.trials import Trials, concatenate

NAMES = ("sub-1", "sub-2", "sub-3")
RECIPE = {"source": "here", "resample": 64, "band": (0.1, 15)}
PATIENCE = 60  # s until a test that waits gives up
fork = multiprocessing.get_context("fork")


def recorded(place: Path) -> Trials:
    """The trials of one recording; that it is made is logged, once its gate is open."""
    name = place.name
    with (place.parent / "log").open("a") as log:
        log.write(f"{name}\n")
    wait_for(lambda: not (place.parent / f"{name}.shut").exists())
    if (place.parent / f"{name}.odd").exists():
        warnings.warn("it is odd", CensoriumWarning, stacklevel=1)
        warnings.warn("said by others", UserWarning, stacklevel=1)
    if (place.parent / f"{name}.bad").exists():
        raise DataError("Nothing was recorded.")
    if (place.parent / f"{name}.dead").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    rng = np.random.default_rng(list(name.encode()))
    x = rng.standard_normal((5, 3, 8))
    return Trials.from_arrays(x, [1, 2, 1, 2, 2], [name] * 5, sfreq=64, ch_names=["Fz", "Cz", "Pz"])


def wait_for(is_so):
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def never():
    raise AssertionError("parts were asked for")


@pytest.fixture
def source(tmp_path):
    """Where recordings are, each of which may have a fault, and the log of those made."""
    (tmp_path / "source").mkdir()
    return tmp_path / "source"


@pytest.fixture
def folder(tmp_path):
    """The folder that is prepared, in one of its own."""
    return tmp_path / "new" / "trials"


@pytest.fixture
def do(source, folder):
    """A function that prepares the recordings of `source` into `folder`."""
    return partial(prepared, folder, partial(parts_in, source), RECIPE)


def parts_in(source):
    return {name: partial(recorded, source / name) for name in NAMES}


def made_in(source):
    return (source / "log").read_text().split() if (source / "log").exists() else []


def beside(folder):
    """What lies beside the folder; the lock is but a name."""
    return {p.name for p in folder.parent.iterdir()} - {folder.name, f".{folder.name}.lock"}


def assert_same(a, b):
    assert a.info == b.info
    for name in ("x", "y", "subject", "session"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)


def wanted(source):
    """All recordings, concatenated in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return concatenate([part() for part in parts_in(source).values()])


def test_the_folder_is_the_concatenation_of_the_parts(source, folder, do):
    """In order, bit for bit and on disk; nothing lies beside it, and progress is told."""
    seen = []
    trials = do(on_part=lambda *counts: seen.append(counts))
    assert made_in(source) == list(NAMES)
    assert_same(trials, wanted(source))
    assert isinstance(trials.x, np.memmap)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert beside(folder) == set()


def test_it_is_opened_from_then_on(source, folder, do):
    """A second call asks for no part and writes nothing, so a place without permission will do."""
    first = do()
    for path in folder.parent.glob(".*"):
        path.unlink()
    assert_same(prepared(folder, never, RECIPE), first)
    assert list(folder.parent.iterdir()) == [folder]
    assert len(made_in(source)) == 3


def test_a_place_without_permission_is_refused(folder, monkeypatch):
    """It is told before any recording is read."""
    # Root may write anywhere, so the system's answer is made up.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(FileError, match="no permission to write"):
        prepared(folder, never, RECIPE)


def test_another_recipe_is_made_anew(source, folder, do, caplog):
    """If options differ, that is said, and all is made anew."""
    do()
    assert not caplog.records
    recipe = {**RECIPE, "resample": 32}
    trials = prepared(folder, partial(parts_in, source), recipe)
    assert f"{folder} was prepared from other data" in caplog.text
    assert made_in(source) == list(NAMES) * 2
    assert_same(trials, wanted(source))
    prepared(folder, never, recipe)


def test_another_version_makes_it_anew(source, do, caplog, monkeypatch):
    """What an older preparation made is not taken for what this one would make."""
    do()
    monkeypatch.setattr(prepare, "PREPARATION", prepare.PREPARATION + 1)
    do()
    assert "by another version" in caplog.text
    assert made_in(source) == list(NAMES) * 2


def test_other_folders_are_left_alone(tmp_path, source, do):
    """What was not prepared, be it trials or anything else, is never overwritten."""
    wanted(source).save(tmp_path / "mine")
    (tmp_path / "photos").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("mine", "photos", "file"):
        with pytest.raises(FileError, match=f"{name} was not prepared .* left alone"):
            prepared(tmp_path / name, never, RECIPE)
    assert len(Trials.load(tmp_path / "mine")) == 15
    assert (tmp_path / "file").read_text() == "mine"


def test_a_killed_process_loses_one_part(source, folder, do, caplog):
    """After SIGKILL, the next call says how many parts are there and makes only what lacks."""
    (source / "sub-3.shut").touch()
    process = fork.Process(target=do)
    process.start()
    wait_for(lambda: made_in(source) == list(NAMES))
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not folder.exists()
    (source / "sub-3.shut").unlink()

    seen = []
    trials = do(on_part=lambda *counts: seen.append(counts))
    assert "2 of 3 parts were prepared before: going on." in caplog.text
    assert made_in(source) == [*NAMES, "sub-3"]
    assert seen == [(3, 3)]
    assert_same(trials, wanted(source))
    assert beside(folder) == set()


def test_parts_of_another_recipe_are_not_used(source, folder, do):
    """What an interrupted call with other options left is thrown away."""
    (source / "sub-2.bad").touch()
    with pytest.raises(DataError):
        prepared(folder, partial(parts_in, source), {**RECIPE, "resample": 32})
    (source / "sub-2.bad").unlink()
    do()
    assert made_in(source) == ["sub-1", "sub-2", *NAMES]


def test_two_processes_make_each_part_once(source, folder, do, caplog):
    """The second says that it waits for the first, and gets the same trials."""
    (source / "sub-2.shut").touch()
    first = fork.Process(target=do)
    first.start()
    wait_for(lambda: made_in(source) == ["sub-1", "sub-2"])
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(do)
        wait_for(lambda: "Another process prepares" in caplog.text)
        assert str(folder) in caplog.text
        (source / "sub-2.shut").unlink()
        trials = second.result(PATIENCE)
    first.join()
    assert first.exitcode == 0
    assert made_in(source) == list(NAMES)
    assert_same(trials, wanted(source))


def test_a_part_that_fails_is_named(source, folder, do, caplog):
    """Its error tells which it is, and the parts that were done before are kept."""
    (source / "sub-2.bad").touch()
    with pytest.raises(DataError, match="sub-2: Nothing was recorded"):
        do()
    assert not folder.exists()
    (source / "sub-2.bad").unlink()
    assert_same(do(), wanted(source))
    assert "1 of 3 parts" in caplog.text
    assert made_in(source)[:4] == ["sub-1", "sub-2", "sub-2", "sub-3"]


def test_no_parts_are_an_error(folder):
    """Where there is nothing to prepare, no folder is made."""
    with pytest.raises(DataError, match="no recording to prepare"):
        prepared(folder, dict, RECIPE)
    assert not folder.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_make_the_same(source, folder, do, workers):
    """Two workers make what one makes; warnings in parts reach the caller with the part's name."""
    (source / "sub-2.odd").touch()
    with pytest.warns(CensoriumWarning) as caught:
        trials = do(workers=workers)
    assert [str(w.message) for w in caught] == ["sub-2: it is odd"]
    assert sorted(made_in(source)) == list(NAMES)
    assert_same(trials, wanted(source))
    assert beside(folder) == set()


def test_a_worker_that_is_killed_is_an_error(source, folder, do):
    """As where memory is short: an error says so, and what was done is kept."""
    (source / "sub-3.dead").touch()
    with pytest.raises(FileError, match="was killed, most likely for want of memory"):
        do(workers=2)
    assert not folder.exists()
    (source / "sub-3.dead").unlink()
    before = len(made_in(source))
    trials = do()
    assert set(made_in(source)[before:]) < set(NAMES)  # one was done when the third began
    assert_same(trials, wanted(source))


def test_a_failed_part_names_itself_from_a_worker(source, do):
    """An error comes from another process as what it is there."""
    (source / "sub-2.bad").touch()
    with pytest.raises(DataError, match="sub-2: Nothing was recorded"):
        do(workers=2)


def test_each_recipe_has_a_place(tmp_path, monkeypatch):
    """Below the folder that the environment names: one for a recipe, whatever its order."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    place = place_of("a/b: c", {"x": 1, "y": [2]})
    assert place.parent == tmp_path / "prepared"
    assert place == place_of("a/b: c", {"y": [2], "x": 1})
    assert place != place_of("a/b: c", {"x": 1, "y": [3]})
    assert place.name.startswith("a-b--c-")
    monkeypatch.delenv(VARIABLE)
    assert home().is_relative_to(Path.home())
