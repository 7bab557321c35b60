"""Laws that hold for every measure in every mode."""

import copy
import math
from functools import cache

import pytest
import torch

from censorium.censor import Censor
from censorium.dependence import MEASURES, DensityRatio
from censorium.dependence.wasserstein import lipschitz_mlp
from censorium.modes import MODES

N, N_FEATURES, N_CLASSES, N_NUISANCE = 128, 8, 2, 4
N_STEPS = 60
N_BATCHES = 8

CASES = [
    pytest.param(measure, mode, id=f"{measure}-{mode}") for measure in MEASURES for mode in MODES
]
every_case = pytest.mark.parametrize(("measure", "mode"), CASES)

WITHOUT_CRITIC = {
    "mmd",
    "mmd-scale-free",
    "hsic",
    "sinkhorn",
    "sinkhorn-scale-free",
    "coral",
    "coral-scale-free",
}
LESS_ENTROPY = {"adversarial", "gradient-reversal"}


def make_censor(measure, mode="marginal", **options):
    sizes = {"n_features": N_FEATURES, "n_classes": N_CLASSES, "n_nuisance": N_NUISANCE}
    return Censor(measure, mode, **{**sizes, **options})


def draw(generator, *, dependent=(True, False), shift=3.0, relabel=tuple(range(N_NUISANCE))):
    """A batch; in the halves of z that are dependent, each nuisance value has its own cluster."""
    s = torch.randint(N_NUISANCE, (N,), generator=generator)
    y = torch.randint(N_CLASSES, (N,), generator=generator)
    z = torch.randn(N, N_FEATURES, generator=generator)
    half = N_FEATURES // 2
    for i, shifted in enumerate(dependent):
        z[:, i * half : (i + 1) * half] += shift * shifted * torch.eye(N_NUISANCE)[s]
    return z, y, torch.tensor(relabel)[s]


def draw_by_label(generator):
    """A batch whose features show the label alone, which is rarer for some nuisance values."""
    s = torch.randint(N_NUISANCE, (N,), generator=generator)
    y = (torch.rand(N, generator=generator) < torch.where(s < 2, 0.9, 0.1)).long()
    z = torch.randn(N, N_FEATURES, generator=generator)
    z[:, :N_CLASSES] += 3.0 * torch.eye(N_CLASSES)[y]
    return z, y, s


def one_batch(seed=1, **options):
    return draw(torch.Generator().manual_seed(seed), **options)


def train(censor, n_steps=N_STEPS, seed=2, draw=draw, **options):
    """Steps of the critic on fresh batches; returns the estimates of fresh batches after that."""
    generator = torch.Generator().manual_seed(seed)
    parameters = list(censor.parameters())
    if parameters:
        optimizer = torch.optim.Adam(parameters, lr=3e-3, fused=True)
        for _ in range(n_steps):
            optimizer.zero_grad()
            censor.critic_loss(*draw(generator, **options)).backward()
            optimizer.step()
    batches = [draw(generator, **options) for _ in range(N_BATCHES)]
    return torch.stack([censor.estimates(*batch).detach() for batch in batches])


@cache
def trained(measure, mode, dependent, **options):
    """A censor, and its estimates (batches, terms) counted from 0 for independence."""
    censor = make_censor(measure, mode)
    estimates = train(censor, dependent=dependent, **options)
    # Cross-entropies leave out the constant H(S), or H(S|Y) where the label is held fixed. Here the
    # nuisance is uniform, whatever the label.
    constant = math.log(N_NUISANCE) if measure in LESS_ENTROPY else 0.0
    return censor, estimates + constant


def trained_estimates(measure, mode, dependent, **options):
    """Estimates of the first term of a mode, (batches,), counted from 0 for independence."""
    return trained(measure, mode, dependent, **options)[1][:, 0]


@every_case
def test_critic_loss_leaves_the_features_alone(measure, mode):
    """The critic's loss sends no gradient to the features."""
    z, y, s = one_batch()
    z.requires_grad_()
    censor = make_censor(measure, mode)
    loss = censor.critic_loss(z, y, s)
    if list(censor.parameters()):
        loss.backward()
        assert all(p.grad is not None for p in censor.parameters())
    assert z.grad is None


