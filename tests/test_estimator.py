"""Laws of `CensoredClassifier`: pairing, determinism, what it reads, gives, saves and routes."""

import functools
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from safetensors import safe_open
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import censorium
from censorium import MEASURES, MODES, CensoredClassifier, Trials, tensorfile
from censorium.dependence import Adversarial, Wasserstein
from censorium.dependence.wasserstein import spectral_mlp
from planted import (
    LATENT_SIZE,
    N_CHANNELS,
    N_TIMES,
    OPTIONS,
    DropoutCritic,
    Spread,
    epochs_of,
    planted,
    same,
    without_projector,
)

PROJECTION_NAMES = ("direct", "projected")


@pytest.fixture(scope="module")
def trials() -> Trials:
    return planted()


@pytest.fixture(scope="module")
def fitted(trials: Trials) -> CensoredClassifier:
    """A censored model that has seen names, sessions and validation subjects."""
    options = {**OPTIONS, "validation_subjects": 1}
    return CensoredClassifier("density-ratio", **options).fit(trials)


@pytest.fixture(scope="module")
def baselines(trials: Trials) -> dict[str, CensoredClassifier]:
    return {
        p: CensoredClassifier(None, projection=p, **OPTIONS).fit(trials) for p in PROJECTION_NAMES
    }


@pytest.mark.parametrize("projection", PROJECTION_NAMES)
@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("measure", [*sorted(MEASURES), DropoutCritic])
def test_strength_zero_is_the_baseline(
    trials: Trials,
    baselines: dict[str, CensoredClassifier],
    measure: Any,
    mode: str,
    projection: str,
) -> None:
    """At strength 0 weights and predictions are the baseline's bit for bit, projector or not."""
    model = CensoredClassifier(measure, mode, 0.0, projection, **OPTIONS).fit(trials)
    ours = model.model_.state_dict()
    assert same(ours, baselines[projection].model_.state_dict())
    direct = baselines["direct"]
    assert same(without_projector(ours), without_projector(direct.model_.state_dict()))
    assert np.array_equal(model.predict_proba(trials), direct.predict_proba(trials))


def test_the_baseline_does_not_care_whether_it_knows_who_is_who(
    trials: Trials, baselines: dict[str, CensoredClassifier]
) -> None:
    """Without a measure, subjects and sessions change nothing."""
    blind = CensoredClassifier(None, **OPTIONS).fit(trials.x, trials.y)
    assert same(blind.model_.state_dict(), baselines["direct"].model_.state_dict())
    assert (blind.n_nuisance_, blind.split_) == (0, None)


def test_the_random_state_decides_everything(trials: Trials) -> None:
    """One seed gives one model; another seed gives another."""
    seeds = (0, 0, 1)
    a, b, c = (
        CensoredClassifier(**{**OPTIONS, "random_state": s}).fit(trials).model_.state_dict()
        for s in seeds
    )
    assert same(a, b)
    assert not same(a, c)


def test_a_generator_as_random_state_moves_on(trials: Trials) -> None:
    """A RandomState gives each fit another seed, and the same ones if it starts the same."""
    generators = np.random.RandomState(3), np.random.RandomState(3)
    a, b = (CensoredClassifier(**{**OPTIONS, "random_state": g}) for g in generators)
    first, second = a.fit(trials).model_.state_dict(), a.fit(trials).model_.state_dict()
    assert not same(first, second)
    assert same(first, b.fit(trials).model_.state_dict())


@pytest.mark.parametrize("measure", [None, "density-ratio", DropoutCritic])
def test_the_users_generators_are_left_alone(trials: Trials, measure: Any) -> None:
    """Fit and predict leave the states of torch's, NumPy's and Python's global generators."""

    def states() -> tuple[Any, ...]:
        name, keys, *rest = np.random.get_state()  # noqa: NPY002
        return (torch.get_rng_state().tolist(), name, keys.tolist(), *rest, random.getstate())

    torch.manual_seed(11)
    before = states()
    model = CensoredClassifier(measure, validation_subjects=1, **OPTIONS).fit(trials)
    model.predict(trials)
    assert states() == before


def test_the_users_generators_do_not_matter(trials: Trials, fitted: CensoredClassifier) -> None:
    """With a seed of its own, a fit is the same whatever the global generators hold."""
    torch.manual_seed(12345)
    again = clone(fitted).fit(trials)
    assert same(again.model_.state_dict(), fitted.model_.state_dict())


