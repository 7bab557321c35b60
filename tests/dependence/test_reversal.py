"""The reversed adversary against gradient reversal written out."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from censorium.dependence import Adversarial, GradientReversal

N, N_IN, N_FEATURES, N_NUISANCE = 40, 6, 5, 3
STRENGTH = 0.7


class Reverse(torch.autograd.Function):
    """The identity, whose gradient is the negative, times the strength."""

    @staticmethod
    def forward(ctx, x):
        """Nothing."""
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        """The turn."""
        return -STRENGTH * grad


def setting(measure):
    """An encoder with a loss of its own, a critic, and batches."""
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(N_IN, 8), nn.Tanh(), nn.Linear(8, N_FEATURES)).double()
    critic = measure(N_FEATURES, N_NUISANCE).double()
    batches = [
        (torch.randn(N, N_IN, dtype=torch.float64), torch.randint(N_NUISANCE, (N,)))
        for _ in range(6)
    ]
    return encoder, critic, batches


def optimizers(*modules):
    return [
        torch.optim.Adam(m.parameters(), lr=r) for m, r in zip(modules, (1e-2, 3e-2), strict=True)
    ]


def task_loss(z):
    return (z - 1).square().mean()


def by_one_backward_pass():
    """Gradient reversal as it is known: one loss, one backward pass, one step of everything."""
    encoder, measure, batches = setting(GradientReversal)
    both = optimizers(encoder, measure)
    for x, s in batches:
        z = encoder(x)
        loss = task_loss(z) + cross_entropy(measure.critic(Reverse.apply(z)), s)
        for optimizer in both:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in both:
            optimizer.step()
    return encoder, measure.critic


def by_turns(measure):
    """The library's loop: a step of the critic, then one of the encoder."""
    encoder, measure, batches = setting(measure)
    task, critic = optimizers(encoder, measure)
    for x, s in batches:
        z = encoder(x)
        critic.zero_grad()
        measure.critic_loss(z.detach(), s).backward()
        critic.step()
        task.zero_grad()
        (task_loss(z) + STRENGTH * measure.estimate(z, s)).backward()
        task.step()
    return encoder, measure.critic


def differences(a, b):
    """The largest difference of each weight of two pairs of modules; running means included."""
    pairs = zip((m.state_dict() for m in a), (m.state_dict() for m in b), strict=True)
    return [(x[name] - y[name]).abs().max().item() for x, y in pairs for name in x]


def test_it_trains_what_gradient_reversal_trains():
    """After several steps, encoder and critic are those of the one backward pass, to round-off."""
    assert max(differences(by_turns(GradientReversal), by_one_backward_pass())) < 1e-12


def test_the_adversary_is_another():
    """The adversarial measure, whose critic moves first, comes elsewhere."""
    assert max(differences(by_turns(Adversarial), by_one_backward_pass())) > 1e-6


@pytest.fixture
def stepped():
    """A measure whose critic has taken a step, and a batch."""
    _, measure, ((x, s), *_) = setting(GradientReversal)
    z = x[:, :N_FEATURES]
    optimizer = torch.optim.SGD(measure.parameters(), lr=0.5)
    measure.critic_loss(z, s).backward()
    optimizer.step()
    return measure, z, s


def test_what_it_keeps_is_no_part_of_its_state(stepped):
    """The state holds the critic alone, and who loads one forgets what was kept of another."""
    measure, z, s = stepped
    assert set(measure.state_dict()) == {f"critic.{name}" for name in measure.critic.state_dict()}
    now = -cross_entropy(copy.deepcopy(measure.critic)(z), s)
    assert measure.estimate(z, s) != now
    measure.load_state_dict(measure.state_dict())
    assert measure.estimate(z, s) == now


def test_in_evaluation_nothing_is_about_to_move(stepped):
    """A critic in evaluation estimates by the weights it has."""
    measure, z, s = stepped
    measure.eval()
    assert measure.estimate(z, s) == -cross_entropy(measure.critic(z), s)


def test_copies_and_conversions_keep_what_was_kept(stepped):
    """A deep copy estimates the same; so does a measure of another precision, to its digits."""
    measure, z, s = stepped
    expected = measure.estimate(z, s)
    assert copy.deepcopy(measure).estimate(z, s) == expected
    single = measure.float().estimate(z.float(), s)
    assert single.dtype == torch.float32
    assert single.item() == pytest.approx(expected.item(), rel=1e-5)


def test_it_gives_the_critic_no_gradient(stepped):
    """The estimate reaches the features alone."""
    measure, z, s = stepped
    measure.zero_grad()
    z.requires_grad_()
    measure.estimate(z, s).backward()
    assert z.grad.abs().sum() > 0
    assert all(p.grad is None for p in measure.parameters())
