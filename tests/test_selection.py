"""Some trials of a set on disk are read when they are asked for, and are else as in memory."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pytest

import censorium
from censorium import CensoredClassifier, SubjectSplit, Trials
from censorium.selection import Selection, on_disk, select
from censorium.study import Run, execute
from planted import OPTIONS, planted

X = np.random.default_rng(0).standard_normal((20, 3, 4)).astype(np.float32)
MASK = np.random.default_rng(1).random(20) < 0.5
SCATTERED = [7, 3, 3, -1, 0]
INDICES = {
    "mask": MASK,
    "no trial": np.zeros(20, bool),
    "every trial": np.ones(20, bool),
    "a run": np.arange(20) // 5 == 2,
    "positions": np.array(SCATTERED),
    "one": np.array([4]),
    "none": np.array([], np.int64),
    "slice": slice(3, 9),
    "from the end": slice(-4, None),
    "steps": slice(1, 18, 5),
    "backwards": slice(None, None, -3),
}


@pytest.fixture
def mapped(tmp_path):
    """`X` on disk, mapped into memory."""
    np.save(tmp_path / "x.npy", X)
    return np.load(tmp_path / "x.npy", mmap_mode="r")


@pytest.fixture
def kept(tmp_path):
    """A folder of trials of four people."""
    planted().save(tmp_path / "kept")
    return tmp_path / "kept"


def is_read_from(held, x):
    """Whether `held` is a view of the mapped `x`, or reads it: nothing was copied."""
    return np.shares_memory(held.mapped if isinstance(held, Selection) else held, x)


@pytest.mark.parametrize("name", INDICES)
def test_a_selection_is_what_numpy_selects(mapped, name):
    """Masks, positions, negative and repeated ones, slices: the same trials, not yet read."""
    index = INDICES[name]
    found = select(mapped, index)
    assert len(X[index]) == 0 or is_read_from(found, mapped)
    assert (found.shape, found.dtype, found.ndim) == (X[index].shape, X.dtype, 3)
    assert len(found) == len(X[index])
    np.testing.assert_array_equal(np.asarray(found), X[index], strict=True)


@pytest.mark.parametrize("outer", INDICES)
@pytest.mark.parametrize("inner", ["mask", "positions", "steps", "run"])
def test_a_selection_of_a_selection(mapped, outer, inner):
    """Selecting twice is selecting once: it reads from the array on disk itself."""
    first = {"mask": MASK, "positions": SCATTERED * 4, "steps": slice(None, None, 3)}.get(
        inner, slice(2, 12)
    )
    among = np.arange(20)[first]
    index = INDICES[outer]
    if isinstance(index, np.ndarray):
        index = index[: len(among)] if index.dtype == bool else index % len(among)
    found = select(select(mapped, first), index)
    assert not isinstance(found, Selection) or found.mapped is mapped or found.mapped.base is mapped
    np.testing.assert_array_equal(np.asarray(found), X[first][index], strict=True)


@pytest.mark.parametrize("name", INDICES)
def test_a_selection_is_indexed_as_an_array(mapped, name):
    """What is indexed is read into a plain array, one trial too."""
    selection = select(mapped, np.arange(20)[::-1].copy())
    assert isinstance(selection, Selection)
    found = selection[INDICES[name]]
    assert type(found) in (np.ndarray, np.memmap)
    np.testing.assert_array_equal(found, X[::-1][INDICES[name]])
    np.testing.assert_array_equal(selection[5], X[::-1][5])
    assert np.asarray(selection, np.float64).dtype == np.float64


def test_wrong_indices_are_refused(mapped):
    """As by numpy: a mask of another length, and a position that is not there."""
    for x in (mapped, select(mapped, SCATTERED)):
        for index in (np.ones(len(x) + 1, bool), np.array([len(x)])):
            with pytest.raises(IndexError):
                select(x, index)


def test_of_an_array_in_memory_a_selection_is_an_array():
    """Nothing is deferred where nothing is saved."""
    for index in INDICES.values():
        found = select(X, index)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, X[index])
    assert not on_disk(X)
    assert type(planted().of([1, 3]).signals) is np.ndarray


def test_trials_on_disk_stay_there(kept):
    """Selected by person or mask, signals are neither read nor copied; `x` gives plain arrays."""
    trials, wanted = Trials.load(kept), planted()
    for index in (np.isin(wanted.subject, [1, 3]), np.isin(wanted.subject, [2]), slice(5, 9)):
        found = trials[index]
        assert is_read_from(found.signals, trials.signals)
        assert found[::2].signals.shape == wanted[index][::2].x.shape
        np.testing.assert_array_equal(found.x, wanted[index].x)
        assert repr(found) == repr(wanted[index])
    scattered = trials.of([1, 3])
    assert isinstance(scattered.signals, Selection)
    assert type(scattered.x) is np.ndarray
    scattered.x[:] = 0  # a copy: what is on disk is safe
    np.testing.assert_array_equal(trials.x, wanted.x)


def test_a_selection_is_read_from_the_file(kept):
    """What is written to the file once it was selected is read: nothing was before."""
    trials = Trials.load(kept).of([1, 3])
    x = np.load(kept / "x.npy", mmap_mode="r+")
    x[:] = 7
    x.flush()
    assert (trials.x == 7).all()


def test_a_selection_is_saved(tmp_path, kept):
    """Saved elsewhere or over the folder that it is read from, it holds those trials."""
    for target in (tmp_path / "other", kept):
        Trials.load(kept).of([1, 3]).save(target, overwrite=True)
        found, wanted = Trials.load(target), planted().of([1, 3])
        assert found.info == wanted.info
        for name in ("x", "y", "subject", "session"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), strict=True)


def test_a_selection_is_pickled(tmp_path, kept):
    """By pickle, or by joblib into a file, trials come back the same."""
    trials = Trials.load(kept).of([1, 3])
    joblib.dump(trials, tmp_path / "trials.joblib")
    again = pickle.loads(pickle.dumps(trials))  # noqa: S301  (ours)
    for found in (again, joblib.load(tmp_path / "trials.joblib")):
        assert isinstance(found.signals, Selection)
        np.testing.assert_array_equal(found.x, trials.x)
        np.testing.assert_array_equal(found.of([3]).x, trials.of([3]).x)
        assert repr(found) == repr(trials)


def test_a_changed_selection_keeps_its_signals(kept):
    """Trials of which something else is replaced hold the same signals."""
    trials = Trials.load(kept).of([1, 3])
    found = replace(trials, session=trials.session + 1)
    np.testing.assert_array_equal(found.x, trials.x)


@pytest.mark.parametrize("validation", [0, [4]])
@pytest.mark.parametrize("measure", [None, "density-ratio"])
def test_a_fit_on_a_selection_is_that_in_memory(kept, measure, validation):
    """History and probabilities are the same to the last bit, whoever validates."""
    options = {**OPTIONS, "measure": measure, "validation_subjects": validation}
    fitted = []
    for trials in (planted(), Trials.load(kept)):
        model = CensoredClassifier(**options).fit(trials.of([1, 3, 4]))
        fitted.append((model.history_, model.predict_proba(trials.of([2, 4])), model.score(trials)))
    (history, p, score), (history_of_disk, p_of_disk, score_of_disk) = fitted
    assert (history, score) == (history_of_disk, score_of_disk)
    np.testing.assert_array_equal(p, p_of_disk, strict=True)


def test_a_checkpoint_serves_both(tmp_path, kept):
    """A run begun on disk goes on in memory: its data are the same."""
    options = {**OPTIONS, "checkpoint": tmp_path / "run"}
    CensoredClassifier(**options).fit(Trials.load(kept).of([1, 3]))
    more = CensoredClassifier(**{**options, "epochs": 5}).fit(planted().of([1, 3]))
    straight = CensoredClassifier(**{**OPTIONS, "epochs": 5}).fit(planted().of([1, 3]))
    assert more.history_ == straight.history_


@pytest.mark.parametrize("valid", [(), (4,)])
def test_a_run_on_disk_is_that_in_memory(kept, valid):
    """A study gives the same outcome, wherever the trials lie."""
    options = {k: v for k, v in OPTIONS.items() if k != "random_state"}
    run = Run("m", {**options, "measure": "density-ratio"}, SubjectSplit([1, 3], valid, [2]), 0)
    a, b = (replace(execute(run, t), seconds=0.0) for t in (planted(), Trials.load(kept)))
    assert a == b


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", ">f4"])
def test_mapped_arrays_of_any_numbers_are_fitted(tmp_path, dtype):
    """An array that a user mapped is read as it would be in memory."""
    trials = planted()
    x = (100 * trials.x).astype(dtype)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    p = [
        CensoredClassifier(**OPTIONS).fit(given, trials.y, subjects=trials.subject).predict_proba(x)
        for given in (x, mapped)
    ]
    np.testing.assert_array_equal(*p)
    trained = CensoredClassifier(**OPTIONS).fit(x, trials.y, subjects=trials.subject)
    np.testing.assert_array_equal(trained.predict_proba(mapped), p[0])


COPIES = """
import sys
import psutil
import torch
from censorium import CensoredClassifier, Trials

