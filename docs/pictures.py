"""Draw the pictures of the README and the docs anew: `make pictures`."""

import math
import shutil
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import mne
import numpy as np
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

from censorium import Trials, datasets
from censorium.averages import Averages
from censorium.datasets.arrayfile import read_arrays
from censorium.electrodes import placed
from censorium.report import trials_figures
from censorium.report.figures import COLOURS, PALE, STYLE

HERE = Path(__file__).parent
IMAGES = HERE / "images"
RECORDINGS = HERE.parents[1] / "shared" / "data" / "uci_smni20.npz"
NON_TARGET, TARGET = 0, 1

Point = tuple[float, float]


class Panel(NamedTuple):
    """A graph as in docs/graphs.md, where its variables lie, and what is written beneath it."""

    edges: str
    places: Mapping[str, Point]
    title: str
    statements: tuple[str, ...]


SQUARE = {"Y": (60, 45), "S": (180, 45), "Z": (60, 125), "W": (180, 125), "X": (120, 205)}
PAPER = (
    Panel("S->X, Y->Z, Z->X", SQUARE, "marginal", ("Z ⟂ S",)),
    Panel("S->X, S->Y, Y->Z, Z->X", SQUARE, "conditional", ("Z ⟂ S | Y",)),
    Panel(
        "Y->Z, Y->W, Z->X, S->W, W->X",
        SQUARE,
        "complementary",
        ("Z ⟂ S,  W not ⟂ S",),
    ),
)
TWO_NUISANCES = (
    Panel(
        "subject->session, subject->X, session->X, Y->Z, Z->X",
        {
            "Y": (95, 45),
            "subject": (200, 45),
            "Z": (95, 125),
            "session": (275, 125),
            "X": (165, 205),
        },
        "two nuisances",
        ("Z ⟂ subject,  Z ⟂ session | subject",),
    ),
    Panel(
        "Y->Z, Y->W, subject->W, subject->session, session->X, Z->X, W->X",
        {
            "Y": (85, 45),
            "subject": (225, 45),
            "Z": (75, 125),
            "W": (165, 125),
            "session": (285, 125),
            "X": (165, 205),
        },
        "what stays with a person",
        ("Z ⟂ subject,  Z ⟂ session | subject", "W not ⟂ subject,  W ⟂ session | subject"),
    ),
)
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" font-family="DejaVu Sans, \
Helvetica, Arial, sans-serif" role="img" aria-label="{label}">
<style>.n{{fill:#fff;stroke:#1f2937;stroke-width:1.8}}\
.e{{stroke:#1f2937;stroke-width:1.8;fill:none}}\
text{{text-anchor:middle;font-size:17px;fill:#1f2937}}.m{{font-weight:bold;font-size:16px}}\
.s{{font-size:15px;fill:#2563eb}}.c{{fill:#f8fafc;stroke:#e5e7eb}}</style>
<defs><marker id="a" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="7" markerHeight="7" \
orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="#1f2937"/></marker></defs>
{panels}
</svg>
"""


def averages(trials: Trials) -> Any:
    """Class averages in microvolt: (people, classes, channels, times)."""
    return 1e6 * np.array(
        [
            [trials.x[(trials.subject == s) & (trials.y == k)].mean(axis=0) for k in (0, 1)]
            for s in trials.subjects
        ]
    )


def times(trials: Trials) -> Any:
    """Milliseconds after the image."""
    return 1e3 * np.arange(trials.x.shape[2]) / trials.info.sfreq


def scalp(ax: Any, trials: Trials, microvolts: Any, title: str, **look: Any) -> None:
    """A map of the scalp, red where positive; `look` is MNE's."""
    info = placed(trials.info.ch_names, trials.info.sfreq)
    mne.viz.plot_topomap(1e-6 * microvolts, info, axes=ax, show=False, **look)
    ax.set_title(title)


def simulated_average() -> Figure:
    """The average over 24 people: four electrodes above, four maps below."""
    trials = datasets.load("simulated", n_subjects=24)
    people, ms = averages(trials), times(trials)
    mean = people.mean(axis=0)
    difference = mean[TARGET] - mean[NON_TARGET]
    fig = Figure(figsize=(10.5, 4.8), layout="constrained")
    axes = fig.subplots(2, 4)
    for ax, name in zip(axes[0], ("Fz", "Cz", "Pz", "Oz"), strict=True):
        at = trials.info.ch_names.index(name)
        ax.axhline(0, color=PALE, lw=0.6)
        ax.plot(ms, mean[NON_TARGET, at], color=PALE, lw=1.8, label="non-target")
        ax.plot(ms, mean[TARGET, at], color=COLOURS[0], lw=1.8, label="target")
        ax.set(title=name, ylim=(-4.5, 7.5), xlabel="ms after the image")
    axes[0, 0].set_ylabel("µV")
    axes[0, 0].legend(frameon=False, loc="upper left")
    late = int(np.abs(difference).max(axis=0).argmax())
    shown = (
        ("non-target", mean[NON_TARGET], np.abs(ms - 110).argmin()),
        ("non-target", mean[NON_TARGET], np.abs(ms - 168).argmin()),
        ("target less non-target", difference, np.abs(ms - 224).argmin()),
        ("target less non-target", difference, late),
    )
    for ax, (what, values, i) in zip(axes[1], shown, strict=True):
        scalp(ax, trials, values[:, i], f"{what}\n{ms[i]:.0f} ms", vlim=(-7e-6, 7e-6))
    return fig


def simulated_people() -> Figure:
    """Each of twelve people: averages at Pz in both sessions, and a map of the target response."""
    trials = datasets.load("simulated", n_subjects=12)
    pz, ms = trials.info.ch_names.index("Pz"), times(trials)
    fig = Figure(figsize=(10.5, 5.4), layout="constrained")
    axes = fig.subplots(3, 8, width_ratios=[1.2, 1] * 4)
    for person, (ax, head) in zip(trials.subjects, axes.reshape(-1, 2), strict=True):
        for session, line in ((1, "-"), (2, ":")):
            mine = trials[(trials.subject == person) & (trials.session == session)]
            for k, colour in ((NON_TARGET, PALE), (TARGET, COLOURS[0])):
                ax.plot(ms, averages(mine)[0, k, pz], color=colour, ls=line, lw=1.3)
        ax.set(title=f"person {person}", ylim=(-9, 20))
        both = averages(trials.of([person]))[0]
        difference = both[TARGET] - both[NON_TARGET]
        peak = int(difference[pz].argmax())
        look = {"vlim": (-14e-6, 14e-6), "sensors": False, "contours": 4}
        scalp(head, trials, difference[:, peak], f"{ms[peak]:.0f} ms", **look)
    for ax in axes[:, 0]:
        ax.set_ylabel("µV at Pz")
    for ax in axes[-1, ::2]:
        ax.set_xlabel("ms")
    return fig


def looking_at_data() -> dict[str, Figure]:
    """What `censorium data plot` draws of twelve people."""
    averages = Averages.of(datasets.load("simulated", n_subjects=12))
    return {
        "data-averages.png": trials_figures.class_averages(averages, ["Pz", "Oz", "Fz"]),
        "data-people.png": trials_figures.each_person(averages, "Pz"),
    }


def real_people() -> Figure:
    """What `censorium data plot` draws of twenty people (UCI "EEG Database", CC BY 4.0)."""
    options = {"x": "X_int16", "drop": ("X", "Y", "nd")}
    classes = {"0": "first picture", "1": "second picture"}
    trials = read_arrays(RECORDINGS, classes=classes, **options)
    return trials_figures.class_averages(Averages.of(trials), ["PZ", "OZ", "FZ"])


def models(panels: tuple[Panel, ...], label: str) -> str:
    """Graphs side by side, as an SVG."""
    lines = max(len(panel.statements) for panel in panels)
    width, height = 780 / len(panels) - 20, 266 + 22 * lines
    drawn = (
        f'<g transform="translate({10 + i * (width + 20):.0f},6)">'
        f'<rect class="c" x="0" y="0" width="{width:.0f}" height="{height}" rx="10"/>\n'
        f"{model(panel, width / 2)}</g>"
        for i, panel in enumerate(panels)
    )
    return SVG.format(height=height + 12, label=label, panels="\n".join(drawn))


def model(panel: Panel, middle: float) -> str:
    """One graph: arrows, then variables over them, then words."""
    edges = [edge.split("->") for edge in panel.edges.split(", ")]
    drawn = [arrow(panel.places, cause, effect) for cause, effect in edges]
    for name in sorted({*chain(*edges)}, key=[*panel.places].index):
        x, y = panel.places[name]
        long = f'ellipse cx="{x}" cy="{y}" rx="{breadth(name)}" ry="19"'
        shape = long if len(name) > 1 else f'circle cx="{x}" cy="{y}" r="19"'
        drawn.append(f'<{shape} class="n"/><text x="{x}" y="{y + 6}">{name}</text>')
    words = [
        f'<text class="m" x="{middle:.0f}" y="252">{panel.title}</text>',
        *(
            f'<text class="s" x="{middle:.0f}" y="{276 + 22 * i}">{line}</text>'
            for i, line in enumerate(panel.statements)
        ),
    ]
    return "\n".join([*drawn, "".join(words)])


def arrow(places: Mapping[str, Point], cause: str, effect: str) -> str:
    """From just outside one variable to just outside the other."""
    (x0, y0), (x1, y1) = places[cause], places[effect]
    far = math.dist((x0, y0), (x1, y1))
    dx, dy = (x1 - x0) / far, (y1 - y0) / far

    def gap(name: str) -> float:
        return 1 / math.hypot(dx / breadth(name), dy / 19)

    start, end = gap(cause) + 1, gap(effect) + 6
    begins = f"M{x0 + start * dx:.1f} {y0 + start * dy:.1f}"
    return (
        f'<path d="{begins} L{x1 - end * dx:.1f} {y1 - end * dy:.1f}" class="e" '
        'marker-end="url(#a)"/>'
    )


def breadth(name: str) -> int:
    """Half the width of a variable's outline."""
    return 19 if len(name) == 1 else 44


def photograph(page: Path, out: Path) -> None:
    """The upper part of a page, as a browser shows it."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = opened.new_page(viewport={"width": 1000, "height": 1150})
        tab.goto(page.resolve().as_uri(), wait_until="load")
        tab.screenshot(path=out)
        opened.close()


if __name__ == "__main__":
    with mpl.rc_context(STYLE):
        simulated_average().savefig(IMAGES / "simulated-average.png", dpi=100)
        simulated_people().savefig(IMAGES / "simulated-people.png", dpi=100)
        if RECORDINGS.exists():
            real_people().savefig(IMAGES / "data-real.png", dpi=100)
        for name, figure in looking_at_data().items():
            figure.savefig(IMAGES / name, dpi=100)
    three = models(PAPER, "The three graphical models and the mode each implies")
    (IMAGES / "graphical-models.svg").write_text(three)
    two = models(TWO_NUISANCES, "Two graphical models in which subject and session are apart")
    (IMAGES / "two-nuisances.svg").write_text(two)
    photograph(HERE.parent / "out" / "demo.html", IMAGES / "report.png")
