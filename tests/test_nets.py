"""The paper's networks: sizes, shapes, scale and inference."""

import warnings

import numpy as np
import pytest
import torch

from censorium import arrays as arrays_module
from censorium.censor import Censor
from censorium.errors import OptionError
from censorium.nets import ChannelScale, TaskModel, direct, encoder, infer, mlp, projected

PAPER = {"n_channels": 62, "n_times": 63, "n_classes": 2}


def n_parameters(module):
    return sum(p.numel() for p in module.parameters())


def signals(n=20, n_channels=3, n_times=20, seed=0):
    x = np.random.default_rng(seed).standard_normal((n, n_channels, n_times))
    return x.astype(np.float32)


@pytest.mark.parametrize(
    ("projection", "n_projector", "total"), [(direct, 0, 298242), (projected, 66432, 364674)]
)
def test_the_task_model_has_the_papers_sizes(projection, n_projector, total):
    """At 62 channels x 63 times: encoder 248K, classifier 50K, projector 66K or nothing."""
    model = TaskModel(**PAPER, projection=projection)
    assert n_parameters(model.scale) == 0
    assert n_parameters(model.encoder) == 248064
    assert n_parameters(model.classifier) == 50178
    assert n_parameters(model.projector) == n_projector
    assert n_parameters(model) == total


@pytest.mark.parametrize(
    ("measure", "mode", "of_24", "of_28"),
    [
        ("adversarial", "marginal", 56112, 57144),
        ("adversarial", "conditional", 56368, 57400),
        ("adversarial", "complementary", 47920, 48952),
        ("density-ratio", "marginal", 56193, 57217),
        ("density-ratio", "conditional", 56449, 57473),
        ("density-ratio", "complementary", 48001, 49025),
        ("wasserstein-published", "marginal", 56193, 57217),
        ("wasserstein-published", "conditional", 56449, 57473),
        ("wasserstein-published", "complementary", 48001, 49025),
    ],
)
def test_the_critics_have_the_papers_sizes(measure, mode, of_24, of_28):
    """Of 24 or 28 training subjects in two sessions, each critic has 48K to 56K parameters."""
    for n_subjects, expected in ((24, of_24), (28, of_28)):
        censor = Censor(measure, mode, n_features=128, n_classes=2, n_nuisance=2 * n_subjects)
        assert {n_parameters(critic) for critic in censor.critics} == {expected}
    assert 47.9e3 < of_24 < 56.5e3


def test_the_mlp_is_the_papers():
    """Hidden layers are added to their input where sizes match, and normalised by the batch."""
    net = mlp(5, 2, hidden=(4, 4)).double()
    x = np.random.default_rng(0).standard_normal((30, 5))
    h = x
    for layer in list(net)[:-1]:
        a = h @ layer.linear.weight.detach().numpy().T
        a = (a - a.mean(axis=0)) / np.sqrt(a.var(axis=0) + 1e-5)
        a = np.maximum(a, 0)
        h = h + a if a.shape == h.shape else a
    expected = h @ net[-1].weight.detach().numpy().T + net[-1].bias.detach().numpy()
    # Double precision, sums of some ten numbers.
    np.testing.assert_allclose(net(torch.from_numpy(x)).detach().numpy(), expected, rtol=1e-10)


def test_a_channel_flat_in_training_is_ignored_for_good():
    """A channel that never moved in training changes nothing, whatever it shows later."""
    x = signals(40)
    x[:, 1] = 3.0
    model = TaskModel(3, 20, 2, latent_size=4)
    assert model.scale.fit(x).tolist() == [False, True, False]
    alive = x.copy()
    alive[:, 1] = 1e4 * signals(40, 1, seed=1)[:, 0]
    np.testing.assert_array_equal(infer(model, alive).logits, infer(model, x).logits)


@pytest.mark.parametrize("n_times", [*range(1, 14), 63, 200])
@pytest.mark.parametrize("n_channels", [1, 2, 62])
def test_the_encoder_takes_any_signal(n_channels, n_times):
    """Any number of channels and of times, from one each, gives latent_size features."""
    x = torch.from_numpy(signals(4, n_channels, n_times))
    assert encoder(n_channels, n_times, latent_size=6)(x).shape == (4, 6)


@pytest.mark.parametrize("n_times", [1, 63])
def test_the_encoder_sees_the_whole_signal(n_times):
    """Every time of every channel has a part in some feature, but for those that pooling cuts."""
    net = encoder(3, n_times).eval()
    x = torch.from_numpy(signals(8, 3, n_times)).requires_grad_()
    net(x).square().sum().backward()
    # 63 times: 61 after the first layer, of which 60 are pooled to 30; 28 after the second.
    used = x.grad.abs().sum(dim=(0, 1)) > 0
    assert used[: max(1, n_times - 1)].all()


@pytest.mark.parametrize("projection", [direct, projected])
@pytest.mark.parametrize("n_classes", [1, 2, 5])
@pytest.mark.parametrize("latent_size", [1, 7, 128])
def test_the_task_model_gives_features_and_logits(projection, n_classes, latent_size):
    """The model gives latent_size features and one logit per class, for any number of classes."""
    model = TaskModel(3, 20, n_classes, latent_size=latent_size, projection=projection)
    z, logits = model(torch.from_numpy(signals()))
    assert z.shape == (20, latent_size)
    assert logits.shape == (20, n_classes)


