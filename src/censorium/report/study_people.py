"""Who gains and who is harmed: figures of a study, test subject by test subject."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from censorium.report.figures import INK, LOSS, PALE
from censorium.report.study_boxes import WIDEST, looks
from censorium.report.study_numbers import AtPoint, Setting
from censorium.report.study_pairs import people
from censorium.report.summary import percent

MOST_NAMED = 24  # people whose names fit below their bars
ACROSS = 3  # panels beside one another


def gains(shown: Mapping[str, Setting]) -> Figure:
    """What each test subject gains or loses, in order; a panel for each measure's setting."""
    n_columns = min(ACROSS, len(shown))
    n_rows = ceil(len(shown) / n_columns)
    size = (WIDEST if n_columns > 1 else 7.4, 0.5 + 2.9 * n_rows)
    fig = Figure(figsize=size, layout="constrained")
    axes = fig.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    for ax, (measure, setting) in zip(axes, shown.items(), strict=False):
        _bars(ax, setting)
        ax.set_title(f"{measure}\n{setting.name.removeprefix(f'{measure}, ')}")
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    for ax in axes[::n_columns]:
        ax.set_ylabel("change in balanced accuracy")
    return fig


def _bars(ax: Axes, setting: Setting) -> None:
    """The test subjects, from who loses most to who gains most."""
    found = people(setting)
    order = np.argsort(found.gain, kind="stable")
    gain = found.gain[order]
    ax.bar(range(len(gain)), gain, color=np.where(gain < 0, LOSS, "#2563eb"), width=0.8)
    ax.axhline(0, color=INK, lw=0.8)
    ax.axhline(gain.mean(), color=INK, lw=1.1, ls=(0, (5, 3)))
    worse = float((gain < 0).mean())
    place: Any = {"transform": ax.transAxes, "va": "top", "fontsize": 9}
    ax.text(0.03, 0.97, f"{percent(worse)} read worse", color="#b45309", **place)
    ax.margins(x=0.02, y=0.2)
    ax.spines["bottom"].set_visible(False)
    if len(gain) <= MOST_NAMED:
        names = [found.names[i] for i in order]
        turn = 90 if max(map(len, names)) > 2 else 0
        ax.set_xticks(range(len(gain)), names, rotation=turn, fontsize=8)
        ax.tick_params(axis="x", length=0)
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(gain)} test subjects")


def harm(at: AtPoint, worse: Mapping[Setting, float]) -> Figure:
    """The share of test subjects who are read worse than by the baseline, by strength."""
    look = looks(at)
    n_columns = min(ACROSS, len(at.measures))
    n_rows = ceil(len(at.measures) / n_columns)
    size = (WIDEST if n_columns > 1 else 7.4, 0.8 + 2.5 * n_rows)
    fig = Figure(figsize=size, layout="constrained")
    axes = fig.subplots(n_rows, n_columns, sharey=True, squeeze=False).ravel()
    strengths = sorted({s.strength for mine in at.ways.values() for s in mine})
    for way, mine in at.ways.items():
        colour, depth = look[way[1:]]
        axes[at.measures.index(way.measure)].plot(
            [strengths.index(s.strength) for s in mine],
            [worse[s] for s in mine],
            color=colour,
            marker="o",
            ms=4,
            mfc=colour if depth else "white",
            lw=1.4 if depth else 1.0,
            label=way.group,
        )
    for ax, measure in zip(axes, at.measures, strict=False):
        ax.set_title(measure)
        ax.axhline(0.5, color=PALE, lw=0.8, ls=":")
        ax.set_xticks(range(len(strengths)), [f"{s:g}" for s in strengths], rotation=90, fontsize=8)
        ax.set(ylim=(-0.03, 1.03), xlabel="strength")
        ax.set_yticks([0, 0.5, 1], ["0", percent(0.5), percent(1)])
    for ax in axes[len(at.measures) :]:
        ax.set_axis_off()
    axes[0].set_ylabel("test subjects read worse")
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    handles = {label: line for label, line in handles.items() if not label.startswith("_")}
    place: Any = {"loc": "outside upper center", "frameon": False, "fontsize": 8.5}
    fig.legend(list(handles.values()), list(handles), ncols=min(len(handles), 6), **place)
    return fig
