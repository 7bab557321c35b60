"""What may be wrong with the signals: checks on what each subject's sessions show."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from censorium.overview import VOLT
from censorium.quality.continuity import Flags
from censorium.quality.copies import copies
from censorium.quality.finding import Finding, in_session, listed_places
from censorium.quality.survey import Cell

# What the deviation of EEG is in other units: from, to, and what makes it volt.
UNITS = ((1e-1, 1e3, "microvolt", "1e-6"), (1e-3, 1e-1, "millivolt", "1e-3"))

# People's levels differ by a factor of three to five, units by a thousand: about their middle.
OTHER_UNIT = 30.0

# A channel is wild where it strays more or less than the median one by this factor, and by more of
# the channels' robust deviations (of the logarithm) than a channel of a good cap ever does. Blinks
# raise those at the brow by a factor of three or so.
WILD = 5.0
SPREADS = 6.0
TO_DEVIATION = 1.4826  # from the median distance to the median, of normal numbers
WILD_CHANNELS = 4  # of fewer nobody can say who is odd

Names = Sequence[str]


def flat(cells: Sequence[Cell], names: Names) -> Iterator[Finding]:
    """Channels that stand still: everywhere, in all of a session, or in some of its trials."""
    dead = np.all([c.still.all(axis=0) for c in cells], axis=0)
    if dead.any():
        what, advice = "flat in all trials", "Leave them out: they tell nothing."
        yield Finding("warning", "flat", what, advice, channels=_named(names, dead))
    for c in cells:
        whole = c.still.all(axis=0)
        if (whole & ~dead).any():
            what = "flat in the whole session"
            advice = "Interpolate here, or leave out everywhere: it tells whose trial it is."
            channels = _named(names, whole & ~dead)
            yield in_session(c, "error", "flat", what, advice, channels=channels)
        if (c.still & ~whole).any():
            what, advice = "flat in {}", "Leave those trials out, or interpolate."
            found = Finding("warning", "flat", what, advice)
            yield _in_some(found, c, c.still & ~whole, names)


def broken(cells: Sequence[Cell], names: Names) -> Iterator[Finding]:
    """NaN or infinite values."""
    for c in cells:
        if c.broken.any():
            what, advice = "NaN or infinite values in {}", "Leave those trials out, or interpolate."
            yield _in_some(Finding("error", "broken", what, advice), c, c.broken, names)


def scale(cells: Sequence[Cell], _: Names) -> Iterator[Finding]:
    """Signals in another unit than volt, or in another than those of most sessions."""
    heard = [(c, float(np.nanmedian(c.level))) for c in cells if (c.level > 0).any()]
    middle = float(np.median([level for _, level in heard])) if heard else VOLT[0]
    if not VOLT[0] <= middle <= VOLT[1]:
        what, advice = f"channels deviate by {middle:.2g}: not volt", "Find out the unit."
        for low, high, unit, factor in UNITS:
            if low <= middle < high:
                what = f"channels deviate by {middle:.2g}: looks like {unit}, not volt"
                advice = f"Multiply by {factor}, unless they were standardised."
        yield Finding("warning", "scale", what, advice)
    for c, level in heard:
        if not 1 / OTHER_UNIT < level / middle < OTHER_UNIT:
            what = f"signals {level / middle:.2g} times as large as in the median session"
            yield in_session(c, "error", "scale", what, "Bring all recordings to one unit.")


def copied(cells: Sequence[Cell], _: Names) -> Iterator[Finding]:
    """Trials that are equal in every bit, of one subject or, worse, of several."""
    for copy in copies(cells):
        trials = listed_places(copy.places)
        if copy.others:
            more = f" and {len(copy.others) - 5} more" if len(copy.others) > 5 else ""
            whose = ", ".join(str(s) for s in copy.others[:5])
            what = f"{len(trials)} trials are also those of {whose}{more}"
            advice = "Find out whose they are: a test on them would be on what was learnt."
            yield Finding("error", "copied", what, advice, copy.subject, trials=trials)
        else:
            what = f"{len(trials)} trials are equal to others of the same subject"
            advice = "Keep one of each."
            yield Finding("warning", "copied", what, advice, copy.subject, trials=trials)


def wild(cells: Sequence[Cell], names: Names) -> Iterator[Finding]:
    """Channels that stray much more or less than the others of the same session."""
    for c in cells:
        heard = c.level > 0
        if heard.sum() < WILD_CHANNELS:
            continue
        size = np.log(c.level[heard])
        away = np.zeros(len(names))
        away[heard] = size - np.median(size)
        spread = TO_DEVIATION * float(np.median(np.abs(away[heard])))
        odd = np.abs(away) > max(np.log(WILD), SPREADS * spread)
        if odd.any():
            factors = [f"{factor:.2g}" for factor in np.exp(away[odd])]
            dots = ", ..." if len(factors) > 5 else ""
            what = f"{', '.join(factors[:5])}{dots} times the deviation of the median channel"
            advice = "Look at them; interpolate or leave out."
            yield in_session(c, "warning", "wild", what, advice, channels=_named(names, odd))


def alike(cells: Sequence[Cell], names: Names) -> Iterator[Finding]:
    """Channels that are equal in every bit."""
    advice = "One is a copy of the other: leave it out."
    everywhere = set.intersection(*(set(c.twins) for c in cells))
    for pair in sorted(everywhere):
        channels = _named(names, np.isin(np.arange(len(names)), pair))
        yield Finding("warning", "alike", "equal in all trials", advice, channels=channels)
    for c in cells:
        for pair in sorted(set(c.twins) - everywhere):
            channels = _named(names, np.isin(np.arange(len(names)), pair))
            what = "equal in the whole session"
            yield in_session(c, "warning", "alike", what, advice, channels=channels)


def jumps(cells: Sequence[Cell], _: Names) -> Iterator[Finding]:
    """Trials in which nearly all channels step at one moment."""
    for c in cells:
        if c.stepped.any():
            what = f"the channels jump together in {c.stepped.sum()} of {len(c)} trials"
            advice = "Was the recording interrupted there? Leave those trials out."
            trials = listed_places(c.places[c.stepped])
            yield in_session(c, "warning", "jump", what, advice, trials=trials)


def slips(cells: Sequence[Cell], _: Names) -> Iterator[Finding]:
    """Trials that begin off the beat that nearly all of the session keep."""
    for c in cells:
        if c.slipped.any():
            what = f"{c.slipped.sum()} trials do not begin {c.shift} samples after one before"
            advice = "Did the clock or a trigger slip? Compare events and recording."
            trials = listed_places(c.places[c.slipped])
            yield in_session(c, "warning", "slip", what, advice, trials=trials)


def _in_some(found: Finding, cell: Cell, where: Flags, names: Names) -> Finding:
    """The finding, of the trials and channels of a session in which `where` is true."""
    trials = where.any(axis=1)
    return replace(
        found,
        what=found.what.format(f"{trials.sum()} of {len(cell)} trials"),
        subject=cell.subject,
        session=cell.session,
        channels=_named(names, np.any(where, axis=0)),
        trials=listed_places(cell.places[trials]),
    )


def _named(names: Names, chosen: Flags) -> tuple[str, ...]:
    return tuple(name for name, there in zip(names, chosen, strict=True) if there)