@pytest.mark.parametrize("point", ["final", "averaged", "best-validation"])
def test_the_evaluation_point_chooses_weights_and_not_the_run(
    trials: Trials, fitted: CensoredClassifier, point: str
) -> None:
    """All evaluation points share one history; only 'final' keeps the last weights."""
    model = clone(fitted).set_params(evaluation_point=point).fit(trials)
    assert model.history_ == fitted.history_
    best = max(fitted.history_, key=lambda r: r.valid_balanced_accuracy or 0)
    last = point == "final" or (point == "best-validation" and best.epoch == OPTIONS["epochs"])
    assert same(model.model_.state_dict(), fitted.model_.state_dict()) == last


def test_recorded_validation_scores_are_those_of_a_shorter_run(
    trials: Trials, fitted: CensoredClassifier
) -> None:
    """The validation score of epoch k is that of a run of k epochs, scored by scikit-learn."""
    held = trials.of(fitted.split_.valid)
    names = np.array(trials.info.class_names)[held.y]
    for record in fitted.history_:
        short = clone(fitted).set_params(epochs=record.epoch).fit(trials)
        score = balanced_accuracy_score(names, short.predict(held))
        assert record.valid_balanced_accuracy == pytest.approx(score)


def test_validation_subjects_do_not_train(trials: Trials, fitted: CensoredClassifier) -> None:
    """Other labels and other signals of the validation subjects leave the weights as they are."""
    mine = np.isin(trials.subject, fitted.split_.valid)
    noise = np.random.default_rng(0).standard_normal(trials.x.shape, dtype=np.float32)
    x = np.where(mine[:, None, None], noise, trials.x)
    y = np.where(mine, 1 - trials.y, trials.y)
    people = {"subjects": trials.subject, "sessions": trials.session}
    a = clone(fitted).fit(trials.x, trials.y, **people)
    b = clone(fitted).fit(trials.x, y, **people)
    c = clone(fitted).fit(x, trials.y, **people)
    assert same(a.model_.state_dict(), b.model_.state_dict())
    assert same(a.model_.state_dict(), c.model_.state_dict())
    assert a.history_ != b.history_


@pytest.mark.parametrize("wanted", [2, [1, 3], ("1", "3"), np.array([1, 3])])
def test_validation_subjects_by_number_or_by_name(trials: Trials, wanted: Any) -> None:
    """So many subjects drawn, or those named; the rest train, and nobody is in both."""
    named = not isinstance(wanted, int)
    subject = trials.subject.astype(str) if isinstance(wanted, tuple) else trials.subject
    model = CensoredClassifier(None, validation_subjects=wanted, **{**OPTIONS, "epochs": 1})
    model.fit(trials.x, trials.y, subjects=subject)
    split = model.split_
    assert sorted([*split.train, *split.valid]) == np.unique(subject).tolist()
    assert len(split.valid) == 2
    assert not named or split.valid == tuple(np.asarray(wanted).tolist())
    assert model.history_[0].valid_balanced_accuracy is not None


def test_arrays_epochs_and_trials_train_the_same_model(trials: Trials) -> None:
    """The same trials as arrays, as MNE's Epochs and as `Trials` give the same weights."""
    names = np.array(trials.info.class_names)[trials.y]
    by_trials = CensoredClassifier(**OPTIONS).fit(trials)
    by_epochs = CensoredClassifier(**OPTIONS).fit(epochs_of(trials))
    by_arrays = CensoredClassifier(**OPTIONS).fit(
        trials.x, names, subjects=trials.subject, sessions=trials.session
    )
    for model in (by_trials, by_epochs, by_arrays):
        assert same(model.model_.state_dict(), by_arrays.model_.state_dict())
        assert model.classes_.tolist() == ["a", "b"]
        assert model.n_nuisance_ == 8
        assert (model.n_channels_, model.n_times_) == (N_CHANNELS, N_TIMES)
        for data in (trials, epochs_of(trials), trials.x):
            assert np.array_equal(model.predict(data), by_arrays.predict(trials.x))
    for model in (by_trials, by_epochs):
        assert (model.ch_names_, model.sfreq_) == (trials.info.ch_names, 100.0)
        assert model.tmin_ == 0.0
    assert (by_arrays.ch_names_, by_arrays.sfreq_, by_arrays.tmin_) == (None, None, None)


