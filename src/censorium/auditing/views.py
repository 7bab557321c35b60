"""What of a model there is to audit, and whose trials."""

import numpy as np
import torch
from numpy.typing import NDArray

from censorium.arrays import chunks
from censorium.estimator import CensoredClassifier
from censorium.selection import Held
from censorium.trials import Trials

N_WINDOWS = 6


def views(model: CensoredClassifier, trials: Trials) -> dict[str, NDArray[np.floating]]:
    """The features of a fitted model, before and after its projector, and the signal itself."""
    hidden = model.transform(trials)
    found: dict[str, NDArray[np.floating]] = {"hidden features": hidden}
    if model.model_.projection != "direct":
        with torch.inference_mode():
            projected = model.model_.projector.eval()(torch.from_numpy(hidden))
        found["projected features"] = projected.numpy()
    return found | {"raw signal": signal_summary(trials.signals)}


def signal_summary(x: Held) -> NDArray[np.float64]:
    """Of each channel the log power, the log power of its changes, and means over six windows.

    Probes that are linear in the signal itself would miss what its power tells, and most of what
    tells people apart is there.
    """
    found = []
    for chunk in chunks(x):
        part = chunk.astype(np.float64)
        windows = np.array_split(part, min(N_WINDOWS, part.shape[2]), axis=2)
        means = [window.mean(axis=2) for window in windows]
        changes = np.diff(part, axis=2) if part.shape[2] > 1 else np.zeros_like(part)
        found.append(np.hstack([log_power(part), log_power(changes), *means]))
    return np.concatenate(found)


def log_power(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of the variance over time; of none, a very low one."""
    return np.asarray(np.log(np.maximum(x.var(axis=2), np.finfo(np.float32).tiny)))


def groups(model: CensoredClassifier, trials: Trials) -> dict[str, Trials]:
    """The trials of subjects who trained the model, who validated it, and whom it has not seen.

    A model that was never told who is who cannot say: all are one group.
    """
    split = model.split_
    if split is None:
        return {"all subjects": trials}
    known = {"training subjects": split.train, "validation subjects": split.valid}
    unseen = [s for s in trials.subjects if s not in {*split.train, *split.valid}]
    found = {name: [s for s in trials.subjects if s in ids] for name, ids in known.items()}
    found["unseen subjects"] = unseen
    return {name: trials.of(ids) for name, ids in found.items() if ids}
