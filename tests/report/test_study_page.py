"""The report of a study: its numbers are those of its runs, its words follow its numbers."""

import csv
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t, ttest_rel
from synthetic import PAPER, SMALL, nothing, synthetic

from censorium import SubjectSplit, stats
from censorium.errors import DataError
from censorium.report.study_chapter import chapters
from censorium.report.study_numbers import at_points
from censorium.report.study_page import write_study
from censorium.report.study_pairs import by_person, chosen, how_to_choose, people
from censorium.report.study_words import headline, sentences
from censorium.study import Results

FOLDS = ((("a", "b"), ("c", "d")), (("c", "d"), ("a", "b")))  # who tests, who trains
BASE = [[0.60, 0.62], [0.70, 0.74]]  # a row for each fold, a column for each seed
LOW = [[0.63, 0.66], [0.72, 0.75]]
HIGH = [[0.58, 0.61], [0.75, 0.70]]
VALID = {"baseline": 0.5, "low": 0.7, "high": 0.6}


def row(model, test, fold, seed, **other):
    """A row of results as the study's own code makes them; test subjects differ by 0.02."""
    who, rest = FOLDS[fold]
    plain = {"measure": "", "mode": "", "projection": "", "strength": np.nan}
    return {
        "key": f"{model}{fold}{seed}",
        "model": model,
        "method": "network",
        "point": "final",
        "split": (who, (), rest),
        "seed": seed,
        "train": 0.9,
        "valid": VALID.get(model, np.nan),
        "test": test,
        "identity": 0.8,
        "chance": 0.5,
        "seconds": 10.0,
        "people": {who[0]: test - 0.01, who[1]: test + 0.01},
        **plain,
        **other,
    }


def censored(strength):
    """The columns of one way to censor."""
    way = {"measure": "density-ratio", "mode": "marginal", "projection": "direct"}
    return {**way, "strength": strength, "seconds": 15.0, "identity": 0.6}


def rows():
    """A baseline, two strengths, and a yardstick, on two folds from two seeds."""
    found = []
    for fold in (0, 1):
        for seed in (0, 1):
            found.append(row("baseline", BASE[fold][seed], fold, seed))
            found.append(row("low", LOW[fold][seed], fold, seed, **censored(0.1)))
            found.append(row("high", HIGH[fold][seed], fold, seed, **censored(10.0)))
            lda = {"method": "lda", "identity": np.nan, "chance": np.nan, "seconds": 1.0}
            found.append(row("lda", 0.55, fold, seed, **lda))
    return found


@pytest.fixture(scope="module")
def by_hand():
    return Results.of_rows(rows())


