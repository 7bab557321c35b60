"""Laws of the alternating loop: pairing, determinism, evaluation points, batches, divergence."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim import AdamW

from censorium import MEASURES, MODES, Censor, Trials, tensorfile
from censorium.checkpoint import Data, copied
from censorium.errors import DivergedError, OptionError
from censorium.nets import infer
from censorium.randomness import RandomStream
from censorium.recipe import EpochRecord, Strength
from censorium.train import batches, inverse_frequency
from planted import (
    LATENT_SIZE,
    DropoutCritic,
    Spread,
    data_of,
    fit,
    model_of,
    planted,
    recipe_of,
    same,
)
from planted import without_projector as kept

EVERY_MEASURE = [*sorted(MEASURES), DropoutCritic, Spread]
PROJECTION_NAMES = ("direct", "projected")
ALL_POINTS = ("final", "averaged", "best-validation")


@pytest.fixture(scope="module")
def trials() -> Trials:
    return planted()


@pytest.fixture(scope="module")
def data(trials: Trials) -> Data:
    return data_of(trials.of([1, 2, 3]))


@pytest.fixture(scope="module")
def valid(trials: Trials) -> Data:
    return data_of(trials.of([4]))


@pytest.fixture(scope="module")
def baselines(data: Data) -> dict[str, dict[str, Tensor]]:
    """The baseline's final weights with each projection."""
    return {p: fit(data, recipe_of(), projection=p).weights["final"] for p in PROJECTION_NAMES}


@pytest.mark.parametrize("projection", PROJECTION_NAMES)
@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", EVERY_MEASURE)
def test_strength_zero_is_the_baseline(
    data: Data, baselines: dict[str, dict[str, Tensor]], measure: Any, mode: str, projection: str
) -> None:
    """Censored at strength 0, the task model's weights are the baseline's, bit for bit."""
    recipe = recipe_of(strength=0.0)
    found = fit(data, recipe, measure=measure, mode=mode, projection=projection)
    assert same(found.weights["final"], baselines[projection])
    assert all(len(r.dependence) == len(found.records[0].dependence) > 0 for r in found.records)


def test_an_idle_projector_changes_nothing(baselines: dict[str, dict[str, Tensor]]) -> None:
    """The baseline's encoder and classifier are the same with and without a projector."""
    assert same(kept(baselines["projected"]), kept(baselines["direct"]))
    assert len(baselines["projected"]) > len(baselines["direct"])


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_an_epoch_is_what_the_paper_says(data: Data, measure: str, mode: str) -> None:
    """Two epochs of one batch each, written out: the critic's step, then the task model's.

    Cross-entropy weighs classes by inverse frequency; the penalty has the mode's signs and the
    strength of the epoch; both optimizers are AdamW with decay, each at its own rate.
    """
    rare = np.flatnonzero((data.y == 0) | (np.arange(len(data.y)) % 3 == 0))
    data = Data(*(array[rare] for array in data))
    recipe = recipe_of(
        epochs=2,
        batch_size=len(data.x),
        critic_learning_rate=3e-3,
        weight_decay=0.3,
        strength=Strength(0.8, warmup_epochs=1),
    )
    found = fit(data, recipe, measure=measure, mode=mode, projection="projected", seed=4)

    model = model_of(data, projection="projected", seed=4)
    sizes = {"n_features": LATENT_SIZE, "n_classes": 2, "n_nuisance": int(data.s.max()) + 1}
    censor = Censor(measure, mode, **sizes, seed=5)
    task = AdamW(model.parameters(), 1e-3, weight_decay=0.3, fused=True)
    learns = list(censor.parameters())
    critic = AdamW(learns, 3e-3, weight_decay=0.3, fused=True) if learns else None
    stream = RandomStream(6, torch.device("cpu"))
    n_of_class = np.array([(data.y == k).sum() for k in (0, 1)])
    weight = torch.tensor(len(data.y) / (2 * n_of_class), dtype=torch.float32)
    model.train()
    for epoch, strength in ((1, 0.4), (2, 0.8)):
        order = next(batches(len(data.x), recipe.batch_size, 6, epoch))
        x, y, s = (torch.from_numpy(array[order]) for array in data)
        with stream:
            z, logits = model(x)
            critic_loss = censor.critic_loss(z, y, s)
            if critic:
                critic.zero_grad()
                critic_loss.backward()
                critic.step()
            task.zero_grad()
            task_loss = cross_entropy(logits, y, weight)
            (task_loss + strength * censor.penalty(z, y, s)).backward()
            task.step()
    assert same(found.weights["final"], model.state_dict())