@every_case
def test_penalty_leaves_the_critics_alone(measure, mode):
    """The penalty sends a gradient to all features, none to the critics, which can train after."""
    z, y, s = one_batch()
    z.requires_grad_()
    censor = make_censor(measure, mode)
    censor.penalty(z, y, s).backward()
    assert (z.grad.abs().sum(dim=0) > 0).all()
    assert all(p.grad is None and p.requires_grad for p in censor.parameters())


@every_case
def test_a_penalty_that_fails_leaves_the_critics_trainable(measure, mode):
    """Where the penalty raises, the critics can be trained all the same."""
    z, y, s = one_batch()
    censor = make_censor(measure, mode)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        censor.penalty(z, y, s[:-1])
    assert all(p.requires_grad for p in censor.parameters())


@every_case
def test_estimate_tells_dependence_from_independence(measure, mode):
    """A trained critic's estimate is larger where the features show the nuisance, near 0 else."""
    clusters = trained_estimates(measure, mode, (True, False))
    noise = trained_estimates(measure, mode, (False, False))
    gap = clusters.mean() - noise.mean()
    # Two means over N_BATCHES batches: five of their standard errors.
    assert gap > 5 * ((clusters.var() + noise.var()) / N_BATCHES).sqrt()
    assert noise.mean().abs() < gap / 5


@every_case
def test_estimate_grows_with_separation(measure, mode):
    """The further apart the nuisance values' features lie, the larger the estimate."""
    none = trained_estimates(measure, mode, (False, False))
    near, far = (trained_estimates(measure, mode, (True, False), shift=s) for s in (1.0, 2.0))
    for growth in (near - none, far - near):
        # The batches differ in nothing but the separation: three standard errors of the mean.
        assert growth.mean() > 3 * growth.std() / N_BATCHES**0.5


@pytest.mark.parametrize("measure", MEASURES)
def test_what_the_label_explains_is_not_dependence_given_it(measure):
    """Features that show the label alone depend on the nuisance, and do not where it is fixed."""
    plain = train(make_censor(measure, "marginal"), draw=draw_by_label).mean()
    given = train(make_censor(measure, "conditional-direct"), draw=draw_by_label).mean()
    if measure in LESS_ENTROPY:
        rare, often = math.log(0.1), math.log(0.9)
        of_label = math.log(2) + 0.1 * rare + 0.9 * often  # I(Y;S), by which H(S|Y) is below H(S)
        plain, given = plain + math.log(N_NUISANCE), given + math.log(N_NUISANCE) - of_label
    assert given.abs() < plain / 5


