"""Figures of trials as they are: class averages, where on the scalp they differ, and how people do.

Each is a function from `Averages` to a Matplotlib figure; draw and save it within `figures.style`.
"""

from collections.abc import Sequence

import matplotlib as mpl
import mne
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from censorium.averages import Averages, Reals, over_subjects, peaks, telling_channels
from censorium.electrodes import head_places, placed
from censorium.report.figures import COLOURS, INK, PALE

MAP_CHANNELS = 16  # a map of fewer would mostly be made up between them
MOST_MAPS = 6
MOST_PEOPLE = 64
LONGEST = 13  # letters of a name that fit over a small panel


def class_averages(averages: Averages, channels: Sequence[str] = ()) -> Figure:
    """Class averages with 95 % intervals over subjects, what differs, and maps where it peaks.

    Without `channels`, those whose classes differ most.
    """
    names = list(channels) or telling_channels(averages)
    rows = 2 if averages.compared else 1
    mapped = why_no_maps(averages.info.ch_names) is None
    fig = Figure(figsize=(9.4, 0.4 + 2.2 * rows + 2.2 * mapped), layout="constrained")
    heights = [0.2 + rows, 1.0][: 1 + mapped]
    parts = fig.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    axes = parts[0].subplots(rows, len(names), sharex=True, sharey="row", squeeze=False)
    for column, name in zip(axes.T, names, strict=True):
        _waves(column, averages, averages.info.ch_names.index(name))
        column[0].set_title(name)
    axes[0, 0].set_ylabel(f"class averages, {unit(averages)}")
    if averages.compared:
        what = "difference" if len(averages.contrasts) == 1 else "less their mean"
        axes[1, 0].set_ylabel(f"{what}, {unit(averages)}")
    _legend(parts[0], [line for ax in axes[:, 0] for line in ax.lines])
    if mapped:
        _maps(parts[1], averages)
    return fig


