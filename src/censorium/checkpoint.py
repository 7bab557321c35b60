"""The state of a run in training, and the file from which it goes on bit for bit."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from censorium import tensorfile
from censorium.arrays import Ints, chunks
from censorium.censor import Censor
from censorium.errors import FileError
from censorium.files import require_file_place
from censorium.nets import TaskModel
from censorium.randomness import RandomStream
from censorium.recipe import EpochRecord, Recipe
from censorium.selection import Held

Weights = dict[str, Tensor]


class Data(NamedTuple):
    """Signals x, labels y as 0..C-1, nuisance s as 0..S-1."""

    x: Held
    y: Ints
    s: Ints


@dataclass
class Progress:
    """All that changes while a run trains, and so all that a checkpoint must hold."""

    model: TaskModel
    censor: Censor | None
    task_optimizer: Optimizer
    critic_optimizer: Optimizer | None
    stream: RandomStream
    records: list[EpochRecord] = field(default_factory=list)
    best: Weights = field(default_factory=dict)
    average: Weights = field(default_factory=dict)

    def streams(self) -> list[RandomStream]:
        """Everything that draws random numbers."""
        return [self.stream, self.censor.stream] if self.censor else [self.stream]

    def parts(self) -> dict[str, Weights]:
        """Every tensor that changes, by the part it belongs to."""
        parts = {
            "model": self.model.state_dict(),
            "censor": self.censor.state_dict() if self.censor else {},
            "best": self.best,
            "average": self.average,
        }
        for name, optimizer in self._optimizers():
            parts[name] = {
                f"{index}.{key}": value
                for index, state in optimizer.state_dict()["state"].items()
                for key, value in state.items()
            }
        for place, stream in enumerate(self.streams()):
            parts[f"stream{place}"] = {str(i): state for i, state in enumerate(stream.state)}
        return parts

    def restore(self, parts: Mapping[str, Weights], records: list[EpochRecord]) -> None:
        """Go back to what `parts` and `records` held."""
        self.model.load_state_dict(parts["model"])
        if self.censor:
            self.censor.load_state_dict(parts["censor"])
        for held, saved in ((self.best, parts["best"]), (self.average, parts["average"])):
            held.update({name: t.to(self.stream.device) for name, t in saved.items()})
        for name, optimizer in self._optimizers():
            state: dict[int, Weights] = {}
            for key, value in parts[name].items():
                index, _, entry = key.partition(".")
                state.setdefault(int(index), {})[entry] = value
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        for place, stream in enumerate(self.streams()):
            stream.state = [parts[f"stream{place}"][str(i)] for i in range(len(stream.state))]
        self.records[:] = records

    def _optimizers(self) -> Iterator[tuple[str, Optimizer]]:
        yield "task_optimizer", self.task_optimizer
        if self.critic_optimizer:
            yield "critic_optimizer", self.critic_optimizer


class Checkpoint:
    """A file that holds the last finished epoch of one run, and refuses to serve another run."""

    def __init__(
        self, path: str | Path, progress: Progress, data: tuple[Data | None, ...], recipe: Recipe
    ) -> None:
        self.path = Path(path)
        require_file_place(self.path)
        self.progress = progress
        self.n_epochs = recipe.epochs
        self.fingerprint = fingerprint(progress, data, recipe)

    def save(self) -> None:
        """Replace the file by the state as it is now."""
        parts = self.progress.parts()
        tensors = {f"{part}/{name}": t for part in parts for name, t in parts[part].items()}
        records = [asdict(record) for record in self.progress.records]
        header = {"fingerprint": self.fingerprint, "records": records}
        tensorfile.write(self.path, "checkpoint", tensors, header)

    def restore(self) -> None:
        """Bring the progress to the state of the file, if there is one."""
        if not self.path.exists():
            return
        tensors, header = tensorfile.read(self.path, "checkpoint")
        if header["fingerprint"] != self.fingerprint:
            raise FileError(
                f"{self.path} belongs to a run with other data or options. "
                "Delete it to start anew, or name another checkpoint."
            )
        if len(header["records"]) > self.n_epochs:
            raise FileError(
                f"{self.path} holds {len(header['records'])} epochs, more than the {self.n_epochs} "
                "asked for. Ask for as many or more, or name another checkpoint."
            )
        parts: dict[str, Weights] = {part: {} for part in self.progress.parts()}
        for key, tensor in tensors.items():
            part, _, name = key.partition("/")
            parts.setdefault(part, {})[name] = tensor
        records = [EpochRecord.of(record) for record in header["records"]]
        self.progress.restore(parts, records)


def fingerprint(progress: Progress, data: tuple[Data | None, ...], recipe: Recipe) -> str:
    """A hash of all that decides a run before its first step; the number of epochs may grow."""
    digest = hashlib.sha256()
    options = asdict(replace(recipe, epochs=1))
    censor = progress.censor
    made_of = [identity(censor.measure), identity(censor.mode)] if censor else []
    device = progress.stream.device.type
    variables = [[*censor.rows], censor.tables.tolist()] if censor else []
    text = json.dumps([options, made_of, variables, device], sort_keys=True)
    digest.update(text.encode())
    for part, tensors in sorted(progress.parts().items()):
        for name, tensor in sorted(tensors.items()):
            digest.update(f"{part}/{name}".encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    for arrays in data:
        for array in arrays or ():
            for chunk in chunks(array):
                digest.update(chunk.tobytes())
    return digest.hexdigest()


def identity(thing: Any) -> Any:
    """What tells a class, a function or a partial of either from others, as JSON can hold it."""
    if isinstance(thing, partial):
        keywords = {name: identity(value) for name, value in thing.keywords.items()}
        return [identity(thing.func), [identity(value) for value in thing.args], keywords]
    if isinstance(thing, FunctionType):
        code, held = thing.__code__, [cell.cell_contents for cell in thing.__closure__ or ()]
        plain = [c for c in code.co_consts if not isinstance(c, CodeType)]
        inner = [identity(value) for value in (*plain, *held, *(thing.__defaults__ or ()))]
        return [thing.__qualname__, code.co_code.hex(), inner]
    if isinstance(thing, type):
        return thing.__qualname__
    return re.sub(r" at 0x[0-9a-f]+", "", repr(thing))  # the address differs between processes


def copied(module: torch.nn.Module) -> Weights:
    """The module's weights as they are now."""
    return {name: t.detach().clone() for name, t in module.state_dict().items()}
