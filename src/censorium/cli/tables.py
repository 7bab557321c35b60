"""Tables of results as files."""

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from censorium.errors import OptionError

Table = Mapping[str, NDArray[Any]]


def write_table(table: Table, out: Path | None) -> None:
    """Write columns to a .csv or .parquet file, or as CSV to standard output."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    if out is not None and out.suffix == ".parquet":
        _write_parquet(table, out)
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))
    if out is None:
        sys.stdout.write(text.getvalue())
    else:
        out.write_text(text.getvalue())


def _write_parquet(table: Table, out: Path) -> None:
    try:
        import pyarrow  # noqa: PLC0415  (an extra)
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise OptionError(
            "Parquet needs pyarrow: pip install 'censorium[parquet]'. CSV needs nothing."
        ) from None
    parquet.write_table(pyarrow.table({name: c.tolist() for name, c in table.items()}), out)
