"""The alternating loop: a critic that learns to see the nuisance, a task model that hides it."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim import AdamW, Optimizer

from censorium.censor import Censor
from censorium.checkpoint import Checkpoint, Data, Progress, Weights, copied
from censorium.devices import repeatable
from censorium.errors import DivergedError, OptionError
from censorium.nets import TaskModel, infer
from censorium.randomness import RandomStream
from censorium.recipe import EpochRecord, Recipe
from censorium.scores import balanced_accuracy


class Trained(NamedTuple):
    """The weights at each evaluation point that was asked for, and one record per epoch."""

    weights: Mapping[str, Weights]
    records: list[EpochRecord]


class Step(NamedTuple):
    """What one step leaves behind for the epoch's record, still on the device."""

    task_loss: Tensor
    critic_loss: Tensor
    dependence: Tensor
    y: Tensor
    predicted: Tensor


def train(
    model: TaskModel,
    data: Data,
    recipe: Recipe,
    *,
    censor: Censor | None = None,
    valid: Data | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: str | Path | None = None,
    on_epoch: Callable[[EpochRecord], None] | None = None,
) -> Trained:
    """Train `model` in place by alternating optimisation; go on from `checkpoint` if it exists."""
    if valid is None and "best-validation" in recipe.evaluation_points:
        raise OptionError("Evaluation point 'best-validation' needs validation subjects.")
    progress = begin(model.to(device), censor, recipe, RandomStream(seed, torch.device(device)))
    saved = Checkpoint(checkpoint, progress, (data, valid), recipe) if checkpoint else None
    if saved:
        saved.restore()
    for epoch in range(len(progress.records) + 1, recipe.epochs + 1):
        start = time.perf_counter()
        with progress.stream, repeatable():
            steps = train_epoch(progress, data, recipe, epoch, seed)
        refuse_divergence(steps, model, epoch)
        score = score_of(model, valid, progress.stream.device) if valid else None
        keep_best(progress, recipe, score)
        record = summary(steps, epoch, recipe.strength.at(epoch), score, start)
        progress.records.append(record)
        if saved:
            saved.save()
        if on_epoch:
            on_epoch(record)
    weights = {
        "final": copied(model),
        "best-validation": progress.best,
        "averaged": progress.average,
    }
    return Trained({p: weights[p] for p in recipe.evaluation_points}, progress.records)


def train_epoch(
    progress: Progress, data: Data, recipe: Recipe, epoch: int, seed: int
) -> list[Step]:
    """One pass over the data: encode a batch once, step the critic, step the task model."""
    model, censor = progress.model.train(), progress.censor
    strength, device = recipe.strength.at(epoch), progress.stream.device
    class_weight = inverse_frequency(data.y).to(device)
    critic_loss = dependence = torch.zeros(0)
    steps: list[Step] = []
    for index in batches(len(data.x), recipe.batch_size, seed, epoch):
        x, y, s = (torch.from_numpy(array[index]).to(device) for array in data)

        z, logits = model(x)
        task_loss = penalised = cross_entropy(
            logits, y, class_weight, label_smoothing=recipe.label_smoothing
        )
        if censor:
            for _ in range(recipe.critic_steps):
                critic_loss = censor.critic_loss(z, y, s)
                step(progress.critic_optimizer, critic_loss)
            with torch.set_grad_enabled(strength > 0):
                dependence = censor.estimates(z, y, s)
            if strength > 0:
                penalised = task_loss + strength * censor.signed_sum(dependence)
        step(progress.task_optimizer, penalised)

        follow(progress, recipe)
        terms = (task_loss.detach(), critic_loss.detach(), dependence.detach())
        steps.append(Step(*terms, y, logits.argmax(1)))
    return steps


