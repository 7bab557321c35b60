"""Preparing and opening the RSVP benchmark: speed against a plain script and the disk, and memory.

`make bench-data` simulates eight people in its real format and size (2 GB, kept in out/bench-data)
and prints what preparing, opening and sharing them takes.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from zipfile import ZipFile

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table
from scipy.io import loadmat
from scipy.signal import butter, iirnotch, lfilter, sosfilt

from censorium.cli.progress import progress
from censorium.datasets.thu_rsvp.published import SESSIONS, mat_of
from censorium.datasets.thu_rsvp.simulated import write_simulated
from censorium.trials import Trials

PAGE = Path(__file__).parents[1] / "docs" / "rsvp-benchmark.md"
TABLE_BEGINS, TABLE_ENDS = "<!-- table: made by benchmarks/data.py -->", "<!-- end -->"
MB = 1e6
SUBJECTS = range(1, 9)
PAPER = (1_024_000, 62, 63)  # trials, channels, times of the whole benchmark
N_TRAINING = 4
EVERY = 0.02  # s between two looks at memory


@dataclass(frozen=True)
class Row:
    """What was measured, and what it must not exceed or fall below."""

    what: str
    value: float
    unit: str
    bar: float | None = None

    @property
    def text(self) -> str:
        """The value."""
        return f"{self.value:,.2f}" if self.value < 10 else f"{self.value:,.0f}"

    @property
    def verdict(self) -> str:
        """Whether the bar is kept."""
        if self.bar is None:
            return ""
        return f"{'yes' if self.value <= self.bar else 'NO'}: at most {self.bar:,.0f}"


def simulated(folder: Path, console: Console) -> Path:
    """The zips of the simulated people, written once."""
    marker = folder / "whole"
    if not marker.exists():
        shutil.rmtree(folder, ignore_errors=True)
        with progress(console, "simulating sessions", 2 * len(SUBJECTS)) as tell:
            write_simulated(folder, SUBJECTS, on_session=tell)
        marker.touch()
    return folder


def by_plain_script(source: Path, desk: Path) -> int:
    """A session after the other as one would write it in an hour; how many trials there are."""
    notch = iirnotch(50, 30, fs=250)
    band = butter(5, [1, 20], "bandpass", fs=250, output="sos")
    rng, n = np.random.default_rng(0), 0
    for subject in SUBJECTS:
        for session in SESSIONS:
            name = mat_of(subject, session)
            with ZipFile(source / "S1-S10.mat.zip") as archive:
                archive.extract(name, desk)
            file = loadmat(desk / name)
            parts = []
            for block in (0, 1):
                data = np.delete(file[f"EEGdata{block + 1}"], [32, 42], axis=0)
                clean = sosfilt(band, lfilter(*notch, data)).astype(np.float32)
                y = file["class_labels"][block]
                others = rng.choice(np.flatnonzero(y == 2), 10 * np.sum(y == 1), replace=False)
                for k in np.sort(np.concatenate([np.flatnonzero(y == 1), others])):
                    first = int(file["trigger_positions"][block, k]) - 1
                    parts.append(clean[:, first : first + 125 : 2])
            np.save(desk / f"{name}.npy", np.array(parts))
            n += len(parts)
            (desk / name).unlink()
    return n


def disk_speed(source: Path) -> float:
    """Bytes a second at which the zips are read from the disk, not from memory."""
    path = source / "S1-S10.mat.zip"
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start = time.perf_counter()
        while file.read(1 << 22):
            pass
        return path.stat().st_size / (time.perf_counter() - start)


def tree_memory(pid: int) -> float:
    """Bytes that a process and its children hold, pages that they share counted once."""
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0.0
    total = 0.0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except (psutil.Error, OSError):  # it has just ended
            continue
    return total


@contextmanager
def peak_memory(pid: int) -> Iterator[Callable[[], float]]:
    """What gives the most that the tree of processes held since the block began."""
    peak, over = 0.0, Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(EVERY):
            peak = max(peak, tree_memory(pid))

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield lambda: peak
    finally:
        over.set()
        watcher.join()


def in_process(code: str, *arguments: object) -> tuple[float, float]:
    """Seconds that the code took in a fresh Python, and its peak memory with all its children."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    start = time.perf_counter()
    with subprocess.Popen(command) as process, peak_memory(process.pid) as peak:
        if process.wait():
            raise RuntimeError(f"The code failed: {code}")
        return time.perf_counter() - start, peak()


PREPARE = """
import sys
from censorium.datasets import thu_rsvp
thu_rsvp.load(sys.argv[1], source=sys.argv[2], subjects=range(1, 9), workers=int(sys.argv[3]))
"""
IMPORT = "import censorium.datasets"


