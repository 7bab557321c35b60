"""Censor = measure x mode: the only place that knows both."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.functional import one_hot

from censorium.dependence import MEASURES, Dependence, Measure
from censorium.errors import OptionError, lookup
from censorium.modes import MODES, Mode, Term
from censorium.randomness import RandomStream


class Batch(NamedTuple):
    """What a critic is shown of one term: the arguments of its `Dependence`."""

    features: Tensor
    nuisance: Tensor
    given: Tensor | None = None


class Censor(nn.Module):
    """A measure applied to each term of a mode, with critics and random numbers of its own.

    Parameters
    ----------
    measure, mode : str or callable
        A name in ``MEASURES`` or ``MODES``, or what those names stand for.
    n_features, n_classes, n_nuisance : int
        Sizes of the censored features z, the labels y and the nuisance s.
    variables : mapping of str to array of int, (n_nuisance,)
        For each value of the nuisance, subject x session, its value of others that a mode may
        name: ``{"subject": [0, 0, 1, 1], "session": [0, 1, 0, 1]}``.
    shared_critic : bool
        One critic for all terms, trained on the signed sum of their losses (the paper's
        complementary objective), instead of one per term, each trained to estimate well.
    seed : int
        Of the critics' initial weights and of all they draw.

    Examples
    --------
    >>> import torch
    >>> from censorium import Censor
    >>> censor = Censor("density-ratio", "complementary", n_features=8, n_classes=2, n_nuisance=4)
    >>> z, y, s = torch.randn(32, 8), torch.randint(2, (32,)), torch.randint(4, (32,))
    >>> censor.critic_loss(z, y, s).backward()   # then a step of the critic's optimizer
    >>> censor.penalty(z, y, s).shape            # then added to the task model's loss
    torch.Size([])
    """

    signs: Tensor
    tables: Tensor

    def __init__(
        self,
        measure: str | Measure,
        mode: str | Mode = "marginal",
        *,
        n_features: int,
        n_classes: int,
        n_nuisance: int,
        variables: Mapping[str, ArrayLike] | None = None,
        shared_critic: bool = False,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        self.measure = resolve_measure(measure)
        self.mode = resolve_mode(mode)
        self.n_classes = n_classes
        self.shared_critic = shared_critic
        terms = self.mode(torch.zeros(1, n_features), torch.zeros(1, n_classes))
        if not all(isinstance(term, Term) for term in terms):
            raise OptionError(f"A mode gives a tuple of Terms, got {type(terms[0]).__name__}.")
        named = {"S": np.arange(n_nuisance)} | dict(variables or {})
        self.rows = {name: row for row, name in enumerate(named)}
        tables = torch.from_numpy(np.stack([np.asarray(table) for table in named.values()]))
        self.register_buffer("tables", tables, persistent=False)
        self.register_buffer(
            "signs", torch.tensor([float(t.sign) for t in terms]), persistent=False
        )
        sizes = [
            (
                t.features.shape[-1] + (self._size(t.given) if t.given else 0),
                self._size([t.nuisance]),
            )
            for t in terms
        ]
        for term in terms:
            self._require_variety(term)
        if shared_critic and len(set(sizes)) > 1:
            raise OptionError(
                "A shared critic needs terms of one width and one nuisance, got "
                f"{', '.join(f'{width} features of {n}' for width, n in sizes)}."
            )
        self.stream = RandomStream(seed, torch.device(device))
        with self.stream:
            critics = [self.measure(*size) for size in sizes[: 1 if shared_critic else None]]
        if not all(isinstance(critic, Dependence) for critic in critics):
            raise OptionError(f"A measure makes a Dependence, got {type(critics[0]).__name__}.")
        self.critics = nn.ModuleList(critics)
        self.to(device)

    def penalty(self, z: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The signed sum of `estimates`: the task model adds it, times the strength."""
        return self.signed_sum(self.estimates(z, y, s))

    def estimates(self, z: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """The dependence of each of the mode's terms; no gradient reaches the critics."""
        with self.stream, self._frozen():
            terms = self._terms(z, y, s)
            found = torch.stack([critic.estimate(*term) for critic, term in terms])
        if found.ndim != 1:
            raise OptionError(f"An estimate is one number, got shape {tuple(found.shape[1:])}.")
        return found

    def critic_loss(self, z: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """What the critics lower; no gradient reaches the task model."""
        with self.stream:
            terms = self._terms(z.detach(), y, s)
            losses = torch.stack([critic.critic_loss(*term) for critic, term in terms])
        return self.signed_sum(losses) if self.shared_critic else losses.sum()

    def signed_sum(self, values: Tensor) -> Tensor:
        """The terms' `values` as the mode weighs them: + for independence, - for dependence."""
        return self.signs.to(values.dtype) @ values

    def _terms(self, z: Tensor, y: Tensor, s: Tensor) -> list[tuple[Dependence, Batch]]:
        """For each of the mode's terms its critic and what the critic is shown."""
        critics: Any = cycle(self.critics) if self.shared_critic else self.critics
        terms = self.mode(z, one_hot(y, self.n_classes).to(z.dtype))
        return [(c, self._batch(t, y, s)) for c, t in zip(critics, terms, strict=False)]

    def _batch(self, term: Term, y: Tensor, s: Tensor) -> Batch:
        nuisance = self._values(term.nuisance, y, s)
        if not term.given:
            return Batch(term.features, nuisance)
        given = torch.zeros_like(s)
        for name in term.given:
            given = given * self._size((name,)) + self._values(name, y, s)
        shown = one_hot(given, self._size(term.given)).to(term.features.dtype)
        return Batch(torch.cat([term.features, shown], dim=-1), nuisance, given)

    def _require_variety(self, term: Term) -> None:
        """Raise an `OptionError` where what is held fixed leaves the nuisance one value only."""
        fixed = [name for name in term.given if name != "Y"]
        if term.nuisance == "S" and not fixed:
            return
        cells = self.tables[[self.rows[name] for name in fixed]]
        n_cells = torch.unique(cells, dim=1).shape[1] if fixed else 1
        pairs = torch.cat([cells, self.tables[self.rows[term.nuisance]][None]])
        if torch.unique(pairs, dim=1).shape[1] == n_cells:
            held = f" given {', '.join(fixed)}" if fixed else ""
            raise OptionError(
                f"The mode is about {term.nuisance}{held}, which has one value only in these "
                "trials: there is nothing to be independent of. Choose another mode."
            )

    def _values(self, name: str, y: Tensor, s: Tensor) -> Tensor:
        return y if name == "Y" else self.tables[self.rows[name], s]

    def _size(self, names: Sequence[str]) -> int:
        """How many values these variables have together."""
        for name in names:
            lookup("variable", name, self.rows | {"Y": 0})
        sizes = [
            self.n_classes if name == "Y" else int(self.tables[self.rows[name]].max()) + 1
            for name in names
        ]
        return math.prod(sizes)

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        trained = [p for p in self.critics.parameters() if p.requires_grad]
        try:
            for parameter in trained:
                parameter.requires_grad_(False)
            yield
        finally:
            for parameter in trained:
                parameter.requires_grad_(True)


def resolve_measure(measure: str | Measure) -> Measure:
    """The measure of that name, or `measure` itself where it is one already."""
    if isinstance(measure, str):
        return lookup("measure", measure, MEASURES)
    if isinstance(measure, nn.Module) or not callable(measure):
        raise OptionError(f"A measure is a name or a class of Dependence, got {measure!r}.")
    return measure


def resolve_mode(mode: str | Mode) -> Mode:
    """The mode of that name, or `mode` itself where it is one already."""
    if isinstance(mode, str):
        return lookup("mode", mode, MODES)
    if not callable(mode):
        raise OptionError(f"A mode is a name or a function of (z, y), got {mode!r}.")
    return mode
