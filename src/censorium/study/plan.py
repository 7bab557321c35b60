"""A study: which models are trained on which splits from which seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from censorium.splits import SubjectSplit
from censorium.study.run import NETWORK, Run


@dataclass(frozen=True)
class Study:
    """Models x splits x seeds; a model is the options of a `CensoredClassifier`.

    A classical yardstick is ``{"method": "lda"}`` or what else is in `METHODS`.

    Examples
    --------
    >>> from censorium.study import Study
    >>> from censorium import subject_kfold
    >>> models = {"baseline": {"measure": None}, "censored": {"measure": "density-ratio"}}
    >>> len(Study(models, subject_kfold(range(6), 3), seeds=(0, 1)).runs())
    12
    """

    models: Mapping[str, Mapping[str, Any]]
    splits: Sequence[SubjectSplit]
    seeds: Sequence[int] = (0,)

    def runs(self) -> list[Run]:
        """Every run: all models of a split and seed beside each other."""
        return [
            run_of(name, options, split, seed)
            for seed in self.seeds
            for split in self.splits
            for name, options in self.models.items()
        ]


def run_of(name: str, options: Mapping[str, Any], split: SubjectSplit, seed: int) -> Run:
    """The run of a model; among its options, `method` names a classical yardstick."""
    given = dict(options)
    method = given.pop("method", NETWORK)
    return Run(name, given, split, seed, method)
