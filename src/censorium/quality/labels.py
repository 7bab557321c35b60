"""What may be wrong with who shows how much of what: checks on labels and subjects."""

from collections.abc import Iterator

import numpy as np

from censorium.quality.finding import Finding
from censorium.trials import Trials

FEWEST = 10  # trials of a subject in a session: who has fewer cannot be audited

# A class is off where its odds differ by this factor from the median subject's, and by as many
# deviations of what chance and the spread of the subjects explain.
ODDS = 3.0
SPREADS = 4.0
TO_DEVIATION = 1.4826  # from the median distance to the median, of normal numbers


def few(trials: Trials) -> Iterator[Finding]:
    """Subjects, and sessions of subjects, with hardly any trials."""
    for subject in trials.subjects:
        sessions, counts = np.unique(trials.session[trials.subject == subject], return_counts=True)
        held = zip(sessions.tolist(), counts.tolist(), strict=True)
        short = {session: n for session, n in held if n < FEWEST}
        if counts.sum() < FEWEST:
            short = {None: int(counts.sum())}
        for session, n in short.items():
            what = f"{n} trial{'s' * (n > 1)} only"
            yield Finding("warning", "few", what, "Leave out, or record more.", subject, session)


def one_class(trials: Trials) -> Iterator[Finding]:
    """Subjects who show one class only."""
    seen = {s: np.unique(trials.y[trials.subject == s]) for s in trials.subjects}
    lone = {s: trials.info.class_names[y[0]] for s, y in seen.items() if len(y) == 1}
    if len(lone) < len(seen):
        for subject, name in lone.items():
            what, advice = f"all trials are of class {name!r}", "Check the labels, or leave out."
            yield Finding("warning", "one class", what, advice, subject)
    elif len(set(lone.values())) == 1:
        what, advice = "there is one class only", "Nothing can be learnt from it."
        yield Finding("warning", "one class", what, advice)
    else:
        what = "nobody shows two classes: the label is the person's, not the trial's"
        advice = "Censoring who it is would censor the label too."
        yield Finding("warning", "one class", what, advice)


def ratio(trials: Trials) -> Iterator[Finding]:
    """Subjects who show some class much more or less often than the others do."""
    subjects, codes = np.unique(trials.subject, return_inverse=True)
    counts = np.zeros((len(subjects), len(trials.info.class_names)))
    np.add.at(counts, (codes, trials.y), 1)
    mixed = (counts > 0).sum(axis=1) > 1  # who shows one class is told of elsewhere
    subjects, counts = subjects[mixed], counts[mixed]
    if len(subjects) < 3:  # of two nobody can say who is off
        return
    yes, no = counts + 0.5, counts.sum(axis=1, keepdims=True) - counts + 0.5
    odds = np.log(yes / no)
    away = odds - np.median(odds, axis=0)
    spread = TO_DEVIATION * np.median(np.abs(away), axis=0)
    expected = np.sqrt(spread**2 + 1 / yes + 1 / no)
    off = np.abs(away) > np.maximum(np.log(ODDS), SPREADS * expected)
    usual = np.median(counts / counts.sum(axis=1, keepdims=True), axis=0)
    for i in np.flatnonzero(off.any(axis=1)):
        k = int(np.where(off[i], np.abs(away[i]), 0).argmax())
        share = counts[i, k] / counts[i].sum()
        what = (
            f"{share:.0%} of the trials are of class {trials.info.class_names[k]!r}, of the median "
            f"subject's {usual[k]:.0%}"
        )
        advice = "Check the labels. If it is so, censor in a conditional mode."
        yield Finding("warning", "ratio", what, advice, subjects[i].item())
