"""Trials prepared once, part by part, into a folder that from then on opens at once."""

import json
import logging
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from censorium import folder as folders
from censorium.datasets.joined import Joined
from censorium.errors import CensoriumError, CensoriumWarning, FileError
from censorium.files import require_place
from censorium.trials import Trials

logger = logging.getLogger(__name__)

PREPARATION = 1  # raised when the same recipe gives other trials than before

Part = Callable[[], Trials]
"""What makes the trials of one recording or one person; it runs in another process."""

OnPart = Callable[[int, int], None]


def prepared(
    folder: str | Path,
    parts: Callable[[], Mapping[str, Part]],
    recipe: Mapping[str, Any],
    *,
    workers: int = 1,
    on_part: OnPart | None = None,
) -> Trials:
    """The trials of all parts, in their order, on disk in `folder`; made there if need be.

    `parts` lists them once it is known that they are needed: their sources may be gone. `recipe` is
    what, with the version of the preparation, decides the trials. A folder of the same recipe is
    opened as it is, one of another is made anew. Parts that are done are kept beside it until all
    are: who was interrupted goes on. Of two processes that want one folder, the second waits for
    the first. Each worker holds one part in memory.
    """
    folder = Path(folder).absolute()
    made = json.loads(json.dumps({"preparation": PREPARATION, "recipe": dict(recipe)}))
    if is_made(folder, made):
        return Trials.load(folder)
    require_place(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        if not is_made(folder, made):
            tell_what_is_there(folder)
            for broken in folder.parent.glob(
                f".{folder.name}-*"
            ):  # a process killed while it wrote
                shutil.rmtree(broken, ignore_errors=True)
            jobs = parts()
            desk = open_desk(desk_of(folder), made)
            make(desk, jobs, workers=workers, on_part=on_part)
            join(desk, list(jobs), folder, made)
            shutil.rmtree(desk)
    return Trials.load(folder)


def is_made(folder: Path, made: Mapping[str, Any]) -> bool:
    """Whether `folder` holds just this."""
    return folders.made(folder) == made


def tell_what_is_there(folder: Path) -> None:
    """Say that what is there is made anew; what is not a prepared folder is left alone."""
    if not folder.exists():
        return
    if folders.made(folder) is None:
        raise FileError(
            f"{folder} was not prepared from recordings, and is left alone. Name another."
        )
    logger.warning(
        "%s was prepared from other data, with other options or by another version: it is "
        "prepared anew.",
        folder,
    )


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Inside, no other process prepares `folder`; one that does is waited for."""
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    with ExitStack() as stack:
        try:
            stack.enter_context(lock.acquire(timeout=0))
        except Timeout:
            logger.warning("Another process prepares %s: waiting for it.", folder)
            stack.enter_context(lock.acquire())
        yield


def desk_of(folder: Path) -> Path:
    """Where the parts of a folder are kept until all are there."""
    return folder.absolute().with_name(f".{folder.name}.parts")


def open_desk(desk: Path, made: Mapping[str, Any]) -> Path:
    """The desk, with what it holds of this recipe; parts of another are thrown away."""
    label = desk / "made.json"
    try:
        same = json.loads(label.read_text(encoding="utf-8")) == made
    except (OSError, ValueError):
        same = False
    if not same:
        shutil.rmtree(desk, ignore_errors=True)
        desk.mkdir()
        label.write_text(json.dumps(made), encoding="utf-8")
    return desk


def make(
    desk: Path, parts: Mapping[str, Part], *, workers: int, on_part: OnPart | None = None
) -> None:
    """Make the parts that are not there yet."""
    there = {name for name in parts if folders.is_trials_folder(desk / name)}
    if there:
        logger.warning("%d of %d parts were prepared before: going on.", len(there), len(parts))
    jobs = [delayed(keep)(desk / n, part) for n, part in parts.items() if n not in there]
    pool = Parallel(workers, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
    try:
        for done, said in enumerate(pool(jobs), start=1):
            for message in said:
                warnings.warn(message, CensoriumWarning, stacklevel=4)
            if on_part:
                on_part(len(there) + done, len(parts))
    except TerminatedWorkerError as error:
        raise FileError(
            "A process that prepared a recording was killed, most likely for want of memory. What "
            "is done is kept; go on with fewer workers."
        ) from error


def keep(place: Path, part: Part) -> list[str]:
    """Make one part and keep it; what was warned of meanwhile."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CensoriumWarning)
        try:
            part().save(place)
        except CensoriumError as error:
            raise type(error)(f"{place.name}: {error}") from error
        except Exception as error:
            error.add_note(f"This was while {place.name} was prepared.")
            raise
    return [f"{place.name}: {w.message}" for w in caught if w.category is CensoriumWarning]


def join(desk: Path, names: Sequence[str], folder: Path, made: Mapping[str, Any]) -> None:
    """Write all parts as one folder of trials."""
    joined = Joined.of({name: Trials.load(desk / name) for name in names})
    folders.write(folder, joined.arrays(), joined.description(), overwrite=True, made=made)