def each_person(averages: Averages, channel: str | None = None) -> Figure:
    """A panel for each subject: their class averages at one channel, all on one scale.

    Without `channel`, the one whose classes differ most. Of more than 64 subjects the first 64.
    """
    name = channel or telling_channels(averages, 1)[0]
    at = averages.info.ch_names.index(name)
    people = averages.subjects[:MOST_PEOPLE]
    n_columns = next(n for n, most in ((4, 12), (6, 36), (8, MOST_PEOPLE)) if len(people) <= most)
    n_rows = -(-len(people) // n_columns)
    fig = Figure(figsize=(9.4, 0.8 + 1.3 * n_rows), layout="constrained")
    axes = fig.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    lines = factor(averages) * averages.means[:, :, at]
    colours = class_colours(averages)
    for ax, person, mine in zip(axes.flat, people, lines, strict=False):
        for line, colour, label in zip(mine, colours, averages.class_names, strict=True):
            ax.plot(averages.milliseconds, line, color=colour, lw=1.2, label=label)
        _origin(ax, averages)
        ax.set_title(_short(str(person)), fontsize=8.5, fontweight="normal", pad=3)
        ax.tick_params(labelsize=8)
    for ax in axes.flat[len(people) :]:
        ax.remove()
    for ax in axes[-2, len(people) - (n_rows - 1) * n_columns :] if n_rows > 1 else []:
        ax.tick_params(labelbottom=True)
    fig.supxlabel("ms", fontsize=9.5)
    fig.supylabel(f"{name}, {unit(averages)}", fontsize=9.5)
    _legend(fig, [*axes[0, 0].lines])
    return fig


def left_out(averages: Averages) -> list[str]:
    """What the figures could not show, in sentences."""
    said = [why_no_maps(averages.info.ch_names)]
    if len(averages.class_names) > 1 and not averages.compared:
        said.append("No difference: nobody shows all classes.")
    if len(averages.subjects) == 1:
        said.append("No intervals: there is one subject only.")
    if not averages.volt:
        said.append("Signals as stored: they cannot be in volt.")
    if len(averages.subjects) > MOST_PEOPLE:
        said.append(f"Each person: the first {MOST_PEOPLE} of {len(averages.subjects)}.")
    return [sentence for sentence in said if sentence]


def why_no_maps(ch_names: Sequence[str]) -> str | None:
    """Why there are no maps of the scalp, in a sentence; None where there are."""
    n = len(head_places(ch_names))
    if n >= MAP_CHANNELS:
        return None
    return (
        f"No maps: {n} of {len(ch_names)} channels have places in the 10-05 system, and a map "
        f"needs {MAP_CHANNELS}."
    )


def factor(averages: Averages) -> float:
    """By what the signals are multiplied to be shown."""
    return 1e6 if averages.volt else 1.0


def unit(averages: Averages) -> str:
    """What they then are in."""
    return "µV" if averages.volt else "as stored"


def class_colours(averages: Averages) -> list[str]:
    """A colour for each class; the first of two is grey."""
    n = len(averages.class_names)
    if n == 2:
        return [PALE, COLOURS[0]]
    if n <= len(COLOURS):
        return [*COLOURS[:n]]
    spread = mpl.colormaps["turbo"](np.linspace(0.04, 0.96, n))
    return [mpl.colors.to_hex(colour) for colour in spread]


def _waves(axes: Sequence[Axes], averages: Averages, channel: int) -> None:
    """Class averages at one channel and, where there are two panels, what differs."""
    colours = class_colours(averages)
    for k, colour in enumerate(colours):
        mine = averages.means[:, k, channel]
        _band(axes[0], averages, mine, colour, averages.class_names[k])
    if len(axes) > 1:
        contrasts = averages.contrasts
        lone = len(contrasts) == 1  # else the colours are those of the classes
        for colour, (what, c) in zip([INK] if lone else colours, contrasts.items(), strict=True):
            _band(axes[1], averages, c[:, channel], colour, what if lone else "")
    axes[-1].set_xlabel("ms")


def _band(ax: Axes, averages: Averages, values: Reals, colour: str, label: str) -> None:
    """The mean over subjects and its 95 % interval."""
    mean, low, high = (factor(averages) * line for line in over_subjects(values))
    ax.fill_between(averages.milliseconds, low, high, color=colour, alpha=0.22, lw=0)
    ax.plot(averages.milliseconds, mean, color=colour, lw=1.6, label=label or "_")
    _origin(ax, averages)


def _origin(ax: Axes, averages: Averages) -> None:
    """Lines at zero and, where trials begin earlier, at the event."""
    ax.axhline(0, color=PALE, lw=0.6, zorder=0)
    if averages.milliseconds[0] < 0 < averages.milliseconds[-1]:
        ax.axvline(0, color=PALE, lw=0.6, zorder=0)
    ax.margins(x=0)


def _maps(fig: SubFigure, averages: Averages) -> None:
    """Maps of the scalp: of the one contrast at its peaks, or of each class at the highest."""
    places = head_places(averages.info.ch_names)
    rows = [averages.info.ch_names.index(name) for name in places]
    info = placed(list(places.values()), averages.info.sfreq)
    means = {what: over_subjects(c).mean[rows] for what, c in averages.contrasts.items()}
    if len(means) == 1:
        shown = [(what, at) for what in means for at in peaks(averages)]
    else:
        shown = [(what, peaks(averages, 1)[0]) for what in means][:MOST_MAPS]
    drawn = [factor(averages) * means[what][:, at] for what, at in shown]
    limit = max(float(np.abs(values).max()) for values in drawn) or 1.0
    axes = fig.subplots(1, max(len(drawn), 3), squeeze=False)[0]
    for ax in axes[len(drawn) :]:
        ax.set_axis_off()
    for ax, (what, at), values in zip(axes, shown, drawn, strict=False):
        look = {"vlim": (-limit, limit), "cmap": "RdBu_r", "contours": 4, "show": False}
        filled, _ = mne.viz.plot_topomap(values, info, axes=ax, **look)
        ax.set_title(f"{what}\n{averages.milliseconds[at]:.0f} ms", fontsize=9.5)
    bar = fig.colorbar(filled, ax=list(axes), shrink=0.7, aspect=14, pad=0.02)
    bar.ax.set_title(unit(averages), fontsize=8.5, fontweight="normal")
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)


def _legend(fig: Figure | SubFigure, lines: Sequence[Line2D]) -> None:
    """What the colours mean, above all panels, where no curve can run through it."""
    named = [line for line in lines if not str(line.get_label()).startswith("_")]
    look = {"frameon": False, "fontsize": 8.5, "handlelength": 1.6}
    fig.legend(handles=named, loc="outside upper center", ncols=min(len(named), 6), **look)


def _short(name: str) -> str:
    """A name that fits over a small panel, cut in the middle."""
    return name if len(name) <= LONGEST else f"{name[:6]}…{name[-6:]}"
