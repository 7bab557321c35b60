"""What users hand to the estimator (arrays, Epochs, Trials), read into one form and checked."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import mne
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_X_y

from censorium.arrays import CHUNK, Ids, Ints, identifiers, nuisance_of
from censorium.checkpoint import Data
from censorium.epochs import brain_signals, event_names
from censorium.errors import CensoriumWarning, DataError, OptionError, SplitError
from censorium.modelfile import plain
from censorium.nets import ChannelScale
from censorium.selection import Held, on_disk, select
from censorium.splits import SubjectSplit
from censorium.trials import Trials

OTHER_UNIT = 100.0  # times larger or smaller than in training: people do not differ so much


class Signals(NamedTuple):
    """Signals, and all that their container says of them; None where it says nothing."""

    x: Any
    ch_names: tuple[str, ...] | None = None
    sfreq: float | None = None
    tmin: float | None = None
    y: NDArray[Any] | None = None
    subject: Ids | None = None
    session: Ids | None = None

    @classmethod
    def of(cls, X: Any) -> Self:
        """Read `Trials`, ``mne.Epochs`` or anything array-like."""
        if isinstance(X, Trials):
            names = np.array(X.info.class_names)
            info = X.info
            return cls(
                X.signals, info.ch_names, info.sfreq, info.tmin, names[X.y], X.subject, X.session
            )
        if isinstance(X, mne.BaseEpochs):
            about = X.metadata if X.metadata is not None else {}
            subject, session = (
                about[column].to_numpy() if column in about else None
                for column in ("subject", "session")
            )
            x, names = brain_signals(X), event_names(X)
            sfreq, tmin = float(X.info["sfreq"]), float(X.tmin)
            return cls(x, tuple(X.ch_names), sfreq, tmin, names, subject, session)
        if isinstance(X, list | tuple) and X and isinstance(X[0], Trials | mne.BaseEpochs):
            raise DataError(
                f"X is a {type(X).__name__} of {type(X[0]).__name__}. If scikit-learn made it: it "
                "cannot index these; pass arrays: trials.x, trials.y, "
                'params={"subjects": trials.subject}. Trials.from_epochs makes trials of Epochs.'
            )
        return cls(X)


class Layout(NamedTuple):
    """What a fitted model expects of signals; None stands for what it was never told."""

    n_channels: int
    n_times: int
    ch_names: tuple[str, ...] | None = None
    sfreq: float | None = None
    tmin: float | None = None

    def require(self, signals: Signals) -> None:
        """Raise a `DataError` that says how `signals` differ from what the model was fitted on."""
        if self.ch_names and signals.ch_names:
            _same_names(self.ch_names, signals.ch_names)
        shape = np.shape(signals.x)
        if len(shape) != 3:
            raise DataError(f"X must be (trials, channels, times), got shape {shape}.")
        if shape[1:] != (self.n_channels, self.n_times):
            raise DataError(
                f"X has {shape[1]} channels x {shape[2]} times, but the model was fitted on "
                f"{self.n_channels} x {self.n_times}."
            )
        if self.sfreq and signals.sfreq and not np.isclose(self.sfreq, signals.sfreq):
            raise DataError(
                f"X is sampled at {signals.sfreq:g} Hz; the model was fitted at {self.sfreq:g} Hz."
            )
        if self.sfreq is None or self.tmin is None or signals.tmin is None:
            return
        if abs(signals.tmin - self.tmin) > 0.5 / self.sfreq:
            raise DataError(
                f"Trials of X begin at {signals.tmin:g} s, counted from the event; the model was "
                f"fitted on trials that begin at {self.tmin:g} s."
            )


def require_trials(shape: tuple[int, ...]) -> None:
    """Raise a `DataError` unless this is the shape of trials with something in them."""
    if len(shape) != 3:
        raise DataError(f"X must be (trials, channels, times), got shape {shape}.")
    if 0 in shape:
        raise DataError(f"X has {shape[1]} channels and {shape[2]} times; nothing can be learnt.")


def checked(x: Any, y: ArrayLike | None, estimator: Any) -> tuple[Any, NDArray[Any]]:
    """`x` and `y` by scikit-learn's rules; `x` that lies on disk, and so is of `Trials`, stays."""
    given = np.zeros((len(x), 1), np.float32) if on_disk(x) else x
    found, labels = check_X_y(
        given, y, dtype=np.float32, allow_nd=True, ensure_all_finite=False, estimator=estimator
    )
    return (x if on_disk(x) else found), labels


def known_labels(y: ArrayLike | None, classes: NDArray[Any]) -> NDArray[Any]:
    """`y` as an array, or a `DataError` if it is missing or the model knows none of it."""
    if y is None:
        raise DataError("A score needs labels: pass y, or X that knows them.")
    given = np.unique(y).tolist()
    if not set(given) & set(classes.tolist()):
        raise DataError(f"The model knows the labels {classes.tolist()}, but y holds {given}.")
    return np.asarray(y)


def _same_names(expected: Sequence[str], given: Sequence[str]) -> None:
    lacking = [name for name in expected if name not in given]
    extra = [name for name in given if name not in expected]
    if lacking or extra:
        said = [f"lacks {lacking}"] * bool(lacking) + [f"has unknown {extra}"] * bool(extra)
        raise DataError(f"The channels differ from those of training: X {' and '.join(said)}.")
    if list(expected) != list(given):
        raise DataError(
            "The channels are those of training, in another order. "
            "Bring them into the order of `ch_names_`, with MNE: epochs.reorder_channels(...)."
        )


class Codes(NamedTuple):
    """Labels as 0..C-1 with the classes they stand for."""

    classes: NDArray[Any]
    y: NDArray[np.int64]


