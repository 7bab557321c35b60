"""How sure are we? Differences between models, with tests that the study's overlap cannot fool."""

from censorium.stats.compare import Chosen, Comparison, choose, compare
from censorium.stats.correction import holm, max_t
from censorium.stats.effect import Interval, bootstrap, standardised
from censorium.stats.flips import flip_test
from censorium.stats.groups import Family, Group, groups
from censorium.stats.harm import Harm, harm
from censorium.stats.intervals import Difference, paired_difference
from censorium.stats.overlap import Overlap, in_order, overlap_of
from censorium.stats.paired import Verdict, marks, overlap_t, paired_t, resampled_t
from censorium.stats.selection import choices, selected

__all__ = [
    "Chosen",
    "Comparison",
    "Difference",
    "Family",
    "Group",
    "Harm",
    "Interval",
    "Overlap",
    "Verdict",
    "bootstrap",
    "choices",
    "choose",
    "compare",
    "flip_test",
    "groups",
    "harm",
    "holm",
    "in_order",
    "marks",
    "max_t",
    "overlap_of",
    "overlap_t",
    "paired_difference",
    "paired_t",
    "resampled_t",
    "selected",
    "standardised",
]
