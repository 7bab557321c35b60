"""The classical yardsticks that a run can name instead of our network."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from censorium.extras import required

N_WINDOWS = 16  # whose means LDA reads of each channel
N_FILTERS = 4  # of xDAWN, for each class
MICROVOLT = 1e6  # covariances of volt are so small that their logarithms lose digits


def lda(n_classes: int) -> Any:
    """Shrinkage LDA on each channel's means in windows; classes count alike, as in our loss."""
    equal = np.full(n_classes, 1 / n_classes)
    reader = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=equal)
    return make_pipeline(FunctionTransformer(window_means), StandardScaler(), reader)


def xdawn_tangent_space(n_classes: int) -> Any:
    """Covariances after xDAWN, their tangent space, and a logistic regression."""
    _, covariances, tangent_space = riemannian()
    reader = LogisticRegression(class_weight="balanced", max_iter=1000)
    return make_pipeline(FunctionTransformer(microvolts), covariances, tangent_space, reader)


def minimum_distance(n_classes: int) -> Any:
    """Covariances after xDAWN, and the class whose mean is nearest."""
    nearest, covariances, _ = riemannian()
    return make_pipeline(FunctionTransformer(microvolts), covariances, nearest)


METHODS: dict[str, Callable[[int], Any]] = {
    "lda": lda,
    "minimum-distance": minimum_distance,
    "xdawn-tangent-space": xdawn_tangent_space,
}


def riemannian() -> tuple[Any, Any, Any]:
    """The nearest mean, xDAWN covariances and tangent space of pyRiemann, not yet fitted."""
    classification, estimation, tangentspace = (
        required(f"pyriemann.{module}", "riemann", "A Riemannian yardstick")
        for module in ("classification", "estimation", "tangentspace")
    )
    covariances = estimation.XdawnCovariances(N_FILTERS, estimator="lwf")
    return classification.MDM(), covariances, tangentspace.TangentSpace()


def window_means(x: NDArray[Any]) -> NDArray[Any]:
    """The mean of each channel in each window, (trials, channels x windows)."""
    parts = np.array_split(x, min(N_WINDOWS, x.shape[2]), axis=2)
    return np.concatenate([part.mean(axis=2) for part in parts], axis=1)


def microvolts(x: NDArray[Any]) -> NDArray[np.float64]:
    """Signals of volt in µV, in double precision."""
    return np.asarray(x, dtype=np.float64) * MICROVOLT
