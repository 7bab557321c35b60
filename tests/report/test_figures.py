"""What the figures draw is what the outcomes hold."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from by_hand import CURVES, OPTIONS, PEOPLE, TEST, TRAIN, outcomes, trials
from matplotlib.colors import same_color

from censorium import Dependence
from censorium.dependence import DensityRatio, Wasserstein
from censorium.report import figures
from censorium.report.figures import COLOURS, INK, LOSS, PALE

MODELS = ("baseline", "worse", "better", "undecided")
COLOUR = dict(zip(MODELS, (PALE, *COLOURS), strict=False))


def texts(ax):
    """What is written into the axes."""
    return [t.get_text() for t in ax.texts]


def check_band(ax, number, x, lines, colour):
    """The curve of that number is the mean of `lines`, in a band of one standard error."""
    curve = ax.lines[number]
    mean, error = np.mean(lines, axis=0), np.ptp(lines, axis=0) / 2  # of two lines
    np.testing.assert_allclose(curve.get_xydata(), np.stack([x, mean], axis=1))
    edges = ax.collections[number].get_paths()[0].vertices
    for at, low, high in zip(x, mean - error, mean + error, strict=True):
        drawn = edges[edges[:, 0] == at, 1]
        np.testing.assert_allclose([drawn.min(), drawn.max()], [low, high])
    assert same_color(curve.get_color(), colour)


def test_each_person_is_a_line_from_the_baseline_to_the_model():
    """A panel per censored model: people left and right, those who lose in orange, the mean."""
    axes = figures.paired_dots(outcomes()).axes
    assert [ax.get_title() for ax in axes] == list(MODELS[1:])
    means = {"baseline": 0.65, "worse": 0.65 - 0.49 / 6, "better": 0.70, "undecided": 0.66}
    for ax in axes:
        model = ax.get_title()
        pairs = [[PEOPLE["baseline"][p], PEOPLE[model][p]] for p in range(1, 7)]
        *people, mean = ax.lines
        np.testing.assert_allclose([line.get_ydata() for line in people], pairs)
        assert all(list(line.get_xdata()) == [0, 1] for line in people)
        for line, (before, after) in zip(people, pairs, strict=True):
            assert same_color(line.get_color(), LOSS if after < before else COLOUR[model])
        for side, dots in enumerate(ax.collections):
            expected = [[side, pair[side]] for pair in pairs]
            np.testing.assert_allclose(dots.get_offsets(), expected)
        np.testing.assert_allclose(mean.get_ydata(), [means["baseline"], means[model]])
        assert texts(ax) == ["0.650", f"{means[model]:.3f}"]
        assert [t.get_text() for t in ax.get_xticklabels()] == ["baseline", model]


def test_overfit_is_to_the_right_and_accuracy_above():
    """Test over training score, and test score: a dot per fold, a diamond at the mean."""
    (ax,) = figures.overfit(outcomes()).axes
    for place, model in enumerate(MODELS):
        dots, diamond = ax.collections[2 * place : 2 * place + 2]
        ratio = np.array(TEST[model]) / TRAIN[model]
        points = np.stack([ratio, TEST[model]], axis=1)
        np.testing.assert_allclose(dots.get_offsets(), points)
        np.testing.assert_allclose(diamond.get_offsets(), [points.mean(axis=0)])
        assert diamond.get_label() == model
        assert same_color(diamond.get_facecolor()[0], COLOUR[model])
    assert ax.get_xlabel().startswith("overfit ratio")
    assert ax.get_ylabel() == "balanced accuracy, unseen"


def test_curves_of_training_validation_and_critic():
    """Above, a model's training and validation people; below, its critic's estimate."""
    fig = figures.learning_curves(trials(), outcomes())
    above, below = np.reshape(fig.axes, (2, len(MODELS)))
    assert [ax.get_title() for ax in above] == list(MODELS)
    for model, top, bottom in zip(MODELS, above, below, strict=True):
        learnt, watched, estimates = CURVES[model]
        ink = INK if model == "baseline" else COLOUR[model]
        assert [line.get_label() for line in top.lines] == ["training people", "validation people"]
        check_band(top, 0, [1, 2], learnt, PALE)
        check_band(top, 1, [1, 2], watched, ink)
        if estimates:
            check_band(bottom, 0, [1, 2], estimates, ink)
        else:
            assert texts(bottom) == ["no critic"]
            assert not bottom.lines
    assert [ax.get_ylabel() for ax in below] == [
        "",
        "critic's estimate, nats - H(S)",
        "critic's estimate, nats",
        "critic's estimate, distance",
    ]


def test_no_validation_curve_without_validation_people():
    """Who was not watched is not drawn."""
    unwatched = [replace(o, scores={"final": replace(o.first, valid=None)}) for o in outcomes()]
    top = figures.learning_curves(trials(), unwatched).axes[0]
    assert [line.get_label() for line in top.lines] == ["training people"]


@pytest.mark.parametrize(("n_terms", "name"), [(1, "H(S)"), (2, "2H(S)")])
def test_the_level_of_guessing_is_drawn_where_the_unit_speaks_of_it(n_terms, name):
    """Minus H(S) for each term, inside the limits, its name beside the panel, off the curve."""
    told = [
        replace(o, history=[replace(r, dependence=r.dependence * n_terms) for r in o.history])
        for o in outcomes()
    ]
    fig = figures.learning_curves(trials(), told)
    _, adversarial, *others = fig.axes[len(MODELS) :]
    level = -n_terms * 1.25 * np.log(2)
    curve, line = adversarial.lines
    np.testing.assert_allclose(line.get_ydata(), level)
    np.testing.assert_allclose(curve.get_ydata(), [-2.5 * n_terms, -4.5 * n_terms])
    low, high = adversarial.get_ylim()
    assert low < -4.5 * n_terms < level < high
    fig.draw_without_rendering()
    (label,) = adversarial.texts
    assert label.get_text() == f"\N{MINUS SIGN}{name}"
    assert label.get_position()[1] == pytest.approx(level)
    box = label.get_window_extent()
    assert box.x0 > adversarial.get_window_extent().x1
    assert not any(box.overlaps(ax.get_tightbbox()) for ax in fig.axes if ax is not adversarial)
    assert all(len(ax.lines) == 1 and not ax.texts for ax in others)


def test_bars_say_how_often_the_person_is_named():
    """Training people left, unseen ones right; a bar per model, dotted where guessing lies."""
    named = {
        "training people": ((0.93, 0.22, 0.45, 0.81), 0.45),
        "unseen people": ((0.72, 0.53, 0.62, 0.67), 0.32),
    }
    axes = figures.identity(outcomes()).axes
    for ax, (title, (shares, chance)) in zip(axes, named.items(), strict=True):
        assert ax.get_title() == title
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], shares)
        assert texts(ax) == [f"{100 * share:.0f}\N{NO-BREAK SPACE}%" for share in shares]
        for bar, text, place in zip(ax.patches, ax.texts, range(len(MODELS)), strict=True):
            assert bar.get_y() + bar.get_height() / 2 == pytest.approx(place)
            assert text.get_position()[1] == place
            assert same_color(bar.get_facecolor(), COLOUR[MODELS[place]])
        np.testing.assert_allclose([line.get_xdata()[0] for line in ax.lines], chance)
    assert [t.get_text() for t in axes[0].get_yticklabels()] == list(MODELS)


def test_waveforms_are_class_averages_in_microvolts():
    """The electrode of the largest difference, Oz and Fz on one scale; the map with its own."""
    *waves, scalp, bar = figures.waveforms(trials()).axes
    assert [ax.get_title() for ax in waves] == ["electrode P1", "electrode Oz", "electrode Fz"]
    error = np.std(range(1, 7), ddof=1) / np.sqrt(6)
    for ax, weight in zip(waves, (-6, 4, 1), strict=True):
        for k, label in enumerate(("non-target", "target")):
            mean = 3.5 + k * weight * np.array([0, 0.2, 0.7, 1])
            expected = np.stack([[-10, 0, 10, 20], mean], axis=1)
            np.testing.assert_allclose(ax.lines[k].get_xydata(), expected, atol=1e-5)
            assert ax.lines[k].get_label() == label
            edges = ax.collections[k].get_paths()[0].vertices
            drawn = edges[np.isclose(edges[:, 0], 20), 1]
            np.testing.assert_allclose(
                [drawn.min(), drawn.max()], [mean[-1] - error, mean[-1] + error], rtol=1e-5
            )
    assert waves[0].get_ylabel() == "µV"
    assert len({ax.get_ylim() for ax in waves}) == 1
    assert scalp.get_title() == "difference at 20 ms"
    assert bar.get_title() == "µV"
    np.testing.assert_allclose(bar.get_ylim(), (-6, 6), rtol=1e-5)


class Unnamed(Dependence):
    """A measure that does not say what it counts in."""

    def estimate(self, features, nuisance, given=None):
        """Nothing."""
        return features.sum() * 0

    critic_loss = estimate


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({"measure": "adversarial"}, "nats - H(S)"),
        ({"measure": "wasserstein-published"}, "distance"),
        ({"measure": DensityRatio}, "nats"),
        ({"measure": partial(Wasserstein, net=None)}, "distance"),
        ({}, "nats"),
        ({"measure": Unnamed}, ""),
        ({"measure": lambda n_features, n_nuisance: Unnamed()}, ""),
    ],
)
def test_the_unit_is_read_off_the_measure(options, unit):
    """By name, as a class, as a function or by default; no network is built, nothing drawn."""
    outcome = outcomes()[list(OPTIONS).index("worse")]
    before = torch.get_rng_state()
    chosen = replace(outcome, run=replace(outcome.run, options=options))
    assert figures.unit(chosen) == unit
    assert torch.equal(torch.get_rng_state(), before)


def test_a_measure_without_a_unit_has_a_plain_label():
    """Where there is no unit, the axis names the estimate alone."""
    plain = [
        replace(o, run=replace(o.run, options={"measure": Unnamed}))
        if o.history[0].dependence
        else o
        for o in outcomes()
    ]
    fig = figures.learning_curves(trials(), plain)
    assert fig.axes[-1].get_ylabel() == "critic's estimate"
