"""Measures of dependence, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from censorium.dependence.adversarial import Adversarial
from censorium.dependence.base import CriticFree, Dependence, Measure, Pairs, shuffled
from censorium.dependence.bounds import DonskerVaradhan, InfoNCE
from censorium.dependence.coral import Coral
from censorium.dependence.density_ratio import DensityRatio
from censorium.dependence.f_divergence import NWJ, ChiSquare, JensenShannon, TotalVariation
from censorium.dependence.hsic import HSIC
from censorium.dependence.mmd import MMD
from censorium.dependence.reversal import GradientReversal
from censorium.dependence.scale_free import scale_free
from censorium.dependence.sinkhorn import Sinkhorn
from censorium.dependence.wasserstein import Wasserstein, wasserstein_published

__all__ = [
    "HSIC",
    "MEASURES",
    "MMD",
    "NWJ",
    "Adversarial",
    "ChiSquare",
    "Coral",
    "CriticFree",
    "DensityRatio",
    "Dependence",
    "DonskerVaradhan",
    "GradientReversal",
    "InfoNCE",
    "JensenShannon",
    "Measure",
    "Pairs",
    "Sinkhorn",
    "TotalVariation",
    "Wasserstein",
    "scale_free",
    "shuffled",
]

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "adversarial": Adversarial,
        "gradient-reversal": GradientReversal,
        "density-ratio": DensityRatio,
        "wasserstein": Wasserstein,
        "wasserstein-scale-free": scale_free(Wasserstein),
        "wasserstein-published": wasserstein_published,
        "nwj": NWJ,
        "donsker-varadhan": DonskerVaradhan,
        "info-nce": InfoNCE,
        "jensen-shannon": JensenShannon,
        "chi-square": ChiSquare,
        "total-variation": TotalVariation,
        "mmd": MMD,
        "mmd-scale-free": scale_free(MMD),
        "hsic": HSIC,
        "sinkhorn": Sinkhorn,
        "sinkhorn-scale-free": scale_free(Sinkhorn),
        "coral": Coral,
        "coral-scale-free": scale_free(Coral),
    }
)
