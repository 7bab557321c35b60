"""A study as large as the paper's, whose outcomes are drawn: what its size costs."""

import json
import subprocess
import sys

import pytest

from censorium import datasets
from censorium.store import Store
from censorium.study.file import read_study
from outcomes import drawn

RESUME = """
import json, sys, time
from censorium import Trials
from censorium.study.execute import peak_memory
from censorium.store import Store
from censorium.study.drive import look
from censorium.study.file import read_study
start = time.perf_counter()
trials = Trials.load(sys.argv[1])
runs = [r for n in sys.argv[3:] for r in read_study(n).study(trials).runs()]
with Store.open(sys.argv[2]) as store:
    found, to_do = look(runs, store)
memory = peak_memory() / 1e6
print(json.dumps([time.perf_counter() - start, memory, found.n_runs, len(to_do)]))
"""
REPORT = """
import json, sys, time
from click.testing import CliRunner
from censorium.study.execute import peak_memory
from censorium.cli import main
start = time.perf_counter()
done = CliRunner().invoke(main, ["report", sys.argv[1], "--out", sys.argv[2]])
assert done.exit_code == 0, done.output
memory = peak_memory() / 1e6
print(json.dumps([time.perf_counter() - start, memory]))
"""
PRESETS = ("paper-final", "paper-best-validation")


def measured(code, *words):
    """What a fresh process prints that runs the code."""
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_the_papers_size_resumes_and_reports_in_a_minute(tmp_path, capsys):
    """61,400 runs, all but a hundred in the store: resumed and reported in 60 s and 1 GB each."""
    trials = datasets.load("simulated", n_subjects=64, n_sessions=1, n_trials=11)
    trials.save(tmp_path / "trials")
    runs = [run for name in PRESETS for run in read_study(name).study(trials).runs()]
    with Store.open(tmp_path / "paper.sqlite", write=True) as store:
        for run in runs[:-100]:
            store.add(drawn(run, points=run.options["evaluation_point"], n_epochs=1))
    seconds, memory, n_runs, n_to_do = measured(
        RESUME, tmp_path / "trials", tmp_path / "paper.sqlite", *PRESETS
    )
    assert (n_runs, n_to_do) == (61_400, 100)
    assert seconds < 60
    assert memory < 1000
    page = tmp_path / "paper.html"
    report_seconds, report_memory = measured(REPORT, tmp_path / "paper.sqlite", page)
    with capsys.disabled():
        print(
            f"\n61,400 runs: resumed in {seconds:.1f} s and {memory:.0f} MB, reported in "
            f"{report_seconds:.1f} s and {report_memory:.0f} MB, {page.stat().st_size / 1e6:.1f} MB"
        )
    assert report_seconds < 60
    assert report_memory < 1000
    assert page.stat().st_size < 20e6
