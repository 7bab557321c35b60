"""A continuous recording, filtered, thinned and cut into trials."""

from typing import Any

import mne
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import iirnotch

from censorium.errors import DataError, OptionError

ORDER = 5  # of the Butterworth band-pass
QUALITY = 30.0  # of the notch: its centre over its width
PIECE = 8  # channels filtered at once: filters make several copies

Recorded = NDArray[np.floating[Any]]  # (channels, samples)


def cut(
    data: Recorded,
    sfreq: float,
    onsets: ArrayLike,
    *,
    band: tuple[float, float] = (1.0, 20.0),
    notch: float | None = 50.0,
    decimate: int = 2,
    seconds: float = 0.5,
    causal: bool = True,
) -> NDArray[np.float32]:
    """The trials of a recording, (n, channels, times): filtered as a whole, then cut, then thinned.

    Parameters
    ----------
    data : array, (channels, samples)
        One continuous recording, in volt where the unit is known. It is left as it was.
    sfreq : float
        Its sampling rate in Hz.
    onsets : array of int, (n,)
        The sample at which each trial begins.
    band : (float, float)
        The edges of the band-pass in Hz.
    notch : float or None
        The frequency of the mains, taken out before the band-pass; None leaves it in.
    decimate : int
        Every how many samples one is kept, counted from the onset; the band must end below half
        the rate that is left.
    seconds : float
        How long a trial is.
    causal : bool
        Filter forward only, as a system that works live must, and as the paper's benchmark is
        prepared. Quick responses then come some 20 ms late, and slow ones lose most of their
        height and are followed by a trough. Otherwise filter both ways: waveforms keep their
        place and shape, but each trial has seen its future.

    Examples
    --------
    >>> import numpy as np
    >>> from censorium.signal import cut
    >>> cut(np.random.default_rng(0).normal(size=(62, 2000)), 250.0, [500, 525]).shape
    (2, 62, 63)
    """
    data = np.asarray(data)
    if data.ndim != 2:
        raise DataError(f"A recording must be (channels, samples), got shape {data.shape}.")
    if not isinstance(decimate, int | np.integer) or decimate < 1:
        raise OptionError(f"decimate must be a whole number, 1 or more; got {decimate!r}.")
    if decimate > 1 and not band[1] < sfreq / (2 * decimate):
        raise OptionError(
            f"With decimate={decimate} the band must end below {sfreq / (2 * decimate):g} Hz, half "
            f"the rate that is left; it ends at {band[1]:g} Hz."
        )
    within = np.arange(0, round(seconds * sfreq), decimate)
    if not len(within):
        raise OptionError(f"seconds={seconds} is shorter than one sample at {sfreq:g} Hz.")
    starts = onsets_within(data.shape[1], sfreq, onsets, round(seconds * sfreq))
    require_unbroken(data)
    trials = np.empty((len(starts), len(data), len(within)), dtype=np.float32)
    for first in range(0, len(data), PIECE):
        piece = slice(first, first + PIECE)
        clean = filtered(data[piece], sfreq, band=band, notch=notch, causal=causal)
        trials[:, piece] = clean[:, starts[:, None] + within].transpose(1, 0, 2)
    return trials


def filtered(
    data: Recorded,
    sfreq: float,
    *,
    band: tuple[float, float] = (1.0, 20.0),
    notch: float | None = 50.0,
    causal: bool = True,
) -> NDArray[np.float64]:
    """The recording without mains and outside of the band; the options are those of `cut`."""
    low, high = band
    if not 0 < low < high < sfreq / 2:
        raise OptionError(
            f"band={band} must rise and lie between 0 and {sfreq / 2:g} Hz, half the sampling rate."
        )
    if notch is not None and not 0 < notch < sfreq / 2:
        raise OptionError(f"notch={notch} must lie between 0 and {sfreq / 2:g} Hz, or be None.")
    phase = "forward" if causal else "zero"
    clean = np.asarray(data, dtype=np.float64)
    require_unbroken(clean)
    # An amplifier's offset is a step to a filter that starts from rest, and rings for seconds.
    clean = clean - clean[:, :1]
    if notch is not None:
        b, a = iirnotch(notch, QUALITY, fs=sfreq)
        clean = mne.filter.notch_filter(
            clean,
            sfreq,
            notch,
            method="iir",
            iir_params={"b": b, "a": a},
            phase=phase,
            verbose="error",
        )
    shape = {"order": ORDER, "ftype": "butter", "output": "sos"}
    clean = mne.filter.filter_data(
        clean, sfreq, low, high, method="iir", iir_params=shape, phase=phase, verbose="error"
    )
    return np.asarray(clean, dtype=np.float64)


def require_unbroken(data: Recorded) -> None:
    """Raise a `DataError` that names the first NaN or infinity: a filter would spread it."""
    bad = ~np.isfinite(data)
    if bad.any():
        sample = int(bad.any(axis=0).argmax())
        raise DataError(
            f"The recording is NaN or infinite in channel {bad[:, sample].argmax()} from sample "
            f"{sample} on. Filter the stretches before and after on their own, or fill the gap."
        )


def onsets_within(
    n_samples: int, sfreq: float, onsets: ArrayLike, length: int
) -> NDArray[np.int64]:
    """`onsets` as integers, or a `DataError` where a trial leaves the recording."""
    starts = np.asarray(onsets)
    if starts.ndim != 1 or (starts.size and starts.dtype.kind not in "iu"):
        raise DataError("Onsets must be a flat list of sample numbers, all integers.")
    bad = np.flatnonzero((starts < 0) | (starts + length > n_samples))
    if bad.size:
        i = int(bad[0])
        raise DataError(
            f"Trial {i} begins at sample {starts[i]} and needs {length}, but the recording has "
            f"{n_samples} ({n_samples / sfreq:.2f} s). Drop that onset, or record for longer."
        )
    return starts.astype(np.int64)
