"""Continuous recordings in files, as EEG amplifiers and MNE write them, cut into trials."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import mne

from censorium.datasets.cutting import picked, reading, trials_of
from censorium.datasets.events import Classes, relabelled
from censorium.datasets.parts import chosen, part_name, require_options
from censorium.datasets.prepare import Part
from censorium.errors import CensoriumWarning, DataError, FileError, OptionError
from censorium.trials import Trials

KINDS = (".fif", ".fif.gz", ".edf", ".bdf", ".gdf", ".set", ".vhdr")
EPOCHS = re.compile(r"[-_]epo\.fif(\.gz)?$")
# What else MNE writes, and the later pieces of a recording that is split into several files.
OTHERS = re.compile(
    r"[-_](eve|annot|ave|cov|ica|proj|fwd|inv|src|bem|sol|trans|tfr|psd)\.fif(\.gz)?$"
    r"|_split-(?!0*1_)\d+_|-\d+\.fif(\.gz)?$"
)
CUT_SHORT = re.compile("does not match the file size|Invalid tag")
LEFT_OUT = "outside data range"
SEAMS = "boundary"


def read_recording(
    recording: str | Path | mne.io.BaseRaw,
    *,
    subject: str | int | None = None,
    session: str | int | None = None,
    events: str | Path | None = None,
    classes: Classes | None = None,
    picks: str | Sequence[str] = "eeg",
    band: tuple[float, float] = (1.0, 20.0),
    notch: float | None = 50.0,
    decimate: int | None = None,
    tmin: float = 0.0,
    seconds: float = 0.5,
    causal: bool = True,
) -> Trials:
    """The trials of one person's recording: filtered as a whole, cut at its events, thinned.

    Parameters
    ----------
    recording : path or mne.io.Raw
        A continuous recording, .fif, .edf, .bdf, .gdf, .set or .vhdr; or MNE's saved epochs,
        -epo.fif, which are filtered and cut already and whose metadata may say who is who.
    subject, session : str or int
        Who was recorded, and in which sitting; by default what the file's name says, as in
        sub-01_ses-2_eeg.edf. Without a session it is "1".
    events : path or str
        A file of events, MNE's (-eve.fif, .txt) or a table as BIDS has it (.tsv, .csv: onset in s,
        trial_type); or the name of a stim channel. By default the recording's annotations, or its
        stim channel if it has none.
    classes : list or mapping
        Which events are labels, or what class each of them is: ``{"S  1": "target"}``. All of them
        must be there. By default every event is a label under its own name.
    picks : str or list of str
        The channels: a type of MNE's, or names.
    band, notch, seconds, causal
        As in `censorium.signal.cut`.
    decimate : int
        Every how many samples one is kept; by default the most that leaves a rate of four times
        the band's end: 3 of 250 Hz.
    tmin : float
        Where a trial begins, in s from the event.

    Examples
    --------
    >>> import mne, numpy as np
    >>> from censorium.datasets.recordings import read_recording
    >>> noise = np.random.default_rng(0).normal(scale=1e-5, size=(2, 5000))
    >>> raw = mne.io.RawArray(noise, mne.create_info(["C3", "C4"], 250, "eeg"), verbose="error")
    >>> _ = raw.set_annotations(mne.Annotations([2, 4, 6], 0, ["left", "right", "left"]))
    >>> read_recording(raw, subject="anna", seconds=1).x.shape
    (3, 2, 84)
    """
    given: dict[str, Any] = {
        "events": events,
        "band": band,
        "notch": notch,
        "decimate": decimate,
        "tmin": tmin,
        "seconds": seconds,
        "causal": causal,
    }
    if isinstance(recording, mne.io.BaseRaw):
        who = whose(None, subject, session)
        return trials_of(recording, *who, classes=classes, picks=picks, **given)
    path = Path(recording)
    require_recording(path)
    if EPOCHS.search(path.name):
        require_uncut(path, given)
        return trials_of_epochs(path, subject, session, classes=classes, picks=picks)
    who = whose(path, subject, session)
    return trials_of(opened(path), *who, classes=classes, picks=picks, **given)


def recording_parts(
    path: str | Path, *, subjects: Iterable[str | int] | None = None, **options: Any
) -> dict[str, Part]:
    """One part for the recording in a file, or for each in a folder and the folders in it.

    `subjects` are those whom the names of the files say; the other options are those of
    `read_recording`.
    """
    require_options("a recording", options, read_recording)
    path = Path(path)
    files = recordings_in(path) if path.is_dir() else [path]
    if subjects is not None:
        said = {file: entities(file).get("sub") for file in files}
        wanted = chosen("subject", subjects, [who for who in said.values() if who])
        files = [file for file, who in said.items() if who in wanted]
    if len(files) > 1 and Path(str(options.get("events"))).is_file():
        raise OptionError(
            f"events={str(options['events'])!r} cannot be those of all {len(files)} recordings in "
            f"{path}. Read each with its own, or put them into the recordings as annotations."
        )
    parts: dict[str, Part] = {}
    places: dict[str, Path] = {}
    for file in files:
        require_recording(file)
        name = name_of(file, options.get("subject"), options.get("session"))
        if name in places:
            raise DataError(
                f"{places[name]} and {file} are both {name}. Move one of them elsewhere, or tell "
                "them apart by session or run in their names: sub-01_ses-2_run-1_..."
            )
        places[name] = file
        parts[name] = partial(read_recording, file, **options)
    return parts


def recordings_in(folder: Path) -> list[Path]:
    """The recordings in a folder and in those within it: 2 before 10."""
    found = [
        file
        for file in folder.rglob("*")
        if file.name.lower().endswith(KINDS)
        and not OTHERS.search(file.name)
        and not file.name.startswith(".")
    ]
    if not found:
        raise FileError(f"There is no recording in {folder}. Known are {', '.join(KINDS)}.")
    return sorted(found, key=lambda file: [_natural(part) for part in file.parts])


def _natural(name: str) -> list[tuple[int, str]]:
    pieces = re.split(r"(\d+)", name)
    return [(int(piece), "") if piece.isdecimal() else (0, piece) for piece in pieces]


def require_recording(path: Path) -> None:
    """Raise a `FileError` unless this is a file of a known kind."""
    if not path.is_file():
        raise FileError(f"There is no file {path}.")
    if not path.name.lower().endswith(KINDS):
        raise FileError(f"{path} is no recording of a known kind: {', '.join(KINDS)}.")


def entities(path: Path) -> dict[str, str]:
    """What a name like sub-01_ses-2_run-1_eeg.edf says: sub, ses, run."""
    return dict(re.findall(r"(?:^|_)(sub|ses|run)-([a-zA-Z0-9]+)", path.name))


def whose(
    path: Path | None, subject: str | int | None, session: str | int | None
) -> tuple[str | int, str | int]:
    """Who was recorded, and in which session, as the options or the file's name say."""
    said = {} if path is None else entities(path)
    if subject is None and "sub" not in said:
        raise DataError(
            f"{path or 'The recording'} does not say who was recorded. Pass subject=..., or name "
            "the file as BIDS does: sub-01_ses-2_eeg.edf."
        )
    return (
        said["sub"] if subject is None else subject,
        said.get("ses", "1") if session is None else session,
    )


