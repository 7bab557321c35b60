"""Recordings in a BIDS folder."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from censorium.arrays import listed
from censorium.datasets.parts import chosen, part_name, require_options
from censorium.datasets.prepare import Part
from censorium.datasets.recordings import KINDS, opened, read_recording
from censorium.errors import DataError, FileError, OptionError
from censorium.extras import required
from censorium.trials import Trials

FROM_BIDS = ("subject", "session", "events")  # which BIDS tells


def bids_parts(
    root: str | Path,
    *,
    task: str | None = None,
    subjects: Iterable[str] | None = None,
    sessions: Iterable[str] | None = None,
    **options: Any,
) -> dict[str, Part]:
    """One part for each EEG recording of a BIDS folder: a subject's session, or a run of it.

    Labels are the trial types in events.tsv; channels that channels.tsv calls bad are warned of.
    Where there are several tasks, `task` says which. The other options are those of
    `censorium.datasets.recordings.read_recording`.
    """
    mne_bids = required("mne_bids", "bids", "BIDS")
    require_options("a BIDS folder", options, read_recording, but=FROM_BIDS)
    if not Path(root).is_dir():
        raise FileError(f"There is no folder {root}.")
    found = mne_bids.find_matching_paths(
        root, datatypes="eeg", suffixes="eeg", extensions=list(KINDS), ignore_nosub=True
    )
    if not found:
        raise FileError(f"There is no EEG recording in the BIDS folder {root}.")
    tasks = sorted({path.task for path in found if path.task})
    if task is None and len(tasks) > 1:
        raise OptionError(f"{root} holds several tasks: {', '.join(tasks)}. Say which: task=...")
    wanted = {
        "task": chosen("task", task, tasks) or [None],
        "subject": _chosen(found, "subject", subjects),
        "session": _chosen(found, "session", sessions),
    }
    parts: dict[str, Part] = {}
    for path in found:
        if any(getattr(path, entity) not in values for entity, values in wanted.items()):
            continue
        if path.split and int(path.split) > 1:  # MNE reads it with the first
            continue
        name = part_name(path.subject, path.session, path.run)
        if name in parts:
            other = parts[name].args[0].fpath  # type: ignore[attr-defined]
            raise DataError(
                f"{other} and {path.fpath} are both {name}. Move one of them elsewhere."
            )
        parts[name] = partial(read_bids, path, **options)
    if not parts:
        raise DataError(f"{root} holds no recording of these subjects in these sessions.")
    return parts


def read_bids(path: Any, **options: Any) -> Trials:
    """The trials of the recording at a ``BIDSPath``; the options are those of `read_recording`."""
    mne_bids = required("mne_bids", "bids", "BIDS")
    raw = opened(path.fpath, partial(mne_bids.read_raw_bids, path, verbose="warning"))
    # Not the annotations that MNE-BIDS makes of them, which lack what lies outside.
    events = path.find_matching_sidecar(suffix="events", extension=".tsv", on_error="ignore")
    return read_recording(
        raw, subject=path.subject, session=path.session or "1", events=events, **options
    )


def _chosen(found: Iterable[Any], entity: str, wanted: Any) -> list[Any]:
    """The subjects or sessions that are wanted, with or without sub- and ses- before them."""
    there = sorted({getattr(path, entity) for path in found} - {None})
    if wanted is None:
        return [*there, None]
    bare = [str(one).removeprefix(f"{entity[:3]}-") for one in listed(wanted)]
    return chosen(entity, bare, there)
