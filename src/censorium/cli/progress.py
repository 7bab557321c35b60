"""How far the work is: a bar for who watches a terminal, lines for who reads a log."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Tell = Callable[..., None]
"""Called as ``tell(n_done)``; ``words`` say what goes on, ``total`` how much there is after all."""

PAUSE = 10.0  # s between two lines of a log


@contextmanager
def progress(console: Console, what: str, total: int) -> Iterator[Tell]:
    """What to call as the work goes on; it says what is done, how far and how long is left."""
    if not console.is_terminal:
        yield lines(console, what, total)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=console, speed_estimate_period=120) as bar:
        task = bar.add_task(what, total=total)

        def tell(done: int, words: str = what, total: int | None = None) -> None:
            bar.update(task, completed=done, description=words, total=total)

        yield tell


def lines(console: Console, what: str, total: int) -> Tell:
    """A line now and then."""
    began = said = time.monotonic()
    first: int | None = None  # what was done before, in a run that goes on

    def tell(done: int, words: str = what, total: int = total) -> None:
        nonlocal said, first
        now = time.monotonic()
        first = done - 1 if first is None else first
        if now - said < PAUSE:
            return
        said, gone = now, now - began
        left = gone / max(done - first, 1) * (total - done)
        console.print(
            f"{words}: {done} of {total}, {clock(gone)} gone, {clock(left)} left", soft_wrap=True
        )

    return tell


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
