"""Modes: signed terms of features."""

import pytest
import torch
from torch.nn.functional import one_hot

from censorium.errors import OptionError
from censorium.modes import MODES, complementary, conditional, conditional_direct, marginal

GENERATOR = torch.Generator().manual_seed(0)
Z = torch.randn(6, 8, generator=GENERATOR)
Y = one_hot(torch.tensor([0, 1, 2, 0, 1, 2])).float()


def test_marginal_is_z():
    """The first graphical model makes all of Z independent of S."""
    ((sign, features, nuisance, given),) = marginal(Z, Y)
    assert (sign, nuisance, given) == (1, "S", ())
    assert torch.equal(features, Z)


def test_conditional_is_z_beside_y():
    """The second makes Z with the label beside it independent of S."""
    ((sign, features, nuisance, given),) = conditional(Z, Y)
    assert (sign, nuisance, given) == (1, "S", ())
    assert torch.equal(features[:, :8], Z)
    assert torch.equal(features[:, 8:], Y)


def test_conditional_direct_holds_the_label_fixed():
    """Z alone, among trials of one label."""
    ((sign, features, nuisance, given),) = conditional_direct(Z, Y)
    assert (sign, nuisance, given) == (1, "S", ("Y",))
    assert torch.equal(features, Z)


def test_complementary_is_two_opposite_halves():
    """The third makes the first half independent of S and the second half dependent on it."""
    (plus, first, *_), (minus, second, *_) = complementary(Z, Y)
    assert (plus, minus) == (1, -1)
    assert torch.equal(torch.cat([first, second], dim=-1), Z)
    assert first.shape == second.shape


def test_complementary_refuses_an_odd_number_of_features():
    """Features that cannot be halved are an error that says how many there are."""
    with pytest.raises(OptionError, match="7 is odd"):
        complementary(Z[:, :7], Y)


@pytest.mark.parametrize("mode", MODES)
def test_modes_let_gradients_through(mode):
    """Every feature is in some term, once: the signed sum's gradient is one in size everywhere."""
    z = Z.clone().requires_grad_()
    sum(term.sign * term.features.sum() for term in MODES[mode](z, Y)).backward()
    assert torch.equal(z.grad.abs(), torch.ones_like(Z))


def test_modes_cannot_be_changed():
    """The table of modes is read-only."""
    with pytest.raises(TypeError):
        MODES["mine"] = marginal
