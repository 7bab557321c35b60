"""The scikit-learn face: `CensoredClassifier`."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from censorium.arrays import Floats, Ints, require_finite
from censorium.censor import Censor, resolve_mode
from censorium.dependence import Measure
from censorium.devices import torch_device
from censorium.errors import DataError, OptionError, lookup
from censorium.inputs import (
    Layout,
    People,
    Signals,
    checked,
    divide,
    encode_labels,
    hold_out,
    known_labels,
    require_classes,
    require_trials,
    variables_of,
    warn_of_flat,
    warn_of_one_class,
    warn_of_scale,
)
from censorium.modelfile import plain, read_model, write_model
from censorium.modes import Mode
from censorium.nets import DROPOUT, LATENT_SIZE, PROJECTIONS, Inferred, TaskModel, infer
from censorium.randomness import RandomStream
from censorium.recipe import EpochRecord, Recipe, Strength, points_of
from censorium.scores import balanced_accuracy
from censorium.selection import on_disk
from censorium.train import train


class CensoredClassifier(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """An EEG decoder whose features are censored: kept free of who the subject is.

    Parameters
    ----------
    measure : str, class of Dependence, or None
        How dependence on subject x session is measured: "density-ratio", "adversarial",
        "wasserstein", "mmd" or another name in `MEASURES`. None trains the uncensored baseline.
    mode : {"marginal", "conditional", "conditional-direct", "complementary"} or callable
        What is to be independent: the features; the features given the label; half of the features,
        while the other half is to be dependent. `Graph.mode` gives others.
    strength : float
        Weight of the censoring penalty (the paper's lambda). At 0 the result is the baseline's.
    projection : {"direct", "projected"}
        Whether censoring acts on the features the classifier reads, or on an MLP's view of them.
    latent_size : int
        Number of features; even for complementary censoring.
    shared_critic : bool
        Complementary mode as published: one critic for both halves, trained on the signed sum.
    epochs, batch_size : int
        Passes over the training trials; the largest number of trials in a step.
    learning_rate, weight_decay : float
        Of AdamW, constant.
    critic_learning_rate : float or None
        The critic's own learning rate; None takes `learning_rate`.
    critic_steps : int
        Critic steps per task step.
    warmup_epochs : int
        Epochs over which the strength rises linearly.
    excluded_epochs : sequence of int
        Epochs, counted from 1, in which the strength is 0.
    evaluation_point : {"final", "best-validation", "averaged"} or a list of them
        Which weights to keep: the last; those of the epoch with the best balanced accuracy on the
        validation subjects; an exponential moving average. Of several, the first predicts, and
        `at` gives the others.
    validation_subjects : int or sequence of subject ids
        Training subjects held out whole to watch over training: how many (drawn by `random_state`)
        or which.
    averaging : float
        Decay of the moving average per step.
    dropout : float
        Share of the encoder's activations that a step leaves out.
    label_smoothing : float
        Share of each label that is spread evenly over all classes.
    checkpoint : path or None
        File that holds the last finished epoch. If it exists, training goes on from there. It
        needs a `random_state` and serves one fit: in a cross-validation every fold would want its
        own.
    on_epoch : callable or None
        Called with each epoch's `EpochRecord`.
    random_state : int, RandomState or None
        Decides everything that is drawn.
    device : str
        "cpu", "cuda", "mps" or what else torch knows.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    model_ : TaskModel
        The fitted networks, on the CPU.
    weights_ : dict
        The networks' weights at each evaluation point; `at` gives the classifier that has them.
    history_ : list of EpochRecord
        One record per epoch.
    ch_names_, sfreq_, tmin_ :
        Channel names, sampling rate and time of the first sample if X knew them, else None.
    n_channels_, n_times_, n_nuisance_ : int
        Sizes seen in training; `n_nuisance_` is 0 for a baseline that was not told who is who.
    split_ : SubjectSplit or None
        Who trained and who validated.

    Examples
    --------
    >>> from censorium import CensoredClassifier, datasets
    >>> trials = datasets.load("simulated", n_subjects=3, n_sessions=1, n_trials=60)
    >>> model = CensoredClassifier(epochs=2, batch_size=64, random_state=0)
    >>> model.fit(trials.x, trials.y, subjects=trials.subject).predict(trials.x).shape
    (180,)
    """

    # Pipelines and MOABB hand over subjects and sessions without the user having to ask for it.
    __metadata_request__fit = {"subjects": True, "sessions": True}  # noqa: RUF012

    def __init__(
        self,
        measure: str | Measure | None = "density-ratio",
        mode: str | Mode = "marginal",
        strength: float = 0.1,
        projection: str = "direct",
        *,
        latent_size: int = LATENT_SIZE,
        shared_critic: bool = False,
        epochs: int = 100,
        batch_size: int = 1024,
        learning_rate: float = 1e-4,
        weight_decay: float = 0.01,
        critic_learning_rate: float | None = None,
        critic_steps: int = 1,
        warmup_epochs: int = 0,
        excluded_epochs: Sequence[int] = (),
        evaluation_point: str | Sequence[str] = "final",
        validation_subjects: int | Sequence[Any] = 0,
        averaging: float = 0.99,
        dropout: float = DROPOUT,
        label_smoothing: float = 0.0,
        checkpoint: str | Path | None = None,
        on_epoch: Callable[[EpochRecord], None] | None = None,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
    ) -> None:
        self.measure = measure
        self.mode = mode
        self.strength = strength
        self.projection = projection
        self.latent_size = latent_size
        self.shared_critic = shared_critic
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.critic_learning_rate = critic_learning_rate
        self.critic_steps = critic_steps
        self.warmup_epochs = warmup_epochs
        self.excluded_epochs = excluded_epochs
        self.evaluation_point = evaluation_point
        self.validation_subjects = validation_subjects
        self.averaging = averaging
        self.dropout = dropout
        self.label_smoothing = label_smoothing
        self.checkpoint = checkpoint
        self.on_epoch = on_epoch
        self.random_state = random_state
        self.device = device

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        subjects: ArrayLike | None = None,
        sessions: ArrayLike | None = None,
    ) -> Self:
        """Train on `X`: array (n, channels, times), ``mne.Epochs`` or `Trials`.

        Parameters
        ----------
        X : array, mne.Epochs or Trials
            Signals. An array of two dimensions is read as channels of a single time.
        y : array, (n,)
            Labels of any kind; may be left out where `X` knows them.
        subjects, sessions : array of int or str, (n,)
            Who gave each trial, in which session; may be left out where `X` knows them (Epochs:
            the metadata's columns ``subject`` and ``session``).
        """
        recipe, device = self.recipe(), torch_device(self.device)
        resolve_mode(self.mode)
        signals = Signals.of(X)
        x, y = checked(signals.x, signals.y if y is None else y, self)
        x = x[:, :, None] if x.ndim == 2 else x
        require_trials(x.shape)
        check_classification_targets(y)
        require_finite(x, signals.ch_names)
        codes = encode_labels(y)
        who = signals.subject if subjects is None else subjects
        known = signals.session if who is not None else None
        people = People.of(who, known if sessions is None else sessions, len(x))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(4)]
        split = hold_out(people, self.validation_subjects, seed=seeds[0])
        variables = None if self.measure is None else variables_of(people, split)
        training, valid = divide(x, codes.y, people, split)
        require_classes(training, codes)
        warn_of_one_class(codes, people, split)
        with RandomStream(seeds[1], torch.device("cpu")):
            model = self._task_model(x.shape[1], x.shape[2], len(codes.classes))
        warn_of_flat(model.scale.fit(training.x), signals.ch_names)
        trained = train(
            model,
            training,
            recipe,
            censor=self._censor(variables, len(codes.classes), seeds[2]),
            valid=valid,
            seed=seeds[3],
            device=device,
            checkpoint=self.checkpoint,
            on_epoch=self.on_epoch,
        )
        self.weights_ = {
            point: {name: held.cpu() for name, held in weights.items()}
            for point, weights in trained.weights.items()
        }
        model.load_state_dict(next(iter(trained.weights.values())))
        validate_data(self, signals.x, skip_check_array=True)  # learns the names of features
        self.model_, self.history_ = model.cpu().eval(), trained.records
        self.classes_, self.split_ = codes.classes, split
        self.ch_names_, self.sfreq_, self.tmin_ = signals.ch_names, signals.sfreq, signals.tmin
        self.n_channels_, self.n_times_ = x.shape[1:]
        self.n_nuisance_ = int(training.s.max()) + 1 if people else 0
        return self

    def at(self, evaluation_point: str) -> Self:
        """A copy that has the weights of another of the fit's evaluation points."""
        check_is_fitted(self, "model_")
        weights = lookup("evaluation point of this fit", evaluation_point, self.weights_)
        other = copy.copy(self)
        other.model_ = copy.deepcopy(self.model_)
        other.model_.load_state_dict(weights)
        return other

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable label of each trial."""
        logits = self._infer(X).logits
        return self.classes_[logits.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, by column in the order of `classes_`.

        Training weighs the classes equally, so these are probabilities under equal priors.
        """
        return softmax(self._infer(X).logits.astype(np.float64), axis=1)  # type: ignore[no-any-return]

    def decision_function(self, X: Any) -> Floats:
        """Logits: for two classes that of the second over the first, else one column per class."""
        logits = self._infer(X).logits
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def transform(self, X: Any) -> Floats:
        """The hidden features, which the classifier reads, before any projector."""
        return self._infer(X).features

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: Any = None) -> float:
        """Balanced accuracy on `X`."""
        predicted = self.predict(X)
        labels = known_labels(Signals.of(X).y if y is None else y, self.classes_)
        return balanced_accuracy(labels, predicted, sample_weight)

    def save(self, path: str | Path) -> None:
        """Write the fitted model into one file, safetensors and JSON, that `load` opens.

        A measure or mode of your own is saved by its name only: the model that `load` gives
        predicts, but must be given yours again before another `fit`.
        """
        check_is_fitted(self, "model_")
        write_model(self, path)

    @classmethod
    def load(cls, path: str | Path, *, device: str = "cpu") -> Self:
        """The model that `save` wrote to `path`, ready to predict on `device`."""
        return read_model(cls, path, device)  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.model_.latent_size

    def _infer(self, X: Any) -> Inferred:
        check_is_fitted(self, "model_")
        signals = Signals.of(X)
        layout = Layout(self.n_channels_, self.n_times_, self.ch_names_, self.sfreq_, self.tmin_)
        x = signals.x
        if not on_disk(x):
            x = check_array(
                x,
                dtype=np.float32,
                allow_nd=True,
                ensure_all_finite=False,
                ensure_min_samples=0,
                estimator=self,
            )
        if not len(x):
            raise DataError("X holds no trials.")
        if x.ndim == 2:
            validate_data(self, signals.x, reset=False, skip_check_array=True)
            x = x[:, :, None]
        layout.require(signals._replace(x=x))
        require_finite(x, self.ch_names_)
        warn_of_scale(x, self.model_.scale)
        device = torch_device(self.device)
        result = infer(self.model_.to(device), x, device=device)
        self.model_.cpu()
        return result

    def recipe(self) -> Recipe:
        """How these options train; an `OptionError` for one that is impossible."""
        # A search draws NumPy's numbers; the checkpoint holds and compares Python's.
        given = {name: plain(value) for name, value in self.get_params(deep=False).items()}
        own, excluded = given["critic_learning_rate"], given["excluded_epochs"]
        if not isinstance(excluded, list):
            raise OptionError(f"excluded_epochs must be a list of epochs, got {excluded!r}.")
        if self.on_epoch is not None and not callable(self.on_epoch):
            raise OptionError(f"on_epoch must be a function of a record, got {self.on_epoch!r}.")
        if self.checkpoint is not None and self.random_state is None:
            raise OptionError(
                "A checkpoint needs a random_state: without one, the next run would begin from "
                "other weights and could not go on."
            )
        return Recipe(
            epochs=given["epochs"],
            batch_size=given["batch_size"],
            learning_rate=given["learning_rate"],
            weight_decay=given["weight_decay"],
            critic_learning_rate=given["learning_rate"] if own is None else own,
            critic_steps=given["critic_steps"],
            strength=Strength(given["strength"], given["warmup_epochs"], tuple(excluded)),
            averaging=given["averaging"],
            label_smoothing=given["label_smoothing"],
            evaluation_points=points_of(given["evaluation_point"]),
        )

    def _task_model(self, n_channels: int, n_times: int, n_classes: int) -> TaskModel:
        return TaskModel(
            n_channels,
            n_times,
            n_classes,
            latent_size=self.latent_size,
            dropout=self.dropout,
            projection=lookup("projection", self.projection, PROJECTIONS),
        )

    def _censor(
        self, variables: dict[str, Ints] | None, n_classes: int, seed: int
    ) -> Censor | None:
        if variables is None:
            return None
        return Censor(
            self.measure,  # type: ignore[arg-type]
            self.mode,
            n_features=self.latent_size,
            n_classes=n_classes,
            n_nuisance=len(variables["subject"]),
            variables=variables,
            shared_critic=self.shared_critic,
            seed=seed,
            device=self.device,
        )
