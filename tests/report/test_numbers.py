"""Every number and sentence of the report, from outcomes written down by hand."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest
from by_hand import outcomes, trials

from censorium.report import summary, write_report
from censorium.stats import Difference
from censorium.study import Scores

NOTHING = "\N{EN DASH}"
HEADINGS = (
    "model|balanced accuracy, unseen people|difference per person [95 %]|better / worse|"
    "training people|overfit ratio|person named, training|person named, unseen|seconds a run"
)
TABLE = (
    f"baseline|0.650|{NOTHING}|{NOTHING}|0.930|0.699|0.93|0.72|11.5",
    "worse|0.560|-0.082 [-0.131, -0.032]|1 / 5|0.820|0.683|0.22|0.53|21.5",
    "better|0.700|+0.050 [+0.035, +0.065]|6 / 0|0.910|0.769|0.45|0.62|32.0",
    "undecided|0.640|+0.010 [-0.025, +0.045]|3 / 2|0.970|0.660|0.81|0.67|43.5",
)
SENTENCES = {
    "worse": (
        "balanced accuracy 0.560 on unseen people (baseline: 0.650). Person by person -0.082, "
        "95 % interval -0.131 to -0.032; 1 better, 5 worse: worse than the baseline here. "
        "From one trial's features a linear probe names an unseen person in 53 % of cases "
        "(baseline: 72 %, guessing: 32 %)."
    ),
    "better": (
        "balanced accuracy 0.700 on unseen people (baseline: 0.650). Person by person +0.050, "
        "95 % interval +0.035 to +0.065; 6 better, 0 worse: better than the baseline here. "
        "From one trial's features a linear probe names an unseen person in 62 % of cases "
        "(baseline: 72 %, guessing: 32 %)."
    ),
    "undecided": (
        "balanced accuracy 0.640 on unseen people (baseline: 0.650). Person by person +0.010, "
        "95 % interval -0.025 to +0.045; 3 better, 2 worse: no evidence of a difference. "
        "From one trial's features a linear probe names an unseen person in 67 % of cases "
        "(baseline: 72 %, guessing: 32 %)."
    ),
}
CAVEAT = "The comparisons are not corrected for their number: take it as a hint."
UNDECIDED = "undecided, which means that the interval of the difference holds zero."


def words(source):
    """What a reader sees of a piece of HTML, on one line and in plain characters."""
    seen = " ".join(html.unescape(re.sub("<[^>]*>", "", source)).split())
    return seen.replace("\N{MINUS SIGN}", "-").replace("\N{MULTIPLICATION SIGN}", "x")


def cells(page, heading):
    """The rows of the table that is the first after `heading`, as texts."""
    body = page.split(f">{heading}</h2>")[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = re.findall("<tr>.*?</tr>", body, re.S)
    return [[words(cell) for cell in re.findall("<td.*?</td>", row, re.S)] for row in rows]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    out = tmp_path_factory.mktemp("numbers") / "report.html"
    write_report(out, trials(), outcomes())
    return out.read_text()


def test_each_cell_is_its_mean_over_folds(page):
    """A row holds a model's scores, interval, identity and seconds, the baseline's first."""
    assert [words(heading) for heading in re.findall("<th>.*?</th>", page)][:9] == (
        HEADINGS.split("|")
    )
    assert cells(page, "All models") == [row.split("|") for row in TABLE]
    assert "\N{MINUS SIGN}0.082" in page


def test_the_conclusions_are_said_of_the_right_model(page):
    """Each censored model has its own sentences, under a headline that counts all directions."""
    box = page.split("What to conclude</h2>")[1].split("</section>")[0]
    headline, *said = [words(p) for p in re.findall("<(?:p|li)>.*?</(?:p|li)>", box, re.S)]
    assert said == [f"{model}: {sentence}" for model, sentence in SENTENCES.items()]
    assert headline == (
        "Of 3 censored decoders, 1 is better than the baseline on unseen people, 1 is worse and "
        f"1 is {UNDECIDED} {CAVEAT}"
    )


def test_what_was_run_is_told_whole(page):
    """Counts, folds, seeds and time are the outcomes' own; every option given is listed."""
    told = words(page)
    facts = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page)
    assert {name: words(fact) for name, fact in facts} == {
        "people": "6",
        "trials": "24",
        "non-target": "12",
        "target": "12",
        "signals": "6 x 4",
        "trainings": "8",
    }
    assert "2 folds over people: 2 train, 1 validate, 3 test in the first" in told
    assert "8 trainings from seeds 3, 7 took 217 seconds." in told
    assert "each model was trained from 2 seeds per fold" in told
    assert "The intervals treat the 6 people as independent" in told
    assert "there are 3 comparisons, uncorrected" in told
    assert cells(page, "What was run, on what") == [
        ["worse", "measure=adversarial, mode=marginal, strength=0.5"],
        ["baseline", "measure=None"],
        ["better", "measure=density-ratio, mode=conditional, strength=0.25"],
        ["undecided", "measure=wasserstein, mode=marginal, strength=2.0"],
    ]


