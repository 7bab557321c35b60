"""Parts of a dataset: what they are called, and what their readers may be asked for."""

import re
from collections.abc import Collection, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

from censorium.arrays import listed
from censorium.errors import OptionError, lookup, unknown


def part_name(subject: object, session: object = None, run: object = None) -> str:
    """What the part of a person, a session or a run is called; it can be the name of a file."""
    named = {"sub": subject, "ses": session, "run": run}
    name = "_".join(f"{key}-{value}" for key, value in named.items() if value is not None)
    return re.sub(r"[^\w.-]+", "-", name)


def chosen(kind: str, wanted: Any, there: Iterable[Any]) -> list[Any]:
    """Those of `there` that are `wanted`, all where that is None; the number 1 is also "01"."""
    table = {str(one): one for one in there}
    if wanted is None:
        return list(table.values())
    numbered = {str(int(name)): one for name, one in table.items() if name.isdecimal()}
    names = [str(one) for one in listed(wanted)]
    return [lookup(kind, n, table if n in table or n not in numbered else numbered) for n in names]


def require_options(
    kind: str, options: Mapping[str, Any], reader: Any, *, but: Collection[str] = ()
) -> None:
    """Raise an `OptionError` for a name that `reader` knows no keyword of, or one of `but`."""
    known = [
        name
        for name, parameter in signature(reader).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY and name not in but
    ]
    for option in options:
        if option not in known:
            raise OptionError(unknown(f"option of {kind}", option, known))
