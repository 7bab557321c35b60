"""Trials in a file of arrays, NumPy's .npz, or .npy with a table of who and what beside it."""

import csv
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import identifiers, listed
from censorium.datasets.events import Classes, relabelled
from censorium.datasets.parts import chosen, part_name, require_options
from censorium.datasets.prepare import Part
from censorium.errors import CensoriumError, DataError, FileError, OptionError, unknown
from censorium.extras import required
from censorium.trials import Trials

NAMES = {
    "x": ("x", "X"),
    "y": ("y", "label", "labels"),
    "subject": ("subject", "subjects"),
    "session": ("session", "sessions"),
}
"""What arrays and columns are called, where nobody says."""

VOLT = {"V": 1.0, "mV": 1e-3, "uV": 1e-6, "µV": 1e-6, "μV": 1e-6}


def read_arrays(
    path: str | Path,
    *,
    metadata: str | Path | None = None,
    x: str | None = None,
    y: str | None = None,
    subject: str | None = None,
    session: str | None = None,
    subjects: Iterable[Any] | None = None,
    classes: Classes | None = None,
    drop: Sequence[str] = (),
    sfreq: float | None = None,
    ch_names: Sequence[str] | None = None,
    tmin: float | None = None,
    scale: float | None = None,
) -> Trials:
    """The trials in a .npz file, or in a .npy file with a table of its trials beside it.

    Parameters
    ----------
    path : path
        Of a .npz: signals (trials, channels, times), labels, subjects and, if there are several,
        sessions, one for each trial; and, where no option gives them, sfreq, ch_names, tmin.
        Of a .npy: the signals, which stay on disk.
    metadata : path
        The table of a .npy, .csv or .parquet; by default the one of its name.
    x, y, subject, session : str
        The name of the array, or of the table's column; by default x or X, y or label, subject,
        session.
    subjects : list
        Whom to take; by default everybody.
    classes : list or mapping
        Which labels to take, or what class each of them is: ``{"0": "rest", "1": "move"}``.
    drop : list of str
        Channels to leave out.
    scale : float
        By what the signals are multiplied to be volts; by default by the `scale` in a .npz and by
        what makes volts of its `unit`, if it has these.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> from censorium.datasets.arrayfile import read_arrays
    >>> file = Path(mkdtemp()) / "three.npz"
    >>> signals = np.arange(12, dtype="int16").reshape(3, 2, 2)
    >>> np.savez(file, x=signals, y=list("abb"), subject=[1, 1, 2], sfreq=2, scale=0.5)
    >>> read_arrays(file).x[0]
    array([[0. , 0.5],
           [1. , 1.5]], dtype=float32)
    """
    path = Path(path)
    with fields_in(path, metadata) as fields:
        found = [
            field(path, fields, kind, name)
            for kind, name in (("x", x), ("y", y), ("subject", subject), ("session", session))
        ]
        about = {name: fields[name] for name in ("sfreq", "ch_names", "tmin") if name in fields}
        factor = float(in_volt(fields, found[0])) if scale is None else scale
    held, labels, who, sitting = found
    if held.ndim != 3:
        raise DataError(f"x must be (trials, channels, times), got shape {held.shape}.")
    given = {"sfreq": sfreq, "ch_names": ch_names, "tmin": tmin}
    about |= {name: value for name, value in given.items() if value is not None}
    if "sfreq" not in about:
        raise DataError(f"{path} does not say its sampling rate. Pass sfreq=..., in Hz.")
    who = identifiers("subject", who, len(held))
    if subjects is not None:
        mine = np.isin(who, chosen("subject", subjects, np.unique(who).tolist()))
        held, labels, who = held[mine], labels[mine], who[mine]
        sitting = None if sitting is None else sitting[mine]
    if drop:
        held, about["ch_names"] = without(drop, held, about.get("ch_names"))
    if held.dtype.kind in "iuf" and factor != 1:
        held = np.multiply(held, np.float32(factor), dtype=np.float32, casting="unsafe")
    about = {name: np.asarray(value).tolist() for name, value in about.items()}
    return relabelled(Trials.from_arrays(held, labels, who, sitting, **about), classes)


