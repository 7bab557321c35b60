"""Joint distributions of features, label and nuisance whose dependence is known.

Each shows the nuisance along one direction of the features and noise along all others, so that a
sum over that one direction gives every truth, whatever the number of features.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr, xlogy
from scipy.stats import norm, ortho_group, uniform

from censorium.errors import OptionError

Floats = NDArray[np.floating[Any]]

SHAPES = {"normal": norm, "uniform": uniform(loc=-1, scale=2)}
"""The law of the features about their centre: a unit normal, or even from -1 to 1."""

TAIL = 9.0  # deviations: beyond lies 1e-19 of a normal
STEP = 0.01


class Sample(NamedTuple):
    """Trials drawn from a joint: features (n, n_features), label and nuisance (n,)."""

    features: NDArray[np.float32]
    label: NDArray[np.int64]
    nuisance: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Features that have a centre for each label and nuisance value, in one direction.

    Parameters
    ----------
    name : str
        What to call it in a table.
    table : array, (labels, nuisance values)
        p(y, s).
    centres : array, (labels, nuisance values)
        Where the features lie in that direction.
    shape : {"normal", "uniform"}
        How they lie about it.
    scale : float
        By which all features are multiplied: it changes distances, not information.
    n_features : int
        How many there are: one direction, and noise that tells nothing.

    Examples
    --------
    >>> from censorium.datasets.joints import uniform_mixture
    >>> joint = uniform_mixture(8)
    >>> round(joint.mutual_information, 3)
    1.473
    >>> joint.sample(1000, seed=0).features.shape
    (1000, 1)
    """

    name: str
    table: Floats
    centres: Floats
    shape: str = "normal"
    scale: float = 1.0
    n_features: int = 1

    @property
    def n_nuisance(self) -> int:
        """How many nuisance values there are."""
        return int(self.table.shape[1])

    @property
    def entropy(self) -> float:
        """H(S) in nats."""
        share = self.table.sum(axis=0)
        return float(-xlogy(share, share).sum())

    @property
    def mutual_information(self) -> float:
        """I(Z;S) in nats."""
        return self.divergence(lambda ratio: xlogy(ratio, ratio))

    @property
    def given_label(self) -> float:
        """I(Z;S|Y) in nats."""
        return self.with_label - self.of_label

    @property
    def with_label(self) -> float:
        """I(Z,Y;S) in nats: what the chain rule makes I(Z;S|Y) + I(Y;S)."""
        weight, density = self._density()
        together = self.table[:, :, None] * density
        apart = together.sum(axis=1, keepdims=True) * self.table.sum(axis=0)[:, None]
        return float(rel_entr(together, apart).sum(axis=(0, 1)) @ weight)

    @property
    def of_label(self) -> float:
        """I(Y;S) in nats."""
        apart = self.table.sum(axis=1, keepdims=True) * self.table.sum(axis=0)
        return float(rel_entr(self.table, apart).sum())

    def divergence(self, function: Callable[[Floats], Floats]) -> float:
        """The f-divergence of p(z,s) from p(z)p(s): the mean of f(p(z,s) / p(z)p(s)) under both."""
        weight, density = self._density()
        share = self.table.sum(axis=0)
        nuisance = (self.table[:, :, None] * density).sum(axis=0) / share[:, None]
        marginal = share @ nuisance
        ratio = np.divide(nuisance, marginal, out=np.zeros_like(nuisance), where=marginal > 0)
        return float((share @ (marginal * function(ratio))) @ weight)

    @property
    def wasserstein(self) -> float | None:
        """W1 of p(z,s) from p(z)p(s), the nuisance one-hot beside z; None where it is not known.

        Where all features lie within sqrt(2), the distance of two nuisance values, no mass gains
        by going to another value: each value's features go to the pooled ones. The best potential
        of each value varies by sqrt(2) at most and so is 1-Lipschitz between values too.
        """
        if self.mutual_information < 1e-12:
            return 0.0
        low, high = self._support()
        if self.scale * (high - low) > np.sqrt(2) + 1e-12:
            return None
        at = np.linspace(low, high, 20001)
        below = SHAPES[self.shape].cdf(at - self.centres[:, :, None])
        share = self.table.sum(axis=0)
        nuisance = (self.table[:, :, None] * below).sum(axis=0) / share[:, None]
        moved = np.abs(nuisance - share @ nuisance)
        return float(self.scale * share @ np.trapezoid(moved, at, axis=1))

    def sample(self, n: int, *, seed: int) -> Sample:
        """`n` trials; the directions, too, are drawn from `seed`."""
        rng = np.random.default_rng(seed)
        cell = rng.choice(self.table.size, n, p=self.table.ravel())
        label, nuisance = np.unravel_index(cell, self.table.shape)
        features = rng.standard_normal((n, self.n_features))
        about = SHAPES[self.shape].rvs(size=n, random_state=rng)
        features[:, 0] = self.centres[label, nuisance] + about
        if self.n_features > 1:
            features = features @ ortho_group.rvs(self.n_features, random_state=rng)
        features *= self.scale
        return Sample(features.astype(np.float32), label, nuisance)

    def _support(self) -> tuple[float, float]:
        reach = 1.0 if self.shape == "uniform" else np.inf
        return self.centres.min() - reach, self.centres.max() + reach

    def _density(self) -> tuple[Floats, Floats]:
        """The weights of a sum over the direction, and p(z|y,s) (labels, nuisance, places)."""
        if self.shape == "uniform":  # the densities are steps: exact between their edges
            edges = np.unique(np.concatenate([self.centres - 1, self.centres + 1], axis=None))
            at, weight = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        else:
            at = np.arange(self.centres.min() - TAIL, self.centres.max() + TAIL, STEP)
            weight = np.full(len(at), STEP)
        return weight, SHAPES[self.shape].pdf(at - self.centres[:, :, None])


