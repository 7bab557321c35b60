"""Datasets by name: `load` gives the trials of any of them, prepared once and then opened."""

import glob
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from censorium.datasets import thu_rsvp
from censorium.datasets.home import place_of
from censorium.datasets.prepare import OnPart, prepared
from censorium.datasets.simulated import simulated
from censorium.datasets.sources import MOABB, parts_of
from censorium.errors import OptionError, lookup, unknown
from censorium.trials import Trials

LOADERS: dict[str, Callable[..., Trials]] = {"simulated": simulated, thu_rsvp.NAME: thu_rsvp.load}


def load(name: str | Path, **options: Any) -> Trials:
    """The trials of the dataset called `name`; the options are those of its loader.

    `name` is "simulated", "thu-rsvp", a dataset of MOABB as in "moabb:BNCI2014_009", or the path of
    recordings of your own: a folder in BIDS layout, a file that MNE reads or a folder of them, an
    .npz or .npy file. But for "simulated", trials are prepared once and kept on disk; `folder` says
    where, `workers` how many recordings are prepared at once.

    Examples
    --------
    >>> from censorium.datasets import load
    >>> load("simulated", n_subjects=2, n_sessions=1, n_trials=22).x.shape
    (44, 62, 63)
    """
    if name not in LOADERS and (str(name).startswith(MOABB) or Path(name).exists()):
        return of_recordings(name, **options)
    loader = lookup("dataset", str(name), LOADERS)
    known = signature(loader).parameters
    for option in options:
        if option not in known:
            raise OptionError(unknown(f"option of the {name} dataset", option, known))
    return loader(**options)


def of_recordings(
    source: str | Path,
    *,
    folder: str | Path | None = None,
    workers: int = 1,
    on_part: OnPart | None = None,
    **options: Any,
) -> Trials:
    """The trials of recordings, prepared into `folder` unless they are there already."""
    recipe: dict[str, Any] = {"source": str(source), "options": options}
    if not str(source).startswith(MOABB):
        files = files_of(Path(source), options, folder)
        recipe |= {"source": str(Path(source).resolve()), "files": fingerprint(files)}
    try:
        default = place_of(Path(source).name, recipe)
    except TypeError as error:
        raise OptionError(f"Options must be text, numbers or lists of them: {error}.") from error
    place = default if folder is None else Path(folder)
    parts = partial(parts_of, source, **options)
    return prepared(place, parts, recipe, workers=workers, on_part=on_part)


def files_of(source: Path, options: Mapping[str, Any], folder: str | Path | None) -> list[Path]:
    """The files that trials are made from: in the source or beside it, and named in an option.

    What is prepared into the source itself is not among them, nor is anything hidden.
    """
    beside = source.parent.glob(f"{glob.escape(source.stem)}.*")
    named = [Path(v) for v in options.values() if isinstance(v, str | Path) and Path(v).is_file()]
    found = {*(source.rglob("*") if source.is_dir() else beside), *named}
    made = Path(folder).resolve() if folder is not None else None
    return sorted(
        path
        for path in found
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(path.anchor).parts[-2:])
        and made not in path.resolve().parents
    )


def fingerprint(files: Sequence[Path]) -> str:
    """A digest of the names, sizes and dates of files: what tells a change."""
    states = [(str(f.resolve()), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(json.dumps(states).encode()).hexdigest()