@pytest.fixture(scope="module")
def page(by_hand, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "study.html"
    about = {"planned": 612, "failed": 3, "data": "four <people>"}
    write_study(out, by_hand, title="By hand", about=about, compare={"again": by_hand})
    return out


def test_the_numbers_are_those_computed_by_hand(by_hand):
    """Gain, paper's p, corrected p and interval, harm and worst quarter, from their formulas."""
    (chapter,) = chapters(by_hand, [SubjectSplit(rest, (), who) for who, rest in FOLDS])
    low, high = chapter.at.ways[next(iter(chapter.at.ways))]
    found = chapter.found[low]
    d = np.array(LOW) - np.array(BASE)
    assert found.gain == pytest.approx(d.mean())
    assert found.paper == pytest.approx(ttest_rel(np.ravel(LOW), np.ravel(BASE)).pvalue)
    folds = d.mean(axis=1)  # seeds averaged; two test and two train, so the ratio is 1
    error = np.sqrt((1 / 2 + 2 / 2) * folds.var(ddof=1))
    assert found.corrected == pytest.approx(2 * t.sf(folds.mean() / error, 1))
    assert found.high == pytest.approx(folds.mean() + t.ppf(0.975, 1) * error)
    assert found.low == pytest.approx(folds.mean() - t.ppf(0.975, 1) * error)
    assert found.flipped == 0.5  # of two flips the one seen is the further from 0
    harmed = chapter.found[high]  # fold 0 loses 0.02 and 0.01, fold 1 gains 0.05 and loses 0.04
    assert (harmed.worse, harmed.loss) == (pytest.approx(0.5), pytest.approx(0.015))
    assert found.quarter_before == pytest.approx(0.60)
    assert found.quarter_gain == pytest.approx(0.035)


def test_the_page_shows_them(page):
    """Means, gains and shares stand in the tables; what users wrote is escaped."""
    text = page.read_text()
    line = text.split("<tr><td>density-ratio, marginal, direct</td><td>0.1</td>")[1]
    assert line.startswith("<td>0.690</td><td>+0.025 [")
    assert "16 of 612 runs are done; 3 failed" in text
    assert "four &lt;people&gt;" in text
    assert "<people>" not in text
    assert "http" not in text.replace("http://www.w3.org", "")


def test_every_figure_and_table_lies_beside_it(page):
    """SVG and PNG of each figure; the CSV of all settings holds the means of the runs."""
    folder = page.with_name("study-files")
    drawn = {p.stem for p in folder.glob("*.svg")}
    assert drawn == {p.stem for p in folder.glob("*.png")}
    assert len(drawn) == page.read_text().count("<img ") == 6
    with (folder / "settings.csv").open() as file:
        found = {line["model"]: line for line in csv.DictReader(file)}
    assert float(found["low"]["test"]) == pytest.approx(np.mean(LOW))
    assert float(found["low"]["overfit_ratio"]) == pytest.approx(np.mean(LOW) / 0.9)
    assert float(found["low"]["times_the_seconds"]) == 1.5
    assert found["lda"]["identity"] == ""
    with (folder / "subjects.csv").open() as file:
        line = next(r for r in csv.DictReader(file) if r["model"] == "lda" and r["subject"] == "c")
    assert (float(line["score"]), float(line["baseline"])) == (0.54, pytest.approx(0.71))


def test_validation_chooses_and_test_does_not(by_hand):
    """The strength with the best validation score is taken, though another tests better."""
    (at,) = at_points(by_hand)
    (mine,) = at.ways.values()
    how = how_to_choose(at.baseline, None)
    assert how.by == "other-seeds"
    picked = chosen(at.baseline, mine, how, "chosen")
    assert set(picked.column("model")) == {"low"}
    assert picked.gain.mean() == pytest.approx((np.array(LOW) - np.array(BASE)).mean())
    assert chosen(None, mine, how, "chosen") is None


def test_only_runs_with_a_baseline_beside_them_are_compared(by_hand):
    """A baseline's missing run takes its pairs out of every difference, not out of the boxes."""
    gone = (by_hand.model == "baseline") & (by_hand.fold == 0) & (by_hand.seed == 0)
    (chapter,) = chapters(by_hand[~gone])
    low = next(s for s in chapter.at.settings if s.model == "low")
    kept = np.array([0.66 - 0.62, (0.72 - 0.70 + 0.75 - 0.74) / 2])  # a number for each fold
    assert len(low.rows) == 4
    assert chapter.found[low].gain == pytest.approx(kept.mean())
    assert people(low).names == ["a", "b", "c", "d"]
    assert by_person(low.results, low.rows)["a"] == pytest.approx(0.635)
    assert people(low).scores[0] == pytest.approx(0.65)


def test_they_are_the_numbers_of_the_statistics():
    """Each p of a setting is what `stats.compare` says of the same study and splits."""
    results = synthetic(strengths=(0.1, 1.0), points=("final",), n_folds=3, n_seeds=3, n_test=3)
    names = [f"S{i + 1}" for i in range(9)]
    tests = [names[k : k + 3] for k in range(0, 9, 3)]
    splits = [SubjectSplit([n for n in names if n not in test], (), test) for test in tests]
    expected = {row.model: row for row in stats.compare(results, splits)}
    choices = {row.family[1:4]: row for row in stats.choose(results, splits)}
    (chapter,) = chapters(results, splits)
    for way, setting in chapter.picked.items():
        found, safe = chapter.safe[setting], choices[way[:3]]
        assert chapter.by == safe.by
        assert [found.gain, found.corrected] == pytest.approx([safe.mean, safe.resampled_p])
    for mine in chapter.at.ways.values():
        for setting in mine:
            found, wanted = chapter.found[setting], expected[setting.model]
            assert found.mark == wanted.mark
            assert [found.gain, found.paper, found.corrected, found.flipped] == pytest.approx(
                [wanted.mean, wanted.paper_p, wanted.resampled_p, wanted.flip_p]
            )
            assert [found.people, found.holm, found.max_t, found.worse] == pytest.approx(
                [wanted.people_p, wanted.holm_p, wanted.max_t_p, wanted.worse]
            )


def test_folds_that_are_apart_choose():
    """With splits that share nobody, other folds choose the strength, as in the statistics."""
    results = synthetic(strengths=(0.1, 1.0), points=("final",), n_folds=4, n_seeds=2, n_test=2)
    splits = [SubjectSplit([f"T{k}"], (), [f"S{2 * k + 1}", f"S{2 * k + 2}"]) for k in range(4)]
    safe = {row.family[1:4]: row for row in stats.choose(results, splits)}
    (chapter,) = chapters(results, splits)
    assert chapter.by == "other-folds"
    for way, setting in chapter.picked.items():
        assert chapter.safe[setting].gain == pytest.approx(safe[way[:3]].mean)
    with pytest.raises(DataError, match="give the splits of these results"):
        chapters(results, splits[1:])


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (nothing, "No evidence of benefit."),
        (lambda *_: 0.05, "censoring helped on unseen subjects"),
        (lambda *_: -0.05, "there is no evidence of benefit"),
    ],
)
def test_the_summary_follows_the_truth(gain, words):
    """A true gain is said to be one; nothing and harm, which validation avoids, are not."""
    results = synthetic(**{**SMALL, "strengths": (0.1, 1.0), "n_seeds": 3}, gain=gain)
    (chapter,) = chapters(results)
    said = " ".join([headline([chapter]), *sentences(chapter)])
    assert words in said
    assert ("helped" in said) == (words != "No evidence of benefit." and "helped" in words)


