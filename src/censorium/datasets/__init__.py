"""Datasets by name: `load` gives the trials of any of them."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from censorium.datasets.simulated import simulated
from censorium.errors import OptionError, lookup, unknown
from censorium.trials import Trials

LOADERS: dict[str, Callable[..., Trials]] = {"simulated": simulated}


def load(name: str, **options: Any) -> Trials:
    """The trials of the dataset called `name`; the options are those of its loader.

    Examples
    --------
    >>> from censorium.datasets import load
    >>> load("simulated", n_subjects=2, n_sessions=1, n_trials=22).x.shape
    (44, 62, 63)
    """
    loader = lookup("dataset", name, LOADERS)
    known = signature(loader).parameters
    for option in options:
        if option not in known:
            raise OptionError(unknown(f"option of the {name} dataset", option, known))
    return loader(**options)
