"""Study files: what they mean, and that what is wrong with one is named with its line."""

import pytest

from censorium import SubjectSplit
from censorium.datasets import load
from censorium.errors import CensoriumError
from censorium.study.file import BASELINE, fingerprint, presets, read_study

FILE = """
data: trials
splits: {kind: k-fold, folds: 3, valid: 1, seed: 2}
training:
  epochs: 4
  batch_size: 64
points: [final, best-validation]
grid:
  measure: [density-ratio, wasserstein]
  strength: [0.1, 10]
models:
  mine: {measure: mmd, strength: 2, epochs: 5}
  spatial: {method: minimum-distance}
yardsticks: [lda, dropout]
seeds: [3, 5]
"""


@pytest.fixture
def written(tmp_path):
    """What makes a study file of a text."""

    def write(text):
        path = tmp_path / "study.yaml"
        path.write_text(text)
        return path

    return write


def test_models_are_baseline_grid_named_and_yardsticks(written):
    """Each model has the common options and its own; the baseline comes first, without measure."""
    found = read_study(written(FILE)).models
    assert list(found) == [
        *(BASELINE, "density-ratio 0.1", "density-ratio 10", "wasserstein 0.1", "wasserstein 10"),
        *("mine", "spatial", "lda", "dropout"),
    ]
    assert found[BASELINE]["measure"] is None
    assert found["wasserstein 10"] == {
        "epochs": 4,
        "batch_size": 64,
        "evaluation_point": ["final", "best-validation"],
        "measure": "wasserstein",
        "strength": 10,
    }
    assert (found["mine"]["epochs"], found["mine"]["batch_size"]) == (5, 64)
    assert found["lda"] == {"method": "lda"}
    assert found["dropout"]["measure"] is None


def test_runs_are_models_by_splits_by_seeds(written, small_trials):
    """Every model is run on every split from every seed, and no two runs have one key."""
    trials = small_trials(n_subjects=6)
    runs = read_study(written(FILE)).study(trials).runs()
    assert len(runs) == 9 * 3 * 2
    assert len({run.key for run in runs}) == len(runs)
    assert {run.seed for run in runs} == {3, 5}
    assert all(len(run.split.valid) == 1 for run in runs)
    assert {run.method for run in runs} == {"network", "lda", "minimum-distance"}


def test_first_takes_that_many_splits(written, small_trials):
    """`first` leaves out the later splits."""
    text = FILE.replace("seed: 2", "seed: 2, first: 1")
    study = read_study(written(text)).study(small_trials(n_subjects=6))
    assert len(study.splits) == 1


def test_the_papers_presets_have_the_papers_runs():
    """Both halves together: 61,200 censored runs, and a baseline for each fold, seed and point."""
    people = range(1, 65)
    trials = load("simulated", n_subjects=64, n_sessions=1, n_trials=11)
    runs = [
        run
        for name in ("paper-final", "paper-best-validation")
        for run in read_study(name).study(trials).runs()
    ]
    censored = [run for run in runs if run.options["measure"] is not None]
    assert len(censored) == 61_200
    assert len(runs) - len(censored) == 200
    final = [run for run in runs if run.options["evaluation_point"] == ["final"]]
    assert {(len(r.split.train), len(r.split.valid), len(r.split.test)) for r in final} == {
        (28, 0, 4)
    }
    rest = [run for run in runs if run.options["evaluation_point"] != ["final"]]
    assert {(len(r.split.train), len(r.split.valid), len(r.split.test)) for r in rest} == {
        (24, 4, 4)
    }
    assert {r.options["epochs"] for r in final} == {100}
    assert {r.options["epochs"] for r in rest} == {30}
    assert set(people) >= set(runs[0].split.train)


@pytest.mark.parametrize("name", presets())
def test_presets_are_sound(name):
    """Every preset passes its own checks and has a baseline."""
    assert BASELINE in read_study(name).models