def test_what_is_passed_wins_over_what_the_container_says(trials: Trials) -> None:
    """y, subjects and sessions given to fit replace those of the Epochs."""
    y = np.where(trials.y == 0, "left", "right")
    sessions = np.zeros(len(trials), dtype=int)
    model = CensoredClassifier(**{**OPTIONS, "epochs": 1})
    model.fit(epochs_of(trials), y, sessions=sessions)
    assert model.classes_.tolist() == ["left", "right"]
    assert model.n_nuisance_ == 4


@pytest.mark.parametrize(
    "labels",
    [("no", "yes"), (3, 70), (-1, 1), (False, True), ("x", "y", "z"), (5, 1, 9, 2)],
    ids=str,
)
@pytest.mark.parametrize("subjects", [(1, 2, 3, 4), ("Ann", "Bo", "Cy", "Di"), (40, 7, 100, 9)])
def test_any_labels_and_any_subjects(labels: Any, subjects: Any) -> None:
    """Predictions, probabilities, logits and features have the shapes and order of `classes_`."""
    made = planted(labels=range(len(labels)), subjects=subjects, n_per_session=12)
    y = np.array(labels)[made.y]
    model = CensoredClassifier(mode="conditional", **{**OPTIONS, "epochs": 2})
    model.fit(made.x, y, subjects=made.subject)
    predicted, probability = model.predict(made.x), model.predict_proba(made.x)
    decision, features = model.decision_function(made.x), model.transform(made.x)

    n, n_classes = len(y), len(labels)
    assert model.classes_.tolist() == sorted(labels)
    assert predicted.dtype == y.dtype
    assert probability.shape == (n, n_classes)
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
    assert np.array_equal(model.classes_[probability.argmax(axis=1)], predicted)
    assert features.shape == (n, LATENT_SIZE)
    if n_classes == 2:
        assert decision.shape == (n,)
        assert np.array_equal(model.classes_[(decision > 0).astype(int)], predicted)
    else:
        assert decision.shape == (n, n_classes)
        assert np.array_equal(model.classes_[decision.argmax(axis=1)], predicted)
    assert model.score(made.x, y) == pytest.approx(balanced_accuracy_score(y, predicted))


def test_the_score_weighs_trials_and_knows_the_labels_of_a_container(
    trials: Trials, fitted: CensoredClassifier
) -> None:
    """Score is balanced accuracy, with sample weights as scikit-learn's, and y may be left out."""
    y = np.array(trials.info.class_names)[trials.y]
    predicted = fitted.predict(trials)
    weight = np.random.default_rng(0).uniform(size=len(y))
    assert fitted.score(trials) == fitted.score(trials.x, y) == fitted.score(epochs_of(trials))
    assert fitted.score(trials) == pytest.approx(balanced_accuracy_score(y, predicted))
    weighed = balanced_accuracy_score(y, predicted, sample_weight=weight)
    assert fitted.score(trials.x, y, weight) == pytest.approx(weighed)


def test_prediction_is_the_same_in_parts_and_moves_nothing(
    trials: Trials, fitted: CensoredClassifier
) -> None:
    """A trial's prediction does not depend on its neighbours, and predicting changes no weight."""
    before = {name: t.clone() for name, t in fitted.model_.state_dict().items()}
    whole = fitted.predict_proba(trials)
    parts = np.concatenate([fitted.predict_proba(trials[i : i + 37]) for i in range(0, 320, 37)])
    np.testing.assert_allclose(parts, whole, atol=1e-6)
    assert same(before, fitted.model_.state_dict())
    assert not fitted.model_.training


def test_features_come_as_a_frame_if_asked(trials: Trials, fitted: CensoredClassifier) -> None:
    """set_output(transform="pandas") gives a frame with one named column per feature."""
    model = pickle.loads(pickle.dumps(fitted)).set_output(transform="pandas")  # noqa: S301
    frame = model.transform(trials.x)
    assert list(frame.columns) == [f"censoredclassifier{i}" for i in range(LATENT_SIZE)]
    assert np.array_equal(frame.to_numpy(), fitted.transform(trials.x))


