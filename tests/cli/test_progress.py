"""Progress: a bar on a terminal, lines in a log."""

import importlib
import io

import pytest
from rich.console import Console

from censorium.cli.progress import clock, progress


@pytest.fixture
def seconds(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    module = importlib.import_module("censorium.cli.progress")
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_line_now_and_then(seconds):
    """Without a terminal: at most a line each ten seconds, with what is done, gone and left."""
    out = io.StringIO()
    with progress(Console(file=out), "training", 60) as tell:
        for done in range(1, 61):
            seconds[0] += 4.0
            tell(done)
    said = out.getvalue().splitlines()
    assert said[0] == "training: 3 of 60, 0:00:12 gone, 0:03:48 left"
    assert len(said) == 20


def test_what_was_done_before_is_not_counted_as_quick(seconds):
    """A run that goes on after epoch 50 needs for its last ten what one takes, times ten."""
    out = io.StringIO()
    with progress(Console(file=out), "training", 60) as tell:
        for done in range(51, 54):
            seconds[0] += 4.0
            tell(done)
    assert out.getvalue() == "training: 53 of 60, 0:00:12 gone, 0:00:28 left\n"


def test_a_terminal_gets_a_bar():
    """On a terminal there is one bar with the words given last."""
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=True, width=90), "training", 3) as tell:
        tell(3, "run 1 of 1: baseline, epoch 3")
    assert "run 1 of 1: baseline, epoch 3" in out.getvalue()
    assert "left" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds_", "said"), [(0, "0:00:00"), (59.6, "0:01:00"), (3725, "1:02:05")]
)
def test_a_clock_shows_hours_minutes_seconds(seconds_, said):
    """Seconds as people read them."""
    assert clock(seconds_) == said
