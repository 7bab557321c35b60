"""A continuous recording of MNE's, cut into trials at its events."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mne
import numpy as np
from numpy.typing import NDArray

from censorium.arrays import labels
from censorium.datasets.events import Classes, Events, labelled
from censorium.epochs import require_brain, warn_of_bads
from censorium.errors import CensoriumError, CensoriumWarning, DataError, FileError, OptionError
from censorium.signal import cut
from censorium.trials import Info, Trials

# What folds back into the band then comes from above three times its end, where the filter leaves
# one part in 240.
ROOM = 4


def trials_of(
    raw: mne.io.BaseRaw,
    who: str | int,
    sitting: str | int,
    *,
    events: str | Path | None,
    classes: Classes | None,
    picks: str | Sequence[str],
    band: tuple[float, float],
    notch: float | None,
    decimate: int | None,
    tmin: float,
    seconds: float,
    causal: bool,
) -> Trials:
    """The trials of MNE's Raw; the options are those of `read_recording`."""
    sfreq = float(raw.info["sfreq"])
    step = thinning(sfreq, band) if decimate is None else decimate
    shift = round(tmin * sfreq)
    found = Events.of(raw, events)
    places, names = labelled(found.names, classes)
    onsets = found.onsets[places]
    require_distinct(onsets, names, raw)
    whole = whole_trials(raw, onsets + shift, round(seconds * sfreq))
    raw = picked(raw, picks)
    require_brain(raw, 'Leave them out: picks="eeg", or picks=[...] by name.')
    warn_of_bads(
        raw, "Leave them out: picks=[...] by name; or interpolate them first.", stacklevel=4
    )
    with reading(raw.filenames[0] or "The recording"):
        data = raw.get_data()
    x = cut(
        data,
        sfreq,
        (onsets + shift)[whole],
        band=band,
        notch=notch,
        decimate=step,
        seconds=seconds,
        causal=causal,
    )
    class_names, codes = labels(names, len(names))
    info = Info(sfreq / step, tuple(raw.ch_names), class_names, shift / sfreq)
    return Trials(x, codes[whole], np.full(len(x), who), np.full(len(x), sitting), info)


def thinning(sfreq: float, band: tuple[float, float]) -> int:
    """Every how many samples one is kept, so that the rate stays `ROOM` times the band's end."""
    return max(1, int(sfreq / (ROOM * band[1]))) if band[1] > 0 else 1


def picked(recorded: Any, picks: str | Sequence[str]) -> Any:
    """MNE's Raw or Epochs with these channels only, or an `OptionError` that says what is there."""
    try:
        return recorded.copy().pick(picks, verbose="error")
    except ValueError as error:
        kinds = sorted(set(recorded.get_channel_types()))
        raise OptionError(
            f"There are no channels picks={picks!r}. There are {recorded.ch_names}, of types "
            f"{kinds}."
        ) from error


def require_distinct(onsets: NDArray[np.int64], names: NDArray[np.str_], raw: Any) -> None:
    """Raise a `DataError` if a label lies outside of the recording, or two at one sample."""
    sfreq, n_samples = raw.info["sfreq"], raw.n_times
    outside = np.flatnonzero((onsets < 0) | (onsets >= n_samples))
    if len(outside):
        i = outside[0]
        raise DataError(
            f"{len(outside)} of {len(onsets)} events lie outside of the recording of "
            f"{n_samples / sfreq:.1f} s, the first, {str(names[i])!r}, at "
            f"{onsets[i] / sfreq:.1f} s. Are they those of another recording, or is this one cut "
            "short?"
        )
    same = np.flatnonzero(np.diff(onsets) == 0)
    if len(same):
        i = same[0]
        raise DataError(
            f"Two events begin at {onsets[i] / sfreq:.3f} s: {str(names[i])!r} and "
            f"{str(names[i + 1])!r}. "
            "Say which events are labels: classes=[...]."
        )


def whole_trials(raw: Any, starts: NDArray[np.int64], length: int) -> NDArray[np.bool_]:
    """Which trials lie in the recording, and in no stretch that is marked bad."""
    within = (starts >= 0) & (starts + length <= raw.n_times)
    bad = np.zeros(raw.n_times + 1, dtype=np.int64)
    if any(str(name).lower().startswith("bad") for name in raw.annotations.description):
        with reading(raw.filenames[0] or "The recording"):
            marked = raw.get_data(picks=[0], reject_by_annotation="NaN", verbose="error")[0]
        bad[1:] = np.cumsum(np.isnan(marked))
    clean = within.copy()
    clean[within] = bad[starts[within] + length] == bad[starts[within]]
    said = [
        f"{count} of {len(starts)} trials {why} and are left out."
        for count, why in (
            ((~within).sum(), "begin before the recording or end after it"),
            ((within & ~clean).sum(), "overlap stretches that are marked bad"),
        )
        if count
    ]
    if not clean.any():
        raise DataError(f"No trial is left. {' '.join(said)}")
    for sentence in said:
        warnings.warn(sentence, CensoriumWarning, stacklevel=4)
    return np.asarray(clean)


@contextmanager
def reading(what: object) -> Iterator[None]:
    """Whatever MNE's readers stumble over becomes a `FileError` that names the file."""
    try:
        yield
    except CensoriumError:
        raise
    except Exception as error:
        raise FileError(
            f"{what} cannot be read; is it cut short or altered? MNE says: "
            f"{str(error) or type(error).__name__}"
        ) from error
