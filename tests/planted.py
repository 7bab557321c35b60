"""Small trials with a planted class effect and subjects who differ, one way to train on them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import mne
import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from censorium import Censor, Dependence, Trials
from censorium.checkpoint import Data, Weights
from censorium.nets import PROJECTIONS, TaskModel
from censorium.randomness import RandomStream
from censorium.recipe import EpochRecord, Recipe, Strength
from censorium.train import Trained, train

N_CHANNELS, N_TIMES, LATENT_SIZE = 5, 20, 8

OPTIONS = {
    "epochs": 3,
    "batch_size": 64,
    "learning_rate": 5e-3,
    "latent_size": LATENT_SIZE,
    "random_state": 0,
}
"""Options of a `CensoredClassifier` that trains in a fraction of a second."""


def planted(
    *,
    n_subjects: int = 4,
    n_sessions: int = 2,
    n_per_session: int = 40,
    labels: Sequence[Any] = ("a", "b"),
    subjects: Sequence[Any] = range(1, 100),
    seed: int = 0,
) -> Trials:
    """Noise, plus a bump that depends on the label, plus offsets that depend on the subject."""
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(n_subjects * n_sessions), n_per_session)
    who = cell // n_sessions
    y = rng.permutation(len(cell)) % len(labels)
    x = rng.standard_normal((len(cell), N_CHANNELS, N_TIMES))
    x[:, 0, 8:12] += y[:, None]
    x += rng.standard_normal((n_subjects, N_CHANNELS, 1))[who]
    names = np.array(subjects[:n_subjects])[who]
    return Trials.from_arrays(x, np.array(labels)[y], names, cell % n_sessions, sfreq=100)


def epochs_of(trials: Trials) -> mne.EpochsArray:
    """The same trials as MNE's epochs with metadata."""
    names = trials.info.class_names
    info = mne.create_info(list(trials.info.ch_names), trials.info.sfreq, "eeg")
    events = np.stack([np.arange(len(trials)), np.zeros(len(trials)), trials.y + 1], axis=1)
    return mne.EpochsArray(
        trials.x.astype(np.float64),
        info,
        events=events.astype(int),
        tmin=trials.info.tmin,
        event_id={name: code for code, name in enumerate(names, start=1)},
        metadata=pd.DataFrame({"subject": trials.subject, "session": trials.session}),
        verbose="error",
    )


def data_of(trials: Trials) -> Data:
    """What `train` takes."""
    return Data(trials.x, trials.y, trials.nuisance())


def recipe_of(**changes: Any) -> Recipe:
    """A short recipe; `strength` may be a number."""
    fields: dict[str, Any] = {
        "epochs": 3,
        "batch_size": 64,
        "learning_rate": 1e-3,
        "weight_decay": 0.01,
        "critic_learning_rate": 1e-3,
        "critic_steps": 1,
        "strength": 0.5,
        "averaging": 0.9,
        "evaluation_points": ("final",),
        **changes,
    }
    if not isinstance(fields["strength"], Strength):
        fields["strength"] = Strength(fields["strength"])
    return Recipe(**fields)


def model_of(data: Data, *, projection: str = "direct", seed: int = 0) -> TaskModel:
    """A task model with its first weights and the scale of `data`."""
    with RandomStream(seed, torch.device("cpu")):
        model = TaskModel(
            N_CHANNELS,
            N_TIMES,
            int(data.y.max()) + 1,
            latent_size=LATENT_SIZE,
            projection=PROJECTIONS[projection],
        )
    model.scale.fit(data.x)
    return model


class Result(NamedTuple):
    """A trained model, its weights by evaluation point, its records."""

    model: TaskModel
    weights: Mapping[str, Weights]
    records: list[EpochRecord]


def fit(
    data: Data,
    recipe: Recipe,
    *,
    measure: Any = None,
    mode: Any = "marginal",
    projection: str = "direct",
    valid: Data | None = None,
    seed: int = 0,
    checkpoint: Path | None = None,
    on_epoch: Callable[[TaskModel, EpochRecord], None] | None = None,
) -> Result:
    """Train a fresh model with a fresh censor; `on_epoch` sees the model too."""
    model = model_of(data, projection=projection, seed=seed)
    censor = measure and Censor(
        measure,
        mode,
        n_features=LATENT_SIZE,
        n_classes=int(data.y.max()) + 1,
        n_nuisance=int(data.s.max()) + 1,
        seed=seed + 1,
    )
    trained: Trained = train(
        model,
        data,
        recipe,
        censor=censor,
        valid=valid,
        seed=seed + 2,
        checkpoint=checkpoint,
        on_epoch=on_epoch and (lambda record: on_epoch(model, record)),
    )
    return Result(model, trained.weights, trained.records)


def same(a: Weights, b: Weights) -> bool:
    """Whether two sets of weights are equal bit for bit."""
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def without_projector(weights: Weights) -> Weights:
    """What prediction needs."""
    return {name: t for name, t in weights.items() if not name.startswith("projector.")}


class DropoutCritic(Dependence):
    """A measure of a user's own, whose critic draws random numbers in every call."""

    unit = "nats - H(S)"

    def __init__(self, n_features: int, n_nuisance: int, rate: float = 0.5) -> None:
        super().__init__()
        self.critic = nn.Sequential(
            nn.Linear(n_features, 16), nn.ReLU(), nn.Dropout(rate), nn.Linear(16, n_nuisance)
        )

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        """Minus the cross-entropy."""
        return -cross_entropy(self.critic(features), nuisance)

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        """The cross-entropy."""
        return cross_entropy(self.critic(features), nuisance)


class Spread(Dependence):
    """A measure without a critic: the variance of the subjects' mean features."""

    unit = "squared features"

    def __init__(self, n_features: int, n_nuisance: int) -> None:
        super().__init__()

    def estimate(self, features: Tensor, nuisance: Tensor, given: Tensor | None = None) -> Tensor:
        """The variance between the nuisance values that occur."""
        means = [features[nuisance == s].mean(0) for s in nuisance.unique()]
        return torch.stack(means).var(0, correction=0).sum()

    def critic_loss(
        self, features: Tensor, nuisance: Tensor, given: Tensor | None = None
    ) -> Tensor:
        """Nothing to learn."""
        return features.new_zeros(())
