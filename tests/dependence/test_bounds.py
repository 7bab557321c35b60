"""Variational bounds at their best critic, and at others, against divergences by quadrature."""

import math

import numpy as np
import pytest
import torch
from scipy.special import xlogy
from torch import nn

from censorium.datasets.joints import gaussian_clusters
from censorium.dependence import MEASURES
from censorium.dependence.base import Scores, shuffled

N_VALUES, GAP = 3, 1.5
JOINT = gaussian_clusters(N_VALUES, GAP)
N, N_PIECES = 1000, 40


class Says(nn.Module):
    """A critic that is any function of its arguments."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        """What the function says."""
        return self.function(*arguments)


def best(name, gap=GAP, change=lambda v: v):
    """The measure with a critic that knows the law, or with a change of it."""

    def log_likelihood(z):
        return -((z - gap * torch.arange(N_VALUES)) ** 2) / 2

    def score(z, s):
        every = log_likelihood(z)
        ratio = every.gather(1, s[:, None])[:, 0] - every.logsumexp(1) + math.log(N_VALUES)
        return change(BEST[name][1](ratio))

    def pairs(z, s, given):
        return Scores(score(z, s), score(z, shuffled(s, given)))

    measure = MEASURES[name](1, N_VALUES)
    measure.critic = Says((lambda z: change(log_likelihood(z))) if name == "info-nce" else pairs)
    return measure


def mixture(u):
    return (xlogy(u, u) - (u + 1) * np.log((u + 1) / 2)) / 2


# For each measure f, and the v at which its bound is tight as a function of the log ratio.
BEST = {
    "jensen-shannon": (mixture, lambda r: r),
    "chi-square": (lambda u: (u - 1) ** 2, lambda r: 2 * r.expm1()),
    "total-variation": (lambda u: abs(u - 1) / 2, lambda r: 1e3 * r),
    "nwj": (lambda u: xlogy(u, u), lambda r: r),
    "donsker-varadhan": (lambda u: xlogy(u, u), lambda r: r),
    "info-nce": (lambda u: xlogy(u, u), lambda r: r),
}
OTHERS = {
    "less": lambda v: 0.5 * v,
    "more": lambda v: 1.5 * v,
    "bent": lambda v: v + 0.5 * torch.sin(3 * v),
    "nothing": lambda v: 0 * v,
}


def estimates(measure, joint=JOINT):
    """Those of many batches."""
    found = []
    for seed in range(N_PIECES):
        sample = joint.sample(N, seed=seed)
        z, s = torch.from_numpy(sample.features).double(), torch.from_numpy(sample.nuisance)
        torch.manual_seed(seed)
        found.append(measure.estimate(z, s).item())
    return np.array(found)


@pytest.mark.parametrize("name", BEST)
def test_the_best_critic_gives_the_divergence(name):
    """With the critic at its optimum, the estimate is the divergence itself."""
    found = estimates(best(name))
    # Four standard errors, and the bias of a logarithm of N terms.
    error = 4 * found.std() / N_PIECES**0.5 + 2 / N
    assert found.mean() == pytest.approx(JOINT.divergence(BEST[name][0]), abs=error)


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("name", BEST)
def test_every_other_critic_gives_less(name, change):
    """The estimate is a bound from below: a critic that errs says less."""
    found = estimates(best(name, change=change))
    assert found.mean() < JOINT.divergence(BEST[name][0]) + 4 * found.std() / N_PIECES**0.5


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("jensen-shannon", (math.log(3) - 2 / 3 * math.log(2)) / 2),
        ("total-variation", 2 / 3),
        ("chi-square", 2),
        ("nwj", math.log(3)),
        ("donsker-varadhan", math.log(3)),
        ("info-nce", math.log(3)),
    ],
)
def test_the_scale(name, most):
    """Where features tell all, a third of the product pairs are joint ones and the rest are not."""
    found = estimates(best(name, gap=40.0), gaussian_clusters(N_VALUES, 40.0))
    error = 4 * found.std() / N_PIECES**0.5 + 2 / N
    assert found.mean() == pytest.approx(most, abs=error)


def test_info_nce_stays_below_the_logarithm_of_the_batch():
    """However sure the critic, a batch of n trials shows no more than log n nats."""
    measure = MEASURES["info-nce"](1, 500)
    measure.critic = Says(lambda z: 100 * torch.eye(500)[z[:, 0].long()])
    s = torch.arange(20)
    found = measure.estimate(s[:, None].float(), s).item()
    assert found == pytest.approx(math.log(20), abs=1e-4)


def test_given_something_the_negatives_share_it():
    """InfoNCE given g compares with the nuisance values of trials of the same g alone."""
    measure = MEASURES["info-nce"](2, 4)
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(12, 4, generator=generator, dtype=torch.float64)
    measure.critic = Says(lambda z: scores)
    s, g = torch.randint(4, (12,), generator=generator), torch.arange(12) % 2
    expected = np.mean(
        [
            scores[i, s[i]] - torch.stack([scores[i, t] for t in s[g == g[i]]]).exp().mean().log()
            for i in range(12)
        ]
    )
    assert measure.estimate(torch.zeros(12, 2), s, g).item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["nwj", "donsker-varadhan", "jensen-shannon", "chi-square"])
@pytest.mark.parametrize("size", [1e3, -1e3])
def test_a_critic_gone_wild_is_finite(name, size):
    """A critic's output of a thousand, which exp cannot take, gives finite values and gradients."""
    measure = MEASURES[name](1, 2)
    raw = torch.full((8,), size, requires_grad=True)
    measure.critic = Says(lambda z, s, given: Scores(raw, raw))
    found = measure.estimate(torch.zeros(8, 1), torch.zeros(8, dtype=torch.long))
    found.backward()
    assert found.isfinite()
    assert raw.grad.isfinite().all()
