"""The page of an audit: its words follow its numbers, and a real browser shows it."""

from dataclasses import replace

import numpy as np
import pytest

import censorium
from censorium.auditing import Interval
from censorium.errors import DataError
from censorium.report import write_audit
from censorium.report.audit_words import verdict


@pytest.fixture(scope="module")
def audits():
    who = np.repeat(["a", "b", "c"], 40)
    label = np.tile(["left", "right"], 60)
    features = np.random.default_rng(0).standard_normal((120, 4))
    features[:, 0] += 4 * (who == "b")
    found = censorium.audit(features, who, labels=label, people="unseen <subjects>", view="hidden")
    return [found, replace(found, view="raw signal"), replace(found, people="training subjects")]


@pytest.fixture(scope="module")
def page(audits, tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "audit.html"
    write_audit(out, audits, source="model & trials")
    return out


def test_a_browser_shows_it_without_error_or_network(page, opened, figure_sizes):
    """Chromium opens the page alone: no message, no request, all figures, nothing too wide."""
    tab = opened(page, 1100)
    sizes = figure_sizes(tab)
    assert len(sizes) == 1 + 2 * 2
    assert all(width > 300 and height > 100 and words for width, height, words in sizes)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1100
    headings = tab.locator("h2").all_inner_texts()
    assert {"What to conclude", "What not to conclude", "All numbers"} <= set(headings)
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_it_holds_every_number(page, audits):
    """Each estimate with its interval stands in the page, and what users wrote is escaped."""
    text = page.read_text()
    for found in audits[0].information:
        assert f"<td>{found.nats}</td>" in text
    assert str(audits[0].naming.balanced) in text
    assert str(audits[0].distance) in text
    assert "unseen &lt;subjects&gt;" in text
    assert "model &amp; trials" in text
    assert "<subjects>" not in text


@pytest.mark.parametrize(
    ("lows", "words"),
    [
        ((0.3, 0.4), "At least 36"),
        ((0.3, 0.0), "One of two estimators finds something, at least 27"),
        ((0.0, 0.0), "Neither estimator finds"),
    ],
)
def test_the_verdict_follows_the_intervals(audits, lows, words):
    """Both, one or no interval above 0: the sentence says which."""
    changed = tuple(
        replace(found, nats=Interval(0.5, low, 0.6))
        for found, low in zip(audits[0].information[:2], lows, strict=True)
    )
    assert words in verdict(replace(audits[0], information=changed))


def test_no_audit_is_no_page(tmp_path):
    """Nothing to write about is an error."""
    with pytest.raises(DataError, match="no audit"):
        write_audit(tmp_path / "x.html", [])
