"""One session of the RSVP benchmark: a .mat file -> checked recordings -> trials."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import Floats, Ints
from censorium.datasets.matfile import Matrix, matrix
from censorium.datasets.thu_rsvp.published import (
    CH_NAMES,
    MICROVOLT,
    PACE,
    ROWS,
    SEQUENCE,
    SFREQ,
    TARGET,
)
from censorium.errors import DataError, FileError
from censorium.signal import cut
from censorium.trials import Info, Trials

N_BLOCKS = 2
BLOCKS = range(N_BLOCKS)
CLASS_NAMES = ("non-target", "target")
SECONDS = 0.5
DECIMATE = 2
SPAN = PACE * (SEQUENCE - 1)  # samples from the first image of a sequence to the last
TOLERANCE = 0.02  # of the span: clocks differ, sampling rates by far more


Flags = NDArray[np.bool_]


class Plan(NamedTuple):
    """What decides which trials of a session are kept, and how they are filtered."""

    ratio: float | None = 10.0
    causal: bool = True
    seed: int = 0


class Events(NamedTuple):
    """Of each block the images' first samples, counted from 0, and whether they are targets."""

    onsets: Ints
    labels: Ints


def session_trials(path: Path, subject: int, session: str, plan: Plan) -> Trials:
    """The trials of one file, one block of it in memory at a time."""
    events = read_events(path)
    kept = thinned(events.labels, plan, subject, session)
    x = np.concatenate([block_trials(path, k, events.onsets[k], kept[k], plan) for k in BLOCKS])
    y = events.labels[kept]
    info = Info(SFREQ / DECIMATE, CH_NAMES, CLASS_NAMES)
    return Trials(x, y, np.full(len(y), subject), np.full(len(y), session), info)


def read_events(path: Path) -> Events:
    """What was shown and when, or a `FileError` that says what is wrong with it."""
    positions, labels = (matrix(path, name) for name in ("trigger_positions", "class_labels"))
    n = positions.shape[1]
    if positions.shape != (N_BLOCKS, n) or n == 0 or n % SEQUENCE:
        raise FileError(
            f"trigger_positions in {path.name} must have {N_BLOCKS} rows, blocks of sequences of "
            f"{SEQUENCE} images; its shape is {positions.shape}."
        )
    if labels.shape != positions.shape:
        raise FileError(
            f"class_labels in {path.name} has shape {labels.shape}, trigger_positions has "
            f"{positions.shape}."
        )
    wrong = np.argwhere(~np.isin(labels, (1, 2)))
    if len(wrong):
        block, image = wrong[0]
        raise FileError(
            f"class_labels in {path.name} must be 1 (target) or 2 (non-target); that of image "
            f"{image} in block {block + 1} is {labels[block, image]:g}."
        )
    require_rising(path, positions)
    require_rate(path, positions)
    return Events(positions.astype(np.int64) - 1, (labels == TARGET).astype(np.int64))


def require_rising(path: Path, positions: Matrix) -> None:
    """Raise a `FileError` unless images follow one another, at whole samples."""
    falls = np.diff(positions, prepend=0) <= 0
    bad = np.argwhere(falls | (positions != np.floor(positions)))
    if len(bad):
        block, image = bad[0]
        raise FileError(
            f"trigger_positions in {path.name} must be whole numbers from 1 on that rise; that of "
            f"image {image} in block {block + 1} is {positions[block, image]:g}."
        )


def require_rate(path: Path, positions: Matrix) -> None:
    """Raise a `FileError` unless ten images a second lie as far apart as they do at 250 Hz."""
    spans = positions[:, SEQUENCE - 1 :: SEQUENCE] - positions[:, ::SEQUENCE]
    typical = float(np.median(spans))
    if abs(typical / SPAN - 1) > TOLERANCE:
        raise FileError(
            f"{path.name} is not sampled at {SFREQ:g} Hz: the {SEQUENCE} images of a sequence span "
            f"{typical:g} samples instead of {SPAN}, as if it were {SFREQ * typical / SPAN:.0f} Hz."
        )


def thinned(labels: Ints, plan: Plan, subject: int, session: str) -> Flags:
    """Which images are kept: all targets, and `ratio` others for each, drawn from both blocks."""
    kept: Flags = labels == 1
    if plan.ratio is None:
        return np.ones_like(kept)
    rng = np.random.default_rng([plan.seed, subject, ord(session)])
    others = np.flatnonzero(labels.ravel() == 0)
    n = min(len(others), int(plan.ratio * kept.sum()))
    kept.flat[rng.choice(others, n, replace=False)] = True
    return kept


def block_trials(path: Path, block: int, onsets: Ints, kept: Flags, plan: Plan) -> Floats:
    """The trials of a block in volt, without the mastoids, or a `FileError`."""
    name = f"EEGdata{block + 1}"
    data = matrix(path, name)
    if len(data) != len(ROWS):
        raise FileError(
            f"{name} in {path.name} must have {len(ROWS)} channels, its shape is {data.shape}."
        )
    end = int(onsets[-1]) + round(SECONDS * SFREQ)
    if end > data.shape[1]:
        raise FileError(
            f"{name} in {path.name} is cut short: its last image needs samples up to {end}, it has "
            f"{data.shape[1]}."
        )
    prepare = partial(cut, decimate=DECIMATE, seconds=SECONDS, causal=plan.causal)
    try:
        trials = prepare(data, SFREQ, onsets[kept])
    except DataError as error:
        raise FileError(f"{name} in {path.name}: {error}") from error
    return np.float32(MICROVOLT) * trials[:, [ROWS.index(channel) for channel in CH_NAMES]]
