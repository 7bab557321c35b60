"""Studies as a person runs them: planned, run, broken off, watched, written out, reported."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from censorium import CensoredClassifier, Trials, datasets
from censorium.cli import main
from censorium.store import Store
from censorium.study.file import presets

STUDY = """
data: trials
splits: {kind: k-fold, folds: 3, valid: 1}
training: {epochs: 2, batch_size: 64, learning_rate: 1.0e-3}
points: [final, best-validation]
grid: {measure: [density-ratio, mmd], strength: [0.1, 1]}
yardsticks: [lda]
"""
N_RUNS = 6 * 3


def censorium(*words):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(w) for w in words])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with trials, and a study of them that has been run."""
    place = tmp_path_factory.mktemp("study")
    knobs = {"n_sessions": 1, "n_trials": 66, "snr": 3.0}
    datasets.load("simulated", n_subjects=6, **knobs).save(place / "trials")
    (place / "study.yaml").write_text(STUDY)
    done = censorium(
        *("study", "run", place / "study.yaml", "--on", "local"),
        *("--keep", "weights", "--keep", "predictions"),
    )
    assert done.exit_code == 0, done.output
    return place


def test_presets_are_listed_and_printed():
    """`study preset` names all of them; with a name it prints a file that `study` reads."""
    listed = censorium("study", "preset").output
    assert all(f"{name}: " in listed for name in presets())
    assert censorium("study", "preset", "quick").output == presets()["quick"]
    assert "Did you mean 'quick'" in censorium("study", "preset", "quik").output


def test_plan_counts_runs_time_and_disk(place):
    """`study plan` says how many runs there are, how long they will take, and how much disk."""
    said = censorium("study", "plan", place / "study.yaml", "--on", "local").output
    assert f"{N_RUNS} runs: 6 models x 3 splits x 1 seeds" in said
    assert "time: 0:0" in said
    assert "MB" in said


def test_every_run_is_stored_once(place):
    """After a run all are done; the same command again finds nothing to do."""
    with Store.open(place / "study.sqlite") as store:
        assert len(store.keys().finished) == N_RUNS
    again = censorium("study", "run", place / "study.yaml", "--on", "local")
    assert again.exit_code == 0
    assert f"{N_RUNS} finished before" in again.output
    assert "0 to do" in again.output


def test_what_was_kept_predicts_what_was_scored(place):
    """Kept weights are models, whose predictions are those that were kept, and have the scores."""
    trials = Trials.load(place / "trials")
    with Store.open(place / "study.sqlite") as store:
        outcome = next(
            outcome
            for key in sorted(store.keys().finished)
            if (outcome := store.outcome(key)).run.method == "network"
        )
        files = store.files(outcome.run.key)
    assert set(files) == {
        f"{point}.{kind}"
        for point in ("final", "best-validation")
        for kind in ("safetensors", "parquet")
    }
    test = trials.of(outcome.run.split.test)
    for point, scores in outcome.scores.items():
        model = CensoredClassifier.load(files[f"{point}.safetensors"])
        assert model.score(test) == scores.test.balanced_accuracy
        table = pyarrow.parquet.read_table(files[f"{point}.parquet"])
        p = np.column_stack([table[f"p_{name}"] for name in model.classes_])
        np.testing.assert_allclose(p, model.predict_proba(test), atol=1e-6)


def test_status_says_how_far_it_is(place):
    """`study status` counts what is done and names the best model of each evaluation point."""
    said = censorium("study", "status", place / "study.yaml").output
    assert f"{N_RUNS} of {N_RUNS}" in said
    assert "best-validation, best so far" in said


def test_export_has_a_row_for_each_run_point_and_person(place):
    """The tidy table has every test subject of every run, once for each evaluation point."""
    text = censorium("study", "export", place / "study.yaml").output
    rows = list(csv.DictReader(io.StringIO(text)))
    per_model = {(r["model"], r["point"], r["fold"], r["subject"]) for r in rows}
    # Five networks have two evaluation points, the yardstick one; three folds of two people each.
    assert len(rows) == len(per_model) == (5 * 2 + 1) * 6
    for row in rows:
        assert 0 <= float(row["subject_test"]) <= 1


