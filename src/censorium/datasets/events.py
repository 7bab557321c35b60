"""Events of a recording: when they were, what they are called, which of them are labels."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import mne
import numpy as np
from numpy.typing import NDArray

from censorium.arrays import listed
from censorium.errors import DataError, FileError, OptionError, unknown
from censorium.trials import Trials

# Not what was shown or done: stretches to leave out, seams, where a recording begins.
NO_EVENT = r"(?i)(?!bad|edge|boundary$|new segment)"
NAMES = ("trial_type", "value")  # columns of a table of events, the better one first
MISSING = ("", "n/a", "nan")

Classes = Iterable[str] | Mapping[str, str]
"""Which events are labels: their names, or a mapping from these to the names of the classes."""


class Events(NamedTuple):
    """When events were, in samples from the start of the recording, and their names."""

    onsets: NDArray[np.int64]
    names: Sequence[str]

    @classmethod
    def of(cls, raw: Any, source: str | Path | None = None) -> Self:
        """Those of MNE's Raw: its annotations or else its stim channel, unless `source` says.

        `source` is a file of events, or the name of a stim channel.
        """
        if source is None:
            found = cls.annotated(raw)
            if not found.names and "stim" in raw.get_channel_types():
                found = cls.coded(raw, mne.find_events(raw, shortest_event=1, verbose="error"))
        elif str(source) in raw.ch_names:
            found = cls.coded(
                raw, mne.find_events(raw, str(source), shortest_event=1, verbose="error")
            )
        else:
            found = cls.read(Path(source), raw)
        if not found.names:
            raise DataError(
                "There are no events: neither annotations nor changes of a stim channel. Name a "
                "file of events: events=..."
                if source is None
                else f"There are no events in {source}."
            )
        order = np.argsort(found.onsets, kind="stable")
        return cls(found.onsets[order], [found.names[i] for i in order])

    @classmethod
    def annotated(cls, raw: Any) -> Self:
        """Those that annotations tell."""
        codes, names = mne.events_from_annotations(raw, regexp=NO_EVENT, verbose="error")
        return cls.coded(raw, codes, {code: str(name) for name, code in names.items()})

    @classmethod
    def coded(cls, raw: Any, codes: Any, names: Mapping[int, str] | None = None) -> Self:
        """Those of MNE's array of events, by the names of the codes or else by the codes."""
        spoken = [str(code) if names is None else names[code] for code in codes[:, 2].tolist()]
        return cls(codes[:, 0].astype(np.int64) - raw.first_samp, spoken)

    @classmethod
    def read(cls, path: Path, raw: Any) -> Self:
        """Those of a file: BIDS's table of onsets in s, .tsv or .csv, or MNE's, .fif or .txt."""
        if not path.is_file():
            raise FileError(f"There is no file of events {path}, nor a channel of that name.")
        try:
            if path.suffix in (".tsv", ".csv"):
                return cls.tabled(path, raw.info["sfreq"])
            return cls.coded(raw, mne.read_events(path, verbose="error"))
        except (ValueError, OSError, csv.Error) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{path} cannot be read as events: {error}") from error

    @classmethod
    def tabled(cls, path: Path, sfreq: float) -> Self:
        """Those of a table with the columns onset, in s, and trial_type or else value."""
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
        columns = list(rows[0]) if rows else []
        name = next((c for c in NAMES if _is_there(c, rows)), None)
        if rows and ("onset" not in columns or name is None):
            raise FileError(
                f"{path} needs the columns onset and trial_type, or value; it has {columns}."
            )
        said = [r for r in rows if r["onset"] not in MISSING and r[name] not in MISSING]
        onsets = np.array([float(row["onset"]) for row in said])
        return cls(np.round(onsets * sfreq).astype(np.int64), [row[name] for row in said])


def _is_there(column: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column holds anything."""
    return any(row.get(column) not in (None, *MISSING) for row in rows)


def labelled(
    names: Sequence[str], classes: Classes | None
) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """Which of the events called `names` are labels, and the class of each of these."""
    there = sorted(set(names))
    if isinstance(classes, Mapping):
        wanted = {str(name): str(label) for name, label in classes.items()}
    else:
        wanted = {str(name): str(name) for name in (there if classes is None else listed(classes))}
    for name in wanted:
        if name not in there:
            raise OptionError(unknown("event", name, there))
    places = np.array([i for i, name in enumerate(names) if name in wanted], dtype=np.int64)
    return places, np.array([wanted[names[i]] for i in places])


def relabelled(trials: Trials, classes: Classes | None) -> Trials:
    """The trials of these classes only, under their new names where they have any."""
    if classes is None:
        return trials
    names = [trials.info.class_names[k] for k in trials.y]
    places, labels = labelled(names, classes)
    info = trials.info
    return Trials.from_arrays(
        trials.x[places],
        labels,
        trials.subject[places],
        trials.session[places],
        sfreq=info.sfreq,
        ch_names=info.ch_names,
        tmin=info.tmin,
    )
