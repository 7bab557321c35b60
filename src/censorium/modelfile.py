"""A fitted model as one file, and back."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from censorium import tensorfile
from censorium.errors import FileError
from censorium.nets import PROJECTIONS, TaskModel
from censorium.recipe import EpochRecord, points_of
from censorium.splits import SubjectSplit

# What prediction elsewhere does not need: where it trained, and who watched.
NOT_SAVED = ("checkpoint", "on_epoch", "device")
SIZES = ("n_channels_", "n_times_", "n_nuisance_", "n_features_in_")


def write_model(model: Any, path: str | Path) -> None:
    """Write a fitted `CensoredClassifier`: its weights, and all else as JSON."""
    network = model.model_
    header = {
        "options": options_of(model),
        "network": {"latent_size": network.latent_size, "projection": network.projection},
        "feature_names": plain(getattr(model, "feature_names_in_", None)),
        "classes": model.classes_.tolist(),
        "classes_dtype": model.classes_.dtype.str,
        "ch_names": model.ch_names_,
        "sfreq": model.sfreq_,
        "tmin": model.tmin_,
        "sizes": [int(getattr(model, name)) for name in SIZES],
        "split": asdict(model.split_) if model.split_ else None,
        "history": [asdict(record) for record in model.history_],
    }
    tensorfile.write(path, "model", network.state_dict(), header)


def read_model(model_class: Any, path: str | Path, device: str) -> Any:
    """The `model_class` that `write_model` wrote to `path`, for use on `device`."""
    tensors, header = tensorfile.read(path, "model")
    try:
        model = model_class(**header["options"], device=device)
        model.classes_ = np.array(header["classes"], dtype=np.dtype(header["classes_dtype"]))
        model.ch_names_ = header["ch_names"] and tuple(header["ch_names"])
        model.sfreq_, model.tmin_ = header["sfreq"], header["tmin"]
        for name, size in zip(SIZES, header["sizes"], strict=True):
            setattr(model, name, size)
        model.split_ = SubjectSplit(**header["split"]) if header["split"] else None
        model.history_ = [EpochRecord.of(record) for record in header["history"]]
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        model.model_ = TaskModel(
            model.n_channels_,
            model.n_times_,
            len(model.classes_),
            latent_size=header["network"]["latent_size"],
            projection=PROJECTIONS[header["network"]["projection"]],
        )
        model.model_.eval().load_state_dict(tensors)
        model.weights_ = {points_of(model.evaluation_point)[0]: model.model_.state_dict()}
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FileError(f"{path} holds no model that this censorium can open: {error}") from error
    return model


def options_of(model: Any) -> dict[str, Any]:
    """The options of a `CensoredClassifier` as JSON can hold them, less what is of the place."""
    options = model.get_params(deep=False).items()
    return {name: plain(value) for name, value in options if name not in NOT_SAVED}


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: objects by their names, generators not at all."""
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [plain(v) for v in value]
    return value