def encode_labels(y: ArrayLike) -> Codes:
    """Any labels as codes; at least two classes."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        raise DataError(f"A classifier needs two classes or more; y holds one class: {classes}.")
    return Codes(classes, codes.astype(np.int64))


class People(NamedTuple):
    """Who gave each trial, and in which session; None if nobody said."""

    subject: Ids
    session: Ids

    @classmethod
    def of(cls, subjects: ArrayLike | None, sessions: ArrayLike | None, n: int) -> Self | None:
        """Checked identifiers of `n` trials; without sessions each subject has one."""
        if subjects is None:
            if sessions is not None:
                raise DataError("sessions were given without subjects.")
            return None
        subject = identifiers("subjects", subjects, n)
        if sessions is None:
            return cls(subject, np.zeros(n, dtype=np.int64))
        return cls(subject, identifiers("sessions", sessions, n))


def variables_of(people: People | None, split: SubjectSplit | None) -> dict[str, Ints]:
    """For each nuisance value of the training subjects, in order, its subject and its session."""
    if people is None or split is None:
        raise DataError(
            "Censoring must know who is who: pass subjects=..., or Epochs whose metadata has a "
            "column 'subject'. measure=None trains the uncensored baseline, which needs none."
        )
    if len(split.train) < 2:
        raise DataError(
            f"Censoring needs two training subjects or more; there is one: {split.train[0]!r}. "
            "measure=None trains the uncensored baseline."
        )
    training = np.isin(people.subject, split.train)
    codes = [np.unique(ids[training], return_inverse=True)[1] for ids in people]
    subject, session = np.unique(np.stack(codes), axis=1)
    return {"subject": subject, "session": session}


def hold_out(
    people: People | None, wanted: int | Sequence[Any], *, seed: int
) -> SubjectSplit | None:
    """Who trains and who validates: `wanted` subjects by name, or so many drawn from `seed`."""
    wanted = plain(wanted)
    if isinstance(wanted, str):
        wanted = [wanted]
    if not isinstance(wanted, int | list) or isinstance(wanted, bool):
        raise OptionError(
            f"validation_subjects must be a number of subjects or a list of them, got {wanted!r}."
        )
    if people is None:
        if wanted:
            raise DataError("validation_subjects are asked for, but nobody said who is who.")
        return None
    subjects = np.unique(people.subject).tolist()
    if isinstance(wanted, int):
        if not 0 <= wanted < len(subjects):
            raise SplitError(
                f"validation_subjects={wanted} leaves none of {len(subjects)} to train."
            )
        order = np.random.default_rng(seed).permutation(len(subjects))
        wanted = [subjects[i] for i in order[:wanted]]
    missing = [s for s in wanted if s not in subjects]
    if missing:
        raise SplitError(f"Validation subject {missing[0]!r} has no trials. There are: {subjects}.")
    return SubjectSplit([s for s in subjects if s not in wanted], wanted)


def divide(
    x: Held, y: Ints, people: People | None, split: SubjectSplit | None
) -> tuple[Data, Data | None]:
    """The trials that train and those that validate, with contiguous nuisance values each."""
    if people is None or split is None:
        return Data(x, y, np.zeros_like(y)), None
    if not split.valid:
        return Data(x, y, nuisance_of(*people)), None
    train, valid = (np.isin(people.subject, part) for part in (split.train, split.valid))
    return tuple(  # type: ignore[return-value]
        Data(select(x, rows), y[rows], nuisance_of(people.subject[rows], people.session[rows]))
        for rows in (train, valid)
    )


def require_classes(training: Data, codes: Codes) -> None:
    """Raise a `DataError` if the training subjects lack a class that others show."""
    lacking = np.setdiff1d(codes.y, training.y)
    if len(lacking):
        raise DataError(f"No training subject shows class {codes.classes.tolist()[lacking[0]]!r}.")


def warn_of_one_class(codes: Codes, people: People | None, split: SubjectSplit | None) -> None:
    """Warn of training subjects who show one class only: who they are tells their label."""
    if people is None or split is None:
        return
    seen = {s: np.unique(codes.y[people.subject == s]) for s in split.train}
    names = codes.classes.tolist()
    alone = {s: names[c[0]] for s, c in seen.items() if len(c) == 1}
    if alone:
        shown = ", ".join(f"{s!r} (only {c!r})" for s, c in list(alone.items())[:5])
        more = f" and {len(alone) - 5} more" if len(alone) > 5 else ""
        warnings.warn(
            f"Training subjects with one class only: {shown}{more}. "
            "Who they are gives their label away, and a decoder may learn just that.",
            CensoriumWarning,
            stacklevel=3,
        )


def warn_of_scale(x: Held, scale: ChannelScale) -> None:
    """Warn of signals in what must be another unit than that of the training trials."""
    fitted = scale.deviation.numpy()[:, 0]
    ratio = float(np.median(x[:CHUNK].std(axis=(0, 2)) / fitted))
    if ratio > OTHER_UNIT or 0 < ratio < 1 / OTHER_UNIT:
        warnings.warn(
            f"X is {ratio:.1g} times as large as the training trials. Is it in another unit? "
            "MNE gives volt.",
            CensoriumWarning,
            stacklevel=3,
        )


def warn_of_flat(flat: NDArray[np.bool_], ch_names: Sequence[str] | None) -> None:
    """Warn of channels that never change in the training trials."""
    if flat.any():
        which = np.flatnonzero(flat).tolist()
        named = [ch_names[i] for i in which] if ch_names else which
        warnings.warn(
            f"Flat channels in the training trials: {named}. They carry nothing; were they "
            "disconnected?",
            CensoriumWarning,
            stacklevel=3,
        )
