"""The figures of an audit's page."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from censorium.auditing import Audit, Plane
from censorium.report.audit_words import by_people, headline
from censorium.report.figures import COLOURS, INK, LOSS, PALE

MOST_NAMED = 14  # people whose names fit beside a map or into a legend


def information(audits: Sequence[Audit]) -> Figure:
    """What share of subject x session each view tells, by both estimators, for each group."""
    groups = by_people(audits)
    tallest = max(len(mine) for mine in groups.values())
    fig = Figure(figsize=(9.4, 0.9 + 0.62 * tallest), layout="constrained")
    axes = fig.subplots(1, len(groups), squeeze=False)[0]
    for ax, (people, mine) in zip(axes, groups.items(), strict=True):
        for place, audit in enumerate(mine):
            for shift, found in zip((-0.14, 0.14), headline(audit), strict=True):
                share = found.percent
                colour = COLOURS[place % len(COLOURS)]
                ax.plot([share.low, share.high], [place + shift] * 2, color=colour, lw=2)
                face = colour if shift < 0 else "white"
                ax.plot(share.estimate, place + shift, "o", color=colour, mfc=face, ms=7, zorder=3)
        ax.set(title=people, xlabel="% of H(S)", xlim=(-3, 103), ylim=(len(mine) - 0.5, -0.5))
        ax.set_yticks(range(len(mine)), [audit.view for audit in mine])
    return fig


def confusions(audits: Sequence[Audit]) -> Figure:
    """For each view, whose trials are named as whose."""
    fig = Figure(figsize=(9.4, 3.5), layout="constrained")
    axes = fig.subplots(1, max(3, len(audits)))
    for ax, audit in zip(axes, audits, strict=False):
        drawn = ax.imshow(np.array(audit.confusion), cmap="Blues", vmin=0, vmax=1)
        names = [str(s) for s in audit.subjects]
        if len(names) <= MOST_NAMED:
            turn = 90 if max(map(len, names)) > 2 else 0
            ax.set_xticks(range(len(names)), names, fontsize=8, rotation=turn)
            ax.set_yticks(range(len(names)), names, fontsize=8)
        else:
            ax.set(xticks=[], yticks=[])
        ax.set(title=audit.view, xlabel="named", ylabel="is")
    for ax in axes[len(audits) :]:
        ax.set_axis_off()
    bar = fig.colorbar(drawn, ax=axes, shrink=0.6, aspect=16, ticks=[0, 0.5, 1])
    bar.ax.set_yticklabels(["0", "50 %", "100 %"], fontsize=8)
    bar.outline.set_visible(False)
    return fig


def planes(audits: Sequence[Audit]) -> Figure:
    """Trials of each view in the plane that tells people apart: by person and by label."""
    labelled = bool(audits[0].plane.label)
    fig = Figure(figsize=(9.4, 6.3 if labelled else 3.4), layout="constrained")
    axes = fig.subplots(1 + labelled, max(3, len(audits)), squeeze=False)
    for column, audit in zip(axes.T, audits, strict=False):
        people = [*audit.subjects]
        _points(column[0], audit.plane, audit.plane.subject, people, _many(len(people)))
        column[0].set_title(audit.view)
        if labelled:
            counts = Counter(audit.plane.label)  # rare ones are drawn last: they must show
            classes = [name for name, _ in counts.most_common()]
            _points(column[1], audit.plane, audit.plane.label, classes, _few(len(classes)))
    for ax in axes.T[len(audits) :].ravel():
        ax.set_axis_off()
    for row, what in zip(axes, ("by subject", "by label"), strict=False):
        row[0].set_ylabel(what)
        # Beside the last map, where no point can lie under it.
        if len(row[0].get_legend_handles_labels()[0]) <= MOST_NAMED:
            row[len(audits) - 1].legend(
                *row[0].get_legend_handles_labels(),
                loc="center left",
                bbox_to_anchor=(1, 0.5),
                frameon=False,
                fontsize=8,
                markerscale=2,
            )
    return fig


def _points(
    ax: Axes, plane: Plane, values: Sequence[Any], names: Sequence[Any], colours: Sequence[Any]
) -> None:
    """The trials of a plane, each name's in its colour."""
    at, whose = np.array(plane.points), np.array([names.index(v) for v in values])
    for k, name in enumerate(names):
        mine = at[whose == k]
        ax.scatter(mine[:, 0], mine[:, 1], s=7, lw=0, alpha=0.7, color=colours[k], label=str(name))
    ax.set(xticks=[], yticks=[])
    ax.spines[["left", "bottom"]].set_color(INK)


def _many(n: int) -> list[Any]:
    """Colours for `n` people, as far apart as so many can be."""
    return list(mpl.colormaps["turbo"](np.linspace(0.04, 0.96, n)))


def _few(n: int) -> list[str]:
    """Colours for `n` labels, the most frequent first."""
    return [PALE, LOSS, *(COLOURS[i % len(COLOURS)] for i in range(max(n - 2, 0)))]
