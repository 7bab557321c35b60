"""The report: its words are computed from its numbers, and a real browser shows it."""

import numpy as np
import pytest

from censorium import datasets, subject_kfold
from censorium.report import summary, write_report
from censorium.stats import paired_difference
from censorium.study import Study, execute

TRAINING = {"epochs": 2, "batch_size": 64, "learning_rate": 1e-3}
MODELS = {
    "baseline": {"measure": None, **TRAINING},
    "density-ratio": {"measure": "density-ratio", "strength": 0.1, **TRAINING},
    "wasserstein": {"measure": "wasserstein", "strength": 0.1, **TRAINING},
}


@pytest.fixture(scope="module")
def trials():
    return datasets.load("simulated", n_subjects=6, n_sessions=1, n_trials=60)


@pytest.fixture(scope="module")
def outcomes(trials):
    study = Study(MODELS, subject_kfold(trials, 2, n_valid=1))
    return [execute(run, trials) for run in study.runs()]


@pytest.fixture(scope="module")
def page(trials, outcomes, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "report.html"
    write_report(out, trials, outcomes)
    return out


def test_a_browser_shows_it_without_error_or_network(page, opened, figure_sizes):
    """Chromium opens the page alone: no console message, no request, every figure drawn."""
    tab = opened(page, 1100)
    sizes = figure_sizes(tab)
    assert len(sizes) == 5
    assert all(width > 300 and height > 150 and words for width, height, words in sizes)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1100
    headings = tab.locator("h2").all_inner_texts()
    assert {"What to conclude", "What not to conclude", "Learning curves"} <= set(headings)
    tab.set_viewport_size({"width": 420, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 420


def test_on_a_telephone_only_boxes_that_say_so_scroll_sideways(page, browser):
    """At 390 pixels what is too wide lies in a box of its own, under words that say it scrolls."""
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.goto(page.as_uri(), wait_until="load")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    wider = """[...document.querySelectorAll("main, main *")]
        .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth)
        .map(e => [e.className, getComputedStyle(e, "::before").content])"""
    hint = '"scroll sideways →"'
    plot, table = ["plot wide", hint], ["table wide", hint]
    assert tab.evaluate(wider) == [plot, table, plot, plot]
    tab.set_viewport_size({"width": 1100, "height": 800})
    assert tab.evaluate(wider) == []


def test_the_table_holds_the_outcomes(page, outcomes):
    """Each model's row shows the mean of its runs' scores."""
    text = page.read_text()
    for model in MODELS:
        mine = [o for o in outcomes if o.run.model == model]
        row = text.split(f"<tr><td>{model}</td>")[1].split("</tr>")[0]
        assert f"<td>{np.mean([o.test.balanced_accuracy for o in mine]):.3f}</td>" in row
        assert f"<td>{np.mean([o.overfit_ratio for o in mine]):.3f}</td>" in row
    assert "http" not in text.replace("http://www.w3.org", "")


def test_every_person_tests_once_and_is_compared_with_themselves(outcomes):
    """The difference of a row is that between a person's two scores, averaged over people."""
    baseline, censored, _ = summary.rows(outcomes)
    models = summary.by_model(outcomes)
    before, after = (summary.person_scores(models[row.model]) for row in (baseline, censored))
    assert set(before) == set(after) == {1, 2, 3, 4, 5, 6}
    expected = np.mean([after[p] - before[p] for p in before])
    assert censored.difference.mean == pytest.approx(expected)
    assert censored.difference.low <= expected <= censored.difference.high


@pytest.mark.parametrize(
    ("shift", "words"),
    [
        (0.2, "better than the baseline"),
        (-0.2, "worse than the baseline"),
        (0.0, "no evidence of a difference"),
    ],
)
def test_the_verdict_follows_the_interval(outcomes, shift, words):
    """The sentence says better, worse or no evidence as the interval has it."""
    from dataclasses import replace

    baseline, row, _ = summary.rows(outcomes)
    noise = np.array([-1, 1, -1, 1, -1, 1]) * 0.01
    difference = paired_difference(0.6 + shift + noise, np.full(6, 0.6))
    assert words in summary.verdict(replace(row, difference=difference), baseline)
