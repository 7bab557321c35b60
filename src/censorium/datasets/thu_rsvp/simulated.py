"""Simulated people in exactly the format of the RSVP benchmark: zips, names, variables, codes."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.io import savemat

from censorium.datasets.matfile import HDF5, USER_BLOCK
from censorium.datasets.people import CH_NAMES as SIMULATED
from censorium.datasets.simulated import PAUSE, Recording, recording
from censorium.datasets.thu_rsvp.published import (
    MICROVOLT,
    ROWS,
    SEQUENCE,
    SESSIONS,
    mat_of,
    zip_of,
)
from censorium.datasets.thu_rsvp.session import N_BLOCKS
from censorium.errors import OptionError
from censorium.extras import required

N_SEQUENCES = 40  # in a block
TARGET_RATIO = 1 / 60
STANDS_FOR = {"CB1": "PO9", "CB2": "PO10"}  # which the head model has, where the cap has others
VERSIONS = ("5", "7.3")

Variables = dict[str, NDArray[Any]]


def write_simulated(
    folder: str | Path,
    subjects: Iterable[int],
    *,
    n_sequences: int = N_SEQUENCES,
    version: str = "5",
    seed: int = 0,
    on_session: Callable[[int], None] = lambda _done: None,
    **knobs: float,
) -> dict[str, str]:
    """Write the zips of these subjects; the SHA-256 of each. `knobs` are those of `recording`."""
    if version not in VERSIONS:
        raise OptionError(f"version must be one of {', '.join(VERSIONS)}, got {version!r}.")
    folder, done = Path(folder), 0
    folder.mkdir(parents=True, exist_ok=True)
    names: set[str] = set()
    for subject in subjects:
        for session in SESSIONS:
            held = variables(subject, session, n_sequences=n_sequences, seed=seed, **knobs)
            name = zip_of(subject)
            mode: Literal["a", "w"] = "a" if name in names else "w"
            names.add(name)
            with (
                TemporaryDirectory(dir=folder) as desk,
                ZipFile(folder / name, mode, ZIP_STORED) as archive,
            ):
                path = Path(desk) / mat_of(subject, session)
                write_mat(path, held, version)
                archive.write(path, path.name)
            done += 1
            on_session(done)
    return {name: digest(folder / name) for name in sorted(names)}


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def variables(
    subject: int, session: str, *, n_sequences: int = N_SEQUENCES, seed: int = 0, **knobs: float
) -> Variables:
    """What the file of a session holds."""
    n = n_sequences * SEQUENCE
    made = recording(
        subject,
        1 + SESSIONS.index(session),
        n_trials=N_BLOCKS * n,
        target_ratio=TARGET_RATIO,
        seed=seed,
        **knobs,
    )
    data = capped(made, seed=seed)
    # The blocks' border is in the pause after the last sequence of a block.
    borders = [0, *(made.onsets[n * k] - PAUSE // 2 for k in range(1, N_BLOCKS)), data.shape[1]]
    held: Variables = {}
    for k in range(N_BLOCKS):
        held[f"EEGdata{k + 1}"] = data[:, borders[k] : borders[k + 1]]
    starts = np.array(borders[:-1])[:, None]
    held["trigger_positions"] = made.onsets.reshape(N_BLOCKS, n) - starts + 1.0
    held["class_labels"] = 2.0 - made.labels.reshape(N_BLOCKS, n)
    return held


def capped(made: Recording, *, seed: int) -> NDArray[np.float64]:
    """The recording in µV in the rows of the published files; the reference has but noise."""
    rng = np.random.default_rng([seed, len(made.onsets)])
    data = np.empty((len(ROWS), made.data.shape[1]))
    for row, name in enumerate(ROWS):
        source = STANDS_FOR.get(name, name)
        data[row] = (
            made.data[SIMULATED.index(source)] / MICROVOLT
            if source in SIMULATED
            else rng.standard_normal(made.data.shape[1])
        )
    return data


def write_mat(path: Path, held: Variables, version: str) -> None:
    """Write a MATLAB file of version 5, compressed, or of version 7.3, which is HDF5."""
    if version == "5":
        savemat(path, held, do_compression=True)
        return
    h5py = required("h5py", "matlab", "A MATLAB file of version 7.3")
    with h5py.File(path, "w", userblock_size=USER_BLOCK) as file:
        for name, values in held.items():
            made = file.create_dataset(name, data=values.T, compression="gzip", compression_opts=3)
            made.attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
        raw.seek(USER_BLOCK)
        if raw.read(len(HDF5)) != HDF5:
            raise OSError(f"{path} was not written as HDF5.")
