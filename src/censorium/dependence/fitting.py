"""Estimates that can be trusted: fresh critics, trained to their end, judged on other trials."""

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch.optim import LBFGS, AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel
from torch.optim.swa_utils import get_ema_multi_avg_fn as ema

from censorium.dependence.base import Dependence, Measure
from censorium.errors import DataError
from censorium.randomness import RandomStream

LEARNING_RATE = 1e-3
NORMALISED_LEARNING_RATE = 3e-3  # where layers are normalised, a step of the weights moves less
FALL = 0.2  # of the learning rate, at the first plateau; the second ends training
AVERAGING = 0.99  # of the weights, per step
BATCH_SIZE = 512
STEPS = 12  # between two looks at the validation trials, or an epoch's if it has more
MOST_LOOKS = 100  # at each learning rate
START = 0.1  # the first output over the usual: it is noise, but at 0 there would be no gradient
PATIENCE = 8  # looks without a better validation loss
POWER_ITERATIONS = 25  # each layer's norm takes one a step, and so is a little behind in training
N_PERMUTATIONS = 4  # that a validation loss or an estimate is averaged over
EVALUATED = 1024  # trials in a piece: some estimates depend on it, as those in training do


class Estimate(NamedTuple):
    """What a measure makes of a set of trials, in its own unit.

    A critic fits the noise of the trials it is trained on: on them it finds too much (`seen`), and
    on others too little (`held_out`), by as much to first order, as Akaike showed for a
    likelihood. `value` is the mean of the two. `held_out` alone is a bound from below on average.
    """

    value: float
    held_out: float
    seen: float


class Fitted(NamedTuple):
    """A critic, the trials that it has not been trained on, and those that it has."""

    critic: Dependence
    rows: Tensor
    seen: Tensor


class Sample(NamedTuple):
    """What a critic is shown."""

    features: Tensor
    nuisance: Tensor
    given: Tensor | None = None

    def at(self, rows: Tensor) -> "Sample":
        """Some of these trials."""
        given = None if self.given is None else self.given[rows]
        return Sample(self.features[rows], self.nuisance[rows], given)


