"""Box plots of a study: the paper's Figures 4 and 5."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from censorium.report.figures import COLOURS, INK, PALE
from censorium.report.study_numbers import AtPoint, Floats, Setting, Way, place

WIDEST = 12.4  # inches: as wide as the page
GAP = 1.4  # between groups of boxes, in boxes
BOX = 0.72  # the width of a box
MOST_LABELLED = 130  # boxes whose strengths can be read beside one another


class Slot(NamedTuple):
    """Where one group of boxes stands: all but the measure, and where each strength lies."""

    way: Way
    places: dict[float, float]

    @property
    def middle(self) -> float:
        """The middle of the group."""
        return float(np.mean(list(self.places.values())))


def strength_boxes(at: AtPoint, marks: Mapping[Setting, str]) -> Figure:
    """Balanced test accuracy by strength, a panel for each measure, a group for each way."""
    slots = _slots(at)
    end = max(x for slot in slots for x in slot.places.values())
    width = float(np.clip(1.6 + 0.45 * (end + 1), 5.6, WIDEST))
    fig = Figure(figsize=(width, 1.1 + 2.35 * len(at.measures)), layout="constrained")
    axes = fig.subplots(len(at.measures), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    look = looks(at)
    for ax, measure in zip(axes, at.measures, strict=True):
        if at.baseline:
            baseline_lines(ax, at.baseline.test)
        for slot in slots:
            mine = at.ways.get(slot.way._replace(measure=measure), [])
            places = [slot.places[s.strength] for s in mine]
            boxes(ax, places, [s.test for s in mine], *look[slot.way[1:]])
            for x, setting in zip(places, mine, strict=True):
                _mark(ax, x, marks[setting])
        ax.set_title(measure, loc="left")
        ax.set_ylabel("balanced accuracy, test")
        ax.set_xlim(-1.2, end + 1.2)
        ax.margins(y=0.1)
        ax.tick_params(axis="x", length=0)
    _name_groups(list(axes), slots, look)
    return fig


def looks(at: AtPoint) -> dict[tuple[str, ...], tuple[str, float]]:
    """A colour and an opacity for each way but for its measure: hue by mode, depth by the rest."""
    modes = list(dict.fromkeys(way.mode for way in at.ways))
    rest = list(dict.fromkeys(way[2:] for way in at.ways))
    depth = np.linspace(0.5, 0.0, len(rest)) if len(rest) > 1 else [0.3]
    return {
        way[1:]: (COLOURS[modes.index(way.mode) % len(COLOURS)], float(depth[rest.index(way[2:])]))
        for way in at.ways
    }


def boxes(
    ax: Axes,
    places: Sequence[float],
    samples: Sequence[Floats],
    colour: str,
    opacity: float,
    *,
    flat: bool = False,
) -> None:
    """Boxes of quartiles, whiskers of at most 1.5 of their width, dots beyond; `flat`: sideways."""
    if not len(places):
        return
    quartiles = np.array([np.quantile(s, (0.25, 0.5, 0.75)) for s in samples])
    ends = np.array([_whiskers(s, *q[[0, 2]]) for s, q in zip(samples, quartiles, strict=True)])
    x, half = np.array(places, dtype=float), BOX / 2
    corners = [
        [(p - half, low), (p + half, low), (p + half, high), (p - half, high)]
        for p, (low, _, high) in zip(x, quartiles, strict=True)
    ]
    stems = [
        [(p, a), (p, b)]
        for p, (low, _, high), (bottom, top) in zip(x, quartiles, ends, strict=True)
        for a, b in ((bottom, low), (high, top))
    ]
    middles = [[(p - half, q), (p + half, q)] for p, q in zip(x, quartiles[:, 1], strict=True)]
    outer = [
        (p, value)
        for p, sample, (bottom, top) in zip(x, samples, ends, strict=True)
        for value in sample[(sample < bottom) | (sample > top)]
    ]
    turned: Callable[[Any], Any] = _turned if flat else np.array
    face = to_rgba("white") if opacity == 0 else to_rgba(colour, opacity)
    ax.add_collection(LineCollection(turned(stems), colors=colour, lw=0.8, zorder=2))
    ax.add_collection(PolyCollection(turned(corners), fc="white", ec="none", zorder=2.1))
    ax.add_collection(PolyCollection(turned(corners), fc=face, ec=colour, lw=0.8, zorder=2.2))
    ax.add_collection(LineCollection(turned(middles), colors=colour, lw=1.8, zorder=2.3))
    if outer:
        ax.plot(*turned(outer).T, ".", color=colour, ms=2, alpha=0.7, zorder=2)
    ax.autoscale_view()


def baseline_lines(ax: Axes, test: Floats, *, flat: bool = False) -> None:
    """The baseline's quartiles (solid) and mean (dashed)."""
    draw = ax.axvline if flat else ax.axhline
    band = ax.axvspan if flat else ax.axhspan
    low, median, high = np.quantile(test, (0.25, 0.5, 0.75))
    band(low, high, color=PALE, alpha=0.12, lw=0, zorder=0)
    for value in (low, median, high):
        draw(value, color=INK, lw=0.8, zorder=1)
    draw(test.mean(), color=INK, lw=1.1, ls=(0, (5, 3)), zorder=1)


