"""A recording whose content is known, and files of it as other programs write them."""

import mne
import numpy as np
from scipy.io import savemat

SFREQ = 250.0
SECONDS = 60
CHANNELS = ("Fz", "Cz", "Pz")
ONSETS = np.arange(3.0, 57.0, 1.5)  # s
NAMES = np.where(np.arange(len(ONSETS)) % 3 == 0, "target", "other")
BUMP = 20e-6  # V: what a target shows at Cz, 0.3 s after its onset


def signals(seed=0):
    """Three channels of noise in volt; targets show a bump in the second."""
    x = 1e-6 * np.random.default_rng(seed).standard_normal((3, int(SECONDS * SFREQ)))
    times = np.arange(x.shape[1]) / SFREQ
    for onset in ONSETS[NAMES == "target"]:
        x[1] += BUMP * np.exp(-0.5 * ((times - onset - 0.3) / 0.03) ** 2)
    return x


def recording(*, seed=0, stim=False, annotated=True):
    """It as MNE's Raw, with an eye channel; events as annotations, or in a stim channel too."""
    x, names, types = signals(seed), [*CHANNELS, "VEOG"], [*["eeg"] * 3, "eog"]
    rows = [*x, 100 * x[0]]
    if stim:
        row = np.zeros(x.shape[1])
        row[np.round(ONSETS * SFREQ).astype(int)] = np.where(NAMES == "target", 2, 1)
        rows, names, types = [*rows, row], [*names, "STI"], [*types, "stim"]
    raw = mne.io.RawArray(np.array(rows), mne.create_info(names, SFREQ, types), verbose="error")
    if annotated:
        raw.set_annotations(mne.Annotations(ONSETS, 0.0, NAMES))
    return raw


def write(path, *, seed=0, **options):
    """The recording in a file of the kind that the name of `path` says."""
    raw = recording(seed=seed, **options)
    if path.suffix == ".fif":
        raw.save(path, verbose="error")
    elif path.suffix == ".set":
        write_eeglab(path, raw)
    else:
        mne.export.export_raw(path, raw.pick("eeg"), verbose="error")
    return path


def write_eeglab(path, raw):
    """As EEGLAB saves it: a structure in MATLAB's form, the signals in microvolt."""
    n_samples = raw.n_times
    said = zip(raw.annotations.onset, raw.annotations.description, strict=True)
    events = [(onset * SFREQ + 1, str(name), 0.0) for onset, name in said]
    eeg = {
        "setname": "one",
        "srate": SFREQ,
        "nbchan": 3,
        "trials": 1,
        "pnts": n_samples,
        "xmin": 0.0,
        "xmax": (n_samples - 1) / SFREQ,
        "data": 1e6 * raw.get_data(picks="eeg"),
        "chanlocs": np.array([(name,) for name in CHANNELS], dtype=[("labels", object)]),
        "event": np.array(
            events,
            dtype=[("latency", float), ("type", object), ("duration", float)],
        ),
        "epoch": [],
        "ref": "common",
        "icawinv": [],
        "icaweights": [],
        "icasphere": [],
        "icaact": [],
    }
    savemat(path, {"EEG": eeg})
