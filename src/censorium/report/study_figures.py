"""A study's other figures: what is lost on new people, yardsticks, cost, and several studies."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from censorium.report.figures import COLOURS, INK, LOSS, PALE
from censorium.report.study_boxes import WIDEST, baseline_lines, looks, one_box
from censorium.report.study_chapter import Chapter
from censorium.report.study_numbers import AtPoint, Setting, Way

MOST_DRAWN = 3000  # points that are drawn as lines; more become a picture inside the drawing
NARROW = 6  # panels beside one another


def overfit(at: AtPoint) -> Figure:
    """Test accuracy against the overfit ratio: points, and a box of quartiles for each strength."""
    rows = _panels(at)
    n_columns = max(len(row) for row in rows)
    width = min(1.2 + 3.0 * n_columns, WIDEST)
    side = (width - 0.6) / n_columns
    fig = Figure(figsize=(width, 1.2 + (side + 0.35) * len(rows)), layout="constrained")
    axes = fig.subplots(len(rows), n_columns, sharex=True, sharey=True, squeeze=False)
    strengths = sorted({s.strength for mine in at.ways.values() for s in mine})
    shades = list(mpl.colormaps["viridis"](np.linspace(0.05, 0.92, len(strengths))))
    raster = sum(len(s.rows) for mine in at.ways.values() for s in mine) > MOST_DRAWN
    for row, ways in zip(axes, rows, strict=True):
        for ax, way in zip(row, ways, strict=False):
            if at.baseline:
                _spread(ax, at.baseline, INK, raster=raster)
            for setting in at.ways[way]:
                shade = shades[strengths.index(setting.strength)]
                _spread(ax, setting, shade, raster=raster)
            ax.set_title(f"{way.measure}\n{way.group}", fontsize=8 if n_columns > 3 else 10)
            ax.xaxis.set_major_locator(MaxNLocator(4))
        for ax in row[len(ways) :]:
            ax.set_axis_off()
    fig.supxlabel("overfit ratio: test over training subjects", fontsize=9.5)
    fig.supylabel("balanced accuracy, test", fontsize=9.5)
    _legend(fig, at, strengths, shades)
    return fig


def _panels(at: AtPoint) -> list[list[Way]]:
    """The ways, a row for each measure where it has several, cut where a row is too long."""
    rows: list[list[Way]] = []
    several = len(at.ways) > len(at.measures)
    for way in at.ways:
        starts = not rows or len(rows[-1]) == NARROW
        if starts or (several and rows[-1][-1].measure != way.measure):
            rows.append([])
        rows[-1].append(way)
    return rows


def _spread(ax: Axes, setting: Setting, colour: Any, *, raster: bool) -> None:
    """The runs of a setting as points, and the box between their quartiles on either axis."""
    x, y = setting.test / setting.column("train"), setting.test
    look: Any = {
        "s": 16 if len(x) < 30 else 7 if len(x) < 60 else 3,
        "lw": 0,
        "alpha": 0.4,
        "rasterized": raster,
    }
    ax.scatter(x, y, color=[colour], zorder=1, **look)
    (left, right), (low, high) = (np.quantile(v, (0.25, 0.75)) for v in (x, y))
    strong = 1.8 if isinstance(colour, str) else 1.1
    ax.add_patch(
        Rectangle((left, low), right - left, high - low, fc="none", ec=colour, lw=strong, zorder=3)
    )


def _legend(fig: Figure, at: AtPoint, strengths: Sequence[float], shades: Sequence[Any]) -> None:
    """What the colours mean."""
    named = [("baseline", INK)] if at.baseline else []
    named += [(f"{s:g}", shade) for s, shade in zip(strengths, shades, strict=True)]
    handles = [Line2D([], [], marker="s", ls="", ms=7, color=c, label=n) for n, c in named]
    look: Any = {"frameon": False, "fontsize": 8.5, "handletextpad": 0.1, "columnspacing": 1.0}
    n_columns = max(1, min(len(handles), int(fig.get_figwidth() / 0.62)))
    look |= {"title": "strength", "ncols": n_columns}
    fig.legend(handles=handles, loc="outside upper center", **look)


def side_by_side(at: AtPoint, shown: Mapping[Way, Setting]) -> Figure:
    """Accuracy, cost and what features tell, of all that was run, on common axes.

    `shown` holds, for each way to censor, the runs that stand for it.
    """
    plain = ([at.baseline] if at.baseline else []) + at.others
    names = [s.model for s in plain] + [str(way) for way in shown]
    settings = [*plain, *shown.values()]
    look = looks(at)
    ink = [INK] + [PALE] * (len(plain) - 1) if at.baseline else [PALE] * len(plain)
    ink += [look[way[1:]][0] for way in shown]
    fig = Figure(figsize=(WIDEST, 1.1 + 0.31 * len(settings)), layout="constrained")
    axes = fig.subplots(1, 3, sharey=True, width_ratios=[2.2, 1, 1.2])
    if at.baseline:
        baseline_lines(axes[0], at.baseline.test, flat=True)
    for place, (setting, colour) in enumerate(zip(settings, ink, strict=True)):
        one_box(axes[0], place, setting, colour)
        _cost(axes[1], place, setting, colour)
        _told(axes[2], place, setting, colour)
    axes[0].set(title="balanced accuracy, test subjects")
    axes[0].set_yticks(range(len(names)), names, fontsize=8.5)
    axes[0].set_ylim(len(names) - 0.4, -0.6)
    axes[1].set(title="seconds over the baseline's")
    axes[1].axvline(1, color=INK, lw=0.8)
    axes[2].set(title="test subject named")
    for ax in axes:
        ax.tick_params(axis="y", length=0)
    return fig


def _cost(ax: Axes, place: int, setting: Setting, colour: str) -> None:
    """How many times as long a run takes as the baseline's of the same fold and seed."""
    pairs = setting.paired
    if not len(pairs.rows):
        return
    ratio = cost(setting)
    ax.plot([1, ratio], [place, place], color=colour, lw=1.2, alpha=0.6)
    ax.plot(ratio, place, "o", color=colour, ms=6)
    ax.annotate(
        f"{ratio:.2g}",
        (ratio, place),
        xytext=(7 if ratio >= 1 else -7, 0),
        textcoords="offset points",
        ha="left" if ratio >= 1 else "right",
        va="center",
        fontsize=8,
    )
    ax.margins(x=0.35)