def estimate(
    measure: Measure,
    features: Tensor,
    nuisance: Tensor,
    given: Tensor | None = None,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> Estimate:
    """The dependence of all these trials, by critics trained on the others; see `Estimate`.

    Features of very different size should be standardised first, unless their size is what the
    measure is about. What is given, critics see beside the features. Trials are taken to be drawn
    independently; `censorium.audit` is for those that overlap with their neighbours.
    """
    if given is not None:
        features = torch.cat([features, one_hot(given).to(features.dtype)], dim=-1)
    sample = Sample(features, nuisance, given)
    with RandomStream(seed, torch.device("cpu")):
        plain = measure(features.shape[1], int(nuisance.max()) + 1)
    if not [*plain.parameters()]:
        found = evaluate(plain, sample, seed)
        return Estimate(found, found, found)
    held_out = seen = 0.0
    for fitted in cross_fit(measure, features, nuisance, given, n_folds=n_folds, seed=seed):
        share = len(fitted.rows) / len(features)
        held_out += share * evaluate(fitted.critic, sample.at(fitted.rows), seed)
        seen += share * evaluate(fitted.critic, sample.at(fitted.seen), seed)
    return Estimate((held_out + seen) / 2, held_out, seen)


def cross_fit(
    measure: Measure,
    features: Tensor,
    nuisance: Tensor,
    given: Tensor | None = None,
    *,
    n_folds: int = 5,
    seed: int = 0,
) -> Iterator[Fitted]:
    """A fresh critic for each fold of the trials, in evaluation mode, trained without that fold.

    Each nuisance value's trials are spread evenly over the folds. A fifth of the training part
    says when to stop.
    """
    if len(features) < 2 * n_folds:
        raise DataError(f"{n_folds} folds need {2 * n_folds} trials or more, got {len(features)}.")
    sample = Sample(features, nuisance, given)
    n_nuisance = int(nuisance.max()) + 1
    fold = folds(nuisance, n_folds, seed)
    for k in range(n_folds):
        rest = (fold != k).nonzero()[:, 0]
        inner = folds(nuisance[rest], 5, seed)
        seen, valid = rest[inner != 0], rest[inner == 0]
        with RandomStream(seed + k, torch.device("cpu")):
            critic = measure(features.shape[1], n_nuisance).to(features.dtype)
            critic = fit(critic, sample.at(seen), sample.at(valid), seed)
        yield Fitted(critic.eval(), (fold == k).nonzero()[:, 0], seen)


def folds(nuisance: Tensor, n_folds: int, seed: int) -> Tensor:
    """Which fold each trial is in, at random; each nuisance value is in all as evenly as can be."""
    order = torch.randperm(len(nuisance), generator=torch.Generator().manual_seed(seed))
    order = order[nuisance[order].argsort(stable=True)]
    fold = torch.empty_like(nuisance)
    fold[order] = torch.arange(len(order)) % n_folds
    return fold


def fit(critic: Dependence, train: Sample, valid: Sample, seed: int) -> Dependence:
    """The critic at the look at which its averaged weights did best on `valid`.

    At the first plateau the learning rate falls, the second is the end. Where all looks are worse
    than an output of 0, which says that there is no dependence, it is that.
    """
    free = output_layer(critic)
    if free:
        with torch.no_grad():
            free.weight.mul_(START)
            free.bias.zero_()
    optimizer = AdamW(critic.parameters(), fused=True)
    average = AveragedModel(critic, multi_avg_fn=ema(AVERAGING))  # type: ignore[no-untyped-call]
    least, kept = math.inf, critic
    for rate in (1.0, FALL):
        for group in optimizer.param_groups:
            group["lr"] = rate * (LEARNING_RATE if free else NORMALISED_LEARNING_RATE)
        waited = looks = 0
        while waited < PATIENCE and looks < MOST_LOOKS:
            step_through(critic, train, optimizer, average)
            averaged = settle(cast(Dependence, average.module), POWER_ITERATIONS)
            loss = loss_on(averaged, valid, seed)
            waited, looks = 0 if loss < least else waited + 1, looks + 1
            if loss < least:
                least, kept = loss, copy.deepcopy(averaged)
    calibrate(kept, valid, seed)
    return settle(kept, 20 * POWER_ITERATIONS)


def step_through(
    critic: Dependence, train: Sample, optimizer: Optimizer, average: AveragedModel
) -> None:
    """An epoch, or several short ones: the critic steps down its loss, the average follows."""
    critic.train()
    n = len(train.nuisance)
    n_batches = max(n // BATCH_SIZE, 1)
    for _ in range(-(-STEPS // n_batches)):
        for rows in torch.randperm(n).tensor_split(n_batches):
            optimizer.zero_grad()
            critic.critic_loss(*train.at(rows)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            average.update_parameters(critic)


def settle(critic: Dependence, n_iterations: int) -> Dependence:
    """The same critic, the norms of its spectrally normalised layers no longer lagging behind."""
    for module in critic.modules():
        if nn.utils.parametrize.is_parametrized(module, "weight"):
            module.train()
            for _ in range(n_iterations):
                _ = module.weight
    return critic


def loss_on(critic: Dependence, sample: Sample, seed: int) -> float:
    """The critic's loss on trials it is not trained on, over permutations that `seed` decides."""
    critic.eval()
    with torch.no_grad(), RandomStream(seed, torch.device("cpu")):
        losses = [critic.critic_loss(*sample) for _ in range(N_PERMUTATIONS)]
    return torch.stack(losses).mean().item()


def calibrate(critic: Dependence, valid: Sample, seed: int) -> None:
    """Stretch and shift the critic's output until its loss on `valid` is least.

    Training stops before its scale has settled; a density ratio that is right but for its scale
    gives a wrong number of nats. An output of 0, which says that there is no dependence, stands
    unless something is better.
    """
    last = output_layer(critic)
    if last is None:
        return
    with rescaled(last, 0.0, 0.0):
        least = loss_on(critic, valid, seed)
    scale = last.weight.new_ones(()).requires_grad_()
    shift = last.weight.new_zeros(()).requires_grad_()
    optimizer = LBFGS([scale, shift], max_iter=30, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        with RandomStream(seed, torch.device("cpu")):
            losses = [critic.critic_loss(*valid) for _ in range(N_PERMUTATIONS)]
        loss = torch.stack(losses).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    with rescaled(last, scale, shift):
        critic.eval()
        optimizer.step(closure)  # type: ignore[no-untyped-call]
        worse = loss_on(critic, valid, seed) >= least
    with torch.no_grad():
        last.weight.mul_(0 if worse else scale)
        last.bias.mul_(0 if worse else scale).add_(0 if worse else shift)


@contextmanager
def rescaled(layer: nn.Linear, scale: Tensor | float, shift: Tensor | float) -> Iterator[None]:
    """Inside, the layer's output is stretched and shifted."""
    hook = layer.register_forward_hook(lambda _module, _given, out: scale * out + shift)
    try:
        yield
    finally:
        hook.remove()


def output_layer(critic: nn.Module) -> nn.Linear | None:
    """The last linear layer; None where its weight is normalised and so not free."""
    linear = [module for module in critic.modules() if isinstance(module, nn.Linear)]
    free = linear and not nn.utils.parametrize.is_parametrized(linear[-1])
    return linear[-1] if free else None


def evaluate(critic: Dependence, sample: Sample, seed: int) -> float:
    """The critic's estimate of these trials: a mean over pieces of them and over permutations."""
    critic.eval()
    found = []
    with torch.no_grad(), RandomStream(seed, torch.device("cpu")):
        for _ in range(N_PERMUTATIONS):
            order = torch.randperm(len(sample.nuisance))
            for rows in order.tensor_split(-(-len(order) // EVALUATED)):
                found.append(critic.estimate(*sample.at(rows)))
    return torch.stack(found).mean().item()
