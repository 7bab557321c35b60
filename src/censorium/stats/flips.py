"""Sign flips of whole units: what the differences would be if the two models changed places."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from censorium.stats.paired import Reals, Verdict, differences, share

EXACT = 14  # units up to which every flip is tried
N_FLIPS = 10_000


def flip_test(d: ArrayLike, *, ratio: float = 0.0, seed: int = 0) -> Verdict:
    """The sign-flip test of each column of differences (units, columns).

    Where nothing differs between two models, a unit's difference might as well have the other sign.
    p is the share of flips whose t is as far from 0 as the one seen; of up to 14 units every flip
    is tried, so the least p is 2 / 2**n. With `ratio` the t seen is that of Nadeau and Bengio.

    Examples
    --------
    >>> from censorium.stats import flip_test
    >>> flip_test([0.02, 0.01, 0.03, 0.04]).p.tolist()
    [0.125]
    """
    d = differences(d)
    flipped = np.abs(flipped_t(d, seed=seed))
    seen = corrected(flipped[0], d, ratio)
    p = (flipped >= nearly(seen)).mean(axis=0)
    return Verdict(np.sign(np.nansum(d, axis=0)) * seen, np.where(too_few(d), np.nan, p))


def flipped_t(d: Reals, *, seed: int) -> Reals:
    """The t of each column under every flip, (flips, columns); the first is the one seen."""
    there = np.isfinite(d)
    n, known = there.sum(axis=0), np.where(there, d, 0.0)
    size = np.sqrt((known**2).sum(axis=0))
    # The squares stay as they are, so t follows from the sum. One flip's cosine is that between
    # the differences and a diagonal of their space: 1 or -1 if all are equal but for their signs.
    cosine = (
        signs(len(d), seed=seed)
        @ (known / np.where(size > 0, size, 1.0))
        / np.sqrt(np.maximum(n, 1))
    )
    room = np.clip(1 - cosine**2, 0.0, None)
    room[room < 1e-12] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = cosine * np.sqrt((n - 1) / room)
    return np.asarray(np.where(cosine == 0, 0.0, t))


def corrected(t: Reals, d: Reals, ratio: float) -> Reals:
    """Student's `t` as Nadeau and Bengio's."""
    n = np.isfinite(d).sum(axis=0)
    return np.asarray(t * np.sqrt(share(n, 0.0) / share(n, ratio)))


def nearly(seen: Reals) -> Reals:
    """A little less than `seen`, so that round-off makes no flip differ from its equals."""
    return np.asarray(seen * (1 - 1e-9))


def signs(n: int, *, seed: int) -> Reals:
    """Signs of `n` units, (flips, n), the first all 1: all that differ in |t|, or a sample."""
    if n <= EXACT:
        # The first unit keeps its sign: the other half are these with all signs turned.
        bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)[::-1] & 1
        return np.concatenate([np.ones((len(bits), 1)), 1.0 - 2.0 * bits], axis=1)
    drawn = np.random.default_rng(seed).integers(0, 2, (N_FLIPS, n), dtype=np.int8)
    drawn[0] = 0  # the one seen is one of the flips, so p is never 0 and the test is exact
    return np.asarray(1.0 - 2.0 * drawn)


def too_few(d: Reals) -> NDArray[np.bool_]:
    """Whether a column has fewer than two differences."""
    return np.asarray(np.isfinite(d).sum(axis=0) < 2)
