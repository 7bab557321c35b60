"""The preset of an evening, broken off again and again."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from censorium.store import Store
from censorium.study.file import preset

N_KILLS = 5
N_RUNS = 35 * 4


def rows(path):
    """What the store holds, but for times."""
    with Store.open(path) as store:
        keys = sorted(store.keys().finished)
        return {key: store.outcome(key) for key in keys}, store.results(keys)


@pytest.mark.slow
def test_paper_small_killed_five_times_ends_with_the_same_rows(tmp_path):
    """Killed with -9 at five random moments, the study ends with just the rows of one that was not.

    All the models and folds of the preset, with fewer people's trials and one epoch and seed.
    """
    text = preset("paper-small").replace("epochs: 30", "epochs: 1").replace("seeds: 2", "seeds: 1")
    small = "data: {source: simulated, n_subjects: 8, n_sessions: 1, n_trials: 44}"
    (tmp_path / "study.yaml").write_text(text.replace("data: simulated", small))
    words = [sys.executable, "-m", "censorium", "study", "run", "study.yaml"]
    whole = [*words, "--store", "whole.sqlite", "--on", "processes:2"]
    subprocess.run(whole, cwd=tmp_path, check=True, capture_output=True)
    expected, table = rows(tmp_path / "whole.sqlite")
    assert len(expected) == N_RUNS

    broken = [*words, "--store", "broken.sqlite", "--on", "processes:2"]
    draw, done = random.Random(0), 0  # noqa: S311  (no secret)
    for _ in range(N_KILLS):
        with subprocess.Popen(broken, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            wanted = done + draw.randint(3, 20)
            while process.poll() is None and done < wanted:
                time.sleep(0.05)
                if (tmp_path / "broken.sqlite").exists():
                    with Store.open(tmp_path / "broken.sqlite") as store:
                        done = len(store.keys().finished)
            time.sleep(draw.random())
            assert process.poll() is None, "the study ended before it could be killed"
            os.kill(process.pid, signal.SIGKILL)
    last = subprocess.run(broken, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "finished before" in last.stdout
    found, mine = rows(tmp_path / "broken.sqlite")
    assert found == expected
    np.testing.assert_array_equal(mine.scores, table.scores)
