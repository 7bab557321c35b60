"""Intervals: what other trials of the same people in the same sessions would have shown."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from censorium.arrays import Ints
from censorium.auditing.critic import Bracket
from censorium.auditing.linear import Curve
from censorium.auditing.sample import Reals, Sample

LEVEL = 0.95
N_RESAMPLES = 1000
LEARNT_FROM = 0.6  # of the trials, by each critic: less its fold, less those that say when to stop


class Limits(NamedTuple):
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float

    def within(self, least: float, most: float, n: int) -> "Limits":
        """These limits between `least` and `most`, widened by what `n` trials cannot show.

        What happens in less than 3.7 of n trials may, with a chance of 2.5 %, happen in none of
        them: no interval excludes it.
        """
        unseen = min(-np.log((1 - LEVEL) / 2) / n, 1.0) * (most - least)
        ends = (self.estimate, self.low - unseen, self.high + unseen)
        middle, low, high = (float(np.clip(value, least, most)) for value in ends)
        return Limits(middle, min(low, middle), max(high, middle))


Read = Callable[[Reals, Ints], Reals]
"""What gives each trial's term of a quantity, from a table of the trials at these places."""


def reader(share: Reals, group: Ints, cell: Ints) -> Read:
    """What reads log q(group | z) / p(group) of each trial's own group of cells off a table."""

    def read(table: Reals, rows: Ints) -> Reals:
        prior = share if len(share) == 1 else share[rows]
        inside = group[None, :] == group[cell[rows]][:, None]
        joint = logsumexp(np.where(inside, table + prior, -np.inf), axis=1)
        return np.asarray(joint - logsumexp(np.where(inside, prior, -np.inf), axis=1))

    return read


def by_curve(curve: Curve, read: Read, cell: Ints, *, seed: int) -> Limits:
    """From a bound that holds, to what the learning curve promises of many more trials.

    The low end is that of the calibrated classifier's bound, which needs no assumption. The
    estimate goes on along the curve from half the training trials to all to infinitely many, with
    what is lost falling as 1 / n: so it does for every classifier that is fitted by its likelihood.
    """
    rows = np.arange(len(cell))
    bound, whole = read(curve.tempered, rows), read(curve.whole, rows)
    one, other = (read(half, rows) for half in curve.halves)
    limit = 2 * whole - (one + other) / 2
    means = resampled_means([bound, limit], cell, seed=seed)
    # Twice the whole less the halves is, to second order, minus the product of the two halves'
    # errors: its variance is half that of what a half loses.
    gaps = [(one - other)[curve.fold == k] for k in np.unique(curve.fold)]
    between = np.mean([gap.mean() ** 2 - gap.var() / len(gap) for gap in gaps]) / 2
    deviation = np.sqrt(means[:, 1].var() + max(between, 0) / 2)
    estimate = max(float(limit.mean()), float(bound.mean()))
    low = float(np.quantile(means[:, 0], (1 - LEVEL) / 2))
    return Limits(estimate, low, estimate + float(norm.isf((1 - LEVEL) / 2) * deviation))


def by_bracket(bracket: Bracket, read: Read, cell: Ints, *, seed: int) -> Limits:
    """From what critics find on trials new to them to what they find on those they have seen."""
    terms = read(bracket.held_out, np.arange(len(cell)))
    means = resampled_means([terms], cell, seed=seed)[:, 0]
    seen = float(np.mean([read(table, rows).mean() for rows, table in bracket.seen]))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    above = max(seen - float(terms.mean()), 0.0)
    # The log ratio of a weak dependence of I nats has variance 2 I: below this a critic, which
    # keeps only what serves on trials held out from its own training, may have noticed nothing.
    unnoticed = 2 * norm.isf((1 - LEVEL) / 2) ** 2 / (LEARNT_FROM * len(cell))
    estimate = float(terms.mean()) + above / 2
    return Limits(estimate, float(low), float(high) + above + float(unnoticed))


def of_mean(terms: Reals, cell: Ints, *, seed: int) -> Limits:
    """The mean of terms that are held out, and its bootstrap interval."""
    means = resampled_means([terms], cell, seed=seed)[:, 0]
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Limits(float(terms.mean()), float(low), float(high))


def resampled_means(terms: Sequence[Reals], cell: Ints, *, seed: int) -> Reals:
    """Means of each of `terms` over trials drawn anew within each cell, (resamples, terms).

    People and sessions stay as they are: the interval is about these. Trials are drawn in blocks of
    neighbours, whose likeness would make an interval of single ones too narrow.
    """
    rng = np.random.default_rng(seed)
    values, sums = np.stack(terms, axis=1), np.zeros((N_RESAMPLES, len(terms)))
    for c in np.unique(cell):
        mine = values[cell == c]
        n, length = len(mine), round(len(mine) ** (1 / 3))
        blocks = np.mean([np.roll(mine, -shift, axis=0) for shift in range(length)], axis=0)
        n_drawn = -(-n // length)
        drawn = rng.multinomial(n_drawn, np.full(n, 1 / n), N_RESAMPLES)
        sums += drawn @ blocks * (n / n_drawn)
    return np.asarray(sums / len(cell))


def above_chance(named: Ints, sample: Sample, *, seed: int) -> float:
    """The chance that names drawn as often, but at random, are right as often or more."""
    true, n = sample.subject, len(sample.subject)
    chance = float(np.bincount(named, minlength=len(sample.subjects)) @ np.bincount(true) / n**2)
    hits = (named == true).astype(float)
    drawn = resampled_means([hits], sample.cell, seed=seed)
    deviation = max(drawn.std(), np.sqrt(chance * (1 - chance) / n))
    return float(norm.sf((hits.mean() - chance) / deviation))