def opening(folder: Path) -> tuple[float, float]:
    """Milliseconds and MB that opening a prepared folder takes, in a fresh process."""
    code = (
        "import sys, time, psutil\n"
        "from censorium import Trials\n"
        "me = psutil.Process()\n"
        "before, start = me.memory_info().rss, time.perf_counter()\n"
        "trials = Trials.load(sys.argv[1])\n"
        "print(1e3 * (time.perf_counter() - start), (me.memory_info().rss - before) / 1e6)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    milliseconds, megabytes = map(float, done.stdout.split())
    return milliseconds, megabytes


def as_large_as_the_paper(folder: Path, like: Trials) -> Path:
    """A folder of as many trials as the whole benchmark has; its signals are a hole in the disk."""
    n = PAPER[0]
    like[:1].save(folder)
    header = {"descr": "<f4", "fortran_order": False, "shape": PAPER}
    with (folder / "x.npy").open("wb") as file:
        np.lib.format.write_array_header_2_0(file, header)
        file.truncate(file.tell() + 4 * int(np.prod(PAPER, dtype=np.int64)))
    np.save(folder / "y.npy", np.arange(n) % 2)
    np.save(folder / "subject.npy", np.repeat(np.arange(1, 65), n // 64))
    np.save(folder / "session.npy", np.tile(np.repeat(["A", "B"], n // 128), 64))
    return folder


def train_on(folder: str, ready: "multiprocessing.Queue[int]", go: "multiprocessing.Event") -> None:
    """One training on seven of the eight people, as a study's process does it."""
    import torch  # noqa: PLC0415

    from censorium.estimator import CensoredClassifier  # noqa: PLC0415

    torch.set_num_threads(1)
    trials = Trials.load(folder)
    model = CensoredClassifier(epochs=1, batch_size=512, random_state=0)
    ready.put(os.getpid())
    model.fit(trials.of([s for s in trials.subjects if s != 4]))
    ready.put(0)
    go.wait()


def sharing(folder: Path) -> tuple[float, float]:
    """MB of pages of the signals that four trainings map together, and each one's own memory."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Queue(), context.Event()
    workers = [
        context.Process(target=train_on, args=(str(folder), ready, go)) for _ in range(N_TRAINING)
    ]
    for worker in workers:
        worker.start()
    for _ in range(2 * N_TRAINING):
        ready.get()
    mapped = own = 0.0
    for worker in workers:
        for region in psutil.Process(worker.pid).memory_maps(grouped=False):
            if region.path.endswith("x.npy"):
                mapped += region.pss
        own = max(own, psutil.Process(worker.pid).memory_full_info().uss)
    go.set()
    for worker in workers:
        worker.join()
    return mapped / MB, own / MB


def measure(console: Console, folder: Path) -> list[Row]:
    """All rows."""
    source = simulated(folder / "raw", console)
    n_bytes = (source / "S1-S10.mat.zip").stat().st_size
    session = raw_bytes(source)
    rows = [
        Row("one session, its raw double arrays", session / MB, "MB"),
        Row("zips of the eight people", n_bytes / MB, "MB"),
        Row("the disk's own reading", disk_speed(source) / MB, "MB/s"),
    ]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        desk = Path(name)
        start = time.perf_counter()
        n = by_plain_script(source, desk)
        plain = time.perf_counter() - start
        rows.append(Row(f"a plain script in SciPy, {n} trials", n_bytes / MB / plain, "MB/s"))
        start_up, _ = in_process(IMPORT)
        for workers in (1, 2):
            made = desk / f"prepared{workers}"
            seconds, peak = in_process(PREPARE, made, source, workers)
            each = "1 worker" if workers == 1 else f"{workers} workers"
            bar = 2.5 * workers * session / MB
            rows += [
                Row(f"censorium, {each}", n_bytes / MB / (seconds - start_up), "MB/s"),
                Row(f"  over the plain script, {each}", plain / (seconds - start_up), "times"),
                Row(f"  peak memory of all its processes, {each}", peak / MB, "MB", bar),
            ]
        whole = as_large_as_the_paper(desk / "whole", Trials.load(made))
        for what, place in (("eight people", made), ("1,024,000 trials", whole)):
            milliseconds, megabytes = opening(place)
            rows += [
                Row(f"opening {what}", milliseconds, "ms", 50),
                Row(f"  memory of that, {what}", megabytes, "MB", 50),
            ]
        mapped, own = sharing(made)
        size = (made / "x.npy").stat().st_size / MB
        rows += [
            Row("prepared signals on disk", size, "MB"),
            Row(f"  their pages in {N_TRAINING} trainings together", mapped, "MB", size),
            Row("  memory of a training's own", own, "MB"),
        ]
    return rows


def raw_bytes(source: Path) -> int:
    """Bytes of the double arrays of the first session."""
    with tempfile.TemporaryDirectory() as desk, ZipFile(source / "S1-S10.mat.zip") as archive:
        held = loadmat(archive.extract("sub1A.mat", desk))
        return sum(held[f"EEGdata{k}"].nbytes for k in (1, 2))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows there")
    parser.add_argument("--docs", action="store_true", help="write the docs' table")
    parser.add_argument("--folder", type=Path, default=Path("out/bench-data"))
    options = parser.parse_args()
    console = Console(width=110)
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = measure(console, options.folder.resolve())
    table = Table(title="Eight simulated people, two sessions each, in the real format and size")
    for column, justify in (("", "left"), ("", "right"), ("", "left"), ("kept", "left")):
        table.add_column(column, justify=justify)
    for row in rows:
        table.add_row(row.what, row.text, row.unit, row.verdict)
    console.print(table)
    if options.docs:
        lines = ["| | | kept |", "|---|--:|---|"]
        lines += [f"| {r.what.strip()} | {r.text} {r.unit} | {r.verdict} |" for r in rows]
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_BEGINS)
        after = rest.partition(TABLE_ENDS)[2]
        table = "\n".join(lines)
        PAGE.write_text(f"{before}{TABLE_BEGINS}\n{table}\n{TABLE_ENDS}{after}", encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main()