def test_what_was_not_measured_is_left_out(tmp_path):
    """Without probes and validation people the page has dashes and no sentence on identity."""
    blind = [
        replace(
            o,
            scores={
                "final": Scores(
                    replace(o.train, identity=None), None, replace(o.test, identity=None)
                )
            },
        )
        for o in outcomes()
    ]
    write_report(tmp_path / "report.html", trials(), blind)
    page = (tmp_path / "report.html").read_text()
    assert {tuple(row[6:8]) for row in cells(page, "All models")} == {(NOTHING, NOTHING)}
    assert "From one trial" not in page


def test_one_seed_is_singular(tmp_path):
    """Of one seed the page speaks in the singular."""
    same = [replace(o, run=replace(o.run, seed=5)) for o in outcomes()]
    write_report(tmp_path / "report.html", trials(), same)
    told = words((tmp_path / "report.html").read_text())
    assert "8 trainings from seed 5 took" in told
    assert "trained from 1 seed per fold" in told


@pytest.mark.parametrize(
    ("directions", "expected"),
    [
        ("+", "Of 1 censored decoder, 1 is better {}, none is worse and none is {} {}"),
        ("-", "Of 1 censored decoder, none is better {}, 1 is worse and none is {} {}"),
        ("+0+", "Of 3 censored decoders, 2 are better {}, none is worse and 1 is {} {}"),
        ("--+", "Of 3 censored decoders, 1 is better {}, 2 are worse and none is {} {}"),
        ("0-00", "Of 4 censored decoders, none is better {}, 1 is worse and 3 are {} {}"),
        ("0", "On these people there is no evidence that censoring changed how well {}"),
        ("000", "On these people there is no evidence that censoring changed how well {}"),
    ],
)
def test_the_headline_counts_each_direction(directions, expected):
    """It says how many models are better, worse, undecided, and of what that is no proof."""
    found = {
        "+": Difference(0.2, 0.1, 0.3, 5, 1),
        "-": Difference(-0.2, -0.3, -0.1, 1, 5),
        "0": Difference(0.1, -0.1, 0.3, 4, 2),
    }
    _, row, *_ = summary.rows(outcomes())
    said = summary.conclusion([replace(row, difference=found[d]) for d in directions])
    if set(directions) == {"0"}:
        assert said == expected.format("new people are decoded.")
    else:
        assert said == expected.format("than the baseline on unseen people", UNDECIDED, CAVEAT)


def test_the_entropy_is_that_of_the_training_people():
    """Cells of 2, 2 and 4 trials in one fold, of 4 and 4 in the other: 1.5 and 1 bit."""
    assert summary.nuisance_entropy(trials(), outcomes()) == pytest.approx(1.25 * np.log(2))
