"""The exceptions censorium raises, and how an unknown name is reported.

::

    CensoriumError
    ├── DataError       (ValueError)    trials that cannot be trained on or predicted
    ├── SplitError      (ValueError)    a split of subjects that would leak, or cannot be made
    ├── OptionError     (ValueError)    an option with an unknown name or an impossible value
    ├── FileError       (OSError)       a file that is missing, cut short, altered or foreign
    └── DivergedError   (RuntimeError)  a loss that became NaN or infinite

    CensoriumWarning    (UserWarning)   the work goes on, but a person should know
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")


class CensoriumError(Exception):
    """The root: catch it to catch everything that censorium raises on purpose."""


class DataError(CensoriumError, ValueError):
    """Trials that cannot be trained on or predicted."""


class SplitError(CensoriumError, ValueError):
    """A split of subjects that would leak, or cannot be made."""


class OptionError(CensoriumError, ValueError):
    """An option with an unknown name or an impossible value."""


class FileError(CensoriumError, OSError):
    """A file that is missing, cut short, altered or foreign."""


class DivergedError(CensoriumError, RuntimeError):
    """A loss that became NaN or infinite."""


class CensoriumWarning(UserWarning):
    """The work goes on, but a person should know."""


def unknown(kind: str, name: object, names: Iterable[str]) -> str:
    """The sentence for a name that is not among `names`, with the nearest right spelling."""
    names = sorted(names)
    near = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"Unknown {kind} {name!r}.{hint} Known: {', '.join(names)}."


def lookup(kind: str, name: str, table: Mapping[str, T]) -> T:
    """The object that `name` stands for in `table`, or an `OptionError` that helps."""
    try:
        return table[name]
    except (KeyError, TypeError):
        raise OptionError(unknown(kind, name, table)) from None
