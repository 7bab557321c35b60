"""Where electrodes lie on the head."""

from collections.abc import Sequence

import mne


def placed(ch_names: Sequence[str], sfreq: float) -> mne.Info:
    """EEG channels of these names, each at its place in the 10-05 system."""
    # MNE 1.13 calls standard_1005 by another name, and warns at the old one.
    names = mne.channels.get_builtin_montages()
    montage = "colin27_1005" if "colin27_1005" in names else "standard_1005"
    info = mne.create_info(list(ch_names), sfreq, "eeg")
    return info.set_montage(mne.channels.make_standard_montage(montage), verbose="error")
