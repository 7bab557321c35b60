"""The report's figures, each a function from outcomes or trials to a Matplotlib figure."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import mne
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from censorium.auditing import mean_probe
from censorium.censor import resolve_measure
from censorium.electrodes import placed
from censorium.estimator import CensoredClassifier
from censorium.report.summary import (
    BASELINE,
    by_model,
    nuisance_entropy,
    percent,
    person_scores,
)
from censorium.study import Outcome
from censorium.trials import Trials

INK, PALE, LOSS = "#1f2937", "#9ca3af", "#d97706"
COLOURS = ("#2563eb", "#0f766e", "#9333ea", "#be123c", "#4d7c0f", "#0369a1")
STYLE: Any = {
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "svg.hashsalt": "censorium",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def style() -> Iterator[None]:
    """The report's look, for the figures made inside; nothing global changes for good."""
    with mpl.rc_context(STYLE):
        yield


def colours(models: Sequence[str]) -> dict[str, str]:
    """A colour for each model; the baseline is grey."""
    censored = [m for m in models if m != BASELINE]
    return {BASELINE: PALE} | {m: COLOURS[i % len(COLOURS)] for i, m in enumerate(censored)}


def waveforms(trials: Trials) -> Figure:
    """Class averages where they differ most, at Oz and Fz, and a map of their difference."""
    means = np.array(
        [
            [trials.x[(trials.subject == s) & (trials.y == k)].mean(axis=0) for k in (0, 1)]
            for s in trials.subjects
        ]
    )
    microvolts = 1e6 * means  # subjects, classes, channels, times
    milliseconds = 1e3 * (trials.info.tmin + np.arange(trials.x.shape[2]) / trials.info.sfreq)
    difference = (microvolts[:, 1] - microvolts[:, 0]).mean(axis=0)
    channel, peak = np.unravel_index(np.abs(difference).argmax(), difference.shape)
    shown = dict.fromkeys([trials.info.ch_names[channel], "Oz", "Fz"])
    names = [n for n in shown if n in trials.info.ch_names]
    fig = Figure(figsize=(9.4, 2.7), layout="constrained")
    axes = fig.subplots(1, len(names) + 1, width_ratios=[1.25] * len(names) + [1])
    for ax, name in zip(axes, names, strict=False):
        at = trials.info.ch_names.index(name)
        for k, colour in ((0, PALE), (1, COLOURS[0])):
            label = trials.info.class_names[k]
            _band(ax, milliseconds, microvolts[:, k, at], colour, label)
        ax.axhline(0, color=PALE, lw=0.6)
        ax.set(title=f"electrode {name}", xlabel="ms after the image")
        ax.sharey(axes[0])
        ax.label_outer()
    axes[0].set_ylabel("µV")
    axes[0].legend(frameon=False, loc="upper left", fontsize=8.5)
    _scalp(axes[-1], trials, difference[:, peak])
    axes[-1].set_title(f"difference at {milliseconds[peak]:.0f} ms")
    return fig


def paired_dots(outcomes: Sequence[Outcome]) -> Figure:
    """Each unseen person's balanced accuracy, by the baseline and by each censored model."""
    models = by_model(outcomes)
    reference = person_scores(models[BASELINE])
    censored = [m for m in models if m != BASELINE]
    colour = colours(list(models))
    fig = Figure(figsize=(9.4, 3.6), layout="constrained")
    axes = fig.subplots(1, len(censored), sharey=True, squeeze=False)[0]
    for ax, model in zip(axes, censored, strict=True):
        scores = person_scores(models[model])
        pairs = np.array([[reference[p], scores[p]] for p in scores])
        for before, after in pairs:
            up = after >= before
            ax.plot([0, 1], [before, after], color=colour[model] if up else LOSS, lw=1, alpha=0.75)
        ax.scatter(np.zeros(len(pairs)), pairs[:, 0], color=PALE, s=26, zorder=3)
        ax.scatter(np.ones(len(pairs)), pairs[:, 1], color=colour[model], s=26, zorder=3)
        mean = pairs.mean(axis=0)
        ax.plot([-0.18, 1.18], mean, color=INK, lw=2.2, marker="D", ms=6, zorder=4)
        for side, value, align in ((-0.24, mean[0], "right"), (1.24, mean[1], "left")):
            ax.text(side, value, f"{value:.3f}", ha=align, va="center", fontweight="bold")
        ax.set(xticks=[0, 1], xticklabels=[BASELINE, model], xlim=(-0.75, 1.75), title=model)
    axes[0].set_ylabel("balanced accuracy, unseen person")
    return fig


def overfit(outcomes: Sequence[Outcome]) -> Figure:
    """Balanced accuracy on unseen people against what is kept of that on training people."""
    models = by_model(outcomes)
    colour = colours(list(models))
    fig = Figure(figsize=(5.6, 3.8), layout="constrained")
    ax = fig.subplots()
    for model, mine in models.items():
        ratio = [o.overfit_ratio for o in mine]
        test = [o.test.balanced_accuracy for o in mine]
        ax.scatter(ratio, test, color=colour[model], s=20, alpha=0.6)
        ax.scatter(
            np.mean(ratio), np.mean(test), color=colour[model], s=80, marker="D", label=model
        )
    ax.set(xlabel="overfit ratio: unseen over training people", ylabel="balanced accuracy, unseen")
    ax.legend(frameon=False, fontsize=8.5, labelspacing=0.8)
    return fig


