"""Where runs are carried out: each executor by its name, with one signature."""

import re
from collections.abc import Callable

from joblib import cpu_count

from censorium.errors import OptionError, lookup
from censorium.executors.attempt import Executor, Work, attempt
from censorium.executors.local import local
from censorium.executors.processes import processes
from censorium.executors.ray import on_ray
from censorium.executors.sharing import folder_of

__all__ = [
    "EXECUTORS",
    "Executor",
    "Work",
    "attempt",
    "executor_of",
    "folder_of",
    "local",
    "on_ray",
    "processes",
]


def executor_of(text: str, *, threads: int = 1, gpus: float = 0.0) -> Executor:
    """The executor that ``local``, ``processes:N`` or ``ray[:ADDRESS]`` names.

    Each run takes so many threads and, on Ray, so much of a GPU.

    Examples
    --------
    >>> from censorium.executors import executor_of
    >>> executor_of("proceses:4")
    Traceback (most recent call last):
    censorium.errors.OptionError: Unknown executor 'proceses'. Did you mean 'processes'? Known: \
local, processes, ray.
    """
    name, _, rest = text.partition(":")
    make = lookup("executor", name, EXECUTORS)
    if threads < 1:
        raise OptionError(f"The number of threads must be 1 or more, got {threads}.")
    if gpus < 0 or (gpus and name != "ray"):
        raise OptionError(f"Only Ray gives runs their share of a GPU; got {gpus:g} for {text!r}.")
    return make(rest, threads, gpus)


def _local(rest: str, threads: int, gpus: float) -> Executor:
    if rest:
        raise OptionError(f"'local' is one process; got 'local:{rest}'. Use 'processes:{rest}'.")
    return local(threads=threads)


def _processes(rest: str, threads: int, gpus: float) -> Executor:
    if not re.fullmatch(r"\d*", rest):
        raise OptionError(f"'processes:N' wants a whole number, got 'processes:{rest}'.")
    return processes(int(rest) if rest else cpu_count(), threads=threads)


def _ray(rest: str, threads: int, gpus: float) -> Executor:
    return on_ray(rest or None, threads=threads, gpus=gpus)


EXECUTORS: dict[str, Callable[[str, int, float], Executor]] = {
    "local": _local,
    "processes": _processes,
    "ray": _ray,
}
"""By name: what makes an executor of the text after the colon."""