def test_the_scale_of_a_channel_does_not_matter(trials: Trials) -> None:
    """Volt or microvolt: signals times a power of two give the same predictions, bit for bit."""
    a, b = (
        CensoredClassifier(**OPTIONS)
        .fit(trials.x * f, trials.y, subjects=trials.subject)
        .predict_proba(trials.x * f)
        for f in (np.float32(1), np.float32(2**-20))
    )
    assert np.array_equal(a, b)


def test_parameters_round_trip(fitted: CensoredClassifier) -> None:
    """A clone has the same parameters and no fitted state; set_params sets what get_params gets."""
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")
    options = {"measure": None, "strength": 0.7, "epochs": 3, "validation_subjects": (1,)}
    changed = clone(fitted).set_params(**options)
    assert {k: changed.get_params()[k] for k in options} == options
    assert CensoredClassifier(**changed.get_params()).get_params() == changed.get_params()


@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_a_pickled_model_predicts_the_same(
    trials: Trials, fitted: CensoredClassifier, tmp_path: Path, how: str
) -> None:
    """Through pickle or joblib, predictions stay the same bit for bit."""
    file = tmp_path / "model"
    if how == "pickle":
        file.write_bytes(pickle.dumps(fitted))
        again = pickle.loads(file.read_bytes())  # noqa: S301
    else:
        joblib.dump(fitted, file)
        again = joblib.load(file)
    assert np.array_equal(again.predict_proba(trials), fitted.predict_proba(trials))
    assert again.history_ == fitted.history_


LOADED = """
import sys
import numpy as np
from censorium import CensoredClassifier
model = CensoredClassifier.load(sys.argv[1])
np.save(sys.argv[3], model.predict_proba(np.load(sys.argv[2])))
"""


def test_a_saved_model_predicts_the_same_in_another_process(
    trials: Trials, fitted: CensoredClassifier, tmp_path: Path
) -> None:
    """Saved here and loaded in a fresh process, the probabilities agree to round-off."""
    fitted.save(tmp_path / "model")
    np.save(tmp_path / "x.npy", trials.x)
    subprocess.run(
        [sys.executable, "-c", LOADED, *(tmp_path / n for n in ("model", "x.npy", "p.npy"))],
        env={**os.environ, "PYTHONPATH": str(Path(censorium.__file__).parents[1])},
        check=True,
    )
    found = np.load(tmp_path / "p.npy")
    np.testing.assert_allclose(found, fitted.predict_proba(trials), rtol=1e-5, atol=1e-6)


FITTED = (
    "history_",
    "split_",
    "ch_names_",
    "sfreq_",
    "tmin_",
    "n_channels_",
    "n_times_",
    "n_nuisance_",
    "n_features_in_",
)


def test_a_loaded_model_knows_what_the_fitted_one_knew(
    trials: Trials, fitted: CensoredClassifier, tmp_path: Path
) -> None:
    """Parameters, classes, history, split, names and sizes survive; so does saving it again."""
    fitted.save(tmp_path / "one")
    loaded = CensoredClassifier.load(tmp_path / "one")
    # JSON has lists for tuples, which mean the same to every option.
    assert loaded.get_params() == json.loads(json.dumps(fitted.get_params()))
    assert loaded.classes_.dtype == fitted.classes_.dtype
    assert np.array_equal(loaded.classes_, fitted.classes_)
    assert [getattr(loaded, n) for n in FITTED] == [getattr(fitted, n) for n in FITTED]
    assert same(loaded.model_.state_dict(), fitted.model_.state_dict())
    assert np.array_equal(loaded.predict_proba(trials), fitted.predict_proba(trials))
    loaded.save(tmp_path / "two")
    one, two = (tensorfile.read(tmp_path / name, "model") for name in ("one", "two"))
    assert same(one.tensors, two.tensors)
    assert one.header == two.header


@pytest.mark.parametrize("labels", [("no", "yes", "unsure"), (3, 70), (False, True), (1.0, 2.0)])
@pytest.mark.parametrize("as_object", [False, True])
def test_labels_of_any_kind_survive_saving(tmp_path: Path, labels: Any, as_object: bool) -> None:
    """Strings, integers, booleans and whole floats predict as what they were."""
    made = planted(labels=range(len(labels)), n_per_session=12)
    y = np.array(labels)[made.y]
    if as_object and y.dtype.kind == "U":
        y = y.astype(object)
    model = CensoredClassifier(None, **{**OPTIONS, "epochs": 1}).fit(made.x, y)
    model.save(tmp_path / "model")
    found = CensoredClassifier.load(tmp_path / "model").predict(made.x)
    assert found.dtype == model.predict(made.x).dtype == y.dtype
    assert np.array_equal(found, model.predict(made.x))