WRONG = {
    "a key": (FILE.replace("seeds:", "seedz:"), 15, "Did you mean 'seeds'"),
    "splits": (FILE.replace("k-fold", "k-fould"), 3, "Did you mean 'k-fold'"),
    "a splits option": (FILE.replace("folds: 3", "fold: 3"), 3, "Did you mean 'folds'"),
    "first": (FILE.replace("seed: 2", "first: none"), 3, "first must be a number"),
    "an option": (FILE.replace("epochs: 4", "epoch: 4"), 5, "Did you mean 'epochs'"),
    "a managed option": (FILE.replace("epochs: 4", "random_state: 4"), 5, "Unknown training"),
    "an epoch": (FILE.replace("epochs: 4", "epochs: none"), 4, "epochs must be a whole number"),
    "a point": (FILE.replace("final, best", "final, bst"), 7, "Did you mean 'best-validation'"),
    "a measure": (FILE.replace("tio, wasserstein", "tio, wasserstien"), 8, "'wasserstein'"),
    "a grid option": (FILE.replace("  strength: [", "  strenght: ["), 10, "'strength'"),
    "no list": (FILE.replace("[0.1, 10]", "0.1"), 10, "strength must be a list"),
    "a model": (FILE.replace("measure: mmd", "measure: mdm"), 12, "Did you mean 'mmd'"),
    "a method": (FILE.replace("minimum-distance", "minimum"), 13, "'minimum-distance'"),
    "a yardstick": (FILE.replace("[lda,", "[ldaa,"), 14, "Did you mean 'lda'"),
    "seeds": (FILE.replace("[3, 5]", "[a]"), 15, "seeds must be"),
    "no YAML": (FILE.replace("{kind", "{kind: [", 1), 3, "is not YAML"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named_with_its_line(written, what):
    """An error names the file, the line, and the nearest right spelling."""
    text, line, message = WRONG[what]
    path = written(text)
    with pytest.raises(CensoriumError) as error:
        read_study(path)
    said = str(error.value)
    assert str(path) in said
    assert message in said
    if what != "no YAML":
        assert f"line {line}:" in said


@pytest.mark.parametrize("written_as", ["1e-4", "1.0e-4", "0.0001", "1E-4"])
def test_numbers_are_numbers_however_written(written, written_as):
    """A learning rate may be written as it is in Python."""
    text = FILE.replace("epochs: 4", f"learning_rate: {written_as}")
    assert read_study(written(text)).models[BASELINE]["learning_rate"] == 1e-4


def test_what_is_missing_is_named(written):
    """A study needs data and splits; a file that is no mapping, or not there, is an error."""
    for text, message in (("splits: k-fold", "data is missing"), ("- a", "mapping with the keys")):
        with pytest.raises(CensoriumError, match=message):
            read_study(written(text))
    with pytest.raises(CensoriumError, match="There is no file"):
        read_study("nowhere.yaml")
    with pytest.raises(CensoriumError, match="Did you mean 'paper-small'"):
        read_study("paper-smal")


def test_nothing_in_a_file_executes(written, tmp_path):
    """A tag that would call Python is an error, and is not called."""
    text = f"data: !!python/object/apply:pathlib.Path.touch [{tmp_path / 'harm'}]\nsplits: k-fold"
    with pytest.raises(CensoriumError, match="is not YAML"):
        read_study(written(text))
    assert not (tmp_path / "harm").exists()


def test_data_are_found_beside_the_file(written, small_trials, tmp_path):
    """A folder of trials is named from where the study file lies."""
    small_trials().save(tmp_path / "trials")
    assert len(read_study(written(FILE)).trials()) == len(small_trials())


def test_other_data_have_another_fingerprint(small_trials):
    """Other signals, labels or people are told apart; the same trials are not."""
    trials = small_trials()
    assert fingerprint(trials) == fingerprint(small_trials())
    for other in (small_trials(seed=1), trials[1:], small_trials(n_subjects=3)):
        assert fingerprint(other) != fingerprint(trials)


def test_a_split_given_by_hand_is_a_study_too():
    """In Python a study takes any splits."""
    from censorium.study import Study

    study = Study({"lda": {"method": "lda"}}, [SubjectSplit([1, 2], (), [3])])
    (run,) = study.runs()
    assert (run.method, dict(run.options)) == ("lda", {})
    assert run.seed == 0
