"""`censorium data info`, `check` and `plot` as a person uses them; and their errors."""

import json

import click
import numpy as np
import pytest
from click.testing import CliRunner

from censorium import Trials, datasets
from censorium.cli import main
from censorium.cli.look import check, info, plot
from censorium.cli.look_tables import where
from censorium.quality import Finding


def run(*words):
    """Run a command in this process."""
    return CliRunner().invoke(main, ["data", *map(str, words)])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Folders of simulated trials: clean ones, none, and some with a fault."""
    place = tmp_path_factory.mktemp("look")
    trials = datasets.load("simulated", n_subjects=4, n_trials=44)
    trials.save(place / "trials")
    trials[:0].save(place / "nobody")
    x = trials.x.copy()
    x[trials.subject == 3, 4] = 0
    replaced = Trials(x, trials.y, trials.subject, trials.session, trials.info)
    replaced.save(place / "flat")
    return place


def test_info_says_what_is_there(place):
    """Counts of all, then a row for each subject; all of it as JSON when asked for."""
    done = run("info", place / "trials", "--json", place / "all.json")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "352 of 4 subjects in 8 sessions" in said
    assert "non-target 320, target 32 (10.0 to 1)" in said
    assert "62; all with a place in the 10-05 system" in said
    assert "63 at 125 Hz, 0 to 496 ms" in said
    assert said.count("44 + 44 80 8 9.1%") == 4
    about = json.loads((place / "all.json").read_text())
    assert about["trials"] == "trials"
    assert about["overview"]["people"][2]["sessions"] == {"1": 44, "2": 44}


def test_info_of_many_people_is_a_line_each(tmp_path):
    """With 70 people, many classes and sessions, each is one line of 80 letters at most."""
    n = 70 * 48
    rng = np.random.default_rng(0)
    Trials.from_arrays(
        1e-5 * rng.standard_normal((n, 2, 10)),
        [f"class {k}" for k in np.arange(n) % 12],
        [f"subject-{k:04}" for k in np.arange(n) // 48],
        np.arange(n) // 12 % 4,
        sfreq=100,
        ch_names=["Cz", "[trigger]"],
    ).save(tmp_path / "many")
    done = run("info", tmp_path / "many")
    lines = [line for line in done.output.splitlines() if "subject-" in line]
    assert len(lines) == 70
    assert all("4 of 12" in line and "µV" in line for line in lines)
    assert max(map(len, done.output.splitlines())) <= 80
    assert "without a place in the 10-05 system: [trigger]" in done.output


def test_info_of_nobody(place):
    """An empty folder is told as what it is."""
    done = run("info", place / "nobody")
    assert done.exit_code == 0
    assert "0 of 0 subjects" in done.output


def test_check_of_clean_trials_ends_well(place):
    """Nothing found is exit status 0, and no findings in the JSON."""
    done = run("check", place / "trials", "--json", place / "none.json")
    assert (done.exit_code, done.output) == (0, "Nothing found.\n")
    assert json.loads((place / "none.json").read_text())["findings"] == []


def test_check_of_a_fault_ends_with_status_1(place):
    """An error is told with whose it is and what to do, and is exit status 1."""
    done = run("check", place / "flat", "--json", place / "flat.json")
    assert done.exit_code == 1
    assert "Found: 2 errors" in done.output
    assert "subject 3; session 1" in " ".join(done.output.split())
    first, second = json.loads((place / "flat.json").read_text())["findings"]
    assert (first["kind"], first["subject"], first["session"]) == ("flat", 3, 1)
    assert second["session"] == 2
    assert run("check", place / "nobody").exit_code == 1


def test_warnings_alone_are_status_0(place, tmp_path):
    """Warnings are for a person to judge: exit status 0."""
    trials = Trials.load(place / "trials")
    trials[trials.y == 0].save(tmp_path / "one")
    done = run("check", tmp_path / "one")
    assert done.exit_code == 0
    assert "Found: 1 warning\n" in done.output.replace(" " * 64, "").replace(" \n", "\n")


def test_where_names_a_few_and_counts_the_rest():
    """A subject, a session, the first channels and trials, and how many more there are."""
    some = Finding("error", "x", "", "", 3, "b", ("Cz",), tuple(range(9)))
    assert where(some) == "subject 3; session b; Cz; trials 0, 1, 2, 3, 4, 5 and 3 more"
    assert where(Finding("error", "x", "", "")) == "everywhere"


@pytest.mark.parametrize(("kind", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<")])
def test_plot_writes_two_pictures(place, kind, begins):
    """One of the averages, one of each person; the same bytes each time."""
    out = place / "pictures" / f"data.{kind}"
    contents = []
    for _ in range(2):
        done = run("plot", place / "trials", "--out", out, "--channels", "Pz,Oz")
        assert done.exit_code == 0, done.output
        contents.append([p.read_bytes() for p in (out, out.with_stem("data-people"))])
    assert contents[0] == contents[1]
    assert all(content.startswith(begins) for content in contents[0])
    assert "No maps" not in done.output


def test_plot_of_some_people(place):
    """Only the subjects named are averaged; what one person cannot show is said."""
    out = place / "one.svg"
    done = run("plot", place / "trials", "--out", out, "--subjects", "2")
    assert done.exit_code == 0, done.output
    assert "No intervals: there is one subject only." in done.output


WRONG = {
    "no such folder": ("info {place}/nothing", "There is no folder"),
    "no trials there": ("check {place}", "is not a folder of trials"),
    "nobody to plot": ("plot {place}/nobody --out {place}/x.png", "There are no trials"),
    "bad kind": ("plot {place}/trials --out {place}/x.html", "must end in .png, .pdf or .svg"),
    "bad channel": (
        "plot {place}/trials --out {place}/x.png --channels Pz,POzz",
        "Unknown channel 'POzz'. Did you mean 'POz'?",
    ),
    "bad subject": ("plot {place}/trials --out {place}/x.png --subjects 9", "Unknown subject '9'"),
    "among the trials": ("info {place}/trials --json {place}/trials/a.json", "holds trials"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_errors_are_one_sentence_and_status_2(place, words, message):
    """What cannot be done ends with exit status 2 and a message, without a traceback."""
    done = run(*words.format(place=place).split())
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("command", [info, check, plot], ids=lambda c: c.name)
def test_help_has_examples_and_words_for_every_option(command):
    """Each command shows how it is called, and says what its options do."""
    shown = command.get_help(click.Context(command, info_name=f"censorium data {command.name}"))
    assert f"censorium data {command.name} trials" in shown.split("Examples:")[1]
    assert all(p.help for p in command.params if isinstance(p, click.Option))