def array_parts(path: str | Path, **options: Any) -> dict[str, Part]:
    """The trials of a .npz file as one part, those of a .npy file as one for each person.

    The options are those of `read_arrays`. A .npz can only be read as a whole.
    """
    require_options("a file of arrays", options, read_arrays)
    path = Path(path)
    if path.suffix == ".npz":
        require_file(path)
        return {path.stem: partial(read_arrays, path, **options)}
    with fields_in(path, options.get("metadata")) as fields:
        who = field(path, fields, "subject", options.get("subject"))
    there = np.unique(identifiers("subject", who, len(who))).tolist()
    return {
        part_name(one): partial(read_arrays, path, **options | {"subjects": [one]})
        for one in chosen("subject", options.get("subjects"), there)
    }


def require_file(path: Path) -> None:
    """Raise a `FileError` unless there is such a file of a known kind."""
    if path.suffix not in (".npz", ".npy"):
        raise FileError(f"{path} is no file of arrays, .npz or .npy.")
    if not path.is_file():
        raise FileError(f"There is no file {path}.")


@contextmanager
def fields_in(path: Path, metadata: str | Path | None) -> Iterator[Mapping[str, Any]]:
    """The arrays of a .npz, each read when it is asked for; or those of a .npy and its table."""
    require_file(path)
    try:
        if path.suffix == ".npz":
            if metadata is not None:
                raise OptionError("metadata goes with a .npy; a .npz holds labels and ids itself.")
            with np.load(path, allow_pickle=False) as arrays:
                yield arrays
        else:
            signals = np.load(path, mmap_mode="r", allow_pickle=False)
            yield table(path, metadata) | {"x": signals}
    except CensoriumError:
        raise
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FileError(
            f"{path} is cut short, altered, or holds something else than plain arrays."
        ) from error


def table(path: Path, metadata: str | Path | None) -> dict[str, NDArray[Any]]:
    """The columns of the table of the .npy file at `path`."""
    beside = [path.with_suffix(".parquet"), path.with_suffix(".csv")]
    places = beside if metadata is None else [Path(metadata)]
    place = next((p for p in places if p.is_file()), None)
    if place is None:
        raise FileError(
            f"{path} needs a table that says label and subject of each trial: there is no "
            f"{' or '.join(map(str, places))}. Name it: metadata=..."
        )
    if place.suffix == ".parquet":
        parquet = required("pyarrow.parquet", "parquet", "Parquet")
        columns = parquet.read_table(place).to_pydict()
        return {name: np.array(values, dtype=object) for name, values in columns.items()}
    with place.open(newline="", encoding="utf-8-sig") as file:
        names, *rows = list(csv.reader(file)) or [[]]
    return {name: _column([row[k] for row in rows]) for k, name in enumerate(names)}


def _column(values: list[str]) -> NDArray[Any]:
    """Integers where all are; "01" is none, and stays."""
    whole = all(re.fullmatch(r"0|-?[1-9]\d{0,17}", value) for value in values)
    return np.array(values, dtype=np.int64 if whole else np.str_)


def field(path: Path, fields: Mapping[str, Any], kind: str, name: str | None) -> Any:
    """The array of signals, labels or ids; None for sessions that nobody speaks of."""
    found = next((n for n in ((name,) if name else NAMES[kind]) if n in fields), None)
    if found is not None:
        return fields[found]
    if name is None and kind == "session":
        return None
    raise DataError(
        f"{path}: {unknown('array', name or kind, fields)} Name the one that is {kind}: {kind}=..."
    )


def in_volt(fields: Mapping[str, Any], x: NDArray[Any]) -> float:
    """By what signals are multiplied to be volts, as far as the file says."""
    scale = np.asarray(fields["scale"]) if "scale" in fields and x.dtype.kind in "iu" else None
    factor = 1.0 if scale is None or scale.ndim else float(scale)
    return factor * VOLT.get(str(fields["unit"]) if "unit" in fields else "", 1.0)


def without(drop: Sequence[str], x: NDArray[Any], ch_names: Any) -> tuple[Any, list[str]]:
    """The signals without some channels, and the names of the others."""
    names = np.asarray([] if ch_names is None else ch_names).tolist()
    for name in listed(drop):
        if name not in names:
            raise OptionError(unknown("channel", name, names))
    keep = [k for k, name in enumerate(names) if name not in listed(drop)]
    return x[:, keep], [names[k] for k in keep]