@every_case
def test_the_gradient_pulls_the_nuisance_values_together(measure, mode):
    """To follow a trained critic's penalty moves each value's mean features towards all."""
    censor, _ = trained(measure, mode, (True, False))
    z, y, s = one_batch(seed=3)
    first = z[:, : N_FEATURES // 2].requires_grad_()
    estimates = copy.deepcopy(censor).estimates(torch.cat([first, z[:, 4:].detach()], 1), y, s)
    estimates[0].backward()
    own = torch.eye(N_NUISANCE)[s]
    means = own.T @ first.detach() / own.sum(0)[:, None]
    outwards = (means - first.detach().mean(0))[s]
    assert (first.grad * outwards).sum() > 0


@pytest.mark.parametrize("measure", MEASURES)
def test_complementary_terms_are_the_two_halves(measure):
    """In complementary mode each half of the features has an estimate of its own."""
    first = trained(measure, "complementary", (True, False))[1].mean(dim=0)
    second = trained(measure, "complementary", (False, True))[1].mean(dim=0)
    assert first[0] > 5 * first[1].abs()
    assert second[1] > 5 * second[0].abs()


@every_case
def test_the_numbers_of_nuisance_values_mean_nothing(measure, mode):
    """Other numbers for the same nuisance values give about the same estimate, trained afresh."""
    plain = trained_estimates(measure, mode, (True, False)).mean()
    other = trained_estimates(measure, mode, (True, False), relabel=(2, 0, 3, 1)).mean()
    noise = trained_estimates(measure, mode, (False, False)).mean()
    # To relabel is to draw other initial weights. Between seeds a critic of so few steps varies by
    # a fifth or less; half of the estimate is the standard deviation of a difference, twice.
    assert abs(plain - other) < 0.5 * (max(plain, other) - noise)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", sorted(WITHOUT_CRITIC))
def test_without_a_critic_the_numbers_mean_nothing_at_all(measure, mode):
    """Other numbers for the same nuisance values give the same estimate of the same batch."""
    z, y, s = one_batch()
    found = [
        make_censor(measure, mode, n_nuisance=9).estimates(z.double(), y, torch.tensor(names)[s])
        for names in (range(N_NUISANCE), (2, 8, 0, 5))
    ]
    torch.testing.assert_close(*found)


@every_case
def test_a_step_down_the_penalty_lowers_it(measure, mode):
    """A small step of the features against the penalty's gradient lowers it, the critic held."""
    censor = make_censor(measure, mode).double()
    train_batch = one_batch(dependent=(True, True))
    z, y, s = train_batch[0].double(), *train_batch[1:]
    for _ in range(5):
        loss = censor.critic_loss(z, y, s)
        for p, g in zip(censor.parameters(), gradients(loss, censor), strict=True):
            p.data -= 0.05 * g

    def penalty(features):
        # A copy has the same critics and will draw the same permutation.
        return copy.deepcopy(censor).penalty(features, y, s)

    leaf = z.clone().requires_grad_()
    before = penalty(leaf)
    before.backward()
    step = 1e-4 / leaf.grad.norm()
    after = penalty(z - step * leaf.grad)
    expected = step * leaf.grad.square().sum()
    # To first order; the kinks of some hidden units lie within the step.
    torch.testing.assert_close(before.detach() - after, expected, rtol=0.01, atol=0)


def gradients(loss, censor):
    return torch.autograd.grad(loss, list(censor.parameters())) if loss.requires_grad else ()


def assert_finite(censor, z, y, s):
    z = z.clone().requires_grad_()
    penalty, loss = censor.penalty(z, y, s), censor.critic_loss(z, y, s)
    penalty.backward()
    assert penalty.isfinite()
    assert loss.isfinite()
    assert z.grad.isfinite().all()
    assert all(g.isfinite().all() for g in gradients(loss, censor))


SPARSE = {
    "one subject's single session": torch.full((N,), 2),
    "one trial of another": (torch.arange(N) == 7).long(),
    "two or three trials of others": torch.tensor([0] * 2 + [1] * 3 + [2] * (N - 5)),
    "each value once": torch.arange(N),
    "values that are absent": 2 * torch.arange(N) % 6,
}


@pytest.mark.parametrize("s", SPARSE.values(), ids=SPARSE)
@every_case
def test_sparse_nuisance_values_are_finite(measure, mode, s):
    """A batch with few or no trials of some nuisance values has finite losses and gradients."""
    z, y, _ = one_batch()
    assert_finite(make_censor(measure, mode, n_nuisance=max(N_NUISANCE, int(s.max()) + 1)), z, y, s)


CONSTANT = {
    "all zero": torch.zeros(N, N_FEATURES),
    "all alike": torch.linspace(-3, 3, N_FEATURES).expand(N, -1),
    "some zero": torch.randn(N, N_FEATURES, generator=torch.Generator().manual_seed(6))
    * (torch.arange(N_FEATURES) % 2),
}


@pytest.mark.parametrize("z", CONSTANT.values(), ids=CONSTANT)
@every_case
def test_constant_features_are_finite(measure, mode, z):
    """Features that do not vary in a batch give finite losses and gradients."""
    _, y, s = one_batch()
    assert_finite(make_censor(measure, mode), z, y, s)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", sorted(WITHOUT_CRITIC))
def test_values_that_never_occur_change_nothing(measure, mode):
    """Without a critic, the number of nuisance values that might occur is of no account."""
    few, many = (make_censor(measure, mode, n_nuisance=n) for n in (N_NUISANCE, 50))
    assert torch.equal(few.estimates(*one_batch()), many.estimates(*one_batch()))


@every_case
def test_huge_features_are_finite(measure, mode):
    """Features of a million give finite losses: no exponential overflows."""
    z, y, s = one_batch()
    censor = make_censor(measure, mode)
    assert censor.penalty(1e6 * z, y, s).isfinite()
    assert censor.critic_loss(1e6 * z, y, s).isfinite()


@every_case
def test_double_precision_stays_double(measure, mode):
    """With critics and features in double precision, so are penalty, loss and gradient."""
    z, y, s = one_batch()
    z = z.double().requires_grad_()
    censor = make_censor(measure, mode).double()
    penalty = censor.penalty(z, y, s)
    penalty.backward()
    assert penalty.dtype == z.grad.dtype == censor.critic_loss(z, y, s).dtype == torch.float64


@every_case
def test_single_precision_says_what_double_does(measure, mode):
    """A penalty in single precision is that in double, but for the digits it has."""
    z, y, s = one_batch(dependent=(True, False))
    single, double = make_censor(measure, mode), make_censor(measure, mode).double()
    # Round-off of 1e-7 on numbers of about 1, added up and through four layers.
    torch.testing.assert_close(
        single.estimates(z, y, s).double(), double.estimates(z.double(), y, s), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("measure", sorted(WITHOUT_CRITIC))
def test_without_a_critic_independence_has_expectation_0(measure):
    """Without a critic, the mean estimate of small batches of independent trials is 0."""
    generator = torch.Generator().manual_seed(5)
    critic_free = MEASURES[measure](3, 6)
    # Of six values some occur once or not at all in 16 trials; features have long tails.
    batches = [
        (
            torch.randn(16, 3, generator=generator).exp(),
            torch.randint(6, (16,), generator=generator),
        )
        for _ in range(200)
    ]
    torch.manual_seed(5)
    found = torch.stack([critic_free.estimate(z.double(), s) for z, s in batches])
    assert found.mean().abs() < 4 * found.std() / len(found) ** 0.5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_without_a_critic_trains_nothing(measure, mode):
    """Critic-free measures own no parameters, keep no state and have a loss of 0; others do not."""
    censor = make_censor(measure, mode)
    loss = censor.critic_loss(*one_batch())
    free = measure in WITHOUT_CRITIC
    assert (not list(censor.parameters()) and not censor.state_dict()) == free
    assert (loss == 0 and not loss.requires_grad) == free


@every_case
def test_the_global_generator_is_left_alone(measure, mode):
    """To build and call a censor draws nothing from torch's global generator."""
    batch = one_batch()
    before = torch.get_rng_state()
    censor = make_censor(measure, mode)
    censor.penalty(*batch)
    censor.critic_loss(*batch)
    assert torch.equal(before, torch.get_rng_state())


@every_case
def test_the_global_generator_changes_nothing(measure, mode):
    """Censors of one seed agree bit for bit, whatever torch's global generator was seeded with."""
    values = []
    for outer in (11, 12):
        with torch.random.fork_rng():
            torch.manual_seed(outer)
            values.append(train(make_censor(measure, mode, seed=5), n_steps=3))
    assert torch.equal(*values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("measure", sorted(set(MEASURES) - WITHOUT_CRITIC))
def test_another_seed_makes_another_critic(measure, mode):
    """Censors of different seeds differ in every critic's estimate."""
    a, b = (make_censor(measure, mode, seed=seed) for seed in (0, 1))
    batch = one_batch()
    assert (a.estimates(*batch) != b.estimates(*batch)).all()


@every_case
def test_estimate_and_loss_are_single_numbers(measure, mode):
    """Penalty and critic's loss are numbers; estimates has one number per term."""
    batch = one_batch()
    censor = make_censor(measure, mode)
    assert censor.penalty(*batch).shape == censor.critic_loss(*batch).shape == ()
    assert censor.estimates(*batch).shape == censor.signs.shape


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_says_its_unit(measure):
    """A measure names what its estimate is counted in, for the axis of a figure."""
    (critic,) = make_censor(measure).critics
    assert critic.unit


@pytest.fixture(scope="module")
def lipschitz_critic():
    """The critic of a Wasserstein censor, trained, its power iterations converged."""
    censor = make_censor("wasserstein")
    train(censor, dependent=(True, True))
    for _ in range(300):
        censor.estimates(*one_batch())
    return censor.critics[0].critic.net


def test_the_wasserstein_critic_is_1_lipschitz(lipschitz_critic):
    """The default critic never moves further than its input does, between random pairs."""
    generator = torch.Generator().manual_seed(3)
    a, b = 3 * torch.randn(2, 2000, N_FEATURES + N_NUISANCE, generator=generator)
    with torch.no_grad():
        moved = (lipschitz_critic(a) - lipschitz_critic(b)).abs().squeeze(-1)
    assert (moved <= (1 + 1e-3) * (a - b).norm(dim=-1)).all()


def test_the_wasserstein_critic_has_no_steep_place(lipschitz_critic):
    """The default critic's gradient is nowhere longer than 1, in its steepest direction."""
    generator = torch.Generator().manual_seed(4)
    x = 3 * torch.randn(2000, N_FEATURES + N_NUISANCE, generator=generator)
    x.requires_grad_()
    lipschitz_critic(x).sum().backward()
    longest = x.grad.norm(dim=-1).max()
    # A critic that had been squeezed to nothing would pass too, and estimate nothing.
    assert 0.5 < longest <= 1 + 1e-3


def test_each_layer_of_the_wasserstein_critic_has_norm_1(lipschitz_critic):
    """The largest singular value of each layer is 1 once the power iteration has converged."""
    layers = [m for m in lipschitz_critic.modules() if isinstance(m, torch.nn.Linear)]
    norms = torch.stack([torch.linalg.matrix_norm(m.weight.detach(), 2) for m in layers])
    torch.testing.assert_close(norms, torch.ones(len(layers)), rtol=1e-3, atol=0)


def test_maxmin_keeps_every_number():
    """Between its layers the Lipschitz critic only reorders: no gradient is lost."""
    activation = lipschitz_mlp(4, 1)[1]
    x = torch.randn(5, 128, generator=torch.Generator().manual_seed(0))
    assert torch.equal(activation(x).sort(dim=-1).values, x.sort(dim=-1).values)


def test_the_density_ratio_does_not_outgrow_the_truth():
    """However long its critic trains, the density ratio stays near the mutual information."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.tensor([-1.0, 1.0])

    def draw(n):
        s = torch.randint(2, (n,), generator=generator)
        return centres[s][:, None] + torch.randn(n, 1, generator=generator), s

    # I(Z;S) = H(Z) - H(Z|S) of two unit Gaussians, the first by quadrature.
    grid = torch.linspace(-12, 12, 24001)
    density = torch.exp(-((grid[:, None] - centres) ** 2) / 2).mean(1) / math.sqrt(2 * math.pi)
    entropy = -torch.trapezoid(torch.special.xlogy(density, density), grid).item()
    truth = entropy - 0.5 * math.log(2 * math.pi * math.e)

    torch.manual_seed(1)
    measure = DensityRatio(1, 2)
    optimizer = torch.optim.Adam(measure.parameters(), 1e-3)
    for _ in range(400):
        optimizer.zero_grad()
        measure.critic_loss(*draw(512)).backward()
        optimizer.step()
    with torch.no_grad():
        estimate = torch.stack([measure.estimate(*draw(512)) for _ in range(20)]).mean().item()
    # 20 x 512 pairs give a standard error near 0.01; the rest is the critic's own error.
    assert truth == pytest.approx(0.337, abs=0.001)
    assert estimate == pytest.approx(truth, abs=0.08)