def test_ways_that_gain_where_the_choice_does_not_are_told():
    """The headline names them, and still says that there is no evidence for the choice."""
    (chapter,) = chapters(synthetic(**{**SMALL, "strengths": (0.1, 1.0), "n_seeds": 2}))
    (way,) = chapter.picked.values()
    mixed = replace(
        chapter,
        found=chapter.found | {chapter.overall: replace(chapter.choice, corrected=0.4)},
        safe={way: replace(chapter.safe[way], gain=0.02, holm=0.01)},
    )
    assert mixed.verdict == "mixed"
    said = headline([mixed])
    assert said.startswith("No evidence of benefit from what validation subjects choose")
    assert "some ways to censor gain" in said


def test_without_validation_all_strengths_are_corrected_for():
    """Nothing true among many strengths, none validated: no evidence, though some are marked."""
    results = synthetic(points=("final",), valid=False, gain=nothing, n_seeds=4)
    (chapter,) = chapters(results)
    assert chapter.overall is None
    assert chapter.verdict == "none"
    assert any(f.mark not in ("", "-") for f in chapter.found.values())
    assert "Validation subjects could not choose" in sentences(chapter)[0]


def test_a_model_with_a_partner_is_a_way_of_its_own():
    """Two models of one measure, mode, projection and strength stay apart, and are named."""
    extra = [
        row("density-ratio marginal direct 0.1 weight-decay", 0.7, f, s, **censored(0.1))
        for f in (0, 1)
        for s in (0, 1)
    ]
    (at,) = at_points(Results.of_rows(rows() + extra))
    assert [way.variant for way in at.ways] == ["high", "low", "weight-decay"]