def test_a_saved_model_is_readable_without_censorium(
    fitted: CensoredClassifier, tmp_path: Path
) -> None:
    """Safetensors and json alone read the weights and the header."""
    fitted.save(tmp_path / "model")
    with safe_open(tmp_path / "model", framework="numpy") as file:
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        content = json.loads(file.metadata()["json"])
    weights = fitted.model_.state_dict()
    assert held.keys() == weights.keys()
    assert all(np.array_equal(held[n], weights[n].numpy()) for n in held)
    assert content["kind"] == "censorium-model"
    assert content["header"]["classes"] == ["a", "b"]
    assert content["header"]["options"]["measure"] == "density-ratio"


OWN_MEASURES = {
    "a class": Adversarial,
    "a class of the user's": DropoutCritic,
    "without a critic": Spread,
    "a partial": functools.partial(DropoutCritic, rate=0.2),
    "a partial of ours": functools.partial(Wasserstein, net=spectral_mlp),
}


@pytest.mark.parametrize("measure", OWN_MEASURES.values(), ids=OWN_MEASURES)
def test_measures_of_the_users_own(trials: Trials, tmp_path: Path, measure: Any) -> None:
    """A class or a partial censors, and the saved model predicts the same."""
    model = CensoredClassifier(measure, "complementary", **OPTIONS).fit(trials)
    assert len(model.history_[0].dependence) == 2
    model.save(tmp_path / "model")
    loaded = CensoredClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(trials), model.predict_proba(trials))


def test_a_partial_is_the_measure_it_stands_for(trials: Trials) -> None:
    """Wasserstein with the published critic is the measure of that name, bit for bit."""
    own = CensoredClassifier(OWN_MEASURES["a partial of ours"], **OPTIONS).fit(trials)
    named = CensoredClassifier("wasserstein-published", **OPTIONS).fit(trials)
    assert same(own.model_.state_dict(), named.model_.state_dict())


def test_saving_leaves_out_what_belongs_to_the_place(trials: Trials, tmp_path: Path) -> None:
    """Where and under whose eyes a model trained is not saved; a callable is saved by its name."""
    model = CensoredClassifier(
        DropoutCritic,
        checkpoint=tmp_path / "run",
        on_epoch=lambda record: None,
        **{**OPTIONS, "random_state": np.random.RandomState(0), "strength": np.float64(0.2)},
    ).fit(trials)
    model.save(tmp_path / "model")
    loaded = CensoredClassifier.load(tmp_path / "model")
    assert (loaded.checkpoint, loaded.on_epoch, loaded.random_state) == (None, None, None)
    assert (loaded.measure, loaded.strength) == ("DropoutCritic", 0.2)


@pytest.mark.parametrize(
    "some", [{1}, (1,), {1: "x"}.keys(), pd.Series([1]), pd.Index([1]), np.array([1])], ids=type
)
def test_several_of_something_come_in_any_container(
    trials: Trials, tmp_path: Path, some: Any
) -> None:
    """Subjects and epochs may be named by a set, a tuple, a Series: all train and are saved."""
    model = CensoredClassifier(validation_subjects=some, excluded_epochs=some, **OPTIONS)
    model.fit(trials)
    assert model.split_.valid == (1,)
    assert [r.strength for r in model.history_] == [0.0, 0.1, 0.1]
    model.save(tmp_path / "model")
    loaded = CensoredClassifier.load(tmp_path / "model")
    assert loaded.validation_subjects == [1]


def test_what_is_set_after_a_fit_does_not_change_what_was_fitted(
    trials: Trials, tmp_path: Path
) -> None:
    """Parameters set for a next fit leave the fitted model and its file as they are."""
    model = CensoredClassifier(None, **OPTIONS).fit(trials)
    expected = model.transform(trials)
    model.set_params(latent_size=4, projection="projected")
    model.save(tmp_path / "model")
    loaded = CensoredClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.transform(trials), expected)
    assert len(model.get_feature_names_out()) == expected.shape[1]