def name_of(path: Path, subject: str | int | None, session: str | int | None) -> str:
    """What the part of a file is called; epochs may say elsewhere who was recorded."""
    said = entities(path)
    if EPOCHS.search(path.name) and subject is None and "sub" not in said:
        return EPOCHS.sub("", path.name)
    return part_name(*whose(path, subject, session), said.get("run"))


def require_uncut(path: Path, given: Mapping[str, Any]) -> None:
    """Raise an `OptionError` for what is asked of saved epochs, but can only be of a recording."""
    parameters = signature(read_recording).parameters
    for name, value in given.items():
        if value != parameters[name].default:
            raise OptionError(
                f"{name}={value!r} is not for {path.name}: these epochs are filtered and cut "
                "already."
            )


def opened(path: Path, read: Callable[[], mne.io.BaseRaw] | None = None) -> mne.io.BaseRaw:
    """The recording in a file, its signals not yet read; a `FileError` if it is not whole."""
    with warnings.catch_warnings(record=True) as caught, reading(path):
        warnings.simplefilter("always")
        raw = read() if read else mne.io.read_raw(path, verbose="warning")
    # BrainVision's markers are numbered by sample: where some lie beyond the end, it was later.
    markers = read is None and path.suffix.lower() == ".vhdr"
    for warning in caught:
        said = str(warning.message)
        if CUT_SHORT.search(said) or (markers and LEFT_OUT in said):
            raise FileError(
                f"{path} is cut short: {said} Copy it anew; or, if this is all there is, save what "
                "MNE reads as a .fif."
            )
        if LEFT_OUT in said or SEAMS in said:
            warnings.warn(f"{path.name}: {said}", CensoriumWarning, stacklevel=3)
    return raw


def trials_of_epochs(
    path: Path,
    subject: str | int | None,
    session: str | int | None,
    *,
    classes: Classes | None,
    picks: str | Sequence[str],
) -> Trials:
    """The trials of epochs that MNE saved; who they are of is in the metadata, or as of a Raw."""
    with reading(path):
        epochs = mne.read_epochs(path, verbose="error")
    n, metadata = len(epochs), epochs.metadata
    ids: dict[str, Any] = {}
    if subject is not None or metadata is None or "subject" not in metadata:
        who, sitting = whose(path, subject, session)
        ids = {"subject": [who] * n, "session": [sitting] * n}
    elif session is not None:
        ids = {"session": [session] * n}
    return relabelled(Trials.from_epochs(picked(epochs, picks), **ids), classes)
