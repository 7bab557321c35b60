"""Where electrodes lie on the head."""

from collections.abc import Sequence
from functools import cache

import mne


def placed(ch_names: Sequence[str], sfreq: float) -> mne.Info:
    """EEG channels of these names, each at its place in the 10-05 system."""
    info = mne.create_info(list(ch_names), sfreq, "eeg")
    return info.set_montage(_montage(), verbose="error")


def head_places(ch_names: Sequence[str]) -> dict[str, str]:
    """The channels that have a place in the 10-05 system, and how it spells each: "FPZ" as "Fpz".

    Of channels that share a place, such as T3 and T7, the first.
    """
    found: dict[str, str] = {}
    taken = set()
    for name in ch_names:
        spelt, place = _system().get(name.lower(), (None, None))
        if spelt and place not in taken:
            found[name] = spelt
            taken.add(place)
    return found


@cache
def _system() -> dict[str, tuple[str, tuple[float, ...]]]:
    """The 10-05 system by lower-case name: how each is spelt, and where it lies."""
    places = _montage().get_positions()["ch_pos"]
    return {name.lower(): (name, tuple(at)) for name, at in places.items()}


def _montage() -> mne.channels.DigMontage:
    """The 10-05 system."""
    # MNE 1.13 calls standard_1005 by another name, and warns at the old one.
    names = mne.channels.get_builtin_montages()
    name = "colin27_1005" if "colin27_1005" in names else "standard_1005"
    return mne.channels.make_standard_montage(name)