@pytest.mark.parametrize("projection", PROJECTION_NAMES)
@pytest.mark.parametrize("measure", ["density-ratio", DropoutCritic])
def test_more_critic_steps_do_not_break_the_pairing(
    data: Data, baselines: dict[str, dict[str, Tensor]], measure: Any, projection: str
) -> None:
    """Three critic steps a task step, at strength 0: still the baseline, bit for bit."""
    recipe = recipe_of(strength=0.0, critic_steps=3)
    found = fit(data, recipe, measure=measure, projection=projection)
    assert same(found.weights["final"], baselines[projection])


@pytest.mark.parametrize("measure", EVERY_MEASURE)
def test_a_positive_strength_acts(
    data: Data, baselines: dict[str, dict[str, Tensor]], measure: Any
) -> None:
    """Censored at a strength above 0, the encoder is another one than the baseline's."""
    found = fit(data, recipe_of(strength=1.0), measure=measure)
    name = "encoder.0.weight"
    assert not torch.equal(found.weights["final"][name], baselines["direct"][name])


def test_critic_steps_step_the_critic_that_often(data: Data, tmp_path: Path) -> None:
    """The critic's optimizer has taken critic_steps steps for each of the task model's."""
    fit(data, recipe_of(critic_steps=3), measure="density-ratio", checkpoint=tmp_path / "run")
    tensors, _ = tensorfile.read(tmp_path / "run", "checkpoint")
    n_task, n_critic = (tensors[f"{o}_optimizer/0.step"].item() for o in ("task", "critic"))
    assert (n_task, n_critic) == (3 * 4, 3 * 4 * 3)


def test_excluded_epochs_are_the_baselines(data: Data) -> None:
    """Until the first epoch that is not excluded, the weights are the baseline's; then not."""

    def seen(measure: str | None, excluded: tuple[int, ...]) -> list[dict[str, Tensor]]:
        weights: list[dict[str, Tensor]] = []
        recipe = recipe_of(strength=Strength(1.0, excluded_epochs=excluded))
        fit(data, recipe, measure=measure, on_epoch=lambda m, _: weights.append(copied(m)))
        return weights

    censored, baseline = seen("adversarial", (1, 2)), seen(None, ())
    equal = [same(a, b) for a, b in zip(censored, baseline, strict=True)]
    assert equal == [True, True, False]


def test_records_follow_the_strength_schedule(data: Data) -> None:
    """Each epoch's record holds the strength of that epoch."""
    strength = Strength(1.0, warmup_epochs=3, excluded_epochs=(2,))
    records = fit(data, recipe_of(strength=strength), measure="adversarial").records
    assert [r.strength for r in records] == [0.25, 0.0, 0.75]


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", [None, *EVERY_MEASURE])
def test_a_seed_decides_everything(data: Data, measure: Any, mode: str) -> None:
    """The same seed gives the same weights and records bit for bit; another seed does not."""
    a, b = (fit(data, recipe_of(epochs=2), measure=measure, mode=mode) for _ in range(2))
    assert same(a.weights["final"], b.weights["final"])
    assert a.records == b.records
    if measure is None and mode == "marginal":
        other = fit(data, recipe_of(epochs=2), seed=5)
        assert not same(a.weights["final"], other.weights["final"])


def test_watching_does_not_disturb(data: Data, valid: Data) -> None:
    """The final weights are the same whether or not averages and validation are kept beside."""
    alone = fit(data, recipe_of(), measure="density-ratio")
    recipe = recipe_of(evaluation_points=ALL_POINTS)
    beside = fit(data, recipe, measure="density-ratio", valid=valid)
    assert same(alone.weights["final"], beside.weights["final"])
    assert not same(beside.weights["final"], beside.weights["averaged"])
    assert set(alone.weights) == {"final"}
    assert set(beside.weights) == set(ALL_POINTS)


def test_averaged_weights_are_the_exponential_moving_average(data: Data) -> None:
    """The average equals its definition in plain NumPy, past the point where the decay is full."""
    steps: list[dict[str, Any]] = []
    recipe = recipe_of(
        epochs=14,
        batch_size=len(data.x),
        learning_rate=1e-2,
        averaging=0.5,
        evaluation_points=("averaged",),
    )
    first = {name: t.numpy().astype(float) for name, t in copied(model_of(data)).items()}
    found = fit(data, recipe, on_epoch=lambda m, _: steps.append(copied(m)))

    average = first
    for n, weights in enumerate(steps, start=1):
        keep = min(0.5, n / (n + 9))
        average = {k: keep * average[k] + (1 - keep) * weights[k].numpy() for k in average}

    assert len(steps) == 14
    for name, held in found.weights["averaged"].items():
        if held.is_floating_point():
            np.testing.assert_allclose(held.numpy(), average[name], rtol=1e-5, atol=1e-6)
        else:
            assert torch.equal(held, steps[-1][name])


