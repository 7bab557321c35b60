"""Draw the pictures of the README and the docs anew: `make pictures`."""

import shutil
from pathlib import Path
from typing import Any

import matplotlib as mpl
import mne
import numpy as np
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

from censorium import Trials, datasets
from censorium.electrodes import placed
from censorium.report.figures import COLOURS, PALE, STYLE

HERE = Path(__file__).parent
IMAGES = HERE / "images"
NON_TARGET, TARGET = 0, 1


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
    photograph(HERE.parent / "out" / "demo.html", IMAGES / "report.png")
