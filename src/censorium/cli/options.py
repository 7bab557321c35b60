"""What several commands ask for, checked before any work starts."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from censorium.errors import FileError, OptionError, unknown
from censorium.files import require_file_place
from censorium.folder import is_trials_folder


class Name(click.Choice[str]):
    """One of several names; any other is reported with the nearest right spelling."""

    def __init__(self, kind: str, names: Iterable[str]) -> None:
        super().__init__([*names])
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if it is one of them."""
        if value not in self.choices:
            raise OptionError(unknown(self.kind, value, self.choices))
        return str(value)


class OutFile(click.Path):
    """A file to write: whether it can be is known at once, not when the work is done."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, once a file can come to lie there."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        require_file_place(path)
        folder = next((p for p in path.absolute().parents if is_trials_folder(p)), None)
        if folder:
            raise FileError(f"{folder} holds trials; put {path.name} elsewhere.")
        return path


seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),  # what scikit-learn takes
    default=0,
    show_default=True,
    help="Decides everything that is drawn.",
)