def _turned(points: Any) -> Any:
    """The same with x and y exchanged."""
    return np.array(points)[..., ::-1]


def _whiskers(sample: Floats, low: float, high: float) -> tuple[float, float]:
    """The furthest values within 1.5 of the box's height from it."""
    reach = 1.5 * (high - low)
    within = sample[(sample >= low - reach) & (sample <= high + reach)]
    return float(min(within.min(), low)), float(max(within.max(), high))


def _slots(at: AtPoint) -> list[Slot]:
    """Room for every group and strength that any measure has."""
    strengths: dict[tuple[str, ...], set[float]] = {}
    for way, mine in at.ways.items():
        strengths.setdefault(way[1:], set()).update(s.strength for s in mine)
    slots, at_place = [], 0.0
    for group in dict.fromkeys(way[1:] for way in sorted(at.ways, key=lambda w: place(w)[2:])):
        found = sorted(strengths[group])
        slots.append(Slot(Way("", *group), {s: at_place + i for i, s in enumerate(found)}))
        at_place += len(found) + GAP
    return slots


def _mark(ax: Axes, x: float, mark: str) -> None:
    """A mark above the box, in one line for the whole panel."""
    ax.text(x, 0.985, mark, transform=ax.get_xaxis_transform(), ha="center", va="top", fontsize=7.5)


def _name_groups(axes: Sequence[Axes], slots: Sequence[Slot], look: dict[Any, Any]) -> None:
    """Strengths below the last panel, and below them what each group is."""
    last = axes[-1]
    ticks = [(x, s) for slot in slots for s, x in slot.places.items()]
    crowded = len(ticks) > 24
    if len(ticks) <= MOST_LABELLED:
        last.set_xticks(
            [x for x, _ in ticks],
            [f"{s:g}" for _, s in ticks],
            fontsize=6.5 if crowded else 8.5,
            rotation=90 if crowded else 0,
        )
    else:
        last.set_xticks([])
    for slot in slots:
        words = "\n".join(part for part in slot.way[1:] if part)
        colour = look[slot.way[1:]][0]
        last.annotate(
            words,
            (slot.middle, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -32 if crowded else -22),
            textcoords="offset points",
            ha="center",
            va="top",
            color=colour,
            fontsize=8.5,
            fontweight="bold",
        )
        if slot is not slots[0]:
            for ax in axes:
                ax.axvline(min(slot.places.values()) - (1 + GAP) / 2, color=PALE, lw=0.5, alpha=0.5)


def one_box(ax: Axes, y: float, setting: Setting, colour: str) -> None:
    """A setting's box, sideways."""
    boxes(ax, [y], [setting.test], colour, 0.3, flat=True)