def cost(setting: Setting) -> float:
    """The median of seconds over the baseline's of the same fold and seed; NaN without one."""
    pairs = setting.paired
    if not len(pairs.rows):
        return np.nan
    return float(np.median(pairs.column("seconds") / setting.results.seconds[pairs.base]))


def _told(ax: Axes, place: int, setting: Setting, colour: str) -> None:
    """How often a probe names a test subject, beside what guessing would reach."""
    identity, chance = setting.column("identity"), setting.column("chance")
    if np.isnan(identity).all():
        return
    ax.plot(np.nanmean(identity), place, "o", color=colour, ms=6)
    ax.plot(np.nanquantile(identity, (0.25, 0.75)), [place] * 2, color=colour, lw=2, alpha=0.5)
    ax.plot(np.nanmean(chance), place, "|", color=INK, ms=10)


def compared(studies: Mapping[str, Sequence[Chapter]]) -> Figure:
    """For each study and evaluation point: baseline, best choice on validation, best on test."""
    rows = [(name, one) for name, mine in studies.items() for one in mine]
    fig = Figure(figsize=(9.4, 1.1 + 0.62 * len(rows)), layout="constrained")
    left, right = fig.subplots(1, 2, sharey=True, width_ratios=[1.2, 1])
    right.axvline(0, color=INK, lw=0.8)
    kinds = (
        ("choice", COLOURS[0], "chosen on validation subjects"),
        ("flattered", LOSS, "the highest on test subjects (flattered)"),
    )
    for place, (_, one) in enumerate(rows):
        if one.baseline is not None:
            left.plot(one.baseline, place, "D", color=INK, ms=6, label="baseline")
        for (kind, colour, words), shift in zip(kinds, (-0.13, 0.13), strict=True):
            found = getattr(one, kind)
            if found is None:
                continue
            left.plot(found.test, place + shift, "o", color=colour, ms=6, label=words)
            right.plot([found.low, found.high], [place + shift] * 2, color=colour, lw=2)
            right.plot(found.gain, place + shift, "o", color=colour, ms=6)
    left.set_yticks(range(len(rows)), [f"{name}\n{one.point}" for name, one in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    left.set(title="balanced accuracy, test subjects")
    right.set(title="gain over the baseline, 95 % interval")
    handles, labels = left.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    look: Any = {"frameon": False, "fontsize": 8.5, "ncols": 3}
    fig.legend(list(unique.values()), list(unique), loc="outside upper center", **look)
    return fig
