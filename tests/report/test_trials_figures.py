"""What the figures of trials draw is what the averages hold."""

import numpy as np
import pytest
from matplotlib.colors import same_color

from censorium import Trials, datasets
from censorium.averages import Averages, over_subjects, peaks, telling_channels
from censorium.report import trials_figures
from censorium.report.figures import COLOURS, INK, PALE, style


@pytest.fixture(scope="module")
def people():
    """Averages of three simulated people."""
    return Averages.of(datasets.load("simulated", n_subjects=3, n_sessions=1, n_trials=44))


def few(small_trials, *, n_subjects=4, n_classes=2, tmin=-0.05):
    """Averages of noise in volt, at channels that nobody knows."""
    trials = small_trials(n_subjects=n_subjects, n_sessions=1, n_per_session=2 * n_classes)
    y = [f"class {k}" for k in np.arange(len(trials)) % n_classes]
    who = [f"person {s:03}" for s in trials.subject]
    return Averages.of(Trials.from_arrays(1e-5 * trials.x, y, who, sfreq=100, tmin=tmin))


def named(figure):
    """The words of the figure's legend."""
    legends = [*figure.legends, *(legend for part in figure.subfigs for legend in part.legends)]
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def check_band(ax, number, x, values, colour):
    """The curve of that number is the mean of `values` over people, in its 95 % interval."""
    curve = [line for line in ax.lines if len(line.get_xdata()) == len(x)][number]
    mean, low, high = over_subjects(values)
    np.testing.assert_allclose(curve.get_xydata(), np.stack([x, mean], axis=1), atol=1e-9)
    edges = ax.collections[number].get_paths()[0].vertices
    for at, lowest, highest in zip(x, low, high, strict=True):
        drawn = edges[np.isclose(edges[:, 0], at), 1]
        np.testing.assert_allclose([drawn.min(), drawn.max()], [lowest, highest])
    assert same_color(curve.get_color(), colour)


def test_two_classes_and_their_difference_in_microvolt(people):
    """A column per channel: above the classes, below their difference; in µV, over subjects."""
    figure = trials_figures.class_averages(people, ["Pz", "Oz"])
    above, below = np.reshape(figure.subfigs[0].axes, (2, 2))
    assert [ax.get_title() for ax in above] == ["Pz", "Oz"]
    assert above[0].get_ylabel() == "class averages, µV"
    assert below[0].get_ylabel() == "difference, µV"
    assert {ax.get_xlabel() for ax in below} == {"ms"}
    for top, bottom, name in zip(above, below, ("Pz", "Oz"), strict=True):
        at = people.info.ch_names.index(name)
        shown = 1e6 * people.means[:, :, at]
        for k, colour in enumerate((PALE, COLOURS[0])):
            check_band(top, k, people.milliseconds, shown[:, k], colour)
        check_band(bottom, 0, people.milliseconds, shown[:, 1] - shown[:, 0], INK)
    assert named(figure) == ["non-target", "target", "target less non-target"]


def test_channels_and_maps_are_the_telling_ones(people):
    """Unasked, the most telling channels, and a map at each peak, on one scale in µV."""
    figure = trials_figures.class_averages(people)
    waves, maps = figure.subfigs
    shown = [ax.get_title() for ax in waves.axes if ax.get_title()]
    assert shown == telling_channels(people)
    titles = [ax.get_title() for ax in maps.axes if ax.get_title()]
    at = [people.milliseconds[peak] for peak in peaks(people)]
    assert titles == [*(f"target less non-target\n{ms:.0f} ms" for ms in at), "µV"]
    scales = {ax.images[0].get_clim() for ax in maps.axes if ax.images}
    assert len(scales) == 1
    low, high = scales.pop()
    assert low == -high


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8])
def test_any_number_of_classes_and_few_channels(small_trials, n_classes):
    """One class has no difference, more than two differ from their mean; no map of few channels."""
    averages = few(small_trials, n_classes=n_classes)
    figure = trials_figures.class_averages(averages)
    assert len(figure.subfigs) == 1
    assert len(figure.subfigs[0].axes) == 3 * (1 + (n_classes > 1))
    classes = [f"class {k}" for k in range(n_classes)]
    assert named(figure)[:n_classes] == classes
    assert len(set(trials_figures.class_colours(averages))) == n_classes
    if n_classes > 2:
        below = figure.subfigs[0].axes[3:]
        assert below[0].get_ylabel() == "less their mean, µV"
        at = averages.info.ch_names.index(figure.subfigs[0].axes[0].get_title())
        contrast = averages.contrasts["class 1 less mean"]
        colour = trials_figures.class_colours(averages)[1]
        check_band(below[0], 1, averages.milliseconds, 1e6 * contrast[:, at], colour)
    (said,) = trials_figures.left_out(averages)
    assert said.startswith("No maps: 0 of 3 channels")


