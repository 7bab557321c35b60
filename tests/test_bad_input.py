"""Laws of bad input: before any training an error or a warning says what it is."""

import json
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch
from sklearn.exceptions import NotFittedError

from censorium import CensoredClassifier, Trials
from censorium.dependence import Adversarial
from censorium.errors import CensoriumWarning, DataError, FileError, OptionError, SplitError
from planted import OPTIONS, epochs_of, planted

N = 160
TRIALS = planted(n_per_session=20)
NAMES = np.array(TRIALS.info.class_names)[TRIALS.y]


def attempt(X: Any = TRIALS, y: Any = None, people: Any = None, **options: Any) -> None:
    """Fit; that an epoch ends is a failure of the test."""
    on_epoch = lambda record: pytest.fail("It trained before it looked.")  # noqa: E731
    CensoredClassifier(**{**OPTIONS, "on_epoch": on_epoch, **options}).fit(X, y, **(people or {}))


def with_value(value: float, *, trial: int = 17, channel: int = 3) -> Trials:
    """The trials with one value replaced."""
    x = TRIALS.x.copy()
    x[trial, channel, 5] = value
    return replace(TRIALS, x=x)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("measure", [None, "density-ratio"])
def test_signals_that_are_not_finite(value: float, measure: str | None) -> None:
    """NaN or infinity: the first such trial is named, and the channel by name if it has one."""
    bad = with_value(value)
    words = "Trial 17 has NaN or infinite values in channel"
    with pytest.raises(DataError, match=rf"^{words} 'ch3'\.$"):
        attempt(bad, measure=measure)
    with pytest.raises(DataError, match=rf"^{words} 3\.$"):
        attempt(bad.x, NAMES, {"subjects": TRIALS.subject}, measure=measure)


def test_signals_too_large_for_single_precision() -> None:
    """A value that float32 cannot hold is met as an infinity would be."""
    x = TRIALS.x.astype(np.float64)
    x[17, 3, 5] = 1e300
    with (
        pytest.raises(DataError, match="Trial 17 has NaN or infinite values in channel 3"),
        np.errstate(over="ignore"),
    ):
        attempt(x, NAMES, {"subjects": TRIALS.subject})


def test_prediction_on_signals_that_are_not_finite() -> None:
    """At prediction, too, the trial and the channel are named."""
    model = CensoredClassifier(**OPTIONS).fit(TRIALS)
    with pytest.raises(DataError, match="Trial 17 has NaN or infinite values in channel 'ch3'"):
        model.predict(with_value(np.nan))


def test_a_flat_channel_is_warned_of_and_harmless() -> None:
    """A channel that never changes is named in a warning; the model still trains and predicts."""
    x = TRIALS.x.copy()
    x[:, 2] = 4.25
    with pytest.warns(CensoriumWarning, match=r"Flat channels in the training trials: \['ch2'\]"):
        model = CensoredClassifier(**OPTIONS).fit(replace(TRIALS, x=x))
    assert np.isfinite(model.predict_proba(x)).all()
    with pytest.warns(CensoriumWarning, match=r"Flat channels in the training trials: \[2\]"):
        CensoredClassifier(None, **OPTIONS).fit(x, NAMES)


@pytest.mark.parametrize(
    ("y", "people", "words"),
    [
        (NAMES[:-1], {}, "inconsistent numbers of samples"),
        (NAMES, {"subjects": TRIALS.subject[:-1]}, r"subjects has shape \(159,\).* 160 trials"),
        (
            NAMES,
            {"subjects": TRIALS.subject, "sessions": TRIALS.session[1:]},
            r"sessions has shape \(159,\).* 160 trials",
        ),
        (NAMES, {"subjects": TRIALS.subject[:, None]}, r"subjects has shape \(160, 1\)"),
        (NAMES, {"subjects": 1}, r"subjects has shape \(\)"),
    ],
)
def test_lengths_that_disagree(y: Any, people: Any, words: str) -> None:
    """Labels, subjects and sessions must be as many as the trials."""
    with pytest.raises(ValueError, match=words):
        attempt(TRIALS.x, y, people)


@pytest.mark.parametrize("shape", [(N,), (N, 5, 20, 1)])
def test_signals_of_an_impossible_shape(shape: tuple[int, ...]) -> None:
    """One dimension or four: the error tells the shape that came."""
    with pytest.raises(ValueError, match=r"(Expected 2D array|got shape \(160, 5, 20, 1\))"):
        attempt(np.zeros(shape), NAMES, {"subjects": TRIALS.subject})


