"""What an audit amounts to, in plain words."""

from collections.abc import Sequence

from censorium.auditing import Audit, Information, Person
from censorium.report.summary import percent

Pair = tuple[Information, Information]


def pairs(audit: Audit) -> list[Pair]:
    """What each quantity is by the linear probe and by the density ratio."""
    found = audit.information
    return list(zip(found[::2], found[1::2], strict=True))


def headline(audit: Audit) -> Pair:
    """The information on the whole nuisance, by both estimators."""
    return pairs(audit)[0]


def by_people(audits: Sequence[Audit]) -> dict[str, list[Audit]]:
    """The audits of each group of people, in their order."""
    names = dict.fromkeys(audit.people for audit in audits)
    return {name: [audit for audit in audits if audit.people == name] for name in names}


def known(audits: Sequence[Audit]) -> list[list[Person]]:
    """For each subject of these audits, as the first orders them, the person in each audit."""
    found = [{person.subject: person for person in audit.each} for audit in audits]
    return [[each[subject] for each in found] for subject in found[0]]


def verdict(audit: Audit) -> str:
    """One or two sentences on what the features tell."""
    linear, ratio = headline(audit)
    naming = audit.naming
    named = (
        f"The subject of a held-out trial is named right in {percent(naming.balanced.estimate)} of "
        f"cases (guessing: {percent(naming.chance)})."
    )
    lows = [linear.percent.low, ratio.percent.low]
    highs = [linear.percent.high, ratio.percent.high]
    if min(lows) > 0:
        return f"{named} At least {percent(max(lows) / 100)} of {linear.about} is told."
    if max(lows) > 0:
        return (
            f"{named} One of two estimators finds something, at least {percent(max(lows) / 100)} "
            f"of {linear.about}; the other does not."
        )
    return (
        f"{named} Neither estimator finds that anything of {linear.about} is told; up to "
        f"{max(highs):.1f}\N{NO-BREAK SPACE}% might have gone unnoticed."
    )
