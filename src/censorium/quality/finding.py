"""A finding: something that is wrong with trials, where, and what to do about it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from censorium.arrays import Ints
from censorium.quality.survey import Cell

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, where it is, and what to do.

    An error makes results wrong or stops the work; a warning is for a person to judge. Where no
    subject, session or channel is named, it is about all of them. `trials` are places in the
    whole set, from 0.
    """

    severity: Severity
    kind: str
    what: str
    advice: str
    subject: Any = None
    session: Any = None
    channels: tuple[str, ...] = ()
    trials: tuple[int, ...] = field(default=(), repr=False)


def in_session(
    cell: Cell,
    severity: Severity,
    kind: str,
    what: str,
    advice: str,
    *,
    channels: tuple[str, ...] = (),
    trials: tuple[int, ...] = (),
) -> Finding:
    """A finding in one session of one subject."""
    return Finding(severity, kind, what, advice, cell.subject, cell.session, channels, trials)


def listed_places(places: Ints) -> tuple[int, ...]:
    """Places of trials as plain numbers."""
    return tuple(places.tolist())
