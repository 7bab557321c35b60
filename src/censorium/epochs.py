"""What ``mne.Epochs`` hold: signals of the brain, each with the name of its event."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from censorium.errors import CensoriumWarning, DataError

BRAIN = {"eeg", "mag", "grad", "csd", "ecog", "seeg", "dbs", "hbo", "hbr"}


def brain_signals(epochs: Any) -> NDArray[np.float64]:
    """The signals, (epochs, channels, times), or a `DataError` if one is not of the brain.

    A trigger channel tells the label, and eyes and hearts tell who it is. Channels marked bad are
    named in a `CensoriumWarning`.
    """
    others = [
        f"{name!r} ({kind})"
        for name, kind in zip(epochs.ch_names, epochs.get_channel_types(), strict=True)
        if kind not in BRAIN and not kind.startswith("fnirs")
    ]
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise DataError(
            f"Channels that are no signals of the brain: {', '.join(others[:5])}{more}. "
            'Leave them out: epochs.pick("eeg"); or, where a type is wrong, set it: '
            'epochs.set_channel_types({name: "eeg"}).'
        )
    bad = [name for name in epochs.ch_names if name in epochs.info["bads"]]
    if bad:
        warnings.warn(
            f"Channels marked bad are among the signals: {bad}. "
            'Leave them out: epochs.pick("eeg", exclude="bads"); or epochs.interpolate_bads().',
            CensoriumWarning,
            stacklevel=3,
        )
    return np.asarray(epochs.get_data(copy=False))


def event_names(epochs: Any) -> NDArray[np.str_]:
    """The name of each epoch's event."""
    names = {code: name for name, code in epochs.event_id.items()}
    return np.array([names[code] for code in epochs.events[:, 2]])
