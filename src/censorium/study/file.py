"""A study as a person writes it: YAML, checked before any work starts."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from censorium import datasets
from censorium.censor import resolve_measure, resolve_mode
from censorium.errors import CensoriumError, FileError, OptionError, lookup, unknown
from censorium.estimator import CensoredClassifier
from censorium.nets import PROJECTIONS
from censorium.recipe import EVALUATION_POINTS, points_of
from censorium.splits import (
    SubjectSplit,
    leave_one_subject_out,
    paper_folds,
    subject_kfold,
)
from censorium.study.methods import METHODS
from censorium.study.plan import Study
from censorium.trials import Trials

BASELINE = "baseline"
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")
KEYS = ("data", "splits", "training", "points", "grid", "models", "yardsticks", "seeds")
MANAGED = ("random_state", "validation_subjects", "on_epoch", "checkpoint", "evaluation_point")
OPTIONS = [name for name in CensoredClassifier().get_params() if name not in MANAGED]

# The plain network with one of these as its only regulariser.
REGULARISERS: Mapping[str, Mapping[str, Any]] = {
    "weight-decay": {"weight_decay": 0.1},
    "dropout": {"dropout": 0.3},
    "label-smoothing": {"label_smoothing": 0.1},
    "weight-averaging": {"evaluation_point": "averaged"},
}


class Splits(NamedTuple):
    """What makes the splits of a kind, and its options with what they are by default."""

    make: Callable[..., Sequence[SubjectSplit]]
    options: Mapping[str, Any]


SPLITS: Mapping[str, Splits] = {
    "paper-folds": Splits(
        lambda trials, validation: paper_folds(trials, validation=validation),
        {"validation": True},
    ),
    "k-fold": Splits(
        lambda trials, folds, valid, seed: subject_kfold(trials, folds, n_valid=valid, seed=seed),
        {"folds": 5, "valid": 0, "seed": 0},
    ),
    "leave-one-out": Splits(leave_one_subject_out, {}),
}


@dataclass(frozen=True)
class StudyFile:
    """What a study file says; `study` is what that means for trials.

    `models` are all of them by name: the baseline, the grid, those given by name and yardsticks.
    """

    path: Path
    source: str
    source_options: Mapping[str, Any]
    splits: str
    split_options: Mapping[str, Any]
    first: int | None
    models: Mapping[str, Mapping[str, Any]]
    seeds: tuple[int, ...]

    def trials(self, **options: Any) -> Trials:
        """The trials that the study is about."""
        near = self.path.parent / self.source
        if (near / "info.json").is_file():
            return Trials.load(near)
        source = near if near.exists() else self.source
        return datasets.load(source, **self.source_options, **options)

    def study(self, trials: Trials) -> Study:
        """Every model on every split from every seed."""
        splits = SPLITS[self.splits].make(trials, **self.split_options)
        return Study(self.models, splits[: self.first], self.seeds)


def read_study(name: str | Path) -> StudyFile:
    """The study in a file, or the preset of that name, checked; else an error names the line."""
    path = Path(name)
    if not path.suffix and not path.exists():
        text = preset(str(name))
    elif not path.is_file():
        raise FileError(f"There is no file {path}.")
    else:
        text = path.read_text(encoding="utf-8")
    return parsed(text, path)


def presets() -> dict[str, str]:
    """The text of each preset, by name."""
    folder = files("censorium.study") / "presets"
    found = [p for p in folder.iterdir() if p.name.endswith(".yaml")]
    return {p.name.removesuffix(".yaml"): p.read_text(encoding="utf-8") for p in found}


def preset(name: str) -> str:
    """The text of the preset of that name."""
    return lookup("study (no file is called so, and no preset)", name, presets())


class Plain(yaml.SafeLoader):
    """YAML's safe loader, to which 1e-4 is a number as it is to everybody else."""


Plain.add_implicit_resolver("tag:yaml.org,2002:float", NUMBER, [*"-+.0123456789"])


