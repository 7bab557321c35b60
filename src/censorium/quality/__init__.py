"""What may be wrong with a set of trials, and what to do about it."""

from censorium.overview import Told
from censorium.quality.finding import Finding
from censorium.quality.labels import few, one_class, ratio
from censorium.quality.signals import alike, broken, copied, flat, jumps, scale, slips, wild
from censorium.quality.survey import survey
from censorium.trials import Trials

__all__ = ["Finding", "findings"]

OF_SIGNALS = (broken, flat, scale, copied, wild, alike, jumps, slips)
OF_LABELS = (one_class, ratio, few)


def findings(trials: Trials, *, on_subject: Told | None = None) -> list[Finding]:
    """All that is found wrong, errors first; the signals are read once, in pieces.

    Examples
    --------
    >>> from censorium.datasets import load
    >>> from censorium.quality import findings
    >>> trials = load("simulated", n_subjects=3, n_sessions=1, n_trials=55)
    >>> findings(trials)
    []
    >>> trials.x[trials.subject == 2, 5] = 0
    >>> [(f.severity, f.kind, f.subject, f.channels) for f in findings(trials)]
    [('error', 'flat', 2, ('F7',))]
    """
    if not len(trials):
        return [Finding("error", "empty", "there are no trials", "Load or make some.")]
    cells = survey(trials, on_subject=on_subject)
    found = [f for check in OF_SIGNALS for f in check(cells, trials.info.ch_names)]
    found += [f for check in OF_LABELS for f in check(trials)]
    return sorted(found, key=lambda finding: finding.severity)
