"""The paper's algorithms in plain NumPy, against the censor, to round-off.

The NumPy side knows the critic's numbers, not its code.
"""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from censorium.censor import Censor

N, N_FEATURES, N_CLASSES, N_NUISANCE = 96, 10, 3, 5
# Double precision, at most some hundred additions in a row: round-off stays far below this.
RTOL = 1e-10
ATOL = 1e-12

MODES = ("marginal", "conditional", "complementary")
CASES = [
    pytest.param(measure, mode, shared, id=f"{measure}-{mode}{'-shared' * shared}")
    for measure in ("adversarial", "density-ratio", "wasserstein", "wasserstein-published")
    for mode, shared in [*((m, False) for m in MODES), ("complementary", True)]
]


def numbers(critic):
    """The critic's parameters and buffers as arrays, by name."""
    return {name: t.detach().numpy().copy() for name, t in critic.state_dict().items()}


def batch_norm(h, gain, shift):
    mean = h.mean(axis=0)
    variance = ((h - mean) ** 2).mean(axis=0)
    return gain * (h - mean) / np.sqrt(variance + 1e-5) + shift


def residual_mlp(x, linears, norms):
    """Hidden layers: linear, batch norm, ReLU, residual; a last layer with a bias."""
    *hidden, (last, bias) = linears
    for (weight, none), (gain, shift) in zip(hidden, norms, strict=True):
        assert none is None
        h = np.maximum(batch_norm(x @ weight.T, gain, shift), 0)
        x = x + h if weight.shape[0] == weight.shape[1] else h
    return x @ last.T + bias


def sorting_mlp(x, linears):
    """Linear layers with, between them, the two halves sorted against each other."""
    *hidden, (last, bias) = linears
    for weight, shift in hidden:
        h = x @ weight.T + shift
        half = h.shape[1] // 2
        x = np.sort(h.reshape(-1, 2, half), axis=1)[:, ::-1].reshape(len(h), -1)
    return x @ last.T + bias


def spectral(weight):
    return weight / np.linalg.svd(weight, compute_uv=False)[0]


def linears_of(params, net):
    """(weight, bias or None) of each linear layer in order, normalised where it is to be."""
    found = []
    for name, value in params.items():
        if not name.startswith(net) or value.ndim != 2:
            continue
        stem = name.removesuffix(".parametrizations.weight.original").removesuffix(".weight")
        weight = spectral(value) if name.endswith("original") else value
        found.append((weight, params.get(f"{stem}.bias")))
    return found


def norms_of(params):
    stems = [name.removesuffix(".running_mean") for name in params if name.endswith("running_mean")]
    return [(params[f"{stem}.weight"], params[f"{stem}.bias"]) for stem in stems]


def plain_network(params, x):
    return residual_mlp(x, linears_of(params, "critic"), norms_of(params))


def lipschitz_network(params, x):
    assert not norms_of(params)
    return sorting_mlp(x, linears_of(params, "critic"))


def one_hot(labels, n):
    return np.eye(n)[labels]


def minus_log_sigmoid(u):
    return np.logaddexp(0, -u)


def algorithm_1(params, features, s, permutations):
    """What the task model adds, and what the critic lowers; so do the other algorithms."""
    logits = plain_network(params, features)
    largest = logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(logits - largest).sum(axis=1)) + largest[:, 0]
    cross_entropy = (log_sum - logits[np.arange(N), s]).mean()
    return (lambda: -cross_entropy), (lambda: cross_entropy)


def joint_and_product(network, params, features, s, permutations):
    """J of the pairs as they are and of shuffled ones, which share one batch and so its norm."""
    both = np.concatenate([s, s[next(permutations)]])
    pairs = np.concatenate([np.tile(features, (2, 1)), one_hot(both, N_NUISANCE)], axis=1)
    scores = network(params, pairs)[:, 0]
    return scores[:N], scores[N:]


def algorithms_2_and_3(params, features, s, permutations):
    def scores():
        return joint_and_product(plain_network, params, features, s, permutations)

    def train():
        joint, product = scores()
        return minus_log_sigmoid(joint).mean() + minus_log_sigmoid(-product).mean()

    def estimate():
        return scores()[0].mean()

    return estimate, train


def algorithm_4(network):
    def algorithm(params, features, s, permutations):
        def distance():
            joint, product = joint_and_product(network, params, features, s, permutations)
            return joint.mean() - product.mean()

        def negative():
            return -distance()

        return distance, negative

    return algorithm


ALGORITHMS = {
    "adversarial": algorithm_1,
    "density-ratio": algorithms_2_and_3,
    "wasserstein": algorithm_4(lipschitz_network),
    "wasserstein-published": algorithm_4(plain_network),
}


