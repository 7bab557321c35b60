"""Tables of results as files."""

import csv
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from censorium.errors import OptionError
from censorium.extras import required
from censorium.files import replacing

Table = Mapping[str, NDArray[Any]]


def table_writer(out: Path | None) -> Callable[[Table], None]:
    """What writes a table to a .csv or .parquet file, or as CSV to standard output."""
    if out is None:
        return lambda table: _write_csv(table, sys.stdout)
    if out.suffix == ".csv":
        return lambda table: _save_csv(table, out)
    if out.suffix == ".parquet":
        return _parquet_writer(out)
    raise OptionError(f"--out must end in .csv or .parquet, got {out}.")


def _write_csv(table: Table, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _save_csv(table: Table, out: Path) -> None:
    with replacing(out) as new, new.open("w", newline="") as file:
        _write_csv(table, file)


def _parquet_writer(out: Path) -> Callable[[Table], None]:
    what = "Parquet (CSV needs nothing)"
    pyarrow, parquet = (
        required(module, "parquet", what) for module in ("pyarrow", "pyarrow.parquet")
    )

    def write(table: Table) -> None:
        columns = {name: column.tolist() for name, column in table.items()}
        with replacing(out) as new:
            parquet.write_table(pyarrow.table(columns), new)

    return write
