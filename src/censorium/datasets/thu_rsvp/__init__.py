"""The 64-subject RSVP benchmark (Zhang et al. 2020): fetched, verified and prepared."""

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from censorium.datasets import download
from censorium.datasets.download import OnBytes, Wanted
from censorium.datasets.home import home, place_of
from censorium.datasets.prepare import OnPart, Part, desk_of, prepared
from censorium.datasets.thu_rsvp.archive import Place, opened, places
from censorium.datasets.thu_rsvp.published import N_SUBJECTS, URL, mat_of, wanted
from censorium.datasets.thu_rsvp.session import Plan, session_trials
from censorium.errors import OptionError
from censorium.trials import Trials

__all__ = ["NAME", "URL", "fetch", "load", "raw"]

NAME = "thu-rsvp"


def load(
    folder: str | Path | None = None,
    *,
    source: str | Path | None = None,
    subjects: Iterable[int] | None = None,
    ratio: float | None = 10.0,
    causal: bool = True,
    seed: int = 0,
    workers: int | None = None,
    on_part: OnPart | None = None,
) -> Trials:
    """Trials of the RSVP benchmark, prepared as in the paper: 62 x 63 at 125 Hz, in volt.

    The first call prepares them from the files that ``censorium data fetch thu-rsvp`` downloaded;
    later ones open what is there. Labels are 0, non-target, and 1, target; the nuisance is subject
    x session, "A" or "B".

    Parameters
    ----------
    folder : path, optional
        Where prepared trials are kept; by default in a folder of their own under `CENSORIUM_DATA`.
    source : path, optional
        A folder that holds the published zips, or the .mat files taken out of them.
    subjects : iterable of int, optional
        Some of the subjects, 1 to 64; by default all.
    ratio : float or None
        How many non-targets are kept for each target of a session, drawn from `seed`; None keeps
        all, 8,000 trials a session.
    causal : bool
        Filter forward only, as published and as a decoder that works live must. Otherwise both
        ways: waveforms keep their place and shape, but trials have seen their future.
    workers : int, optional
        Sessions prepared at once, each in a process of its own; by default one per core.
    """
    who = subject_numbers(subjects)
    if ratio is not None and ratio < 1:
        raise OptionError(f"ratio must be at least 1, or None to keep all trials; got {ratio}.")
    plan = Plan(ratio, causal, seed)
    recipe = {"dataset": NAME, "subjects": who, **plan._asdict()}
    if source is not None:
        recipe["source"] = str(Path(source).resolve())
    place = Path(folder) if folder is not None else place_of(NAME, recipe)
    parts = partial(session_parts, raw() if source is None else Path(source), who, plan, place)
    n_workers = workers if workers is not None else os.cpu_count() or 1
    return prepared(place, parts, recipe, workers=n_workers, on_part=on_part)


def raw() -> Path:
    """Where the benchmark's files are downloaded to."""
    return home() / NAME


def subject_numbers(subjects: Iterable[int] | None) -> list[int]:
    """`subjects` as numbers from 1 to 64, in order; by default all."""
    if subjects is None:
        return list(range(1, N_SUBJECTS + 1))
    numbers = sorted(set(subjects))
    bad = [s for s in numbers if not isinstance(s, int | np.integer) or not 1 <= s <= N_SUBJECTS]
    if bad or not numbers:
        raise OptionError(f"Subjects are numbers from 1 to {N_SUBJECTS}, got {bad or 'none'}.")
    return [int(s) for s in numbers]


def session_parts(source: Path, subjects: list[int], plan: Plan, folder: Path) -> dict[str, Part]:
    """What makes the trials of each session."""
    return {
        Path(mat_of(*key)).stem: partial(session_of, place, key, plan, desk_of(folder))
        for key, place in places(source, subjects).items()
    }


def session_of(place: Place, key: tuple[int, str], plan: Plan, desk: Path) -> Trials:
    """The trials of one session, wherever it lies."""
    with opened(place, desk / ".unpacked") as path:
        return session_trials(path, *key, plan)


def fetch(
    source: str | Path = URL,
    folder: str | Path | None = None,
    *,
    subjects: Iterable[int] | None = None,
    digests: Mapping[str, str] | None = None,
    on_bytes: OnBytes = lambda _done, _total: None,
) -> Path:
    """The folder of the benchmark's files, once they are all there and verified.

    `source` is the address they are served at, a mirror's, or a folder they were copied to.
    `digests` are the SHA-256 of a source's own files, where they are not the published ones.
    """
    files = wanted(subject_numbers(subjects))
    if digests is not None:
        files = [Wanted(name, digest) for name, digest in digests.items()]
    target = Path(folder) if folder is not None else raw()
    if "://" in str(source):
        download.fetch(files, target, str(source), on_bytes=on_bytes)
    else:
        download.take(files, Path(source), target, on_bytes=on_bytes)
    return target
