"""What a study amounts to, in plain words computed from its numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from censorium.report.study_chapter import Chapter
from censorium.report.study_pairs import people
from censorium.report.study_tests import LEVEL, Found, least_p
from censorium.report.summary import percent, signed
from censorium.study import Results

NAMES = {
    "final": "after the last epoch",
    "best-validation": "at the best validation epoch",
    "averaged": "with averaged weights",
}
DASH = "\N{EN DASH}"
NO_BASELINE = (
    "This study has no baseline, a network without censoring that is called “baseline”, so it "
    "cannot say whether censoring helps."
)


def at_point(point: str) -> str:
    """An evaluation point, in words."""
    return NAMES.get(point, f"at {point}")


def headline(chapters: Sequence[Chapter]) -> str:
    """The answer to “does it help?”, in a sentence or two."""
    by: dict[str, list[str]] = {}
    for chapter in chapters:
        by.setdefault(chapter.verdict, []).append(at_point(chapter.point))
    if set(by) == {"unknown"}:
        if not any(chapter.at.baseline for chapter in chapters):
            return NO_BASELINE
        if not any(chapter.at.ways for chapter in chapters):
            return "This study censors nothing, so it cannot say whether that helps."
        return "Too few runs are done to say whether censoring helps."
    said = []
    for verdict, words in (
        ("better", "On these data censoring helped on unseen subjects"),
        ("worse", "On these data censoring harmed unseen subjects"),
        (
            "mixed",
            "No evidence of benefit from what validation subjects choose among all, though some "
            "ways to censor gain after correction for their number",
        ),
        ("none", "No evidence of benefit"),
        ("unknown", "Nothing can be said"),
    ):
        if verdict in by:
            where = f" {_and(by[verdict])}" if len(chapters) > 1 or verdict == "better" else ""
            said.append(f"{words}{where}.")
    return " ".join(said)


def sentences(chapter: Chapter) -> list[str]:
    """What the numbers of one evaluation point say, one thing a sentence."""
    if chapter.at.baseline is None:
        return ["There is no baseline here to compare with."]
    if not chapter.at.ways:
        return ["Nothing was censored here."]
    if chapter.verdict == "unknown":
        return ["No censored run has the baseline's run of the same fold and seed beside it yet."]
    return [
        sentence
        for sentence in (
            _choice(chapter),
            _ways(chapter),
            _people(chapter),
            _paper(chapter),
            _limits(chapter),
        )
        if sentence
    ]


def _choice(chapter: Chapter) -> str:
    """What becomes of what validation subjects choose."""
    found, n = chapter.choice, _n_settings(chapter)
    if found is None:
        return _unchosen(chapter)
    what = {
        "better": "test subjects are read better than by the baseline",
        "worse": "test subjects are read worse than by the baseline",
    }.get(chapter.verdict, "there is no evidence of benefit on test subjects")
    among = "the one censored setting" if n == 1 else f"{n} censored settings"
    return (
        f"When validation subjects choose among the baseline and {among}, {what}: "
        f"{signed(found.gain)} balanced accuracy, {interval(found)}; {p_words(found.corrected)} by "
        f"the corrected t-test. (Baseline: {chapter.baseline:.3f}.)"
    )


def _unchosen(chapter: Chapter) -> str:
    """What is left to look at where validation subjects choose nothing."""
    setting, found = chapter.highest, chapter.flattered
    if setting is None or found is None or not found.n_pairs:
        return "Too few runs are done to look at a strength that was chosen."
    numbers = (
        f"{signed(found.gain)} balanced accuracy, {interval(found)}; {p_words(found.corrected)} by "
        f"the corrected t-test. (Baseline: {chapter.baseline:.3f}.)"
    )
    if _n_settings(chapter) == 1:
        return f"There is one censored setting, {setting.name}: {numbers}"
    return (
        "Validation subjects could not choose a strength: there are none, or too few runs are "
        f"done. The setting that is highest on test subjects is {setting.name}: {numbers} That "
        "flatters it, for it was picked by the scores it is judged by."
    )


def _ways(chapter: Chapter) -> str:
    """How many ways, or settings, gain after correction for their number."""
    gainers = chapter.gainers
    family = chapter.safe if chapter.picked else chapter.joint
    kind = "way" if chapter.picked else "setting"
    if len(family) < 2:
        return ""
    how = ", each at the strength that validation subjects choose," if chapter.picked else ""
    worse = sum(f.holm <= LEVEL and f.gain < 0 for f in family.values())
    best = max(gainers, key=lambda s: family[s].gain, default=None)
    also = (
        f" The largest gain of these is {signed(family[best].gain)} "
        f"({best.way if chapter.picked else best.name})."
        if best
        else ""
    )
    return (
        f"Of {len(family)} {kind}s to censor{how} "
        if chapter.picked
        else f"Of {len(family)} settings "
    ) + (
        f"{_are(len(gainers))} better than the baseline and {_are(worse)} worse after correction "
        f"for their number.{also}"
    )


def _people(chapter: Chapter) -> str:
    """Who gains and who is harmed."""
    setting = chapter.overall or chapter.highest
    found = chapter.found[setting] if setting else None
    if setting is None or found is None or not found.n_people:
        return ""
    what = (
        "that choice"
        if chapter.overall
        else f"the setting that is highest on test ({setting.name})"
    )
    who = people(setting)
    worst = int(np.argmin(who.gain))
    lost = (
        f", by {found.loss:.3f} on average; subject {who.names[worst]} loses most "
        f"({signed(float(who.gain[worst]))})"
        if who.gain[worst] < 0
        else ""
    )
    return (
        f"With {what} {percent(found.worse)} of {found.n_people} test subjects are read worse than "
        f"by the baseline{lost}. Were censoring without effect, about half would be. The worst "
        f"quarter of subjects goes from {found.quarter_before:.3f} to "
        f"{found.quarter_before + found.quarter_gain:.3f}."
    )


def _paper(chapter: Chapter) -> str:
    """What the paper's own test would have said."""
    settings = [s for mine in chapter.at.ways.values() for s in mine]
    marked = sum(chapter.found[s].mark not in ("", "-") for s in settings)
    return (
        "The paper's own test, which takes overlapping repetitions as independent and corrects "
        f"for nothing, would mark {marked} of {len(settings)} as better than the baseline."
    )