def test_direct_features_are_the_hidden_ones():
    """Without a projector what is censored is what the classifier reads; with one it is not."""
    x = torch.from_numpy(signals())
    for projection, same in ((direct, True), (projected, False)):
        model = TaskModel(3, 20, 2, latent_size=8, projection=projection).eval()
        z, logits = model(x)
        assert torch.equal(z, model.features(x)) is same
        assert torch.equal(logits, model.classifier(model.features(x)))


def test_a_projector_leaves_the_other_weights_alone():
    """From one seed, the models with and without a projector start from the same weights."""
    models = []
    for projection in (direct, projected):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            models.append(TaskModel(3, 20, 2, projection=projection))
    plain, other = (m.state_dict() for m in models)
    assert all(torch.equal(value, other[name]) for name, value in plain.items())


@pytest.mark.parametrize("latent_size", [0, -3])
def test_no_features_are_an_option_error(latent_size):
    """A model without features is an error that says what came."""
    with pytest.raises(
        OptionError, match=f"latent_size must be a whole number, 1 or more, got {latent_size}"
    ):
        TaskModel(3, 20, 2, latent_size=latent_size)


@pytest.mark.parametrize("n", [1, 7, 8, 50])
def test_scale_is_the_mean_and_deviation(n, monkeypatch):
    """The scale is NumPy's in double precision, from however many chunks it is learnt."""
    monkeypatch.setattr(arrays_module, "CHUNK", 7)
    x = signals(n, 4, 9) * np.array([1e-6, 1, 30, 1e3], np.float32)[:, None]
    x += np.array([1e-5, 0, -5, 1e4], np.float32)[:, None]
    scale = ChannelScale(4)
    flat = scale.fit(x)
    assert not flat.any()
    # Held in single precision, whose round-off is 6e-8; the mean may lie near 0 by chance.
    deviation = x.std(axis=(0, 2), dtype=np.float64)
    mean = x.mean(axis=(0, 2), dtype=np.float64)
    np.testing.assert_allclose(scale.deviation[:, 0].numpy(), deviation, rtol=1e-6)
    np.testing.assert_allclose(scale.mean[:, 0].numpy(), mean, rtol=1e-6, atol=1e-7)


def test_scale_does_not_depend_on_the_chunks(monkeypatch):
    """Chunks of 4096 and of 100 trials give the same scale to single precision's round-off."""
    x = signals(5000, 2, 2)
    scales = []
    for chunk in (4096, 100):
        monkeypatch.setattr(arrays_module, "CHUNK", chunk)
        scales.append(ChannelScale(2))
        scales[-1].fit(x)
    torch.testing.assert_close(scales[0].mean, scales[1].mean, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(scales[0].deviation, scales[1].deviation, rtol=1e-6, atol=0)


def test_scaled_signals_have_mean_0_and_deviation_1():
    """After the scale each channel of the training trials has mean 0 and deviation 1."""
    x = signals(200) * 1e-5 + 3e-5
    scale = ChannelScale(3)
    scale.fit(x)
    scaled = scale(torch.from_numpy(x)).double()
    # Single precision after division by a deviation a third of the mean.
    torch.testing.assert_close(scaled.mean(dim=(0, 2)), torch.zeros(3).double(), rtol=0, atol=1e-5)
    torch.testing.assert_close(
        scaled.std(dim=(0, 2), correction=0), torch.ones(3).double(), rtol=0, atol=1e-5
    )


def test_flat_channels_are_marked_and_left_finite(monkeypatch):
    """A channel that never changes is marked, alone, and comes out as 0; steps are not flat."""
    monkeypatch.setattr(arrays_module, "CHUNK", 8)
    x = signals(20, 4)
    x[:, 1] = 0.1
    x[:, 2] = 0
    x[:10, 3], x[10:, 3] = 1, 2
    scale = ChannelScale(4)
    assert scale.fit(x).tolist() == [False, True, True, False]
    scaled = scale(torch.from_numpy(x))
    assert (scaled[:, 2] == 0).all()
    # Left as is but for its mean, which is a round-off away.
    assert scaled[:, 1].abs().max() < 1e-7


@pytest.mark.parametrize("training", [True, False])
def test_infer_restores_the_mode(training):
    """A model in training is in training after inference, one in evaluation stays so."""
    model = TaskModel(3, 20, 2).train(training)
    infer(model, signals())
    assert all(m.training is training for m in model.modules())


@pytest.mark.parametrize("batch_size", [1, 7, 20, 100])
def test_infer_does_not_depend_on_the_batches(batch_size):
    """Features and logits are those of each trial alone, to round-off."""
    model = TaskModel(3, 20, 2)
    model(torch.from_numpy(signals(seed=1)))  # so that the running statistics are not the initial
    x = signals()
    model.eval()
    with torch.no_grad():
        hidden = model.features(torch.from_numpy(x))
        logits = model.classifier(hidden)
    features, found = infer(model.train(), x, batch_size=batch_size)
    # Single precision, sums of some hundred numbers of size 1.
    np.testing.assert_allclose(features, hidden.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found, logits.numpy(), rtol=1e-4, atol=1e-5)


def test_infer_changes_nothing_in_the_model():
    """Inference leaves every weight and running statistic as it was."""
    model = TaskModel(3, 20, 2)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    infer(model, signals())
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


def test_infer_reads_read_only_signals():
    """Signals that may not be written, as those mapped from disk, give no warning."""
    x = signals()
    x.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(infer(TaskModel(3, 20, 2), x).logits) == len(x)