def test_yardsticks_of_another_point_are_lent():
    """A classical method, scored once, stands beside the networks at each evaluation point."""
    results = synthetic(**{**SMALL, "points": PAPER["points"]}, yardsticks=(("lda", "lda"),))
    found = at_points(results)
    assert [at.point for at in found] == ["final", "best-validation"]
    for at in found:
        (lda,) = at.others
        assert (results.point[lda.base] == at.point).all()


SMALLEST = {
    "no baseline": {"baseline": False, "n_folds": 2},
    "no validation": {"valid": False, "n_folds": 2},
    "one subject a fold": {"n_folds": 4, "n_test": 1},
    "one fold": {"n_folds": 1},
}


@pytest.mark.parametrize("which", SMALLEST)
def test_small_studies_have_a_page(which, tmp_path):
    """Whatever a study lacks, there is a page that says so and shows no NaN."""
    results = synthetic(**SMALL, **SMALLEST[which])
    out = tmp_path / "small.html"
    write_study(out, results, title=which)
    words = re.sub(r"<style.*?</style>|<[^>]*>", "", out.read_text(), flags=re.S)
    assert not re.search(r"\b(nan|inf|None)\b", words)
    if which == "no baseline":
        assert "This study has no baseline" in words
    if which == "no validation":
        assert "Validation subjects chose nothing" in words
    if which == "one fold":
        assert "one fold" in words


def test_a_study_of_which_little_is_done_has_a_page(tmp_path):
    """Whatever runs are done, pairs or none: the page says how many and shows no NaN."""
    small = {"modes": ("marginal",), "projections": ("direct",), "points": ("final",)}
    whole = synthetic(strengths=(0.1, 1.0), n_folds=3, n_seeds=2, **small)
    chapter = at_points(whole)[0]
    alone = [chapter.baseline.rows[:1], chapter.settings[1].rows[:1], chapter.settings[3].rows[-2:]]
    for rows in (np.arange(len(whole))[::2], np.concatenate(alone)):
        results = whole[rows]
        out = tmp_path / "part.html"
        write_study(out, results, title="part", about={"planned": 42})
        words = re.sub(r"<style.*?</style>|<[^>]*>", "", out.read_text(), flags=re.S)
        assert not re.search(r"\b(nan|inf|None)\b", words)
        assert f"{len(set(results.key))} of 42 runs are done" in words


def test_a_study_of_yardsticks_alone_has_a_page(by_hand, tmp_path):
    """Without any censoring there is nothing to conclude about it."""
    out = tmp_path / "yardsticks.html"
    write_study(out, by_hand[by_hand.measure == ""], title="yardsticks")
    assert "This study censors nothing" in out.read_text()


def test_no_run_is_no_page(by_hand, tmp_path):
    """A study of which nothing is done is an error that says so."""
    with pytest.raises(DataError, match="None of the study's runs is done"):
        write_study(tmp_path / "x.html", by_hand[:0], title="empty")


def test_a_browser_shows_it_without_error_or_network(page, opened, figure_sizes):
    """Chromium opens the page alone: no message, no request, all figures, contents that lead."""
    tab = opened(page, 1280)
    sizes = figure_sizes(tab)
    assert len(sizes) == 6
    assert all(width > 300 and height > 100 and words for width, height, words in sizes)
    dead = """[...document.querySelectorAll("nav a")]
        .filter(a => !document.querySelector(a.getAttribute("href")))"""
    assert tab.evaluate(dead) == []
    wider = """[...document.querySelectorAll(".table, .plot")]
        .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth).length"""
    assert tab.evaluate(wider) == 0
    for width in (1280, 800, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_the_papers_study_is_quickly_read(tmp_path):
    """61,400 rows, the paper's 61,200 and their baselines, in under 60 s and 20 MB."""
    results = synthetic()
    out = tmp_path / "paper.html"
    start = time.perf_counter()
    write_study(out, results, title="paper")
    assert len(results) == 61_400
    assert time.perf_counter() - start < 60
    assert Path(out).stat().st_size < 20e6
