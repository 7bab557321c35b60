"""Statements such as "Z ⟂ S | Y": what a graph may imply, and the mode that enforces them."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import Tensor

from censorium.errors import OptionError
from censorium.modes import Term

LATENT, LABEL, NUISANCE, SIGNALS = range(4)
ROLES = {"Y": LABEL, "S": NUISANCE, "subject": NUISANCE, "session": NUISANCE, "X": SIGNALS}

NAME = re.compile(r"[^\W\d_]\w*")
PERP = r"(?:⟂|⊥|⫫|_\|\|_)"
SIGN = re.compile(rf"(?:\s+(not)\s*|\s*){PERP}\s*")
NEXT = re.compile(rf",(?=[^,]*{PERP})")


class Statement(NamedTuple):
    """`left` and `right` are independent, or else dependent, given the variables `given`."""

    left: str
    right: str
    given: tuple[str, ...] = ()
    independent: bool = True

    def __str__(self) -> str:
        given = f" | {', '.join(self.given)}" if self.given else ""
        return f"{self.left} {'' if self.independent else 'not'}⟂ {self.right}{given}"

    @classmethod
    def read(cls, text: str) -> Self:
        """The statement that `text` makes; a latent stands left of a label, and that of S."""
        left, *rest = SIGN.split(require_text("statement", text).strip())
        right, bar, given = rest[-1].partition("|") if rest else ("", "", "")
        names = [name.strip() for name in (left, right, *(given.split(",") if bar else ()))]
        if len(rest) != 2 or not all(map(NAME.fullmatch, names)):
            raise OptionError(
                f"{text!r} is no statement. Write 'Z ⟂ S', 'Z ⟂ S | Y' or 'W not⟂ S'; "
                "for ⟂ you may type _||_."
            )
        if len(set(names)) < len(names):
            raise OptionError(f"{text!r} names one variable twice. Name each once.")
        left, right = sorted(names[:2], key=order)
        return cls(left, right, tuple(sorted(names[2:])), rest[0] is None)

    def hindrance(self) -> str | None:
        """Why no mode can enforce it, if so."""
        unseen = [name for name in self.given if role(name) in (LATENT, SIGNALS)]
        match role(self.left), role(self.right):
            case (first, _) if first != LATENT:
                return "both are as they were recorded, and training changes neither"
            case (_, second) if second == LATENT:
                return "both are features, and a measure compares features with a nuisance"
            case (_, second) if second != NUISANCE:
                return f"a measure compares features with a nuisance, and {self.right} is none"
            case _ if unseen:
                return f"{', '.join(unseen)} cannot be held fixed as a label or a nuisance can"
        return None


@dataclass(frozen=True)
class StatedMode:
    """A mode that enforces statements; the latents that they name share the features evenly."""

    statements: tuple[Statement, ...]
    direct: bool = False

    @property
    def __name__(self) -> str:
        return ", ".join(map(str, self.statements)) + (" (direct)" if self.direct else "")

    def __call__(self, z: Tensor, y: Tensor) -> tuple[Term, ...]:
        """One term for each statement."""
        latents = list(dict.fromkeys(s.left for s in self.statements))
        if z.shape[-1] % len(latents):
            raise OptionError(
                f"{', '.join(latents)} share the features evenly, and {z.shape[-1]} cannot be "
                f"divided by {len(latents)}. Choose a latent_size that can."
            )
        features = dict(zip(latents, z.chunk(len(latents), dim=-1), strict=True))
        return tuple(self._term(s, features[s.left], y) for s in self.statements)

    def _term(self, statement: Statement, features: Tensor, y: Tensor) -> Term:
        given, sign = statement.given, +1 if statement.independent else -1
        if "Y" in given and not self.direct:
            features = torch.cat([features, y], dim=-1)
            given = tuple(name for name in given if name != "Y")
        return Term(sign, features, statement.right, given)


def role(name: str) -> int:
    """What a variable of that name is: unless its name is one of `ROLES`, a latent."""
    return ROLES.get(name, LATENT)


def order(name: str) -> tuple[int, str]:
    """The key that sorts variables: latents, the label, nuisances, signals."""
    return role(name), name


def require_text(kind: str, value: object) -> str:
    """`value`, if it is a text."""
    if not isinstance(value, str):
        raise OptionError(f"A {kind} is a text, got {value!r}.")
    return value