torch.set_num_threads(1)
trials, seen = Trials.load(sys.argv[1]), []

def fit(trials):
    CensoredClassifier(
        None, epochs=1, batch_size=512, latent_size=8, validation_subjects=[2], random_state=0,
        on_epoch=lambda _: seen.append(sum(m.anonymous for m in psutil.Process().memory_maps())),
    ).fit(trials.of([1, 2, 4]))

fit(trials[:1000])
fit(trials)
print(seen[1] - seen[0])
"""


@pytest.mark.slow
def test_a_fit_does_not_copy_what_is_mapped(tmp_path):
    """In training, memory grows by far less than the selected trials: they stay on disk.

    Memory that no file backs is counted, after a fit on few trials has loaded what any fit needs.
    Of 115 MB selected, a copy of the training trials alone is 77 MB; without one, 20 MB were seen,
    a few batches.
    """
    rng = np.random.default_rng(0)
    who = np.arange(8000) % 4 + 1
    x = rng.standard_normal((8000, 600, 8), np.float32)
    Trials.from_arrays(x, rng.permutation(who) % 2, who, sfreq=100).save(tmp_path / "kept")
    done = subprocess.run(
        [sys.executable, "-c", COPIES, tmp_path / "kept"],
        env={**os.environ, "PYTHONPATH": str(Path(censorium.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < x[who != 3].nbytes / 3
