"""Parts of a dataset seen as one: what belongs together is matched, what differs is named."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from censorium.datasets.joined import Joined
from censorium.errors import CensoriumWarning, DataError
from censorium.trials import Trials, concatenate

CHANNELS = ("Fz", "Cz", "Pz", "Oz")


def part(n=6, *, seed=0, channels=CHANNELS, n_times=8, classes=("go", "stop"), who="anna"):
    """Trials of one person, all classes in turn."""
    rng = np.random.default_rng(seed)
    return Trials.from_arrays(
        rng.standard_normal((n, len(channels), n_times)),
        [classes[k % len(classes)] for k in range(n)],
        [who] * n,
        np.arange(n) % 2,
        sfreq=100,
        ch_names=channels,
    )


def reordered(trials, channels):
    """The same trials with these channels, in this order."""
    rows = [trials.info.ch_names.index(name) for name in channels]
    info = replace(trials.info, ch_names=channels)
    return replace(trials, x=trials.x[:, rows], info=info)


def as_trials(joined):
    arrays = joined.arrays()
    return Trials(arrays["x"][:], arrays["y"], arrays["subject"], arrays["session"], joined.info)


def assert_same(a, b):
    assert a.info == b.info
    for name in ("x", "y", "subject", "session"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)


def test_parts_that_agree_are_concatenated():
    """Trials, labels and ids of all parts, in order; longer names are not cut."""
    parts = {"a": part(seed=1), "b": part(4, seed=2, who="someone else"), "c": part(2, seed=3)}
    joined = Joined.of(parts)
    whole = concatenate(list(parts.values()))
    assert_same(as_trials(joined), whole)
    assert (len(joined), joined.shape, joined.dtype) == (12, whole.x.shape, whole.x.dtype)
    assert joined.description() == {
        "sfreq": 100.0,
        "ch_names": CHANNELS,
        "class_names": ("go", "stop"),
        "tmin": 0.0,
    }


def test_any_stretch_is_that_of_the_concatenation(tmp_path):
    """Across the borders of parts, empty ones and those on disk too."""
    parts = {str(k): part(n, seed=k) for k, n in enumerate((3, 0, 7, 1, 5))}
    parts["2"].save(tmp_path / "kept")
    parts["2"] = Trials.load(tmp_path / "kept")
    whole = np.concatenate([p.x for p in parts.values()])
    joined = Joined.of(parts)
    rng = np.random.default_rng(0)
    for start, stop in rng.integers(-20, 25, (60, 2)).tolist():
        np.testing.assert_array_equal(joined[start:stop], whole[start:stop], strict=True)
    np.testing.assert_array_equal(joined[:], whole, strict=True)


def test_channels_are_matched_by_name():
    """In whatever order a part has its channels, each comes to those of its name."""
    first, second = part(seed=1), part(seed=2)
    order = ("Oz", "Fz", "Pz", "Cz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined = Joined.of({"a": first, "b": reordered(second, order)})
    assert_same(as_trials(joined), concatenate([first, second]))


def test_common_channels_are_kept():
    """In the first part's order; the warning names the others and says how many are left."""
    parts = [part(seed=1), part(seed=2)]
    lesser = reordered(parts[1], ("Pz", "Fz", "Oz"))
    more = part(seed=3, channels=("M1", *CHANNELS))
    with pytest.warns(CensoriumWarning, match=r"left out: Cz, M1\. 3 are left"):
        joined = Joined.of({"a": parts[0], "b": lesser, "c": more})
    common = ("Fz", "Pz", "Oz")
    whole = concatenate([reordered(p, common) for p in (*parts, more)])
    assert_same(as_trials(joined), whole)


def test_no_common_channel_is_an_error():
    """It shows the channels of two parts that differ."""
    with pytest.raises(DataError, match=r"No channel .* a has \['Fz'.*c has \['C3'\]"):
        Joined.of({"a": part(), "b": part(), "c": part(channels=("C3",))})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (part(n_times=9), "Trials of b are 9 samples from 0 s on, those of a 8"),
        (replace(part(), info=replace(part().info, sfreq=128)), "b is sampled at 128 Hz, a at 100"),
        (
            replace(part(), info=replace(part().info, tmin=-0.1)),
            r"Trials of b are 8 samples from -0\.1 s on",
        ),
        (replace(part(), subject=np.arange(6)), "must be integers in all .* b and a differ"),
        (replace(part(), session=["x"] * 6), "must be integers in all .* b and a differ"),
    ],
    ids=["length", "rate", "tmin", "subject", "session"],
)
def test_parts_that_differ_are_named(other, words):
    """Another rate, length, beginning or kind of ids is an error that names both parts."""
    with pytest.raises(DataError, match=words):
        Joined.of({"a": part(), "b": other})


def test_beginnings_less_than_half_a_sample_apart_are_one():
    """Rounding of the time of the first sample is no difference."""
    other = replace(part(), info=replace(part().info, tmin=0.004))
    assert Joined.of({"a": part(), "b": other}).info.tmin == 0.0


def test_classes_are_those_of_any_part():
    """Each trial keeps its class by name, whatever code it has in its part."""
    parts = {
        "a": part(seed=1, classes=("stop",)),
        "b": part(seed=2, classes=("go", "stop")),
        "c": part(seed=3, classes=("wait", "go")),
        "d": part(0),
    }
    joined = as_trials(Joined.of(parts))
    assert sorted(joined.info.class_names) == ["go", "stop", "wait"]
    names = np.concatenate([np.array(p.info.class_names, str)[p.y] for p in parts.values()])
    np.testing.assert_array_equal(np.array(joined.info.class_names)[joined.y], names)


def test_the_order_of_classes_is_that_of_the_part_with_most():
    """A part that lacks a class does not turn codes around."""
    parts = {"a": part(classes=("stop",)), "b": part(classes=("go", "stop"))}
    assert Joined.of(parts).info.class_names == ("go", "stop")


def test_no_part_is_an_error():
    """There is nothing to join."""
    with pytest.raises(DataError, match="no recording"):
        Joined.of({})
