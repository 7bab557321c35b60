"""Modes: from features z and one-hot labels y to the signed terms that censoring acts on."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from censorium.errors import OptionError


class Term(NamedTuple):
    """Features, and whether they are to be independent of the nuisance (+1) or dependent (-1).

    `nuisance` is which: "S" is subject x session, "subject" and "session" are its parts. `given`
    names what is held fixed, of these and the label "Y": dependence is measured among trials that
    share all of them.
    """

    sign: int
    features: Tensor
    nuisance: str = "S"
    given: tuple[str, ...] = ()


Mode = Callable[[Tensor, Tensor], tuple[Term, ...]]


def marginal(z: Tensor, y: Tensor) -> tuple[Term, ...]:
    """Z independent of S (first graphical model): I(Z;S)."""
    return (Term(+1, z),)


def conditional(z: Tensor, y: Tensor) -> tuple[Term, ...]:
    """Z independent of S given Y (second): I(Z,Y;S), which is I(Z;S|Y) + the constant I(Y;S)."""
    return (Term(+1, torch.cat([z, y], dim=-1)),)


def conditional_direct(z: Tensor, y: Tensor) -> tuple[Term, ...]:
    """Z independent of S given Y, by comparing trials of one label only: I(Z;S|Y) itself."""
    return (Term(+1, z, given=("Y",)),)


def complementary(z: Tensor, y: Tensor) -> tuple[Term, ...]:
    """The first half Z independent of S, the second half W dependent on it (third)."""
    if z.shape[-1] % 2:
        raise OptionError(
            f"Mode 'complementary' halves the features, and {z.shape[-1]} is odd. "
            "Choose an even latent_size."
        )
    first, second = z.chunk(2, dim=-1)
    return (Term(+1, first), Term(-1, second))


MODES: Mapping[str, Mode] = MappingProxyType(
    {
        "marginal": marginal,
        "conditional": conditional,
        "conditional-direct": conditional_direct,
        "complementary": complementary,
    }
)
