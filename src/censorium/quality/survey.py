"""What the signals of each subject in each session show, found in one pass over them."""

from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import Floats, Ints, chunks
from censorium.overview import Told, deviations, medians
from censorium.quality.continuity import LAGS, Flags, shifts, slipped, stepped
from censorium.trials import Trials

# Of the median channel's deviation. Where EEG strays by 10 µV this is 10 nV, below the noise of
# any amplifier: nothing is connected.
FLAT = 1e-3

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Cell:
    """One subject's trials of one session.

    `places` are those of the trials in the whole set. `still` and `broken`, (trials, channels), say
    which channel stands still in which trial, and which holds NaN or infinite values; `level` is
    each channel's deviation within the median of the other trials, or NaN. `twins` are channels
    that are equal in every bit. `stepped` and `slipped` are trials in which time does not run on;
    `shift` is the usual one. `digest` is the same for trials that are equal in every bit.
    """

    subject: Any
    session: Any
    places: Ints
    still: Flags
    broken: Flags
    level: NDArray[np.float64]
    twins: Pairs
    stepped: Flags
    slipped: Flags
    shift: int
    digest: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def speaks(self) -> Flags:
        """Which trials hold anything at all."""
        return np.asarray(~(self.still | self.broken).all(axis=1))


class _Seen(NamedTuple):
    """What is found in some trials; for each trial, and some for each of its channels."""

    deviation: NDArray[np.float32]
    broken: Flags
    stepped: Flags
    shifts: Ints
    digest: NDArray[np.uint64]


def survey(trials: Trials, *, on_subject: Told | None = None) -> list[Cell]:
    """A cell for each subject and session, in sorted order."""
    cells = []
    subjects = trials.subjects
    for done, subject in enumerate(subjects, 1):
        places = np.flatnonzero(trials.subject == subject)
        for session in np.unique(trials.session[places]):
            cells.append(_cell(trials, places[trials.session[places] == session]))
        if on_subject is not None:
            on_subject(done, len(subjects))
    return cells


def _cell(trials: Trials, places: Ints) -> Cell:
    """What the trials at `places` show, read in pieces."""
    pieces, twins, before = [], None, None
    for piece in chunks(trials[places].signals):
        x = np.asarray(piece)
        pieces.append(_look(x, before))
        candidates = _candidates(x, pieces[0].deviation) if twins is None else twins
        twins = _still_alike(x, candidates)
        before = x[-LAGS[-1] :]
    seen = _Seen(*(np.concatenate(found) for found in zip(*pieces, strict=True)))
    still = _still(seen)
    odd, shift = slipped(seen.shifts)
    return Cell(
        subject=trials.subject[places[0]].item(),
        session=trials.session[places[0]].item(),
        places=places,
        still=still,
        broken=seen.broken,
        level=medians(seen.deviation, ~(still | seen.broken)),
        twins=twins or (),
        stepped=seen.stepped,
        slipped=odd,
        shift=shift,
        digest=seen.digest,
    )


def _look(x: Floats, before: Floats | None) -> _Seen:
    digests = b"".join(blake2b(trial.tobytes(), digest_size=8).digest() for trial in x)
    return _Seen(
        deviation=deviations(x),
        broken=np.asarray(~np.isfinite(x).all(axis=2)),
        stepped=stepped(x),
        shifts=shifts(x, before),
        digest=np.frombuffer(digests, dtype=np.uint64),
    )


def _still(seen: _Seen) -> Flags:
    """Which channel stands still in which trial, beside what the others of the session do."""
    moving = seen.deviation[(seen.deviation > 0) & ~seen.broken]
    floor = FLAT * float(np.median(moving)) if len(moving) else 0.0
    return (seen.deviation <= floor) & ~seen.broken


def _candidates(x: Floats, deviation: NDArray[np.float32]) -> Pairs:
    """Channels that are alike in the trial in which most channels move."""
    trial = int((deviation > 0).sum(axis=1).argmax())
    alike: dict[bytes, list[int]] = {}
    for channel in np.flatnonzero(deviation[trial] > 0).tolist():
        alike.setdefault(x[trial, channel].tobytes(), []).append(channel)
    return tuple(pair for group in alike.values() for pair in combinations(group, 2))


def _still_alike(x: Floats, pairs: Pairs) -> Pairs:
    """Those of the pairs of channels that are equal in every bit of these trials too."""
    return tuple((a, b) for a, b in pairs if np.array_equal(x[:, a], x[:, b], equal_nan=True))