def _limits(chapter: Chapter) -> str:
    """What so few folds cannot show."""
    n = chapter.n_units
    if chapter.picked and chapter.by == "run" and chapter.verdict == "better":
        return chosen_by("run")
    if n < 2:
        return "There is one fold with people of its own, and no test can say how sure this is."
    if least_p(n) <= LEVEL:
        return ""
    return (
        f"There are {n} folds with people of their own: sign flips of so few cannot give a p below "
        f"{least_p(n):.2g}. More folds would tell more."
    )


def interval(found: Found) -> str:
    """The interval of a gain, in words."""
    if not np.isfinite(found.low + found.high):
        return "with too few folds for an interval"
    return f"95 % interval {signed(found.low)} to {signed(found.high)}"


def bounds(found: Found) -> str:
    """The interval of a gain, in a table."""
    if not np.isfinite(found.low + found.high):
        return DASH
    return f"[{signed(found.low)}, {signed(found.high)}]"


def gain(value: float) -> str:
    """A difference with its sign, or a dash."""
    return signed(value) if np.isfinite(value) else DASH


def number(value: float) -> str:
    """Three digits after the point, or a dash."""
    return f"{value + 0.0:.3f}" if np.isfinite(value) else DASH


def share(value: float) -> str:
    """A share of one in percent, or a dash."""
    return percent(value) if np.isfinite(value) else DASH


def p_value(value: float) -> str:
    """A p in a table."""
    return DASH if not np.isfinite(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def p_words(value: float) -> str:
    """A p in a sentence."""
    if not np.isfinite(value):
        return "p not known"
    return f"p {p_value(value)}" if value < 0.001 else f"p = {p_value(value)}"


def progress(results: Results, about: Mapping[str, Any]) -> str:
    """How many runs are done, of how many, and how many failed."""
    done, planned, failed = (
        len(set(results.key.tolist())),
        about.get("planned"),
        about.get("failed"),
    )
    words = (
        f"{done:,} runs are done" if planned is None else f"{done:,} of {planned:,} runs are done"
    )
    return words + (f"; {failed:,} failed" if failed else "")


def _n_settings(chapter: Chapter) -> int:
    return sum(map(len, chapter.at.ways.values()))


def chosen_by(by: str) -> str:
    """Whose validation scores choose a strength."""
    return {
        "other-folds": "For each fold the choice is made by the validation scores of those folds "
        "that have nothing to do with its test subjects.",
        "other-seeds": "For each run the choice is made by the validation scores of the same "
        "fold's other seeds.",
        "run": "There is one seed only, so each run is chosen by its own validation score: lucky "
        "trainings are chosen with it, which flatters even a censor without effect.",
    }[by]


def _are(n: int) -> str:
    return "none is" if n == 0 else "1 is" if n == 1 else f"{n} are"


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
