"""The command line as a person uses it: simulate, train, predict; and its errors."""

import csv
import importlib
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner

from censorium import CensoredClassifier, Trials
from censorium.auditing import Audit
from censorium.cli import main

TRAIN = ["--epochs", "2", "--batch-size", "64", "--learning-rate", "1e-3"]


def censorium(*words):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(w) for w in words])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with simulated trials of four people and a model trained on three of them."""
    place = tmp_path_factory.mktemp("cli")
    made = censorium("data", "simulate", place / "trials", "--subjects", 4, "--trials", 60)
    assert made.exit_code == 0, made.output
    out = place / "model.safetensors"
    trained = censorium("train", place / "trials", "--out", out, "--test-subjects", "2", *TRAIN)
    assert trained.exit_code == 0, trained.output
    trials = Trials.load(place / "trials")
    trials[:0].save(place / "nobody")
    trials.of(3).save(place / "one")
    trials[116:].save(place / "few")
    holes = trials.x.copy()
    holes[np.flatnonzero(trials.subject == 4)[7], trials.info.ch_names.index("Cz")] = np.nan
    replace(trials, x=holes).save(place / "holes")
    return place


def test_simulate_writes_a_folder_of_trials(place):
    """`data simulate` writes what `Trials.load` opens, of as many people as asked for."""
    trials = Trials.load(place / "trials")
    assert trials.subjects == [1, 2, 3, 4]
    assert len(trials) == 4 * 2 * 60


def test_train_holds_out_the_test_subjects(place):
    """The model was trained without the test subject, and its scores are those of the model."""
    model = CensoredClassifier.load(place / "model.safetensors")
    assert set(model.split_.train) == {1, 3, 4}
    about = json.loads((place / "model.scores.json").read_text())
    scores = about["scores"]
    assert set(scores) == {"train", "test"}
    assert set(scores["test"]["per_subject"]) == {"2"}
    test = Trials.load(place / "trials").of([2])
    assert scores["test"]["balanced_accuracy"] == pytest.approx(model.score(test))
    assert (about["model"], about["options"]["epochs"]) == ("model.safetensors", 2)
    assert about["options"]["random_state"] == 0


def test_the_same_command_makes_the_same_model(place):
    """Trained twice from one seed, the model file is the same byte for byte, but for its times."""
    again = place / "again.safetensors"
    censorium("train", place / "trials", "--out", again, "--test-subjects", "2", *TRAIN)
    first, second = (
        CensoredClassifier.load(place / name).model_.state_dict()
        for name in ("model.safetensors", "again.safetensors")
    )
    assert all(first[name].equal(second[name]) for name in first)


def test_validation_and_checkpoint(place):
    """An interrupted training goes on from its checkpoint to what it would have been."""
    options = ["--n-test", 1, "--n-valid", 1, "--evaluation-point", "best-validation"]
    options += ["--measure", "wasserstein", "--checkpoint", place / "run.checkpoint"]
    short = censorium("train", place / "trials", "--out", place / "a", *options, "--epochs", 1)
    assert short.exit_code == 0, short.output
    longer = censorium("train", place / "trials", "--out", place / "a", *options, "--epochs", 2)
    assert longer.exit_code == 0, longer.output
    whole = censorium("train", place / "trials", "--out", place / "b", *options[:-2], "--epochs", 2)
    assert whole.exit_code == 0, whole.output
    a, b = (CensoredClassifier.load(place / name) for name in "ab")
    assert a.history_ == b.history_
    assert len(a.split_.valid) == 1


def test_two_seeds_have_two_files_of_scores(place):
    """Names that end alike keep their scores apart."""
    for name in ("run.seed1", "run.seed2"):
        done = censorium("train", place / "trials", "--out", place / name, *TRAIN, "--n-test", 1)
        assert done.exit_code == 0, done.output
        assert (place / f"{name}.scores.json").exists()


def test_an_interrupted_training_says_how_to_go_on(place):
    """Ctrl-C ends training with a word on the checkpoint; the same command goes on from it."""
    words = [sys.executable, "-m", "censorium", "train", place / "trials", "--out", place / "c"]
    words += ["--epochs", "400", "--checkpoint", place / "stopped.checkpoint"]
    started = [str(w) for w in words]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as run:
        deadline = time.monotonic() + 60
        while not (place / "stopped.checkpoint").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        said = run.communicate()[0].replace("\n", "")
    assert run.returncode == 1
    assert "The same command goes on from" in said
    assert not (place / "c").exists()


def test_predict_writes_the_models_probabilities(place):
    """The table, as CSV on standard output and as Parquet, holds what `predict_proba` says."""
    model, trials = place / "model.safetensors", place / "trials"
    words = [sys.executable, "-m", "censorium", "predict", model, trials]
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    written = censorium("predict", model, trials, "--out", place / "p.parquet")
    assert written.exit_code == 0, written.output
    table = pyarrow.parquet.read_table(place / "p.parquet").to_pydict()

    loaded = Trials.load(trials)
    expected = CensoredClassifier.load(model).predict_proba(loaded)
    assert list(rows[0]) == [
        "trial",
        "subject",
        "session",
        "label",
        "predicted",
        "p_non-target",
        "p_target",
    ]
    np.testing.assert_allclose([float(r["p_target"]) for r in rows], expected[:, 1], rtol=1e-5)
    np.testing.assert_allclose(table["p_non-target"], expected[:, 0], rtol=1e-5)
    assert table["label"] == [loaded.info.class_names[k] for k in loaded.y]
    assert [r["subject"] for r in rows] == [str(s) for s in loaded.subject]


def test_audit_tells_training_from_unseen_subjects(place):
    """A table, a page and the figures as JSON; of a lone unseen subject it is said so."""
    out = [place / "audit.html", place / "audit.json"]
    words = ["audit", place / "model.safetensors", place / "trials", "--no-sessions"]
    done = censorium(*words, "--out", out[0], "--out", out[1])
    assert done.exit_code == 0, done.output
    assert "training subjects: 1, 3, 4" in done.output
    assert "unseen subjects: 2\n  one only" in done.output
    assert "subject told, % of H(S)" in done.output
    about = json.loads(out[1].read_text())
    assert about["audited"] == "model.safetensors on trials"
    audits = [Audit.of(found) for found in about["audits"]]
    assert [a.view for a in audits] == ["hidden features", "raw signal"]
    assert all(a.subjects == (1, 3, 4) and a.n_trials == 360 for a in audits)
    assert "<title>censorium: what features tell" in out[0].read_text()


WRONG = {
    "no such folder": ("train {place}/nothing", "There is no folder"),
    "no such model": ("predict {place}/nothing {place}/trials", "There is no file"),
    "not a model": ("predict {place}/trials/x.npy {place}/trials", "no model file"),
    "folder exists": ("data simulate {place}/trials", "exists already. Overwrite it"),
    "not trials": ("data simulate {place} --overwrite", "something else than trials"),
    "unknown subject": ("train {place}/trials --test-subjects 2,9", "Unknown subject '9'"),
    "two ways": ("train {place}/trials --test-subjects 2 --n-test 1", "not both"),
    "nobody left": ("train {place}/trials --n-test 4", "leave none of 4"),
    "bad number": ("train {place}/trials --strength -1", "strength must be 0 or more"),
    "unknown measure": (
        "train {place}/trials --measure wasserstien",
        "Unknown measure 'wasserstien'. Did you mean 'wasserstein'?",
    ),
    "no validation": (
        "train {place}/trials --evaluation-point best-validation",
        "needs validation subjects",
    ),
    "bad table": (
        "predict {place}/model.safetensors {place}/trials --out p.xlsx",
        "must end in .csv or .parquet",
    ),
    "bad page": (
        "audit {place}/model.safetensors {place}/trials --out p.pdf",
        "must end in .html or .json",
    ),
    "nobody to audit": ("audit {place}/model.safetensors {place}/one", "No group has two subjects"),
    "too few to audit": (
        "audit {place}/model.safetensors {place}/few",
        "Among the training subjects: Subject 1 has 4 trials in session 2; an audit needs 10",
    ),
    "bad device": ("train {place}/trials --device warp", "Device 'warp'"),
    "bad knob": ("data simulate {place}/new --snr -1", "snr"),
    "bad seed": ("train {place}/trials --seed -1", "not in the range 0<="),
    "bad count": ("train {place}/trials --n-valid -1", "not in the range"),
    "report in a file": ("demo --out {place}/model.safetensors/report.html", "cannot lie in it"),
    "report over a folder": ("demo --out {place}", "is a folder"),
    "model over a folder": ("train {place}/trials --out {place}", "is a folder"),
    "model among trials": ("train {place}/trials --out {place}/trials/x.npy", "holds trials"),
    "one file for two": ("train {place}/trials --out a --checkpoint a", "name one file"),
    "trials in a file": ("data simulate {place}/model.safetensors/trials", "cannot lie in it"),
    "nobody to predict": ("predict {place}/model.safetensors {place}/nobody", "no trials"),
    "test subjects with holes": (
        "train {place}/holes --test-subjects 4",
        "Among the trials of the test subjects: Trial 7 has NaN or infinite values in channel 'Cz'",
    ),
    "unknown command": ("trian", "No such command"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_errors_are_one_sentence_and_status_2(place, words, message):
    """What cannot be done ends with exit status 2 and a message, without a traceback."""
    done = censorium(*words.format(place=place).split())
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_reader_who_has_had_enough_is_no_error(place):
    """`censorium predict ... | head` ends when head does, and says nothing."""
    words = [sys.executable, "-m", "censorium", "predict"]
    words += [str(place / "model.safetensors"), str(place / "trials")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline().startswith("trial,subject")
        run.stdout.close()
        assert run.stderr.read() == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_in_one_sentence(place):
    """What the system refuses is said as the system says it, with exit status 2."""
    words = [sys.executable, "-m", "censorium", "predict"]
    words += [str(place / "model.safetensors"), str(place / "trials")]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr == "Error: No space left on device\n"


def test_help_is_there_without_a_command():
    """Without a command the program says what it can do."""
    done = censorium("--help")
    assert done.exit_code == 0
    assert "censorium demo" in done.output


@pytest.mark.filterwarnings("default::censorium.errors.CensoriumWarning")
def test_a_warning_is_one_line(place):
    """A flat channel is told in one line on standard error, and training goes on."""
    trials = Trials.load(place / "trials")
    x = trials.x.copy()
    x[:, 3] = 0
    Trials(x, trials.y, trials.subject, trials.session, trials.info).save(place / "flat")
    done = censorium("train", place / "flat", "--out", place / "flat.safetensors", *TRAIN)
    assert done.exit_code == 0
    assert (
        f"Warning: Flat channels in the training trials: ['{trials.info.ch_names[3]}']"
        in done.output
    )


@pytest.fixture
def small_demo(monkeypatch):
    """The demonstration with fewer people and epochs; all else is as it is."""
    demo = importlib.import_module("censorium.cli.demo")
    monkeypatch.setattr(demo, "PEOPLE", {"n_subjects": 6, "n_sessions": 1, "n_trials": 60})
    models = {name: {**options, "epochs": 2} for name, options in demo.MODELS.items()}
    monkeypatch.setattr(demo, "MODELS", models)
    monkeypatch.setattr(demo, "N_VALID", 1)


@pytest.mark.usefixtures("small_demo")
def test_demo_writes_a_report_and_the_same_table_twice(tmp_path):
    """A small demonstration prints where its report is, and the same scores from the same seed."""
    out = tmp_path / "new" / "report.html"
    tables = []
    for _ in range(2):
        done = censorium("demo", "--out", out, "--no-open", "--seed", 3)
        assert done.exit_code == 0, done.output
        assert out.name in done.output.replace("\n", "")
        tables.append(done.output.split("Balanced accuracy")[1].split("Report")[0])
    assert tables[0] == tables[1]
    assert "<title>censorium" in out.read_text()


@pytest.mark.slow
def test_the_real_demo_gives_the_same_table_twice(tmp_path):
    """`python -m censorium demo`, run twice with one seed, gives the same table."""
    words = [sys.executable, "-m", "censorium", "demo", "--no-open", "--out", tmp_path / "r.html"]
    outputs = [
        subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    tables = [output.split("Balanced accuracy")[1].split("Report")[0] for output in outputs]
    assert tables[0] == tables[1]
    assert tables[0].count("│") > 20
