"""Some trials of signals that lie on disk, read only when they are asked for."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from censorium.arrays import Floats


class Selection:
    """The trials `rows` of a memory-mapped array: an array that reads what is indexed.

    Copies of the parts of a split, in each of several processes, would fill the memory that the
    map saves; through this they share the pages of one file.
    """

    def __init__(self, mapped: Floats, rows: NDArray[np.int64]) -> None:
        self.mapped, self.rows = mapped, rows
        self.shape = (len(rows), *mapped.shape[1:])
        self.dtype, self.ndim = mapped.dtype, mapped.ndim

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Floats:
        """The trials at `index`: a slice, a mask or positions."""
        found: Floats = self.mapped[self.rows[index]]
        return found

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All of them, read into memory."""
        return np.asarray(self[:], dtype=dtype)


Held = Floats | Selection


def select(x: Held, index: Any) -> Held:
    """`x` at `index`; of an array on disk, not yet read unless it is one stretch of trials."""
    if isinstance(x, Selection):
        return select(x.mapped, x.rows[index])
    if isinstance(index, slice) or not on_disk(x):
        return x[index]  # type: ignore[no-any-return]
    rows = np.arange(len(x))[index]
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return x[rows[0] : rows[0] + len(rows)]
    return Selection(x, rows)


def forget(x: Held) -> None:
    """Let go of what was read of an array on disk; it is read again when it is asked for."""
    source = x.base if isinstance(x, np.memmap) else None
    if isinstance(source, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        source.madvise(mmap.MADV_DONTNEED)


def on_disk(x: Any) -> bool:
    """Whether `x` is signals that lie on disk, mapped into memory; others must be converted."""
    return isinstance(x, np.memmap | Selection) and x.dtype == np.float32