def test_no_labels() -> None:
    """An array without y is refused by name."""
    with pytest.raises(ValueError, match="requires y to be passed"):
        attempt(TRIALS.x, None, {"subjects": TRIALS.subject})


def test_one_class_only() -> None:
    """One class in all: an error that shows it."""
    with pytest.raises(DataError, match=r"two classes or more; y holds one class: \['a'\]"):
        attempt(TRIALS.x, np.repeat("a", N), {"subjects": TRIALS.subject})


@pytest.mark.parametrize("measure", [None, "density-ratio"])
def test_a_training_subject_of_one_class_is_warned_of(measure: str | None) -> None:
    """A training subject who shows one class only is named with it; the work goes on."""
    y = np.where(TRIALS.subject == 2, "b", NAMES)
    with pytest.warns(CensoriumWarning, match=r"one class only: 2 \(only 'b'\)"):
        model = CensoredClassifier(measure, **OPTIONS).fit(TRIALS, y)
    assert len(model.history_) == OPTIONS["epochs"]


def test_labels_in_an_array_of_objects_are_named_too() -> None:
    """Strings in an array of objects, as pandas has them, are named as plain ones are."""
    y = np.where(TRIALS.subject == 2, "b", NAMES).astype(object)
    with pytest.warns(CensoriumWarning, match=r"one class only: 2 \(only 'b'\)"):
        CensoredClassifier(**OPTIONS).fit(TRIALS, y)
    y[(TRIALS.subject == 2) & (TRIALS.y == 0)] = "c"
    with pytest.raises(DataError, match="No training subject shows class 'c'"):
        attempt(TRIALS, y, validation_subjects=[2])


def test_a_validation_subject_of_one_class_is_no_matter() -> None:
    """Only training subjects are warned of (the configuration makes a warning an error)."""
    y = np.where(TRIALS.subject == 2, "b", NAMES)
    CensoredClassifier(validation_subjects=[2], **OPTIONS).fit(TRIALS, y)


def test_a_class_that_only_validation_subjects_show() -> None:
    """Nothing could be learnt of it: an error that names the class."""
    y = np.where((TRIALS.subject == 2) & (NAMES == "b"), "c", NAMES)
    with pytest.raises(DataError, match="No training subject shows class 'c'"):
        attempt(TRIALS, y, validation_subjects=[2])


@pytest.mark.parametrize("subject", [7, "Ann"])
def test_one_subject_only(subject: Any) -> None:
    """Censoring one subject: an error that names who it is, and what trains without censoring."""
    everyone = np.repeat(subject, N)
    with pytest.raises(
        DataError, match=rf"two training subjects or more; .* one: {subject!r}\. measure=None"
    ):
        attempt(TRIALS.x, NAMES, {"subjects": everyone})


def test_one_training_subject_only() -> None:
    """Censoring where validation leaves one training subject: an error before training."""
    with pytest.raises(DataError, match="two training subjects or more; there is one: 1"):
        attempt(validation_subjects=[2, 3, 4])
    with pytest.raises(DataError, match="two training subjects or more"):
        attempt(validation_subjects=3)


def test_no_subjects() -> None:
    """Censoring without subjects: an error that says where they can come from."""
    with pytest.raises(DataError, match=r"who is who: pass subjects=.*column 'subject'.*measure=N"):
        attempt(TRIALS.x, NAMES)
    epochs = epochs_of(TRIALS)
    epochs.metadata = None
    with pytest.raises(DataError, match="who is who"):
        attempt(epochs)


def test_sessions_without_subjects() -> None:
    """Sessions alone mean nothing."""
    with pytest.raises(DataError, match="sessions were given without subjects"):
        attempt(TRIALS.x, NAMES, {"sessions": TRIALS.session}, measure=None)