def learning_curves(trials: Trials, outcomes: Sequence[Outcome]) -> Figure:
    """Balanced accuracy by epoch, of training and validation people; the critic's estimate."""
    models = by_model(outcomes)
    colour = colours(list(models))
    fig = Figure(figsize=(9.4, 4.6), layout="constrained")
    axes = fig.subplots(2, len(models), sharex=True, squeeze=False)
    for column, (model, mine) in enumerate(models.items()):
        top, below = axes[:, column]
        ink = INK if model == BASELINE else colour[model]
        epochs = [r.epoch for r in mine[0].history]
        train = np.array([[r.train_balanced_accuracy for r in o.history] for o in mine])
        _band(top, epochs, train, PALE, "training people")
        if mine[0].valid is not None:
            valid = np.array([[r.valid_balanced_accuracy for r in o.history] for o in mine])
            _band(top, epochs, valid, ink, "validation people")
        top.set(title=model, ylim=(0.45, 1.02))
        _estimates(below, trials, mine, ink)
        below.set_xlabel("epoch")
        below.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes[0, 0].set_ylabel("balanced accuracy")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="lower right")
    return fig


def identity(outcomes: Sequence[Outcome]) -> Figure:
    """How often a fresh linear probe names the person from one trial's features."""
    models = by_model(outcomes)
    colour = colours(list(models))
    fig = Figure(figsize=(5.6, 2.9), layout="constrained")
    axes = fig.subplots(1, 2, sharey=True)
    for ax, title, part in zip(
        axes, ("training people", "unseen people"), ("train", "test"), strict=True
    ):
        for place, (model, mine) in enumerate(models.items()):
            probe = mean_probe([getattr(o, part).identity for o in mine])
            if probe is None:
                continue
            ax.barh(place, probe.balanced_accuracy, color=colour[model], height=0.62)
            ax.text(
                probe.balanced_accuracy + 0.015,
                place,
                percent(probe.balanced_accuracy),
                va="center",
            )
            ax.axvline(probe.chance, color=INK, lw=1, ls=":")
        ax.set(title=title, yticks=range(len(models)), yticklabels=list(models), xlim=(0, 1.12))
        ax.set_xticks([0, 0.5, 1], ["0", percent(0.5), percent(1)])
    axes[0].invert_yaxis()
    return fig


def unit(outcome: Outcome) -> str:
    """What the outcome's measure counts its estimate in; empty where the measure does not say."""
    options = CensoredClassifier(**outcome.run.options).get_params()
    measure = resolve_measure(options["measure"])
    return str(getattr(getattr(measure, "func", measure), "unit", ""))


def _estimates(ax: Axes, trials: Trials, outcomes: Sequence[Outcome], colour: str) -> None:
    """The critic's estimate by epoch and, where its unit names it, the entropy of the nuisance."""
    first = outcomes[0].history[0]
    if not first.dependence:
        ax.text(0.5, 0.5, "no critic", ha="center", color=PALE, transform=ax.transAxes)
        ax.set(yticks=[])
        return
    epochs = [r.epoch for r in outcomes[0].history]
    lines = np.array([[sum(r.dependence) for r in o.history] for o in outcomes])
    _band(ax, epochs, lines, colour, "")
    counted = unit(outcomes[0])
    ax.set_ylabel(f"critic's estimate, {counted}".rstrip(", "), fontsize=8.5)
    if "H(S)" in counted:
        n_terms = len(first.dependence)
        guessing = -n_terms * nuisance_entropy(trials, outcomes)
        ax.axhline(guessing, color=INK, lw=1, ls=":")
        name = f"\N{MINUS SIGN}{n_terms if n_terms > 1 else ''}H(S)"
        # Beside the panel, where no curve can run through it.
        place = ax.get_yaxis_transform()
        ax.text(1.02, guessing, name, transform=place, va="center", fontsize=8)


def _scalp(ax: Axes, trials: Trials, microvolts: NDArray[Any]) -> None:
    """A map of the scalp, red where positive, and what its colours mean."""
    info = placed(trials.info.ch_names, trials.info.sfreq)
    filled, _ = mne.viz.plot_topomap(microvolts, info, axes=ax, show=False, contours=4)
    bar = ax.figure.colorbar(filled, ax=ax, shrink=0.55, aspect=12, pad=0.03)
    bar.ax.set_title("µV", fontsize=8.5, fontweight="normal")
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)


def _band(ax: Axes, x: Any, lines: NDArray[Any], colour: str, label: str) -> None:
    """The mean of several lines and the range of one standard error around it."""
    mean = lines.mean(axis=0)
    error = lines.std(axis=0, ddof=1) / np.sqrt(len(lines)) if len(lines) > 1 else 0 * mean
    ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.22, lw=0)
    ax.plot(x, mean, color=colour, lw=1.8, label=label)
