"""Laws of filtering and cutting a recording."""

import numpy as np
import pytest
from scipy.signal import butter, iirnotch, lfilter, sosfilt

from censorium.errors import DataError, OptionError
from censorium.signal import cut, filtered

SFREQ = 250.0


def tone(frequency, seconds=20.0):
    """One channel that holds a sine."""
    return np.sin(2 * np.pi * frequency * np.arange(int(seconds * SFREQ)) / SFREQ)[None]


def noise(n_channels=3, n_samples=2000):
    return np.random.default_rng(0).standard_normal((n_channels, n_samples))


def test_benchmark_shape():
    """Half a second of 62 channels at 250 Hz, every second sample: 62 x 63, in single precision."""
    x = cut(noise(62), SFREQ, [500, 525, 550])
    assert x.shape == (3, 62, 63)
    assert x.dtype == np.float32
    assert x.flags.c_contiguous


def test_oracle():
    """Causal filtering is SciPy's notch of quality 30, then its Butterworth of order 5."""
    data = noise()
    data -= data[:, :1]
    notched = lfilter(*iirnotch(50.0, 30.0, fs=SFREQ), data)
    expected = sosfilt(butter(5, [1.0, 20.0], "bandpass", fs=SFREQ, output="sos"), notched)
    np.testing.assert_allclose(filtered(data, SFREQ), expected, atol=1e-12)


def test_causal_trials_know_no_future():
    """What comes after a trial changes nothing in it when causal, and something when not."""
    before = noise()
    after = before.copy()
    after[:, 1125:] += 10.0
    for causal in (True, False):
        a, b = (cut(data, SFREQ, [1000], causal=causal) for data in (before, after))
        assert np.array_equal(a, b) == causal


def test_zero_phase_keeps_place():
    """Filtered both ways, a symmetric bump still peaks where it did."""
    t = np.arange(3000)
    bump = np.exp(-0.5 * ((t - 1500) / 10) ** 2)[None]
    assert filtered(bump, SFREQ, causal=False).argmax() == 1500


@pytest.mark.parametrize("causal", [True, False])
def test_band(causal):
    """Inside the band a tone passes at its size; the mains and slow drifts do not."""
    middle = slice(1500, 3500)  # away from where the filters settle

    def size(frequency):
        return np.abs(filtered(tone(frequency), SFREQ, causal=causal)[0, middle]).max()

    assert size(6.0) == pytest.approx(1.0, abs=0.01)
    assert size(50.0) < 1e-4
    assert size(0.2) < 0.01


def test_notch_alone():
    """The notch takes out the mains where the band would have let them through."""
    wide = {"band": (1.0, 100.0), "causal": False}
    middle = slice(1500, 3500)
    kept = filtered(tone(50.0), SFREQ, notch=None, **wide)[0, middle]
    gone = filtered(tone(50.0), SFREQ, notch=50.0, **wide)[0, middle]
    assert np.sqrt(2) * kept.std() == pytest.approx(1.0, abs=0.01)
    assert np.abs(gone).max() < 1e-4


def test_offset_does_not_matter():
    """An amplifier's offset, however large, leaves no trace."""
    data = noise()
    np.testing.assert_allclose(filtered(data + 1e3, SFREQ), filtered(data, SFREQ), atol=1e-8)


def test_thinning_counts_from_the_onset():
    """Every second sample of a trial is the trial's own samples 0, 2, 4, ..., odd onset or even."""
    whole = cut(noise(), SFREQ, [500, 613], decimate=1)
    np.testing.assert_array_equal(cut(noise(), SFREQ, [500, 613]), whole[:, :, ::2])


def test_recording_is_left_as_it_was():
    """Cutting changes nothing in the recording."""
    data = noise()
    cut(data, SFREQ, [500])
    np.testing.assert_array_equal(data, noise())


def test_last_trial_that_fits():
    """A trial may end at the recording's last sample, not one later; the error names it."""
    assert len(cut(noise(), SFREQ, [1875])) == 1
    with pytest.raises(DataError, match=r"Trial 1 begins at sample 1876 and needs 125.* 2000"):
        cut(noise(), SFREQ, [500, 1876])


def test_no_onsets():
    """No onsets are no trials."""
    assert cut(noise(), SFREQ, []).shape == (0, 3, 63)


@pytest.mark.parametrize(
    ("data", "onsets"),
    [
        (np.zeros(100), [0]),
        (np.zeros((2, 500)), [-1]),
        (np.zeros((2, 500)), [0.5]),
        (np.zeros((2, 500)), [[0]]),
    ],
)
def test_bad_data(data, onsets):
    """A recording or onsets of the wrong kind are refused."""
    with pytest.raises(DataError):
        cut(data, SFREQ, onsets)


@pytest.mark.parametrize(
    "options",
    [
        {"band": (20.0, 1.0)},
        {"band": (1.0, 200.0)},
        {"notch": 0.0},
        {"decimate": 0},
        {"decimate": 2.5},
        {"decimate": 2.0},
        {"seconds": 0},
    ],
)
def test_bad_options(options):
    """An option that cannot be is refused."""
    with pytest.raises(OptionError):
        cut(noise(), SFREQ, [0], **options)


def test_thinning_does_not_alias():
    """A band that reaches half the rate that is left is refused, and that half is named."""
    with pytest.raises(
        OptionError, match=r"decimate=2 the band must end below 62\.5 Hz.* 62\.5 Hz"
    ):
        cut(noise(), SFREQ, [0], band=(1.0, 62.5), decimate=2)
    assert len(cut(noise(), SFREQ, [0], band=(1.0, 62.0), decimate=2)) == 1
    assert len(cut(noise(), SFREQ, [0], band=(1.0, 100.0), decimate=1)) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("use", [lambda x: cut(x, SFREQ, [0]), lambda x: filtered(x, SFREQ)])
def test_broken_recordings_are_refused(value, use):
    """NaN or infinity, which filters would spread, are an error with the channel and sample."""
    data = noise()
    data[2, 700:710] = value
    data[0, 900] = value
    with pytest.raises(DataError, match="NaN or infinite in channel 2 from sample 700 on"):
        use(data)
