"""Windows of braindecode as trials."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from censorium.epochs import ids_of, require_brain, warn_of_bads
from censorium.errors import DataError, OptionError
from censorium.trials import Trials


def from_windows(
    dataset: Any,
    *,
    subject: str | int | ArrayLike = "subject",
    session: str | int | ArrayLike = "session",
) -> Trials:
    """The windows of braindecode's datasets as trials; their targets become class names.

    `subject` and `session` are each the name of a column of the description, one integer for all
    windows, or one id for each. Without a session column all windows are of one session. What a
    dataset transforms, it transforms here too; all windows are read into memory.

    Examples
    --------
    >>> from braindecode.preprocessing import create_windows_from_events  # doctest: +SKIP
    >>> from_windows(create_windows_from_events(dataset))  # doctest: +SKIP
    <Trials: 576 trials of 2 subjects in 4 sessions, ...>
    """
    pieces = list(getattr(dataset, "datasets", [dataset]))
    recorded = [recording_of(piece) for piece in pieces]
    first = recorded[0]
    for other in recorded[1:]:
        require_alike(first, other)
    read = [piece[i] for piece in pieces for i in range(len(piece))]
    sizes = {np.shape(x) for x, *_ in read}
    if len(sizes) != 1:
        raise DataError(f"Windows must be of one size, channels x times; got {sorted(sizes)}.")
    columns = described(pieces)
    who, sitting = (ids_of(given, columns, len(read)) for given in (subject, session))
    if who is None:
        raise DataError(
            f"The description has no column {subject!r} that says who is who. Name the column, set "
            "it: dataset.set_description({...}); or pass the ids: subject=[...], one for each "
            "window, or one integer."
        )
    return Trials.from_arrays(
        np.stack([x for x, *_ in read]),
        np.array([y for _, y, *_ in read]),
        who,
        sitting,
        sfreq=first.info["sfreq"],
        ch_names=first.ch_names,
    )


def recording_of(piece: Any) -> Any:
    """The Raw or Epochs of a dataset of windows, or an error if it is none of the brain."""
    recorded = getattr(piece, "windows", None)
    recorded = getattr(piece, "raw", None) if recorded is None else recorded
    if recorded is None or not hasattr(piece, "crop_inds"):
        raise OptionError(
            f"from_windows takes windows of braindecode's, got {type(piece).__name__}. Cut "
            "recordings first: braindecode.preprocessing.create_windows_from_events."
        )
    if piece.targets_from != "metadata":
        raise DataError("The targets are signals; trials need one label each, in the metadata.")
    # Where all are "misc", nobody said what they are.
    if set(recorded.get_channel_types()) != {"misc"}:
        require_brain(recorded, 'Leave them out: Preprocessor("pick", picks="eeg").')
    warn_of_bads(recorded, 'Leave them out: Preprocessor("drop_channels", ...).', stacklevel=4)
    return recorded


def require_alike(first: Any, other: Any) -> None:
    """Raise a `DataError` unless both recordings have one rate and the same channels."""
    for what, a, b in (
        ("sampling rate", first.info["sfreq"], other.info["sfreq"]),
        ("channels", first.ch_names, other.ch_names),
    ):
        if a != b:
            raise DataError(f"The recordings differ in {what}: {a} and {b}.")


def described(pieces: Any) -> dict[str, Any]:
    """What the descriptions say of each window."""
    tables = [{} if p.description is None else dict(p.description) for p in pieces]
    common = set(tables[0]).intersection(*tables)
    return {
        name: np.array(
            [table[name] for table, p in zip(tables, pieces, strict=True) for _ in range(len(p))],
            dtype=object,
        )
        for name in common
    }
