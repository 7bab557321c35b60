"""What MNE's objects hold: signals of the brain, each trial with its event's name and its ids."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from censorium.errors import CensoriumWarning, DataError

BRAIN = {"eeg", "mag", "grad", "csd", "ecog", "seeg", "dbs", "hbo", "hbr"}


def brain_signals(epochs: Any) -> NDArray[np.float64]:
    """The signals, (epochs, channels, times), or a `DataError` if one is not of the brain.

    Channels marked bad are named in a `CensoriumWarning`.
    """
    require_brain(
        epochs,
        'Leave them out: epochs.pick("eeg"); or, where a type is wrong, set it: '
        'epochs.set_channel_types({name: "eeg"}).',
    )
    warn_of_bads(
        epochs,
        'Leave them out: epochs.pick("eeg", exclude="bads"); or epochs.interpolate_bads().',
        stacklevel=4,
    )
    return np.asarray(epochs.get_data(copy=False))


def require_brain(recorded: Any, remedy: str) -> None:
    """Raise a `DataError` if a channel of MNE's Raw or Epochs is no signal of the brain.

    A trigger channel tells the label, and eyes and hearts tell who it is.
    """
    others = [
        f"{name!r} ({kind})"
        for name, kind in zip(recorded.ch_names, recorded.get_channel_types(), strict=True)
        if kind not in BRAIN and not kind.startswith("fnirs")
    ]
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        raise DataError(
            f"Channels that are no signals of the brain: {', '.join(others[:5])}{more}. {remedy}"
        )


def warn_of_bads(recorded: Any, remedy: str, *, stacklevel: int) -> None:
    """Name the channels of MNE's Raw or Epochs that are marked bad in a `CensoriumWarning`."""
    bad = [name for name in recorded.ch_names if name in recorded.info["bads"]]
    if bad:
        warnings.warn(
            f"Channels marked bad are among the signals: {bad}. {remedy}",
            CensoriumWarning,
            stacklevel=stacklevel,
        )


def event_names(epochs: Any) -> NDArray[np.str_]:
    """The name of each epoch's event."""
    names = {code: name for name, code in epochs.event_id.items()}
    return np.array([names[code] for code in epochs.events[:, 2]])


def ids_of(given: Any, columns: Mapping[str, Any] | None, n: int) -> Any:
    """The ids of `n` trials: a column of that name, one integer for all, or one id for each.

    None if there is no such column.
    """
    if isinstance(given, str):
        there = columns is not None and given in columns
        return np.asarray(columns[given]) if there else None  # type: ignore[index]
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        return np.full(n, given)
    return given
