"""The tables that a person at a terminal sees, from scores written down by hand."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from censorium import SubjectSplit
from censorium.auditing import Accuracy, Audit, Information, Interval, Plane, Probe
from censorium.cli.terminal import scores_of_models, scores_of_sets, told_of_people
from censorium.study import Evaluation, Outcome, Run, Scores

ONE, OTHER = SubjectSplit([1, 2], [3], [4, 5]), SubjectSplit([4, 5], [2], [1, 3])


def evaluation(score, named, chance, each=()):
    """What was scored on a set of people."""
    return Evaluation(score, dict(enumerate(each, start=1)), Probe(named, chance))


def outcome(model, split, train, test, seconds):
    """What a run of `model` showed; its validation scores are like no other."""
    run = Run(model, {"measure": None}, split, 0)
    scores = {"final": Scores(train, evaluation(0.111, 0.222, 0.333), test)}
    return Outcome(run, scores, [], seconds)


@pytest.fixture
def outcomes():
    return [
        outcome("plain", ONE, evaluation(0.95, 0.91, 0.5), evaluation(0.61, 0.74, 0.25), 8.0),
        outcome("censored", ONE, evaluation(0.80, 0.57, 0.5), evaluation(0.70, 0.43, 0.25), 9.0),
        outcome("plain", OTHER, evaluation(0.91, 0.87, 0.3), evaluation(0.65, 0.70, 0.35), 6.0),
        outcome("censored", OTHER, evaluation(0.84, 0.51, 0.3), evaluation(0.76, 0.39, 0.35), 7.0),
    ]


def headed(table):
    """The cells below each heading."""
    return {str(column.header): list(column.cells) for column in table.columns}


def lines(table):
    """The table as it is printed, one text per line, without its frame."""
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    return [
        " ".join(line.replace("│", " ").split()) for line in console.file.getvalue().split("\n")
    ]


def test_a_model_is_a_row_of_means_over_folds(outcomes):
    """Unseen people before training people, their ratio, how often the unseen are named."""
    table = scores_of_models(outcomes)
    assert headed(table) == {
        "model": ["plain", "censored"],
        "unseen": ["0.630", "0.730"],
        "training": ["0.930", "0.820"],
        "overfit ratio": ["0.678", "0.890"],
        "person named (chance)": ["0.72 (0.30)", "0.41 (0.30)"],
    }
    printed = lines(table)
    assert "Balanced accuracy, mean over folds" in printed
    assert "plain 0.630 0.930 0.678 0.72 (0.30)" in printed
    assert "censored 0.730 0.820 0.890 0.41 (0.30)" in printed


def test_a_set_of_people_is_a_row():
    """Who, how many; the score of all, of the worst and of the best person; how often named."""
    scores = {
        "training": evaluation(0.91, 0.81, 0.33, [0.93, 0.85, 0.97]),
        "validation": Evaluation(0.74, {7: 0.71, 8: 0.78}, None),
        "test": evaluation(0.66, 0.55, 0.25, [0.67, 0.72, 0.52, 0.69]),
    }
    table = scores_of_sets(scores)
    assert headed(table) == {
        "people": ["training (3)", "validation (2)", "test (4)"],
        "all": ["0.910", "0.740", "0.660"],
        "worst": ["0.850", "0.710", "0.520"],
        "best": ["0.970", "0.780", "0.720"],
        "person named (chance)": ["0.81 (0.33)", "-", "0.55 (0.25)"],
    }
    printed = lines(table)
    assert "Balanced accuracy" in printed
    assert "validation (2) 0.740 0.710 0.780 -" in printed


def test_a_person_nobody_probed_for_is_a_dash(outcomes):
    """Where no run has a probe the cell is a dash, whatever there is of the training people."""
    unprobed = [
        replace(o, scores={"final": replace(o.first, test=replace(o.test, identity=None))})
        for o in outcomes
    ]
    assert headed(scores_of_models(unprobed))["person named (chance)"] == ["-", "-"]


def test_an_audit_is_a_row():
    """Whose trials, which features; both estimators in % of H(S); how often one is named."""
    half = [
        Information("subject", None, by, Interval(*(np.log(4) * np.array(nats))), np.log(4))
        for by, nats in (("linear probe", (0.5, 0.25, 0.75)), ("density ratio", (0.4, 0, 1)))
    ]
    found = Audit(
        "unseen subjects",
        "hidden features",
        n_trials=40,
        n_features=3,
        n_read=3,
        n_sessions=4,
        information=tuple(half),
        naming=Accuracy(Interval(0.61, 0.5, 0.7), 0.25, 0.001),
        distance=Interval(0.2, 0.1, 0.3),
        each=(),
        confusion=(),
        subjects=(1, 2, 3, 4),
        plane=Plane((), (), ()),
        seed=0,
    )
    printed = lines(told_of_people([found]))
    assert "subject told, % of H(S) [95 %]" in printed
    row = "unseen subjects (4) hidden features 50 [25, 75] 40 [0, 100] 0.61 (0.25)"
    assert row in printed
