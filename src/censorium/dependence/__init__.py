"""Measures of dependence, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from censorium.dependence.adversarial import Adversarial
from censorium.dependence.base import Dependence, Measure, Pairs, shuffled
from censorium.dependence.density_ratio import DensityRatio
from censorium.dependence.wasserstein import Wasserstein, wasserstein_published

__all__ = [
    "MEASURES",
    "Adversarial",
    "DensityRatio",
    "Dependence",
    "Measure",
    "Pairs",
    "Wasserstein",
    "shuffled",
]

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "adversarial": Adversarial,
        "density-ratio": DensityRatio,
        "wasserstein": Wasserstein,
        "wasserstein-published": wasserstein_published,
    }
)
