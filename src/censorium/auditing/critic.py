"""The second estimator, a cross-fitted density ratio, and the distance W1 by a fresh critic."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor
from torch.nn.functional import one_hot

from censorium.arrays import Ints
from censorium.auditing.folds import blocked
from censorium.auditing.linear import at, ratios
from censorium.auditing.sample import Reals, Sample
from censorium.dependence.base import Dependence, Measure
from censorium.dependence.fitting import Sample as Shown
from censorium.dependence.fitting import fit
from censorium.dependence.wasserstein import Wasserstein, lipschitz_mlp
from censorium.nets import mlp
from censorium.randomness import RandomStream

HIDDEN = (32, 32)  # wider ones overfit the few thousand trials there are
CRITIC_FOLDS = 4
DISTANCE_FOLDS = 2
STOP_FOLDS = 5  # of what a critic is given, one says when to stop
DISTANCE_HIDDEN = (64, 64)  # finds as much as the usual three layers of 128, four times as fast
MOST_FOR_DISTANCE = 4000  # trials that W1's critics see: they learn slowly


narrow_wasserstein = partial(Wasserstein, net=partial(lipschitz_mlp, hidden=DISTANCE_HIDDEN))


class RatioTable(Dependence):
    """The log density ratios J(z, s) of all nuisance values at once, one output of the critic each.

    It is trained on the bound that an audit reports, the mean of J(z, s) - log sum p(s') exp
    J(z, s'), in which the mean over product pairs is exact. From a few hundred trials it learns
    what a critic of pairs needs thousands for.
    """

    unit = "nats"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()
        self.n_nuisance = n_nuisance
        self.critic = mlp(n_features, n_nuisance, hidden=HIDDEN)

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        """The bound on these trials."""
        table = self.critic(features)
        values = one_hot(nuisance, self.n_nuisance).to(table.dtype)
        if given is None:
            share = values.mean(0, keepdim=True)
        else:
            counts = one_hot(given).to(table.dtype).T @ values
            share = (counts / counts.sum(1, keepdim=True).clamp(min=1))[given]
        joint = table.gather(1, nuisance[:, None])[:, 0]
        bound: Tensor = (joint - torch.logsumexp(table + share.log(), dim=1)).mean()
        return bound

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        """Minus the bound."""
        return -self.estimate(features, nuisance, given)


class Bracket(NamedTuple):
    """log q(cell | z) / p(cell) by critics that have not seen a trial, and by those that have.

    A critic finds too little on trials that are new to it and too much on those it was trained on,
    by about as much. Normalised as here, what it finds on new ones is a bound from below.
    `seen` holds, for each critic, which trials it has seen and its table of them.
    """

    held_out: Reals
    seen: list[tuple[Ints, Reals]]


def critic_bracket(
    sample: Sample,
    label: Ints | None = None,
    *,
    seed: int,
    on_fold: Callable[[], None] = lambda: None,
) -> Bracket:
    """The tables of density ratio critics, each trained without a fold of the trials."""
    shown, share = sample.features, sample.log_share(label)
    if label is not None:
        shown = np.hstack([shown, np.eye(int(label.max()) + 1)[label]])
    features = torch.from_numpy(shown.astype(np.float32))
    given = None if label is None else torch.from_numpy(label)
    held_out, seen = np.empty((len(shown), sample.n_cells)), []

    def table(critic: Dependence, rows: Ints) -> Reals:
        with torch.no_grad():
            found = critic.get_submodule("critic")(features[rows])
        return ratios(found.double().numpy(), at(share, rows))

    shown_to = Shown(features, torch.from_numpy(sample.cell), given)
    for critic, trained_on, rows in fresh_critics(
        RatioTable, shown_to, sample.cell, CRITIC_FOLDS, seed=seed
    ):
        held_out[rows] = table(critic, rows)
        seen.append((trained_on, table(critic, trained_on)))
        on_fold()
    return Bracket(held_out, seen)


def fresh_critics(
    measure: Measure, shown: Shown, cell: Ints, n_folds: int, *, seed: int
) -> Iterator[tuple[Dependence, Ints, Ints]]:
    """For each fold a critic, the trials it was trained on, and the held-out ones.

    Other blocks than those say when to stop.
    """
    n_cells = int(cell.max()) + 1
    for k, (rest, rows) in enumerate(blocked(cell, np.arange(len(cell)), n_folds)):
        train, valid = list(blocked(cell, rest, STOP_FOLDS))[k % STOP_FOLDS]
        seen, watched = (shown.at(torch.from_numpy(part)) for part in (train, valid))
        with RandomStream((seed + k) % 2**31, torch.device("cpu")):
            critic = measure(shown.features.shape[1], n_cells)
            critic = fit(critic, seen, watched, seed % 2**31)
        yield critic.eval(), train, rows


def distance_terms(
    sample: Sample, *, seed: int, on_fold: Callable[[], None] = lambda: None
) -> tuple[Reals, Ints]:
    """Each held-out trial's part in W1 between joint and product, and the trials' cells.

    The features of a trial are divided by their root mean square length: trials of one person
    that coincide, in places that are far from those of others, are about 1 away from them.
    """
    rows = np.arange(len(sample.cell))
    n = max(MOST_FOR_DISTANCE, 4 * sample.n_cells)
    if len(rows) > n:
        rows, _ = train_test_split(
            rows, train_size=n, stratify=sample.cell, random_state=seed % 2**32
        )
        rows.sort()
    x = sample.features[rows] / np.sqrt(sample.features.shape[1])
    features, cell = torch.from_numpy(x.astype(np.float32)), torch.from_numpy(sample.cell[rows])
    share = torch.bincount(cell, minlength=sample.n_cells) / len(cell)
    terms = np.empty(len(rows))
    for critic, _, held_out in fresh_critics(
        narrow_wasserstein, Shown(features, cell), sample.cell[rows], DISTANCE_FOLDS, seed=seed
    ):
        z, s = features[held_out], cell[held_out]
        found = pair_scores(critic, z, sample.n_cells, seed)
        terms[held_out] = (found.gather(1, s[:, None])[:, 0] - found @ share).numpy()
        on_fold()
    return terms, sample.cell[rows]


def pair_scores(critic: Dependence, z: Tensor, n_cells: int, seed: int) -> Tensor:
    """J(z, s) of each trial and each cell."""
    with torch.no_grad(), RandomStream(seed % 2**31, torch.device("cpu")):
        scores = critic.get_submodule("critic")
        columns = [scores(z, torch.full((len(z),), s)).joint for s in range(n_cells)]
    return torch.stack(columns, dim=1)
