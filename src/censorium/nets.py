"""The paper's networks: the MLP, the encoder, and the task model made of them."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from censorium.arrays import Floats, chunks
from censorium.devices import repeatable
from censorium.errors import OptionError
from censorium.selection import Held

DROPOUT = 0.05  # the encoder's
HIDDEN = (128, 128, 128)
LATENT_SIZE = 128


class HiddenLayer(nn.Module):
    """Linear without bias, batch norm, ReLU; added to its input where the sizes match."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(n_in, n_out, bias=False)
        self.norm = nn.BatchNorm1d(n_out)
        self.residual = n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.norm(self.linear(x)))
        return x + h if self.residual else h


def mlp(n_in: int, n_out: int, *, hidden: Sequence[int] = HIDDEN) -> nn.Sequential:
    """The paper's multi-layer perceptron: classifier, projector and critic alike."""
    sizes = [n_in, *hidden]
    layers = [HiddenLayer(a, b) for a, b in pairwise(sizes)]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], n_out))


def encoder(
    n_channels: int, n_times: int, *, latent_size: int = LATENT_SIZE, dropout: float = DROPOUT
) -> nn.Sequential:
    """The paper's convolutional encoder; kernels and pools shrink where times are few."""
    layers: list[nn.Module] = []
    for n_in, n_out in ((n_channels, 32), (32, 128)):
        kernel = min(3, n_times)
        n_times -= kernel - 1
        pool = min(2, n_times)
        n_times //= pool
        layers += [
            nn.Conv1d(n_in, n_out, kernel, bias=False),
            nn.BatchNorm1d(n_out),
            nn.ELU(),
            nn.Dropout(dropout),
            nn.MaxPool1d(pool),
        ]
    return nn.Sequential(*layers, nn.Conv1d(128, latent_size, n_times), nn.Flatten())


class ChannelScale(nn.Module):
    """Standardisation of each channel by the mean and deviation of the training trials."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_channels, 1))
        self.register_buffer("deviation", torch.ones(n_channels, 1))

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.deviation

    def fit(self, x: Held) -> NDArray[np.bool_]:
        """Learn the scale of `x` in one pass; return which channels are flat (made 0 for good)."""
        n, mean, squares = 0, np.zeros(x.shape[1]), np.zeros(x.shape[1])
        low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
        for chunk in chunks(x):
            m = chunk.shape[0] * chunk.shape[2]
            chunk_mean = chunk.mean(axis=(0, 2), dtype=np.float64)
            centred = chunk - chunk_mean[:, None].astype(np.float32)
            # Chan's rule joins the moments of two sets without a second look at the data.
            shift = chunk_mean - mean
            squares += np.einsum("nct,nct->c", centred, centred, dtype=np.float64)
            squares += shift**2 * (n * m / (n + m))
            mean += shift * (m / (n + m))
            n += m
            low = np.minimum(low, chunk.min(axis=(0, 2)))
            high = np.maximum(high, chunk.max(axis=(0, 2)))
        flat: NDArray[np.bool_] = low == high
        # Nothing was learnt of what a flat channel would show: were it alive later, its untrained
        # weights would drown the rest.
        deviation = np.where(flat, np.inf, np.sqrt(squares / max(n, 1)))
        self.mean.copy_(torch.from_numpy(mean)[:, None])
        self.deviation.copy_(torch.from_numpy(deviation)[:, None])
        return flat


def direct(latent_size: int) -> nn.Module:
    """The trivial projector: what is censored is what the classifier reads."""
    return nn.Identity()


def projected(latent_size: int) -> nn.Module:
    """The non-trivial projector: an MLP between the hidden features and the censored ones."""
    return mlp(latent_size, latent_size)


PROJECTIONS: dict[str, Callable[[int], nn.Module]] = {"direct": direct, "projected": projected}


class Encoded(NamedTuple):
    """What the task model makes of signals: censored features z, logits of the classes."""

    z: Tensor
    logits: Tensor


class TaskModel(nn.Module):
    """Scale, encoder F, classifier G and projector P (the paper's Figure 2, without the censor)."""

    def __init__(
        self,
        n_channels: int,
        n_times: int,
        n_classes: int,
        *,
        latent_size: int = LATENT_SIZE,
        dropout: float = DROPOUT,
        projection: Callable[[int], nn.Module] = direct,
    ) -> None:
        super().__init__()
        if not isinstance(latent_size, int | np.integer) or latent_size < 1:
            raise OptionError(
                f"latent_size must be a whole number, 1 or more, got {latent_size!r}."
            )
        if not isinstance(dropout, int | float) or not 0 <= dropout < 1:
            raise OptionError(f"dropout must be a number from 0 up to 1, got {dropout!r}.")
        self.latent_size = int(latent_size)
        self.projection = projection.__name__
        self.scale = ChannelScale(n_channels)
        self.encoder = encoder(n_channels, n_times, latent_size=latent_size, dropout=dropout)
        self.classifier = mlp(latent_size, n_classes)
        # Last, so that its initial weights draw nothing that the others would have drawn.
        self.projector = projection(latent_size)

    def features(self, x: Tensor) -> Tensor:
        """The hidden features, which the classifier reads."""
        return self.encoder(self.scale(x))  # type: ignore[no-any-return]

    def forward(self, x: Tensor) -> Encoded:
        hidden = self.features(x)
        return Encoded(self.projector(hidden), self.classifier(hidden))


class Inferred(NamedTuple):
    """Hidden features and logits of a whole set, as arrays."""

    features: Floats
    logits: Floats


def infer(
    model: TaskModel, x: Held, *, device: torch.device | str = "cpu", batch_size: int = 512
) -> Inferred:
    """Hidden features and logits of all of `x`, in evaluation mode; the mode is restored."""
    training = model.training
    model.eval()
    parts: list[tuple[Any, Any]] = []
    with torch.inference_mode(), repeatable():
        for start in range(0, len(x), batch_size):
            batch = torch.from_numpy(np.array(x[start : start + batch_size])).to(device)
            hidden = model.features(batch)
            parts.append((hidden.cpu().numpy(), model.classifier(hidden).cpu().numpy()))
    model.train(training)
    features, logits = zip(*parts, strict=True)
    return Inferred(np.concatenate(features), np.concatenate(logits))
