"""What a person at a terminal sees of trials and of what may be wrong with them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.markup import escape
from rich.table import Table

from censorium.overview import VOLT, Overview, Person
from censorium.quality import Finding

MOST_CLASSES = 3  # of more, each subject's fewest and most are shown
MOST_SESSIONS = 2  # likewise
MOST_FINDINGS = 40
MOST_NAMED = 6


def about(overview: Overview, folder: Path) -> Table:
    """The facts about a set, one in each row."""
    place = "on disk; as much in memory once read" if overview.on_disk else "in memory"
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = {
        "folder": str(folder),
        "trials": f"{overview.n_trials:,} of {len(overview.people)} subjects "
        f"in {overview.n_sessions} sessions",
        "classes": _classes(overview),
        "channels": f"{len(overview.ch_names)}; {_placed(overview)}",
        "times": f"{overview.n_times} at {overview.sfreq:g} Hz, "
        f"{1e3 * overview.tmin:.0f} to {1e3 * overview.tmax:.0f} ms",
        "median channel": "no signal" if overview.deviation is None else _volt(overview.deviation),
        "size": f"{_size(overview.n_bytes)} {place}",
    }
    for name, value in rows.items():
        table.add_row(f"[bold]{name}[/bold]", escape(value))
    return table


def people(overview: Overview) -> Table:
    """A row for each subject."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("subject", no_wrap=True)
    for column in ("trials", "sessions", *_class_columns(overview), "rarest", "deviation"):
        table.add_column(column, justify="right")
    for person in overview.people:
        deviation = "-" if person.deviation is None else _volt(person.deviation)
        who = (str(person.subject), str(person.n_trials), _sessions(person))
        cells = (*who, *_of_classes(person), f"{person.rarest_share:.1%}", deviation)
        table.add_row(*map(escape, cells))
    return table


def found(findings: Sequence[Finding]) -> Table | str:
    """A row for each finding, errors first; a word where there are none."""
    if not findings:
        return "Nothing found."
    counts = Counter(f.severity for f in findings)
    told = ", ".join(f"{n} {severity}{'s' * (n > 1)}" for severity, n in sorted(counts.items()))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"Found: {told}", title_justify="left")
    for column in ("", "what", "where", "what to do"):
        table.add_column(column, ratio=None if not column else 3)
    for f in findings[:MOST_FINDINGS]:
        colour = "red" if f.severity == "error" else "yellow"
        severity = f"[{colour}]{f.severity}[/{colour}]"
        table.add_row(severity, escape(f.what), escape(where(f)), escape(f.advice))
    if len(findings) > MOST_FINDINGS:
        rest = len(findings) - MOST_FINDINGS
        table.add_row("", f"and {rest} more", "", "--json writes them all.")
    return table


def where(finding: Finding) -> str:
    """Where it is, in words."""
    parts = []
    if finding.subject is not None:
        parts.append(f"subject {finding.subject}")
    if finding.session is not None:
        parts.append(f"session {finding.session}")
    if finding.channels:
        parts.append(_some(finding.channels))
    if finding.trials:
        parts.append(f"trial{'s' * (len(finding.trials) > 1)} {_some(finding.trials)}")
    return "; ".join(parts) or "everywhere"


def _some(values: Sequence[object]) -> str:
    """The first of them, and how many more there are."""
    shown = ", ".join(map(str, values[:MOST_NAMED]))
    return shown if len(values) <= MOST_NAMED else f"{shown} and {len(values) - MOST_NAMED} more"


def _classes(overview: Overview) -> str:
    """The classes with their counts and, of those that occur, the most frequent over the rarest."""
    counts = [n for n in overview.classes.values() if n]
    told = ", ".join(f"{name} {n:,}" for name, n in overview.classes.items())
    return told if len(counts) < 2 else f"{told} ({max(counts) / min(counts):.1f} to 1)"


def _placed(overview: Overview) -> str:
    if not overview.unplaced:
        return "all with a place in the 10-05 system"
    if len(overview.unplaced) == len(overview.ch_names):
        return "none with a place in the 10-05 system"
    return f"without a place in the 10-05 system: {_some(overview.unplaced)}"


def _class_columns(overview: Overview) -> tuple[str, ...]:
    names = tuple(overview.classes)
    return tuple(map(escape, names)) if len(names) <= MOST_CLASSES else ("of a class",)


def _of_classes(person: Person) -> tuple[str, ...]:
    counts = tuple(person.classes.values())
    return tuple(map(str, counts)) if len(counts) <= MOST_CLASSES else (_range(counts),)


def _sessions(person: Person) -> str:
    counts = tuple(person.sessions.values())
    if len(counts) <= MOST_SESSIONS:
        return " + ".join(map(str, counts))
    return f"{len(counts)} of {_range(counts)}"


def _range(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"


def _volt(deviation: float) -> str:
    """A deviation in µV; as it is where it cannot be in volt."""
    return f"{1e6 * deviation:.3g} µV" if VOLT[0] <= deviation <= VOLT[1] else f"{deviation:.3g}"


def _size(n_bytes: int) -> str:
    for name, size in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {name}"
    return f"{n_bytes / 1e3:.1f} kB"
