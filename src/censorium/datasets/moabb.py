"""Any dataset of MOABB, through any of its paradigms."""

from collections.abc import Iterable, Mapping
from functools import partial
from inspect import getmembers, isabstract, isclass, signature
from typing import Any

from censorium.datasets.parts import chosen, part_name
from censorium.datasets.prepare import Part
from censorium.epochs import brain_signals
from censorium.errors import CensoriumError, FileError, OptionError, lookup, unknown
from censorium.extras import required
from censorium.trials import Trials

FITTING = {
    "p300": "P300",
    "imagery": "MotorImagery",
    "ssvep": "SSVEP",
    "cvep": "CVEP",
    "rstate": "RestingStateToP300Adapter",
}
"""The paradigm for each kind of dataset."""

OF_NO_USE = {"self", "scorer", "filters", "overlap"}  # to somebody who wants trials, each once


def moabb_parts(
    name: str | Any,
    *,
    paradigm: str | Any = None,
    subjects: Iterable[int | str] | None = None,
    **options: Any,
) -> dict[str, Part]:
    """One part for each subject of a dataset of MOABB, which downloads what is not there yet.

    Parameters
    ----------
    name : str or moabb dataset
        Its class ("BI2014a"), or its code ("BrainInvaders2014a").
    paradigm : str or moabb paradigm
        How it is cut and filtered: "P300", "LeftRightImagery", "MotorImagery", "SSVEP", ... By
        default the one for the dataset's kind.
    subjects : list
        Whom to take; by default everybody.
    **options
        Those of the paradigm: fmin, fmax, tmin, tmax, resample, events, channels, n_classes, ...
    """
    required("moabb", "moabb", "MOABB's datasets")
    dataset: Any = dataset_called(name) if isinstance(name, str) else name
    way = paradigm_for(dataset, paradigm, options)
    people = chosen(f"subject of {dataset.code}", subjects, dataset.subject_list)
    return {part_name(one): partial(read_subject, dataset, way, one) for one in people}


def read_subject(dataset: Any, paradigm: Any, subject: Any) -> Trials:
    """All trials of one subject, in volt."""
    try:
        epochs, labels, about = paradigm.get_data(dataset, subjects=[subject], return_epochs=True)
    except CensoriumError:
        raise
    except Exception as error:
        raise FileError(
            f"Subject {subject} of {dataset.code} could not be downloaded or read. MOABB says: "
            f"{str(error) or type(error).__name__}"
        ) from error
    return Trials.from_arrays(
        brain_signals(epochs),
        labels,
        about["subject"].to_numpy(),
        about["session"].to_numpy(),
        sfreq=epochs.info["sfreq"],
        ch_names=epochs.ch_names,
        tmin=epochs.tmin,
    )


def dataset_called(name: str) -> Any:
    """The dataset of that class or code, or an `OptionError` with the nearest right name."""
    module = required("moabb.datasets", "moabb", "MOABB's datasets")
    base = required("moabb.datasets.base", "moabb", "MOABB's datasets").BaseDataset
    classes: list[tuple[str, Any]] = getmembers(module, isclass)
    known = {name: kind for name, kind in classes if issubclass(kind, base)}
    if name in known:
        return known[name]()
    coded = {}
    for kind in known.values():
        try:
            dataset = kind()
        except (TypeError, ValueError, OSError):  # it needs to be told where it lies
            continue
        coded[dataset.code] = dataset
    if name in coded:
        return coded[name]
    raise OptionError(unknown("dataset of MOABB", name, known))


def paradigm_for(dataset: Any, paradigm: Any, options: Mapping[str, Any]) -> Any:
    """A paradigm with these options into which the dataset fits, or an `OptionError`."""
    if paradigm is None or isinstance(paradigm, str):
        name = paradigm or lookup("kind of dataset", dataset.paradigm, FITTING)
        made = made_paradigm(lookup("paradigm", name, paradigms()), dataset, options)
    elif options:
        raise OptionError(f"Give {', '.join(options)} to {type(paradigm).__name__} itself.")
    else:
        made = paradigm
    if len(made.filters or [()]) > 1:
        raise OptionError("A bank of filters gives each trial several times; choose one band.")
    try:
        fits = made.is_valid(dataset) and made.used_events(dataset)
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        raise OptionError(
            f"{dataset.code} ({dataset.paradigm}) does not fit {type(made).__name__} with these "
            f"options. Its events: {', '.join(map(str, dataset.event_id))}."
        )
    return made


def paradigms() -> dict[str, Any]:
    """MOABB's paradigms by name, but for those that only tests or banks of filters need."""
    module = required("moabb.paradigms", "moabb", "MOABB's datasets")
    return {
        name: kind
        for name, kind in getmembers(module, isclass)
        if not isabstract(kind) and not name.startswith(("Base", "Fake", "Filter", "Fixed"))
    }


def made_paradigm(kind: Any, dataset: Any, options: Mapping[str, Any]) -> Any:
    """The paradigm `kind`; an option that it has not, or refuses, is an `OptionError`."""
    known = set(signature(kind).parameters) - OF_NO_USE
    for option in options:
        if option not in known:
            raise OptionError(unknown(f"option of {kind.__name__}", option, known))
    given = dict(options)
    if given.get("events") is not None and "n_classes" in known:
        given.setdefault("n_classes", len(given["events"]))
    try:
        return kind(**given)
    except (ValueError, TypeError) as error:
        raise OptionError(f"{kind.__name__} refuses its options: {error}") from error
