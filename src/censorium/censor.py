"""Censor = measure x mode: the only place that knows both."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from censorium.dependence import MEASURES, Dependence, Measure
from censorium.errors import OptionError, lookup
from censorium.modes import MODES, Mode, Term
from censorium.randomness import RandomStream


class Censor(nn.Module):
    """A measure applied to each term of a mode, with critics and random numbers of its own.

    Parameters
    ----------
    measure, mode : str or callable
        A name in ``MEASURES`` or ``MODES``, or what those names stand for.
    n_features, n_classes, n_nuisance : int
        Sizes of the censored features z, the labels y and the nuisance s.
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

    def __init__(
        self,
        measure: str | Measure,
        mode: str | Mode = "marginal",
        *,
        n_features: int,
        n_classes: int,
        n_nuisance: int,
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
        self.register_buffer(
            "signs", torch.tensor([float(t.sign) for t in terms]), persistent=False
        )
        widths = [t.features.shape[-1] for t in terms]
        if shared_critic and len(set(widths)) > 1:
            raise OptionError(f"A shared critic needs terms of one width, got {widths}.")
        self.stream = RandomStream(seed, torch.device(device))
        with self.stream:
            critics = [
                self.measure(width, n_nuisance) for width in widths[: 1 if shared_critic else None]
            ]
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
            pairs = self._pairs(z, y)
            found = torch.stack([critic.estimate(t.features, s) for critic, t in pairs])
        if found.ndim != 1:
            raise OptionError(f"An estimate is one number, got shape {tuple(found.shape[1:])}.")
        return found

    def critic_loss(self, z: Tensor, y: Tensor, s: Tensor) -> Tensor:
        """What the critics lower; no gradient reaches the task model."""
        with self.stream:
            pairs = self._pairs(z.detach(), y)
            losses = torch.stack([critic.critic_loss(t.features, s) for critic, t in pairs])
        return self.signed_sum(losses) if self.shared_critic else losses.sum()

    def signed_sum(self, values: Tensor) -> Tensor:
        """The terms' `values` as the mode weighs them: + for independence, - for dependence."""
        return self.signs.to(values.dtype) @ values

    def _pairs(self, z: Tensor, y: Tensor) -> list[tuple[Dependence, Term]]:
        terms = self.mode(z, one_hot(y, self.n_classes).to(z.dtype))
        critics: Any = cycle(self.critics) if self.shared_critic else self.critics
        return list(zip(critics, terms, strict=False))

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
