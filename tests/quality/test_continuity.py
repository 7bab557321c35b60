"""Where time does not run on."""

import numpy as np
import pytest
from faults import cut

from censorium.quality.continuity import shifts, slipped, stepped


def smooth(n, *, seed=0):
    """Smooth signals of eight channels."""
    noise = np.random.default_rng(seed).standard_normal((n, 8, 70))
    return np.apply_along_axis(np.convolve, 2, noise, np.hanning(9), "valid").astype(np.float32)


def test_a_step_of_all_channels_is_seen():
    """A step in nearly all channels at one sample is seen, also beside flat channels."""
    x = smooth(20)
    x[4, :, 33:] += 50
    x[9, :, 10:] -= np.arange(10, 18)[:, None]
    x[9, 2] = 0
    assert np.flatnonzero(stepped(x)).tolist() == [4, 9]


@pytest.mark.parametrize("seed", range(5))
def test_signals_that_run_on_have_no_steps(seed):
    """Neither smooth signals, nor noise, nor slopes and swings that all channels share."""
    rng = np.random.default_rng(seed)
    together = np.repeat(smooth(200, seed=seed)[:, :1], 8, axis=1)
    noise = rng.standard_normal((200, 8, 60)).astype(np.float32)
    for x in (smooth(200, seed=seed), noise, together, together + 30 * np.tanh(np.arange(62) / 4)):
        assert not stepped(x).any()


def test_what_one_electrode_does_is_no_step():
    """A pop of one channel, a spike of all, and NaN are none."""
    x = smooth(4)
    x[0, 3, 20:] += 100
    x[1, :, 20] += 100
    x[2, 5, 7] = np.nan
    assert not stepped(x).any()
    assert not stepped(x[:, :, :2]).any()


def test_shifts_are_those_of_the_onsets():
    """From one trial to the next, and to the one after it, in samples; 0 without an overlap."""
    onsets = np.array([0, 7, 20, 140, 145])
    found = shifts(cut(onsets).x, None)
    assert found.tolist() == [[0, 0], [7, 0], [13, 20], [0, 0], [5, 0]]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_shifts_go_on_from_piece_to_piece(at):
    """Cut into two pieces, trials have the shifts that they have in one."""
    x = cut(np.array([0, 7, 20, 30, 45])).x
    parts = [shifts(x[:at], None), shifts(x[at:], x[max(at - 2, 0) : at])]
    np.testing.assert_array_equal(np.concatenate(parts), shifts(x, None))


def test_repeated_values_are_no_overlap():
    """Signals that stand still, or of few rounded values, do not seem to overlap."""
    rng = np.random.default_rng(0)
    for x in (np.ones((30, 3, 40)), rng.integers(3, size=(30, 1, 40))):
        assert not shifts(x.astype(np.float32), None).any()


def test_only_an_even_beat_can_slip():
    """Where nearly all shifts are alike the others slip, but not multiples; else nothing does."""
    even = np.zeros((40, 2), int)
    even[1:, 0] = 10
    assert slipped(even)[1] == 10
    assert not slipped(even)[0].any()
    even[[5, 6, 30], 0] = [11, 9, 20]
    assert np.flatnonzero(slipped(even)[0]).tolist() == [5, 6]
    uneven = np.stack([np.arange(40), np.arange(40)], axis=1)
    assert not slipped(uneven)[0].any()
