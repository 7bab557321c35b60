"""All that a study's report says about one evaluation point, before it is put into words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from censorium.errors import DataError
from censorium.report.study_numbers import AtPoint, Setting, Way, at_points
from censorium.report.study_pairs import Choosing, chosen, how_to_choose
from censorium.report.study_tests import LEVEL, Found, corrected, find, least_p, n_units
from censorium.splits import SubjectSplit
from censorium.stats import Overlap, in_order, overlap_of
from censorium.study import Results

K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class Chapter:
    """One evaluation point: its settings, what was chosen among them, and what tests say.

    `overall` is what validation subjects choose among all settings, `picked` the strength that they
    choose for each way to censor, `by_measure` what they choose for each measure; `best` are the
    strengths with the highest mean on test subjects, which flatters. `found` holds the numbers,
    corrected for the number of strengths of a way; `safe` those of `picked`, corrected for the
    number of ways; `joint` those of all settings, corrected for the number of settings.
    `ratio` is test over training subjects; `by` is whose validation scores choose.
    """

    at: AtPoint
    overall: Setting | None
    picked: dict[Way, Setting]
    by_measure: dict[str, Setting]
    best: dict[Way, Setting]
    found: dict[Setting, Found]
    safe: dict[Setting, Found]
    joint: dict[Setting, Found]
    n_units: int
    ratio: float
    by: str

    @property
    def point(self) -> str:
        """The evaluation point."""
        return self.at.point

    @property
    def baseline(self) -> float | None:
        """The baseline's balanced accuracy on test subjects, mean over runs."""
        return float(self.at.baseline.test.mean()) if self.at.baseline else None

    @property
    def choice(self) -> Found | None:
        """The numbers of what validation subjects choose among all settings."""
        return self.found[self.overall] if self.overall else None

    @property
    def highest(self) -> Setting | None:
        """The censored setting with the highest mean on test subjects."""
        return max(self.best.values(), key=self._mean, default=None)

    @property
    def flattered(self) -> Found | None:
        """Its numbers."""
        return self.found[self.highest] if self.highest else None

    @property
    def shown(self) -> dict[Way, Setting]:
        """For each way the runs that stand for it: validation's choice, or the best on test."""
        return {way: self.picked.get(way, self.best[way]) for way in self.at.ways}

    @property
    def standing(self) -> dict[str, Setting]:
        """For each measure the runs that stand for it: validation's choice, or the best on test."""
        return {
            measure: self.by_measure.get(measure)
            or max((s for w, s in self.best.items() if w.measure == measure), key=self._mean)
            for measure in self.at.measures
        }

    @property
    def compared(self) -> dict[str, Setting]:
        """Those of them that have a baseline's run beside them."""
        return {m: s for m, s in self.standing.items() if self.found[s].n_pairs}

    @property
    def gainers(self) -> list[Setting]:
        """What gains after correction: ways by validation's choice, else settings by all tests."""
        few = least_p(self.n_units) > LEVEL  # flipping so few signs can find nothing
        if self.picked:
            return [s for s, f in self.safe.items() if f.holm <= LEVEL and f.gain > 0]
        p = {s: f.holm if few else f.max_t for s, f in self.joint.items()}
        return [s for s, f in self.joint.items() if p[s] <= LEVEL and f.gain > 0]

    @property
    def verdict(self) -> str:
        """Whether test subjects are read "better" or "worse"; else "mixed", "none", "unknown".

        It is mixed where the choice among all shows nothing, but some ways gain when looked at one
        by one.
        """
        if not any(f.n_pairs for s, f in self.found.items() if s.way.measure):
            return "unknown"
        if self.choice is None:
            return "better" if self.gainers else "none"
        if not self.choice.clear:
            return "mixed" if self.gainers else "none"
        return "better" if self.choice.gain > 0 else "worse"

    def _mean(self, setting: Setting) -> float:
        return self.found[setting].test


def chapters(results: Results, splits: Sequence[SubjectSplit] = ()) -> list[Chapter]:
    """A chapter for each evaluation point of a study, whose `splits` tell how folds overlap."""
    found = at_points(results)
    overlap = _overlap(results, splits)
    ratio = overlap.ratio if overlap else guessed_ratio(results)
    apart = overlap.apart if overlap else None
    return [_chapter(at, ratio, how_to_choose(at.baseline, apart)) for at in found]


def _overlap(results: Results, splits: Sequence[SubjectSplit]) -> Overlap | None:
    """What the splits have in common, in the order of the folds; an error if they are others."""
    if not splits:
        return None
    ordered = in_order(splits)
    folds, first = np.unique(results.fold, return_index=True)
    for fold, names in zip(folds.tolist(), results.subjects[first].tolist(), strict=True):
        tested = ordered[fold].test if fold < len(ordered) else ()
        if {str(name) for name in tested} != set(filter(None, names)):
            raise DataError(
                f"Fold {fold} of the results tests {sorted(filter(None, names))}, but split {fold} "
                f"tests {[str(name) for name in tested]}: give the splits of these results."
            )
    return overlap_of(ordered)


def guessed_ratio(results: Results) -> float:
    """Test over training subjects of a split, if all who do not test train."""
    there = results.subjects != ""
    n_test = float(there.sum(axis=1).mean())
    rest = len(set(results.subjects[there].tolist())) - n_test
    return n_test / rest if rest >= 1 else 1.0


def _chapter(at: AtPoint, ratio: float, how: Choosing) -> Chapter:
    everything = [s for mine in at.ways.values() for s in mine]
    overall = chosen(at.baseline, everything, how, "chosen on validation subjects among all")
    picked = _chosen(at, how, at.ways)
    measures = _chosen(
        at, how, {m: [s for s in everything if s.way.measure == m] for m in at.measures}
    )
    more = [*picked.values(), *measures.values(), *([overall] if overall else [])]
    found = find([*at.settings, *more], ratio=ratio)
    for mine in at.ways.values():
        found |= corrected(found, mine, ratio=ratio)
    return Chapter(
        at=at,
        overall=overall,
        picked=picked,
        by_measure=measures,
        best={way: max(mine, key=lambda s: found[s].test) for way, mine in at.ways.items()},
        found=found,
        safe=corrected(found, list(picked.values()), ratio=ratio),
        joint=corrected(found, everything, ratio=ratio),
        n_units=n_units(at.settings),
        ratio=ratio,
        by=how.by,
    )


def _chosen(
    at: AtPoint, how: Choosing, families: Mapping[K, Sequence[Setting]]
) -> dict[K, Setting]:
    """What validation subjects choose in each family, where they can."""
    found = {
        key: chosen(at.baseline, mine, how, f"{key}, chosen on validation subjects")
        for key, mine in families.items()
    }
    return {key: setting for key, setting in found.items() if setting}