def terms(mode, z, y):
    """What is to be independent of s, then what is to depend on it."""
    if mode == "marginal":
        return [z]
    if mode == "conditional":
        return [np.concatenate([z, one_hot(y, N_CLASSES)], axis=1)]
    return [z[:, : N_FEATURES // 2], z[:, N_FEATURES // 2 :]]


def both_roles(censor, measure, mode, batch):
    """For each term: its estimate and its critic's loss, as the paper has them."""
    z, y, s = batch
    permutations = permutations_to_come(censor)
    critics = [numbers(critic) for critic in censor.critics]
    found = [
        ALGORITHMS[measure](critics[min(i, len(critics) - 1)], features, s, permutations)
        for i, features in enumerate(terms(mode, z, y))
    ]
    estimates, losses = zip(*found, strict=True)
    return estimates, losses


def permutations_to_come(censor):
    """The permutations of a batch that the censor's own stream will draw."""
    generator = torch.Generator()
    generator.set_state(censor.stream.state[0])
    return (torch.randperm(N, generator=generator).numpy() for _ in itertools.count())


def converge(module):
    """Give each spectral norm its exact singular vectors, and stop its power iteration."""
    for layer in module.modules():
        if nn.utils.parametrize.is_parametrized(layer):
            chain = layer.parametrizations.weight
            u, _, vt = torch.linalg.svd(chain.original.detach())
            chain[0]._u.copy_(u[:, 0])
            chain[0]._v.copy_(vt[0])
            chain.eval()


def unusual_censor(measure, mode, shared):
    """A censor in double precision, none of whose parameters has its initial value."""
    censor = Censor(
        measure,
        mode,
        n_features=N_FEATURES,
        n_classes=N_CLASSES,
        n_nuisance=N_NUISANCE,
        shared_critic=shared,
        seed=3,
    ).double()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for p in censor.parameters():
            p.add_(torch.randn(p.shape, generator=generator, dtype=p.dtype), alpha=0.2)
    converge(censor)
    return censor


def make_batch(seed=5):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((N, N_FEATURES))
    return z, rng.integers(N_CLASSES, size=N), rng.integers(N_NUISANCE, size=N)


def signed_sum(values):
    values = [value() for value in values]
    return values[0] - values[1] if len(values) == 2 else values[0]


@pytest.mark.parametrize(("measure", "mode", "shared"), CASES)
def test_penalty_is_the_papers(measure, mode, shared):
    """The penalty is the paper's L_censor, in complementary mode L of Z minus L of W."""
    censor, batch = unusual_censor(measure, mode, shared), make_batch()
    estimates, _ = both_roles(censor, measure, mode, batch)
    got = censor.penalty(*map(torch.from_numpy, batch))
    np.testing.assert_allclose(got.item(), signed_sum(estimates), rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(("measure", "mode", "shared"), CASES)
def test_critic_loss_is_the_papers(measure, mode, shared):
    """Critics lower the paper's objective: signed where they share one net, else each its own."""
    censor, batch = unusual_censor(measure, mode, shared), make_batch()
    _, losses = both_roles(censor, measure, mode, batch)
    expected = signed_sum(losses) if shared else sum(loss() for loss in losses)
    got = censor.critic_loss(*map(torch.from_numpy, batch))
    np.testing.assert_allclose(got.item(), expected, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(("measure", "mode", "shared"), CASES)
def test_estimates_follow_the_order_of_the_terms(measure, mode, shared):
    """`estimates` holds the paper's L of each term without its sign: Z first, then W."""
    censor, batch = unusual_censor(measure, mode, shared), make_batch()
    estimates, _ = both_roles(censor, measure, mode, batch)
    got = censor.estimates(*map(torch.from_numpy, batch)).detach().numpy()
    np.testing.assert_allclose(got, [f() for f in estimates], rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("measure", ["density-ratio", "wasserstein"])
def test_the_second_batch_is_shuffled_afresh(measure):
    """Two critic losses in a row are those of two permutations drawn one after the other."""
    censor, batch = unusual_censor(measure, "marginal", False), make_batch()
    _, (loss,) = both_roles(censor, measure, "marginal", batch)
    expected = [loss(), loss()]
    got = [censor.critic_loss(*map(torch.from_numpy, batch)).item() for _ in range(2)]
    np.testing.assert_allclose(got, expected, rtol=RTOL, atol=ATOL)
    assert abs(got[0] - got[1]) > 1e-6 * abs(got[0])


@pytest.mark.parametrize(("measure", "mode", "shared"), CASES)
def test_penalty_gradient_is_the_slope_of_the_papers(measure, mode, shared):
    """Along a direction of z the penalty climbs as the paper's L does, by central difference."""
    censor, (z, y, s) = unusual_censor(measure, mode, shared), make_batch()
    direction = np.random.default_rng(6).standard_normal(z.shape)
    step = 1e-8
    ends = [
        signed_sum(both_roles(censor, measure, mode, (z + d * direction, y, s))[0])
        for d in (step, -step)
    ]
    leaf = torch.from_numpy(z).requires_grad_()
    censor.penalty(leaf, torch.from_numpy(y), torch.from_numpy(s)).backward()
    slope = (leaf.grad.numpy() * direction).sum()
    # Round-off of some 1e-16 over the step; a larger step would cross kinks of the ReLU.
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-4, atol=1e-6)