def parsed(text: str, path: Path) -> StudyFile:
    """What the text of a study file says."""
    try:
        said = yaml.load(text, Loader=Plain)  # noqa: S506  (a SafeLoader)
        lines = dict(places(yaml.compose(text, Loader=Plain)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or error
        raise FileError(f"{path}{where} is not YAML: {problem}.") from error
    return Reader(path, lines).study_file(said)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], int]]:
    """The line of each key and item, counted from 1."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*path, key.value), key.start_mark.line + 1
            yield from places(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield (*path, i), value.start_mark.line + 1
            yield from places(value, (*path, i))


class Reader(NamedTuple):
    """Reads what YAML held; its errors name the file and the line."""

    path: Path
    lines: Mapping[tuple[Any, ...], int]

    def error(self, message: str, *key: Any) -> OptionError:
        """An error about what lies at `key`."""
        while key and key not in self.lines:
            key = key[:-1]
        where = f", line {self.lines[key]}" if key else ""
        return OptionError(f"{self.path}{where}: {message}")

    def study_file(self, said: Any) -> StudyFile:
        """All of it."""
        if not isinstance(said, dict):
            raise self.error(f"A study is a mapping with the keys {', '.join(KEYS)}.")
        self.known("key", said, KEYS)
        for key in ("data", "splits"):
            if key not in said:
                raise self.error(f"{key} is missing: say what the study is about.")
        source, source_options = self.named("data", said["data"], "source")
        kind, split_options = self.named("splits", said["splits"], "kind")
        known = self.checked(lambda: lookup("kind of splits", kind, SPLITS), "splits", "kind")
        first = split_options.pop("first", None)
        self.known("option of the splits", split_options, [*known.options, "first"], "splits")
        if first is not None and (not isinstance(first, int) or first < 1):
            raise self.error(f"first must be a number of splits, got {first!r}.", "splits", "first")
        return StudyFile(
            path=self.path,
            source=source,
            source_options=source_options,
            splits=kind,
            split_options={**known.options, **split_options},
            first=first,
            models=self.models(said),
            seeds=self.seeds(said.get("seeds", 1)),
        )

    def models(self, said: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Every model, the baseline first, each with all its options."""
        common = self.mapping(said, "training")
        self.known("training option", common, OPTIONS, "training")
        points = said.get("points", ["final"])
        known = dict.fromkeys(EVALUATION_POINTS)
        for point in self.checked(lambda: points_of(points), "points"):
            self.checked(partial(lookup, "evaluation point", point, known), "points")
        plain = {**common, "evaluation_point": points}
        models = {BASELINE: {**plain, "measure": None}}
        grid = self.mapping(said, "grid")
        self.known("option in the grid", grid, OPTIONS, "grid")
        for key, values in grid.items():
            if not isinstance(values, list) or not values:
                raise self.error(f"{key} must be a list of values, got {values!r}.", "grid", key)
        for values in product(*grid.values()) if grid else ():
            options = dict(zip(grid, values, strict=True))
            models[" ".join(map(written, values))] = {**plain, **options}
        for name, options in self.mapping(said, "models").items():
            if not isinstance(options, dict):
                raise self.error("A model is a mapping of its options.", "models", name)
            self.known("option", options, [*OPTIONS, "method"], "models", name)
            models[str(name)] = options if "method" in options else {**plain, **options}
        for place, name in enumerate(said.get("yardsticks") or ()):
            models[name] = self.yardstick(name, plain, place)
        for name, options in models.items():
            self.check(name, options)
        return models

    def yardstick(self, name: Any, plain: Mapping[str, Any], place: int) -> dict[str, Any]:
        """A classical method, or the plain network with one regulariser."""
        if name in METHODS:
            return {"method": name}
        if name not in REGULARISERS:
            raise self.error(
                unknown("yardstick", name, [*METHODS, *REGULARISERS]), "yardsticks", place
            )
        return {**plain, "measure": None, **REGULARISERS[name]}

    def check(self, name: str, options: Mapping[str, Any]) -> None:
        """Raise an error unless a classifier takes these options."""
        if "method" in options:
            self.checked(lambda: lookup("method", options["method"], METHODS), "models", name)
            return
        where = ("models", name) if ("models", name) in self.lines else ("grid",)
        where = ("training",) if name == BASELINE else where
        self.checked(lambda: require_options(options), *where)

    def checked(self, look: Callable[[], Any], *key: Any) -> Any:
        """What `look` gives; its error with the line before it."""
        try:
            return look()
        except CensoriumError as error:
            raise self.error(str(error), *key) from error

    def named(self, key: str, said: Any, inner: str) -> tuple[str, dict[str, Any]]:
        """A name alone, or a mapping in which it lies under `inner` beside options."""
        if isinstance(said, str):
            return said, {}
        if not isinstance(said, dict) or not isinstance(said.get(inner), str):
            raise self.error(f"{key} must be a name, or a mapping with {inner!r}.", key)
        return said[inner], {name: value for name, value in said.items() if name != inner}

    def mapping(self, said: Mapping[str, Any], key: str) -> dict[str, Any]:
        """The mapping under `key`; an empty one if there is none."""
        found = said.get(key) or {}
        if not isinstance(found, dict):
            raise self.error(f"{key} must be a mapping, got {found!r}.", key)
        return found

    def known(self, kind: str, said: Mapping[str, Any], names: Sequence[str], *key: Any) -> None:
        """Raise an error for a name that is not among `names`."""
        for name in said:
            if name not in names:
                raise self.error(unknown(kind, name, names), *key, name)

    def seeds(self, said: Any) -> tuple[int, ...]:
        """So many seeds from 0 on, or those listed."""
        found = list(range(said)) if isinstance(said, int) and not isinstance(said, bool) else said
        if not isinstance(found, list) or not found or not all(type(s) is int for s in found):
            raise self.error(f"seeds must be a number or a list of numbers, got {said!r}.", "seeds")
        return tuple(found)


def require_options(options: Mapping[str, Any]) -> None:
    """Raise an `OptionError` unless these options can train a classifier."""
    model = CensoredClassifier(**options)
    model.recipe()
    if model.measure is not None:
        resolve_measure(model.measure)
    resolve_mode(model.mode)
    lookup("projection", model.projection, PROJECTIONS)


def written(value: Any) -> str:
    """A value of a grid, in the name of a model."""
    return f"{value:g}" if isinstance(value, int | float) and value is not True else str(value)


def fingerprint(trials: Trials) -> str:
    """A digest of who, which labels and what signals: trials of other data have another."""
    digest = hashlib.sha256(repr(trials.info).encode())
    for ids in (trials.y, trials.subject, trials.session):
        digest.update(np.ascontiguousarray(ids).tobytes())
    step = max(len(trials) // 100, 1)  # not all signals: there may be gigabytes of them
    for start in range(0, len(trials), step):
        digest.update(np.ascontiguousarray(trials[start : start + 1].x).tobytes())
    return digest.hexdigest()[:16]