def test_the_names_of_columns_survive_saving(trials: Trials, tmp_path: Path) -> None:
    """A model fitted on a frame refuses columns in another order, loaded or not."""
    frame = pd.DataFrame(trials.x[:, :, 0], columns=list(trials.info.ch_names))
    model = CensoredClassifier(None, **OPTIONS).fit(frame, trials.y)
    model.save(tmp_path / "model")
    for decoder in (model, CensoredClassifier.load(tmp_path / "model")):
        decoder.predict(frame)
        with pytest.raises(ValueError, match="feature names"):
            decoder.predict(frame[frame.columns[::-1]])


class Spy(CensoredClassifier):
    """Remembers who its training subjects were."""

    def fit(self, X: Any, y: Any = None, *, subjects: Any = None, sessions: Any = None) -> Any:
        """Fit, and remember."""
        self.seen_ = None if subjects is None else np.unique(subjects).tolist()
        return super().fit(X, y, subjects=subjects, sessions=sessions)


@pytest.mark.parametrize("routing", [False, True])
def test_a_grid_search_hands_over_subjects(trials: Trials, routing: bool) -> None:
    """GridSearchCV over the strength gives each fold its own training subjects."""
    search = GridSearchCV(
        Spy(**{**OPTIONS, "epochs": 1}), {"strength": np.array([0.0, 0.1])}, cv=GroupKFold(2)
    )
    with sklearn.config_context(enable_metadata_routing=routing):
        search.fit(trials.x, trials.y, subjects=trials.subject, groups=trials.subject)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.seen_ == [1, 2, 3, 4]
    assert search.best_estimator_.n_nuisance_ == 4


def test_cross_validation_of_a_pipeline_routes_subjects(trials: Trials) -> None:
    """With metadata routing on, a pipeline's classifier gets the fold's subjects unasked."""
    pipeline = make_pipeline(FunctionTransformer(np.negative), Spy(**{**OPTIONS, "epochs": 1}))
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            pipeline,
            trials.x,
            trials.y,
            params={
                "subjects": trials.subject,
                "sessions": trials.session,
                "groups": trials.subject,
            },
            cv=LeaveOneGroupOut(),
            return_estimator=True,
            error_score="raise",
        )
    models = [estimator[-1] for estimator in found["estimator"]]
    assert [m.seen_ for m in models] == [[2, 3, 4], [1, 3, 4], [1, 2, 4], [1, 2, 3]]
    assert {m.n_nuisance_ for m in models} == {6}


def test_a_pipeline_hands_over_subjects_by_prefix_too(trials: Trials) -> None:
    """Without routing, scikit-learn's step__name form reaches fit."""
    pipeline = make_pipeline(FunctionTransformer(np.negative), Spy(**{**OPTIONS, "epochs": 1}))
    pipeline.fit(trials.x, trials.y, spy__subjects=trials.subject)
    assert pipeline[-1].seen_ == [1, 2, 3, 4]


def test_memory_mapped_trials_train_the_same(trials: Trials, tmp_path: Path) -> None:
    """Trials opened from disk, mapped and read-only, train as those in memory."""
    trials.save(tmp_path / "trials")
    mapped = Trials.load(tmp_path / "trials")
    a, b = (CensoredClassifier(**OPTIONS).fit(t) for t in (trials, mapped))
    assert same(a.model_.state_dict(), b.model_.state_dict())


def test_fit_leaves_its_input_alone(trials: Trials) -> None:
    """Signals, labels and subjects are the same after a fit."""
    x, y, s = trials.x.copy(), trials.y.copy(), trials.subject.copy()
    CensoredClassifier(**{**OPTIONS, "epochs": 1}).fit(x, y, subjects=s)
    assert np.array_equal(x, trials.x)
    assert np.array_equal(y, trials.y)
    assert np.array_equal(s, trials.subject)


def test_channel_scales_are_of_the_training_subjects_alone() -> None:
    """The scale of each channel is the mean and deviation of the training subjects' trials."""
    trials = planted()
    x = trials.x.copy()
    x[trials.subject == 4] *= 1000
    model = CensoredClassifier(**OPTIONS, validation_subjects=[4])
    model.fit(x, trials.y, subjects=trials.subject)
    mine = x[trials.subject != 4].astype(np.float64)
    # Stored in float32, which holds seven digits.
    scale = model.model_.scale
    np.testing.assert_allclose(scale.mean[:, 0], mine.mean((0, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scale.deviation[:, 0], mine.std((0, 2)), rtol=1e-5)