MIXED = np.array([1, "a"] * (N // 2), dtype=object)
HOLES = np.array([np.nan, "a", "b", "c"] * (N // 4), dtype=object)


@pytest.mark.parametrize("kind", ["subjects", "sessions"])
@pytest.mark.parametrize(
    "ids",
    [
        MIXED,
        HOLES,
        HOLES.tolist(),
        MIXED.tolist(),
        np.array([1.0, np.nan] * (N // 2)),
        np.array([None, "a"] * (N // 2), dtype=object),
        np.array([1.5, 2.5] * (N // 2)),
    ],
    ids=["mixed", "holes", "list of holes", "mixed list", "NaN", "None", "fractions"],
)
def test_people_who_are_no_ids(kind: str, ids: Any) -> None:
    """Subjects or sessions that are mixed, missing or fractions: an error that names which."""
    with pytest.raises(DataError, match=f"^{kind} ids must be"):
        attempt(TRIALS.x, NAMES, {"subjects": TRIALS.subject, kind: ids})


@pytest.mark.parametrize(
    "y",
    [
        np.where(TRIALS.y == 0, np.nan, 1.0),
        np.array([np.nan, "a", "b", "c"] * (N // 4), dtype=object),
        np.linspace(0, 1, N),
        MIXED,
        np.array([None, "a"] * (N // 2), dtype=object),
    ],
    ids=["NaN", "NaN among strings", "a regression's", "mixed", "None among strings"],
)
def test_labels_that_are_no_labels(y: Any) -> None:
    """Labels that are mixed, missing or measured: an error that speaks of y or labels."""
    with pytest.raises(
        (ValueError, TypeError), match=r"y |label|Unknown label type|continuous|NaN"
    ):
        attempt(TRIALS.x, y, {"subjects": TRIALS.subject})


@pytest.mark.parametrize("shared", [False, True])
def test_an_odd_latent_size_cannot_be_halved(shared: bool) -> None:
    """Complementary mode needs an even number of features, and says so."""
    with pytest.raises(OptionError, match=r"'complementary' halves .* 7 is odd.*even latent_size"):
        attempt(mode="complementary", latent_size=7, shared_critic=shared)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "wasserstien"}, "Unknown measure 'wasserstien'. Did you mean 'wasserstein'?"),
        ({"measure": 3}, "A measure is a name or a class of Dependence, got 3."),
        ({"mode": "conditionall"}, "Unknown mode 'conditionall'. Did you mean 'conditional'?"),
        ({"mode": None}, "A mode is a name or a function of (z, y), got None."),
        ({"projection": "project"}, "Unknown projection 'project'. Did you mean 'projected'?"),
        ({"projection": None}, "Unknown projection None."),
        ({"evaluation_point": "last"}, "Unknown evaluation point 'last'."),
        ({"evaluation_point": "avereged"}, "Did you mean 'averaged'?"),
        ({"evaluation_point": "best-validation"}, "'best-validation' needs validation subjects."),
        ({"device": "quantum"}, "Device 'quantum' is not to be had here"),
        ({"device": 1.5}, "Device 1.5 is not to be had here"),
        ({"epochs": 0}, "epochs must be a whole number, 1 or more, got 0."),
        ({"batch_size": 1}, "batch_size must be a whole number, 2 or more, got 1."),
        ({"learning_rate": 0}, "learning_rate must be above 0, and finite, got 0."),
        ({"learning_rate": -1e-4}, "learning_rate must be above 0, and finite, got -0.0001."),
        (
            {"critic_learning_rate": 0.0},
            "critic_learning_rate must be above 0, and finite, got 0.0.",
        ),
        ({"critic_steps": 0}, "critic_steps must be a whole number, 1 or more, got 0."),
        ({"weight_decay": -1}, "weight_decay must be 0 or more, and finite, got -1."),
        ({"strength": -0.5}, "strength must be 0 or more, and finite, got -0.5."),
        ({"strength": float("inf")}, "strength must be 0 or more, and finite, got inf."),
        ({"averaging": 1}, "averaging must be 0 or more and below 1, got 1."),
        ({"warmup_epochs": -1}, "warmup_epochs must be a whole number, 0 or more, got -1."),
        ({"latent_size": 0}, "latent_size must be a whole number, 1 or more, got 0."),
        ({"latent_size": 8.0}, "latent_size must be a whole number, 1 or more, got 8.0."),
        ({"excluded_epochs": 5}, "excluded_epochs must be a list of epochs, got 5."),
        ({"excluded_epochs": None}, "excluded_epochs must be a list of epochs, got None."),
        ({"on_epoch": 3}, "on_epoch must be a function of a record, got 3."),
        ({"validation_subjects": 0.2}, "validation_subjects must be a number of subjects or a"),
        ({"validation_subjects": None}, "validation_subjects must be a number of subjects or a"),
        ({"device": "meta"}, "Device 'meta' is not to be had here"),
        ({"checkpoint": "run", "random_state": None}, "A checkpoint needs a random_state"),
    ],
    ids=str,
)
def test_impossible_options(options: dict[str, Any], words: str) -> None:
    """An unknown name comes with the nearest right one; a number with what it must be."""
    with pytest.raises(OptionError) as caught:
        attempt(**options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": Adversarial(8, 8)}, "A measure is a name or a class of Dependence, got Adv"),
        ({"measure": lambda *_: 3}, "A measure makes a Dependence, got int."),
        ({"mode": lambda z, y: z}, "A mode gives a tuple of Terms, got Tensor."),
    ],
    ids=["an instance", "no measure", "no terms"],
)
def test_objects_that_are_no_measure_or_mode(options: dict[str, Any], words: str) -> None:
    """What is given instead of a name must be what the name would stand for."""
    with pytest.raises(OptionError) as caught:
        attempt(**options)
    assert words in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is such a device here")
def test_a_device_that_is_not_there() -> None:
    """A device that torch knows and this machine lacks is refused by name."""
    with pytest.raises(OptionError, match="Device 'cuda' is not to be had here"):
        attempt(device="cuda")


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (4, "validation_subjects=4 leaves none of 4 to train"),
        (-1, "validation_subjects=-1 leaves none"),
        ([9], r"Validation subject 9 has no trials\. There are: \[1, 2, 3, 4\]"),
        ([1, 1], "Subject 1 is twice in valid"),
        ([1, 2, 3, 4], "at least one training subject"),
        (["1"], "Validation subject '1' has no trials"),
    ],
)
def test_impossible_validation_subjects(wanted: Any, words: str) -> None:
    """Too many, unknown or doubled validation subjects are refused."""
    with pytest.raises(SplitError, match=words):
        attempt(validation_subjects=wanted)


@pytest.mark.parametrize("wanted", [1, [1], [0], ("Ann",), np.array([0, 1])], ids=str)
def test_validation_subjects_without_subjects(wanted: Any) -> None:
    """A baseline that was not told who is who cannot hold anyone out."""
    with pytest.raises(DataError, match="validation_subjects are asked for"):
        attempt(TRIALS.x, NAMES, measure=None, validation_subjects=wanted)


@pytest.fixture(scope="module")
def by_names() -> CensoredClassifier:
    """A model that knows its channels' names and the sampling rate."""
    return CensoredClassifier(**OPTIONS).fit(TRIALS)


@pytest.fixture(scope="module")
def by_arrays() -> CensoredClassifier:
    """A model that knows sizes only."""
    return CensoredClassifier(None, **OPTIONS).fit(TRIALS.x, NAMES)


METHODS = ("predict", "predict_proba", "decision_function", "transform", "score", "save")


@pytest.mark.parametrize("method", METHODS)
def test_use_before_fit(method: str, tmp_path: Path) -> None:
    """Every method but fit needs a fitted model, and says so as scikit-learn does."""
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(CensoredClassifier(), method)(tmp_path / "x" if method == "save" else TRIALS)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (TRIALS.x[:, :4], "X has 4 channels x 20 times, but the model was fitted on 5 x 20"),
        (TRIALS.x[:, :, :19], "X has 5 channels x 19 times, but the model was fitted on 5 x 20"),
        (TRIALS.x[:, :, :19].tolist(), "X has 5 channels x 19 times"),
        (TRIALS.x[:, :, 0], r"X has 5 channels x 1 times|must be \(trials, channels, times\)"),
        (TRIALS.x[:, :4, 0], "X has 4 features, but CensoredClassifier is expecting 5"),
        (TRIALS.x[:, 0, 0], "Expected 2D array"),
        (TRIALS.x[..., None], r"X must be \(trials, channels, times\), got shape \(160, 5, 20, 1"),
        (TRIALS.x[:0], "X holds no trials."),
    ],
    ids=["channels", "times", "times of a list", "one time", "two wrong", "1-D", "4-D", "none"],
)
def test_signals_of_another_size_at_prediction(
    by_arrays: CensoredClassifier, x: Any, words: str
) -> None:
    """Another number of channels, times or dimensions: what came and what was fitted."""
    with pytest.raises(ValueError, match=words):
        by_arrays.predict(x)


def renamed(names: tuple[str, ...]) -> Trials:
    """The trials with other channel names."""
    return replace(TRIALS, info=replace(TRIALS.info, ch_names=names))


FEWER = replace(
    TRIALS, x=TRIALS.x[:, :4], info=replace(TRIALS.info, ch_names=TRIALS.info.ch_names[:4])
)
NAMED = [
    (FEWER, r"The channels differ .*: X lacks \['ch4'\]\."),
    (renamed(("ch0", "ch1", "ch2", "ch3", "EOG")), r"lacks \['ch4'\] and has unknown \['EOG'\]"),
    (renamed(("ch1", "ch0", "ch2", "ch3", "ch4")), r"in another order.*ch_names_.*reorder_channel"),
    (
        replace(TRIALS, info=replace(TRIALS.info, sfreq=128.0)),
        "X is sampled at 128 Hz; the model was fitted at 100 Hz",
    ),
    (
        replace(TRIALS, info=replace(TRIALS.info, tmin=-0.1)),
        "Trials of X begin at -0.1 s, .* the model was fitted on trials that begin at 0 s",
    ),
]


@pytest.mark.parametrize("container", [lambda trials: trials, epochs_of], ids=["Trials", "Epochs"])
@pytest.mark.parametrize(
    ("given", "words"), NAMED, ids=["missing", "unknown", "order", "rate", "time"]
)
def test_what_signals_are_is_compared_where_known(
    by_names: CensoredClassifier, given: Trials, words: str, container: Callable[[Trials], Any]
) -> None:
    """A missing, unknown or moved channel, another rate and another first time are each named."""
    for method in ("predict", "predict_proba", "transform", "score"):
        with pytest.raises(DataError, match=words):
            getattr(by_names, method)(container(given))


def test_names_are_not_asked_of_arrays(by_names: CensoredClassifier) -> None:
    """An array has no names and is taken at its word."""
    assert len(by_names.predict(TRIALS.x)) == N


def test_a_loaded_model_compares_names_too(by_names: CensoredClassifier, tmp_path: Path) -> None:
    """What the model knew of its channels is saved with it."""
    by_names.save(tmp_path / "model")
    loaded = CensoredClassifier.load(tmp_path / "model")
    for given, words in NAMED:
        with pytest.raises(DataError, match=words):
            loaded.predict(given)


def with_header(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A safetensors file with its metadata changed, tensors untouched."""
    (size,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + size])
    change(header["__metadata__"])
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + size :]


def rename_classes(metadata: dict[str, str]) -> None:
    metadata["json"] = metadata["json"].replace('["a", "b"]', '["b", "a"]')


def age(metadata: dict[str, str]) -> None:
    metadata["json"] = metadata["json"].replace('"version": 1', '"version": 99')


def strip(metadata: dict[str, str]) -> None:
    del metadata["sha256"]


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut short": (lambda b: b[: len(b) // 2], "is cut short, altered or no model file"),
    "empty": (lambda b: b"", "is cut short, altered or no model file"),
    "text": (lambda b: b"# notes\n" * 99, "is cut short, altered or no model file"),
    "a pickle": (lambda b: b"\x80\x04K\x01." * 99, "is cut short, altered or no model file"),
    "a flipped bit": (lambda b: b[:-9] + bytes([b[-9] ^ 1]) + b[-8:], "was altered since"),
    "other classes": (lambda b: with_header(b, rename_classes), "was altered since"),
    "no digest": (lambda b: with_header(b, strip), "is not a model that censorium wrote"),
    "from the future": (lambda b: with_header(b, age), "is of format version 99"),
    "somebody else's": (
        lambda b: safetensors.numpy.save({"w": np.zeros(3)}),
        "is not a model that censorium wrote",
    ),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_model_file(
    by_names: CensoredClassifier,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    words: str,
) -> None:
    """Cut short, altered or foreign: an error that names the file and what is wrong with it."""
    file = tmp_path / "model.censorium"
    by_names.save(file)
    content = file.read_bytes()
    assert damage(content) != content
    file.write_bytes(damage(content))
    with pytest.raises(FileError, match=f"model.censorium {words}"):
        CensoredClassifier.load(file)


def test_a_missing_model_file(tmp_path: Path) -> None:
    """No such file, or a folder: an error that names it."""
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(FileError, match=f"There is no file {path}"):
            CensoredClassifier.load(path)


def test_a_checkpoint_is_no_model(tmp_path: Path) -> None:
    """A checkpoint given to load is refused by its kind."""
    CensoredClassifier(**OPTIONS, checkpoint=tmp_path / "run").fit(TRIALS)
    with pytest.raises(FileError, match="holds a censorium-checkpoint, not a censorium-model"):
        CensoredClassifier.load(tmp_path / "run")


def test_a_device_that_is_not_there_at_prediction(
    by_names: CensoredClassifier, tmp_path: Path
) -> None:
    """A model loaded onto an unknown device says so when it is to predict, at the latest."""
    by_names.save(tmp_path / "model")
    with pytest.raises(OptionError, match="Device 'quantum' is not to be had here"):
        CensoredClassifier.load(tmp_path / "model", device="quantum").predict(TRIALS)


def test_a_failed_fit_leaves_the_fitted_model_usable(by_names: CensoredClassifier) -> None:
    """Bad input to a second fit is refused, and the first fit's predictions are as before."""
    before = by_names.predict_proba(TRIALS)
    for bad in (with_value(np.nan), replace(TRIALS, subject=np.ones(N, dtype=int))):
        with pytest.raises(DataError):
            by_names.fit(bad)
    assert np.array_equal(by_names.predict_proba(TRIALS), before)


def test_a_fit_that_was_stopped_leaves_nothing_to_use(tmp_path: Path) -> None:
    """A first fit that ended early is no fit: use says so, as before any."""

    def stop(record: Any) -> None:
        raise KeyboardInterrupt

    model = CensoredClassifier(**OPTIONS, on_epoch=stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TRIALS)
    for use in (lambda: model.predict(TRIALS), lambda: model.save(tmp_path / "model")):
        with pytest.raises(NotFittedError):
            use()


def test_a_failed_fit_on_fewer_columns_leaves_the_fitted_model_usable() -> None:
    """A model of five columns, fitted again on three in vain, still takes five."""
    x, y = TRIALS.x[:, :, 0], NAMES
    model = CensoredClassifier(None, **OPTIONS).fit(x, y)
    expected = model.predict(x)
    with pytest.raises(DataError, match="one class"):
        model.fit(x[:, :3], np.full(N, "a"))
    np.testing.assert_array_equal(model.predict(x), expected)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "A score needs labels"),
        (TRIALS.y, r"The model knows the labels \['a', 'b'\], but y holds \[0, 1\]"),
    ],
    ids=["none", "others"],
)
def test_a_score_of_labels_that_the_model_cannot_know(
    by_arrays: CensoredClassifier, y: Any, words: str
) -> None:
    """No labels, or only others than the model learnt, are an error and not a score of 0."""
    with pytest.raises(DataError, match=words):
        by_arrays.score(TRIALS.x, y)


@pytest.mark.parametrize("factor", [1e6, 1e-6])
def test_another_unit_at_prediction_is_warned_of(
    by_arrays: CensoredClassifier, factor: float
) -> None:
    """Signals a million times as large or as small as in training: a warning; ten times: none."""
    by_arrays.predict(TRIALS.x * 10)
    with pytest.warns(CensoriumWarning, match=re.escape(f"X is {factor:.1g} times as large")):
        by_arrays.predict(TRIALS.x * np.float32(factor))


def test_a_measure_must_give_one_number() -> None:
    """A measure that estimates trial by trial is refused at its first estimate."""

    class ByTrial(Adversarial):
        def estimate(self, features: Any, nuisance: Any, given: Any | None = None) -> Any:
            return features[:, 0]

    with pytest.raises(OptionError, match="An estimate is one number, got shape"):
        attempt(measure=ByTrial)


def test_a_checkpoint_that_cannot_be_written_is_known_at_once(tmp_path: Path) -> None:
    """A folder, or a path through a file, is no place for a checkpoint."""
    (tmp_path / "file").write_text("mine")
    for place, words in ((tmp_path, "is a folder"), (tmp_path / "file" / "run", "cannot lie")):
        with pytest.raises(FileError, match=words):
            attempt(checkpoint=place)


def test_epochs_that_name_sessions_alone_train_the_baseline() -> None:
    """Sessions of the metadata without subjects are no error, for nobody gave them on purpose."""
    epochs = epochs_of(TRIALS)
    epochs.metadata = epochs.metadata.drop(columns="subject")
    assert CensoredClassifier(None, **OPTIONS).fit(epochs).n_nuisance_ == 0
    with pytest.raises(DataError, match="column 'subject'"):
        attempt(epochs)
