"""Parts of a dataset seen as one, their channels matched by name; nothing is copied."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from censorium.arrays import Floats, Ids, Ints
from censorium.errors import CensoriumWarning, DataError
from censorium.folder import ARRAYS
from censorium.selection import forget
from censorium.trials import Info, Trials


@dataclass(frozen=True)
class Joined:
    """The trials of several parts, in order; signals are read when they are indexed.

    Channels are those that all parts have, in the first one's order. Classes are those that any
    part has.
    """

    parts: Sequence[Trials]
    info: Info

    @classmethod
    def of(cls, named: Mapping[str, Trials]) -> Self:
        """The parts as one, or a `DataError` that names the part that does not fit."""
        if not named:
            raise DataError("There is no recording to prepare.")
        first, reference = next(iter(named.items()))
        for name, part in named.items():
            require_alike(first, reference, name, part)
        parts = list(named.values())
        classes = sorted((p.info.class_names for p in parts), key=len, reverse=True)
        return cls(
            parts,
            Info(
                reference.info.sfreq,
                common_channels(named),
                tuple(dict.fromkeys(name for names in classes for name in names)),
                reference.info.tmin,
            ),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the signals: trials, channels, times."""
        n_times = self.parts[0].signals.shape[2]
        return sum(map(len, self.parts)), len(self.info.ch_names), n_times

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """Of the signals."""
        return np.dtype(np.float32)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: slice) -> Floats:
        """The signals of a stretch of trials."""
        start, stop, _ = index.indices(len(self))
        found = np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        first = 0
        for part in self.parts:
            a, b = max(start, first), min(stop, first + len(part))
            if a < b:
                channels = [part.info.ch_names.index(name) for name in self.info.ch_names]
                found[a - start : b - start] = part.signals[a - first : b - first][:, channels]
                forget(part.signals)  # the pages of many parts would fill the memory
            first += len(part)
        return found

    @property
    def y(self) -> Ints:
        """The labels, as places in all classes."""
        places = {name: k for k, name in enumerate(self.info.class_names)}
        codes = [np.array([places[n] for n in p.info.class_names], np.int64) for p in self.parts]
        return np.concatenate([code[p.y] for code, p in zip(codes, self.parts, strict=True)])

    def arrays(self) -> dict[str, Any]:
        """What a folder of trials holds."""
        ids: dict[str, Ids] = {
            name: np.concatenate([getattr(part, name) for part in self.parts])
            for name in ("subject", "session")
        }
        return dict(zip(ARRAYS, (self, self.y, ids["subject"], ids["session"]), strict=True))

    def description(self) -> dict[str, Any]:
        """What a folder of trials says of them."""
        return asdict(self.info)


def common_channels(named: Mapping[str, Trials]) -> tuple[str, ...]:
    """The names that all parts have, in the first one's order; of others it is warned."""
    first, reference = next(iter(named.items()))
    common = set(reference.info.ch_names).intersection(*(p.info.ch_names for p in named.values()))
    if not common:
        other = next(
            name for name, p in named.items() if p.info.ch_names != reference.info.ch_names
        )
        raise DataError(
            f"No channel is in all recordings: {first} has {list(reference.info.ch_names)}, "
            f"{other} has {list(named[other].info.ch_names)}."
        )
    dropped = sorted({c for p in named.values() for c in p.info.ch_names} - common)
    if dropped:
        warnings.warn(
            f"Channels that are not in all recordings are left out: {', '.join(dropped)}. "
            f"{len(common)} are left.",
            CensoriumWarning,
            stacklevel=2,
        )
    return tuple(name for name in reference.info.ch_names if name in common)


def require_alike(first: str, reference: Trials, name: str, part: Trials) -> None:
    """Raise a `DataError` unless trials of both parts are of one rate, length and kind of id."""
    a, b = reference.info, part.info
    times = (reference.signals.shape[2], part.signals.shape[2])
    kinds = [(r.subject.dtype.kind, r.session.dtype.kind) for r in (reference, part)]
    if not np.isclose(a.sfreq, b.sfreq):
        raise DataError(f"{name} is sampled at {b.sfreq:g} Hz, {first} at {a.sfreq:g} Hz.")
    if times[0] != times[1] or abs(a.tmin - b.tmin) > 0.5 / a.sfreq:
        raise DataError(
            f"Trials of {name} are {times[1]} samples from {b.tmin:g} s on, those of {first} "
            f"{times[0]} from {a.tmin:g} s on."
        )
    if kinds[0] != kinds[1]:
        raise DataError(
            f"Subject and session ids must be integers in all recordings or strings in all; "
            f"{name} and {first} differ."
        )
