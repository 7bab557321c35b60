"""Modules that come with an extra of the installation, imported where they are needed."""

from importlib import import_module
from typing import Any

from censorium.errors import OptionError


def required(module: str, extra: str, what: str) -> Any:
    """A module that one of the extras installs, or an `OptionError` that says how."""
    try:
        return import_module(module)
    except ImportError as error:
        raise OptionError(
            f"{what} needs {module.split('.', maxsplit=1)[0]}: pip install 'censorium[{extra}]'."
        ) from error