def gaussian_clusters(n_nuisance: int, separation: float, *, n_features: int = 1) -> Joint:
    """A unit normal for each nuisance value, their centres in a row, `separation` apart."""
    name = f"{n_nuisance} Gaussian clusters"
    return _unlabelled(name, separation * np.arange(n_nuisance), n_features=n_features)


def uniform_mixture(n_nuisance: int, *, scale: float = 1.0, n_features: int = 1) -> Joint:
    """Gao et al.: features even over [s, s + 2], so that I = log m - (m - 1) / m log 2."""
    name = f"{n_nuisance} uniform clusters"
    centres = 1.0 + np.arange(n_nuisance)
    return _unlabelled(name, centres, shape="uniform", scale=scale, n_features=n_features)


def independent(n_nuisance: int, *, n_features: int = 1) -> Joint:
    """Features that know nothing: every truth is 0."""
    return _unlabelled(f"{n_nuisance} alike", np.zeros(n_nuisance), n_features=n_features)


def label_between(table: ArrayLike, *, shift: float = 1.0, n_features: int = 1) -> Joint:
    """Labels that differ in frequency between nuisance values, both of which move the features.

    The table is p(y, s); a step of the label moves the features by 2, one of the nuisance by
    `shift`. Knowing the label then changes how much the features tell: I(Z;S|Y) is not I(Z;S).
    """
    share = np.asarray(table, dtype=float)
    if share.ndim != 2 or (share < 0).any() or not np.isclose(share.sum(), 1):
        raise OptionError("The table of labels and nuisance values must be shares that sum to 1.")
    label, nuisance = np.indices(share.shape)
    centres = np.asarray(2.0 * label + shift * nuisance)
    return Joint("labels that differ", share, centres, n_features=n_features)


def _unlabelled(
    name: str, centres: Floats, *, shape: str = "normal", scale: float = 1.0, n_features: int
) -> Joint:
    """One label only, all nuisance values as frequent."""
    n = len(centres)
    if n < 2 or n_features < 1:
        raise OptionError(f"Two nuisance values and a feature at least, got {n} and {n_features}.")
    table = np.full((1, n), 1 / n)
    return Joint(name, table, centres[None], shape, scale, n_features)