def test_best_validation_keeps_the_best_epoch(data: Data, valid: Data) -> None:
    """Best-validation is the weights after the epoch that scored best on the validation trials."""
    seen: list[dict[str, Tensor]] = []
    recipe = recipe_of(epochs=6, learning_rate=3e-3, evaluation_points=("best-validation",))
    found = fit(data, recipe, valid=valid, on_epoch=lambda m, _: seen.append(copied(m)))
    scores = [r.valid_balanced_accuracy for r in found.records]
    best = int(np.argmax(scores))
    assert [same(found.weights["best-validation"], w) for w in seen] == [
        epoch == best for epoch in range(6)
    ]


def test_best_validation_takes_the_earliest_of_equals(data: Data, valid: Data) -> None:
    """Where all epochs score the same, the first one is kept."""
    alike = Data(np.zeros_like(valid.x), valid.y, valid.s)  # one prediction for all: always 1/2
    seen: list[dict[str, Tensor]] = []
    recipe = recipe_of(evaluation_points=("best-validation",))
    found = fit(data, recipe, valid=alike, on_epoch=lambda m, _: seen.append(copied(m)))
    assert [r.valid_balanced_accuracy for r in found.records] == [0.5] * 3
    assert same(found.weights["best-validation"], seen[0])


def test_best_validation_keeps_something_even_where_nothing_is_right(data: Data) -> None:
    """A run whose validation score is 0 in every epoch still has weights to keep."""
    trained = fit(data, recipe_of()).model
    wrong = 1 - infer(trained, data.x[:1]).logits.argmax(1)
    valid = Data(data.x[:1], wrong.astype(np.int64), np.zeros(1, dtype=np.int64))
    recipe = recipe_of(evaluation_points=("best-validation",), learning_rate=1e-9)
    found = fit(data, recipe, valid=valid)
    assert found.weights["best-validation"].keys() == found.model.state_dict().keys()


def test_best_validation_needs_validation_data(data: Data) -> None:
    """Without validation data the loop refuses to start."""
    with pytest.raises(OptionError, match="needs validation subjects"):
        fit(data, recipe_of(evaluation_points=("best-validation",)))