def step(optimizer: Optimizer | None, loss: Tensor) -> None:
    """One step down `loss`; a measure without a critic has no optimizer."""
    if optimizer:
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def begin(
    model: TaskModel, censor: Censor | None, recipe: Recipe, stream: RandomStream
) -> Progress:
    """The state before the first step."""
    critic = list(censor.parameters()) if censor else []
    adamw = partial(AdamW, weight_decay=recipe.weight_decay, fused=True)
    return Progress(
        model,
        censor,
        adamw(model.parameters(), recipe.learning_rate),
        adamw(critic, recipe.critic_learning_rate) if critic else None,
        stream,
        average=copied(model) if "averaged" in recipe.evaluation_points else {},
    )


def batches(n: int, size: int, seed: int, epoch: int) -> Iterator[NDArray[np.int64]]:
    """All of 0..n-1 once, in an order that (seed, epoch) decides, in batches as even as can be.

    Even, so that no batch is a remnant of a few trials whose batch norm would be noise; and none
    of a single trial, which has no norm: an odd number of trials in pairs ends with three.
    """
    order = np.random.default_rng([seed, epoch]).permutation(n)
    n_batches = min(-(-n // size), n // 2)
    yield from np.array_split(order, max(n_batches, 1))


def inverse_frequency(y: NDArray[np.int64]) -> Tensor:
    """A weight for each class such that all classes weigh the same in total."""
    counts = np.bincount(y)
    return torch.tensor(len(y) / (len(counts) * counts), dtype=torch.float32)


def follow(progress: Progress, recipe: Recipe) -> None:
    """Move the averaged weights a little towards the trained ones; faster at first."""
    if not progress.average:
        return
    n_steps = int(next(iter(progress.task_optimizer.state.values()))["step"])
    keep = min(recipe.averaging, n_steps / (n_steps + 9))
    for name, now in progress.model.state_dict().items():
        held = progress.average[name]
        if held.is_floating_point():
            held.lerp_(now, 1 - keep)
        else:
            held.copy_(now)


def keep_best(progress: Progress, recipe: Recipe, score: float | None) -> None:
    """Remember the weights if no epoch before scored as well on the validation subjects."""
    if score is None or "best-validation" not in recipe.evaluation_points:
        return
    before = [r.valid_balanced_accuracy or 0.0 for r in progress.records]
    if not before or score > max(before):
        progress.best.update(copied(progress.model))


def refuse_divergence(steps: list[Step], model: TaskModel, epoch: int) -> None:
    """Raise an error that names the first term that is not finite, if there is one."""
    for number, record in enumerate(steps, start=1):
        terms = zip(("cross-entropy", "critic loss", "dependence"), record[:3], strict=True)
        for name, value in terms:
            if not value.isfinite().all():
                raise DivergedError(
                    f"The {name} became {value.tolist()} in epoch {epoch}, step {number}. "
                    "A smaller strength or learning rate, or data without wild values, may help."
                )
    if not all(p.isfinite().all() for p in model.parameters()):
        raise DivergedError(f"The weights became NaN or infinite in epoch {epoch}.")


def score_of(model: TaskModel, data: Data, device: torch.device) -> float:
    """Balanced accuracy on all of `data`."""
    return balanced_accuracy(data.y, infer(model, data.x, device=device).logits.argmax(1))


def summary(
    steps: list[Step], epoch: int, strength: float, score: float | None, start: float
) -> EpochRecord:
    """The epoch's record."""
    terms: list[Any] = [torch.stack([s[i] for s in steps]).mean(0).tolist() for i in range(3)]
    y, predicted = (torch.cat([s[i] for s in steps]).cpu() for i in (3, 4))
    return EpochRecord(
        epoch=epoch,
        strength=strength,
        task_loss=terms[0],
        critic_loss=None if terms[1] == [] else terms[1],
        dependence=tuple(terms[2]),
        train_balanced_accuracy=balanced_accuracy(y, predicted),
        valid_balanced_accuracy=score,
        seconds=time.perf_counter() - start,
    )
