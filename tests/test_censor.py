"""The censor: names, critics and options."""

import inspect
from functools import partial

import pytest
import torch

from censorium.censor import Censor
from censorium.dependence import MEASURES, Adversarial, Dependence, Wasserstein
from censorium.errors import OptionError
from censorium.modes import MODES, Term, marginal

SIZES = {"n_features": 8, "n_classes": 2, "n_nuisance": 3}


def one_batch(n=32):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(n, 8, generator=generator)
    y = torch.randint(2, (n,), generator=generator)
    return z, y, torch.randint(3, (n,), generator=generator)


class MeanOfSquares(Dependence):
    """A measure without a critic, whose value is known."""

    unit = "squares"

    def __init__(self, n_features, n_nuisance):
        super().__init__()
        self.sizes = n_features, n_nuisance

    def estimate(self, features, nuisance, given=None):
        """The mean square, whatever the nuisance."""
        return features.square().mean()

    def critic_loss(self, features, nuisance, given=None):
        """The same: there is no critic to train."""
        return self.estimate(features, nuisance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_name_and_what_it_stands_for_agree(measure, mode):
    """A censor made by names and one made of their objects are the same, bit for bit."""
    named = Censor(measure, mode, **SIZES)
    made = Censor(MEASURES[measure], MODES[mode], **SIZES)
    assert torch.equal(named.estimates(*one_batch()), made.estimates(*one_batch()))


@pytest.mark.parametrize(
    ("mode", "shared", "n_critics"),
    [
        ("marginal", False, 1),
        ("marginal", True, 1),
        ("conditional", True, 1),
        ("complementary", False, 2),
        ("complementary", True, 1),
    ],
)
def test_there_is_a_critic_for_each_term(mode, shared, n_critics):
    """Each term has a critic of its own unless they share one."""
    assert len(Censor("adversarial", mode, **SIZES, shared_critic=shared).critics) == n_critics


def test_the_critics_of_two_terms_start_apart():
    """The two critics of complementary mode do not start from the same weights."""
    z, w = (c.critic for c in Censor("adversarial", "complementary", **SIZES).critics)
    assert not torch.equal(z[-1].weight, w[-1].weight)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_penalty_is_the_signed_sum(mode, shared):
    """The penalty adds the terms' estimates with their signs; critics' losses add up unsigned."""
    z, y, s = one_batch()
    censor = Censor(MeanOfSquares, mode, **SIZES, shared_critic=shared)
    terms = MODES[mode](z, torch.eye(2)[y])
    # What is held fixed, here the label, stands beside the features.
    shown = [torch.cat([t.features, *[torch.eye(2)[y]] * len(t.given)], dim=1) for t in terms]
    values = [features.square().mean() for features in shown]
    signed = sum(t.sign * v for t, v in zip(terms, values, strict=True))
    torch.testing.assert_close(censor.estimates(z, y, s), torch.stack(values))
    torch.testing.assert_close(censor.penalty(z, y, s), signed)
    torch.testing.assert_close(censor.critic_loss(z, y, s), signed if shared else sum(values))


@pytest.mark.parametrize(
    ("mode", "widths"),
    [
        ("marginal", [8]),
        ("conditional", [10]),
        ("conditional-direct", [10]),
        ("complementary", [4, 4]),
    ],
)
def test_a_measure_is_told_its_sizes(mode, widths):
    """A measure is made with the width of its term and the number of nuisance values."""
    censor = Censor(MeanOfSquares, mode, **SIZES)
    assert [critic.sizes for critic in censor.critics] == [(width, 3) for width in widths]


def test_modes_and_measures_of_ones_own_are_taken():
    """A function of (z, y) is a mode and a partial of a measure is a measure."""

    def three(z, y):
        return tuple(Term(+1, z[:, i : i + 2]) for i in range(3))

    censor = Censor(partial(Wasserstein), three, **SIZES)
    assert censor.estimates(*one_batch()).shape == (3,)


def test_terms_of_different_width_share_no_critic():
    """One critic for terms of unequal width is an error that gives the sizes."""
    with pytest.raises(OptionError, match="got 8 features of 3, 3 features of 3"):
        Censor(
            "adversarial",
            lambda z, y: (Term(+1, z), Term(-1, z[:, :3])),
            **SIZES,
            shared_critic=True,
        )


@pytest.mark.parametrize(
    ("measure", "mode", "message"),
    [
        ("wasserstien", "marginal", "Unknown measure 'wasserstien'. Did you mean 'wasserstein'?"),
        ("adversarial", "margnal", "Unknown mode 'margnal'. Did you mean 'marginal'?"),
        (3, "marginal", "A measure is a name or a class of Dependence, got 3."),
        ("adversarial", None, "A mode is a name or a function of (z, y), got None."),
    ],
)
def test_an_unknown_name_is_an_option_error(measure, mode, message):
    """A name or an object that is no measure or mode is an error that helps."""
    with pytest.raises(OptionError) as caught:
        Censor(measure, mode, **SIZES)
    assert str(caught.value).startswith(message)


def test_odd_features_cannot_be_complementary():
    """An odd number of features is refused when the censor is made, not in training."""
    with pytest.raises(OptionError, match="Choose an even latent_size"):
        Censor("adversarial", "complementary", n_features=7, n_classes=2, n_nuisance=3)


def test_options_are_keyword_only():
    """Only measure and mode may be given by place."""
    kinds = [p.kind for p in inspect.signature(Censor).parameters.values()]
    assert kinds[2:] == [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - 2)


def test_signs_are_not_saved():
    """What a mode decides is no part of a checkpoint: the state holds the critics alone."""
    censor = Censor("adversarial", "complementary", **SIZES)
    assert all(name.startswith("critics.") for name in censor.state_dict())


def test_measures_cannot_be_changed():
    """The table of measures is read-only."""
    with pytest.raises(TypeError):
        MEASURES["mine"] = Adversarial


def test_marginal_is_the_default_mode():
    """Without a mode, a censor is marginal."""
    assert Censor("adversarial", **SIZES).mode is marginal


def test_what_a_measure_froze_stays_frozen():
    """An estimate gives the critics' parameters back as they were: trained ones and frozen ones."""

    class HalfFrozen(MEASURES["adversarial"]):
        def __init__(self, n_features, n_nuisance):
            super().__init__(n_features, n_nuisance)
            self.critic[0].requires_grad_(False)

    censor = Censor(HalfFrozen, n_features=4, n_classes=2, n_nuisance=3)
    before = [p.requires_grad for p in censor.parameters()]
    assert set(before) == {True, False}
    censor.penalty(torch.randn(6, 4), torch.arange(6) % 2, torch.arange(6) % 3)
    assert [p.requires_grad for p in censor.parameters()] == before


class Shown(MeanOfSquares):
    """A measure that remembers what it was shown."""

    def estimate(self, features, nuisance, given=None):
        """The mean square."""
        self.shown = features, nuisance, given
        return features.square().mean()


TABLES = {"subject": [0, 0, 1], "session": [0, 1, 0]}


def test_a_term_names_its_nuisance_and_what_is_held_fixed():
    """Session given subject: the critic sees session numbers beside the subject, and its values."""
    z, y, s = one_batch()
    censor = Censor(
        Shown,
        lambda z, y: (
            Term(+1, z, "session", ("subject",)),
            Term(-1, z, "subject", ("Y", "session")),
        ),
        **SIZES,
        variables=TABLES,
    )
    assert [critic.sizes for critic in censor.critics] == [(8 + 2, 2), (8 + 2 * 2, 2)]
    censor.estimates(z, y, s)
    subject, session = (torch.tensor(TABLES[name])[s] for name in ("subject", "session"))
    features, nuisance, given = censor.critics[0].shown
    assert torch.equal(features, torch.cat([z, torch.eye(2)[subject]], dim=1))
    assert torch.equal(nuisance, session)
    assert torch.equal(given, subject)
    features, nuisance, given = censor.critics[1].shown
    assert torch.equal(features, torch.cat([z, torch.eye(4)[2 * y + session]], dim=1))
    assert torch.equal(nuisance, subject)
    assert torch.equal(given, 2 * y + session)


def test_an_unknown_variable_is_refused():
    """A mode that names a variable nobody gave: an error with the nearest right one."""
    with pytest.raises(OptionError, match=r"Unknown variable 'sesion'\. Did you mean 'session'"):
        Censor("adversarial", lambda z, y: (Term(+1, z, "sesion"),), **SIZES, variables=TABLES)


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (("session", ("subject",)), "about session given subject, which has one value only"),
        (("session", ("Y", "subject")), "about session given subject, which"),
        (("hour", ()), "about hour, which has one value only"),
        (("S", ("S",)), "about S given S, which"),
    ],
)
def test_a_nuisance_of_one_value_is_refused(term, words):
    """One session per subject leaves nothing to compare given the subject: an error says so."""
    alone = {"subject": [0, 1, 2], "session": [0, 1, 0], "hour": [0, 0, 0]}
    with pytest.raises(OptionError, match=words):
        Censor("adversarial", lambda z, y: (Term(+1, z, *term),), **SIZES, variables=alone)