@pytest.mark.parametrize(
    ("n", "size"), [(320, 64), (321, 64), (129, 64), (65, 64), (64, 64), (63, 64), (4, 2), (2, 5)]
)
def test_an_epoch_sees_every_trial_once_in_even_batches(n: int, size: int) -> None:
    """Batches cover all trials once; none is above the size, and sizes differ by at most one."""
    for epoch in (1, 2):
        parts = list(batches(n, size, 0, epoch))
        sizes = [len(part) for part in parts]
        assert sorted(np.concatenate(parts)) == list(range(n))
        assert max(sizes) <= size
        assert max(sizes) - min(sizes) <= 1
        assert len(parts) == -(-n // size)


def test_seed_and_epoch_decide_the_order() -> None:
    """The order of trials is the same for the same seed and epoch, and another for others."""
    orders = {
        key: np.concatenate(list(batches(100, 32, *key))).tolist()
        for key in ((0, 1), (0, 2), (1, 1))
    }
    assert orders[0, 1] == np.concatenate(list(batches(100, 32, 0, 1))).tolist()
    assert orders[0, 1] != orders[0, 2]
    assert orders[0, 1] != orders[1, 1]


@pytest.mark.parametrize("n", [7, 64, 129])
def test_any_number_of_trials_trains(data: Data, n: int) -> None:
    """Fewer trials than a batch, one batch exactly, and 2k + 1 trials all train to the end."""
    few = Data(*(array[np.linspace(0, len(data.x) - 1, n).astype(int)] for array in data))
    few = few._replace(s=np.unique(few.s, return_inverse=True)[1].astype(np.int64))
    found = fit(few, recipe_of(), measure="density-ratio")
    assert len(found.records) == 3
    assert np.isfinite(found.records[-1].task_loss)


def test_classes_weigh_the_same_in_total() -> None:
    """Count times weight is the same for every class, and the mean weight of a trial is 1."""
    y = np.array([0] * 90 + [1] * 9 + [2] * 1)
    weight = inverse_frequency(y).numpy()
    totals = weight * [90, 9, 1]
    np.testing.assert_allclose(totals, 100 / 3, rtol=1e-6)
    np.testing.assert_allclose(weight[y].mean(), 1, rtol=1e-6)


class Faulty(DropoutCritic):
    """Finite at first; one of its terms is NaN from some call on."""

    def __init__(self, n_features: int, n_nuisance: int, *, term: str, after: int) -> None:
        super().__init__(n_features, n_nuisance)
        self.term, self.after, self.calls = term, after, Counter[str]()


def faulty(term: str, after: int) -> Callable[[int, int], Faulty]:
    """A measure whose `term` is NaN after so many calls."""

    def make(n_features: int, n_nuisance: int) -> Faulty:
        measure = Faulty(n_features, n_nuisance, term=term, after=after)

        def spoil(name: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
            def spoilt(*batch: Tensor) -> Tensor:
                measure.calls[name] += 1
                bad = name == term and measure.calls[name] > after
                return function(*batch) * (float("nan") if bad else 1.0)

            return spoilt

        for name in ("estimate", "critic_loss"):
            setattr(measure, name, spoil(name, getattr(measure, name)))
        return measure

    return make


@pytest.mark.parametrize(
    ("term", "named"), [("estimate", "dependence"), ("critic_loss", "critic loss")]
)
def test_divergence_names_the_term_and_the_epoch(
    data: Data, tmp_path: Path, term: str, named: str
) -> None:
    """A term that becomes NaN in the third step of epoch 2 is named; epoch 1's file stays."""
    with pytest.raises(DivergedError, match=rf"^The {named} became .*nan.* in epoch 2, step 3\."):
        fit(data, recipe_of(), measure=faulty(term, 4 + 2), checkpoint=tmp_path / "run")
    _, header = tensorfile.read(tmp_path / "run", "checkpoint")
    assert [record["epoch"] for record in header["records"]] == [1]


def test_a_learning_rate_that_explodes_names_the_cross_entropy(data: Data, tmp_path: Path) -> None:
    """Weights blown up in epoch 1 show as a cross-entropy that is not finite in epoch 2."""
    recipe = recipe_of(learning_rate=1e25, batch_size=len(data.x))
    with pytest.raises(DivergedError, match=r"^The cross-entropy became .* in epoch 2, step 1\."):
        fit(data, recipe, checkpoint=tmp_path / "run")
    _, header = tensorfile.read(tmp_path / "run", "checkpoint")
    assert len(header["records"]) == 1


def test_a_baseline_records_no_critic(data: Data) -> None:
    """One record per epoch; without a censor there is neither critic loss nor dependence."""
    records = fit(data, recipe_of()).records
    assert [r.epoch for r in records] == [1, 2, 3]
    assert all(r.critic_loss is None and r.dependence == () for r in records)
    assert all(r.valid_balanced_accuracy is None for r in records)


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", EVERY_MEASURE)
def test_a_censored_run_records_one_dependence_per_term(
    data: Data, measure: Any, mode: str
) -> None:
    """Complementary mode has two dependence entries, the others one; all finite."""
    records = fit(data, recipe_of(epochs=2), measure=measure, mode=mode).records
    assert [r.epoch for r in records] == [1, 2]
    for record in records:
        assert len(record.dependence) == (2 if mode == "complementary" else 1)
        assert record.critic_loss is not None
        assert np.isfinite([record.critic_loss, record.task_loss, *record.dependence]).all()


def test_validation_scores_are_of_the_epochs_last_weights(data: Data, valid: Data) -> None:
    """Each recorded validation score is that of the model as it stands when the epoch ends."""
    seen: list[tuple[float, float | None]] = []

    def look(model: Any, record: EpochRecord) -> None:
        predicted = infer(model, valid.x).logits.argmax(1)
        seen.append((balanced_accuracy_score(valid.y, predicted), record.valid_balanced_accuracy))

    fit(data, recipe_of(), measure="density-ratio", valid=valid, on_epoch=look)
    assert len(seen) == 3
    assert all(expected == pytest.approx(found) for expected, found in seen)


def test_training_learns_the_planted_class() -> None:
    """On trials with a clear class effect the score on new people ends far above chance."""
    trials = planted(n_subjects=8, n_per_session=60)
    data, valid = data_of(trials.of([1, 2, 3, 4, 5])), data_of(trials.of([6, 7, 8]))
    records = fit(data, recipe_of(epochs=12), measure="density-ratio", valid=valid).records
    # 360 trials of new people: chance is 0.5 with a deviation of 0.026.
    assert records[-1].valid_balanced_accuracy > 0.5 + 5 * 0.026
    assert records[-1].task_loss < records[0].task_loss


def test_an_odd_number_of_trials_in_pairs_trains(trials: Trials) -> None:
    """Pairs of an odd number of trials leave nobody alone, whose batch norm would be undefined."""
    data = data_of(trials[:41])
    sizes = [len(b) for b in batches(41, 2, 0, 1)]
    assert sum(sizes) == 41
    assert set(sizes) == {2, 3}
    assert len(fit(data, recipe_of(epochs=1, batch_size=2)).records) == 1
