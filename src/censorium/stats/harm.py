"""Who is made worse: a mean that rises may hide people who fall."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from censorium.stats.paired import Reals, differences

WORST = 0.25


class Harm(NamedTuple):
    """What a change does to those it does not help; one of each for every column.

    `worse` is the share of people made worse; about a half where the change does nothing, for then
    only noise decides. `loss` is the mean fall of these people, 0 if there are none.
    `worst_quarter` is how much better the worst quarter of people is read, `worst_before` how well
    it is read without.
    """

    worse: Reals
    loss: Reals
    worst_quarter: Reals
    worst_before: Reals


def harm(scores: ArrayLike, reference: ArrayLike) -> Harm:
    """What `scores` (people, columns) do to people beside `reference` (people,), or as many.

    The worst quarter is that of each model. Were it the quarter whom the reference reads worst,
    some of them would be there by bad luck, and any other model would seem to help them.
    """
    scores = differences(scores)
    reference = np.broadcast_to(
        np.asarray(reference, dtype=np.float64).reshape(len(scores), -1), scores.shape
    )
    both = np.isfinite(scores) & np.isfinite(reference)
    d = np.where(both, scores - reference, 0.0)
    fell = d < 0
    before = worst(np.where(both, reference, np.nan))
    return Harm(
        worse=fell.sum(axis=0) / np.maximum(both.sum(axis=0), 1),
        loss=-np.where(fell, d, 0.0).sum(axis=0) / np.maximum(fell.sum(axis=0), 1),
        worst_quarter=worst(np.where(both, scores, np.nan)) - before,
        worst_before=before,
    )


def worst(scores: Reals) -> Reals:
    """The mean of the worst quarter of each column, (people, columns); NaN is nobody."""
    n = np.isfinite(scores).sum(axis=0)
    ranks = np.arange(len(scores))[:, None]
    # Not a whole number of people: the last one counts in part.
    weight = np.clip(WORST * n - ranks, 0.0, 1.0)
    ordered = np.nan_to_num(np.sort(scores, axis=0))
    with np.errstate(invalid="ignore"):
        return np.asarray((ordered * weight).sum(axis=0) / weight.sum(axis=0))