def test_maps_of_several_classes_are_at_one_moment():
    """Of three classes, a map each at the highest peak, though channels are spelt otherwise."""
    trials = datasets.load("simulated", n_subjects=2, n_sessions=1, n_trials=66)
    names = [name.upper() for name in trials.info.ch_names]
    y = np.arange(len(trials)) % 3
    given = Trials.from_arrays(trials.x, y, trials.subject, sfreq=125, ch_names=names)
    averages = Averages.of(given)
    maps = trials_figures.class_averages(averages).subfigs[1]
    at = averages.milliseconds[peaks(averages, 1)[0]]
    titles = [ax.get_title() for ax in maps.axes if ax.get_title() != "µV"]
    assert titles == [f"{k} less mean\n{at:.0f} ms" for k in range(3)]
    assert trials_figures.left_out(averages) == []


def test_each_person_has_a_panel(people):
    """Class averages of each at one channel, under their name, on one scale."""
    figure = trials_figures.each_person(people, "Pz")
    at = people.info.ch_names.index("Pz")
    assert [ax.get_title() for ax in figure.axes] == ["1", "2", "3"]
    for i, ax in enumerate(figure.axes):
        for k in (0, 1):
            np.testing.assert_allclose(ax.lines[k].get_ydata(), 1e6 * people.means[i, k, at])
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert figure.get_supylabel() == "Pz, µV"
    assert named(figure) == ["non-target", "target"]


@pytest.mark.parametrize("n", [1, 13, 64, 70])
def test_many_people_fit(small_trials, n):
    """Up to 64 panels; that there are more is said, and so is that one person has no interval."""
    averages = few(small_trials, n_subjects=n)
    figure = trials_figures.each_person(averages)
    assert len(figure.axes) == min(n, 64)
    assert figure.axes[0].get_title() == "person 001"
    said = " ".join(trials_figures.left_out(averages))
    assert ("the first 64 of 70" in said) == (n == 70)
    assert ("one subject only" in said) == (n == 1)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_figures_can_be_saved(people, small_trials, tmp_path, kind):
    """Drawn and written, nothing warns and no words lie over one another's panels."""
    with style():
        for name, averages in {"people": people, "few": few(small_trials)}.items():
            for make in (trials_figures.class_averages, trials_figures.each_person):
                out = tmp_path / f"{name}-{make.__name__}.{kind}"
                make(averages).savefig(out, format=kind)
                assert out.stat().st_size > 5000


def test_titles_do_not_overlap(people):
    """No title, label or legend of a drawn figure lies on another."""
    with style():
        figure = trials_figures.class_averages(people)
        figure.canvas.draw()
    axes = [ax for part in figure.subfigs for ax in part.axes]
    words = [ax.title for ax in axes] + [ax.xaxis.label for ax in axes]
    boxes = [w.get_window_extent() for w in words if w.get_text() and w.get_visible()]
    boxes += [legend.get_window_extent() for legend in figure.subfigs[0].legends]
    assert len(boxes) == 3 + 3 + 3 + 1 + 1
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_signals_that_are_no_volt_are_shown_as_stored(small_trials):
    """In another unit they are not called microvolt."""
    averages = Averages.of(small_trials())
    assert (trials_figures.factor(averages), trials_figures.unit(averages)) == (1, "as stored")
    assert any("as stored" in said for said in trials_figures.left_out(averages))