def test_ls_lists_stores(place):
    """`study ls` finds the study and what is in it; where there is none it says so."""
    assert f"{N_RUNS}" in censorium("study", "ls", place).output
    assert "There is no store" in censorium("study", "ls", place / "trials").output


def test_report_is_one_page_and_files_beside_it(place):
    """`report` writes a page that needs nothing else, and figures and tables beside it."""
    done = censorium("report", place / "study.yaml", "--out", place / "page.html")
    assert done.exit_code == 0, done.output
    page = (place / "page.html").read_text()
    assert f"{N_RUNS} of {N_RUNS} runs are done" in page
    assert {p.suffix for p in (place / "page-files").iterdir()} == {".svg", ".png", ".csv"}


def test_a_changed_study_keeps_what_is_done(place, tmp_path):
    """Another strength adds its runs; those that are gone from the file stay in the store."""
    changed = place / "changed.yaml"
    changed.write_text(STUDY.replace("[0.1, 1]", "[0.1, 2]").replace("yardsticks: [lda]\n", ""))
    store = tmp_path / "copy.sqlite"
    store.write_bytes((place / "study.sqlite").read_bytes())
    done = censorium("study", "run", changed, "--store", store, "--on", "local")
    assert done.exit_code == 0, done.output
    assert "6 to do" in done.output
    with Store.open(store) as kept:
        assert len(kept.keys().finished) == N_RUNS + 6


def test_other_data_are_refused(place, tmp_path):
    """A store of runs on some trials takes no runs on others."""
    datasets.load("simulated", n_subjects=6, n_sessions=1, n_trials=44).save(tmp_path / "other")
    done = censorium("study", "run", place / "study.yaml", "--data", tmp_path / "other")
    assert done.exit_code == 2
    assert "other trials" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("study", "run", "quik"), "Did you mean 'quick'"),
        (("study", "run", "{}/study.yaml", "--on", "proceses:2"), "Did you mean 'processes'"),
        (("study", "run", "{}/study.yaml", "--keep", "weight"), "Did you mean 'weights'"),
        (("study", "status", "nowhere.yaml"), "There is no file"),
        (("study", "export", "nowhere.yaml"), "There is no store"),
        (("report", "nowhere.yaml"), "There is no store"),
    ],
)
def test_errors_are_one_sentence(place, words, message):
    """What is wrong is said in one sentence, with exit status 2."""
    result = censorium(*(word.format(place) for word in words))
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_failures_are_told_and_retried(place, tmp_path):
    """A run that fails keeps its traceback and stops nothing; --retry-failed takes just those."""
    trials = Trials.load(place / "trials")
    few = trials[np.r_[0:132, 132:140, 198:396]]
    few.save(tmp_path / "trials")
    text = STUDY.replace("points: [final, best-validation]\n", "points: [final]\n")
    (tmp_path / "study.yaml").write_text(
        text.replace("learning_rate: 1.0e-3", "learning_rate: 1.0e30")
    )
    done = censorium("study", "run", tmp_path / "study.yaml", "--on", "local")
    assert done.exit_code == 0, done.output
    assert "DivergedError" in done.output
    with Store.open(tmp_path / "study.sqlite") as store:
        failed = store.keys().failed
        assert failed
        assert len(store.keys().finished) + len(failed) == N_RUNS
        assert all("DivergedError" in f.traceback for f in store.failures())
    again = censorium("study", "run", tmp_path / "study.yaml", "--on", "local", "--retry-failed")
    assert f"{len(failed)} to do" in again.output


def test_the_command_runs_in_processes_too(place, tmp_path):
    """As a program, on two processes, a study has the scores of one process, bit for bit."""
    store = tmp_path / "two.sqlite"
    words = [
        "study",
        "run",
        str(place / "study.yaml"),
        "--store",
        str(store),
        "--on",
        "processes:2",
    ]
    subprocess.run([sys.executable, "-m", "censorium", *words], check=True, capture_output=True)
    with Store.open(store) as mine, Store.open(place / "study.sqlite") as reference:
        keys = sorted(reference.keys().finished)
        assert sorted(mine.keys().finished) == keys
        for key in keys:
            assert mine.outcome(key).scores == reference.outcome(key).scores
    assert json.dumps(keys)
