"""Laws of studies: what a run is, and that test subjects have no part in its training."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from censorium import CensoredClassifier, SubjectSplit, Trials, subject_kfold, tensorfile
from censorium.auditing import probe
from censorium.errors import DataError, SplitError
from censorium.study import Run, Study, execute
from planted import OPTIONS, DropoutCritic, planted, same

BASE = {k: v for k, v in OPTIONS.items() if k != "random_state"}
CENSORED = {**BASE, "measure": "density-ratio", "mode": "complementary", "strength": 0.5}
KEY = "71829947cbfd1ac3"  # of the run in the test below
SPLIT = SubjectSplit([1, 2], [3], [4])


@pytest.fixture(scope="module")
def trials() -> Trials:
    return planted()


def noise_of(trials: Trials, subjects: list[int], seed: int) -> Trials:
    """The same trials, but those of `subjects` are wild noise with shuffled labels."""
    rng = np.random.default_rng(seed)
    mine = np.isin(trials.subject, subjects)
    wild = (1e3 * rng.standard_normal(trials.x.shape)).astype(np.float32)
    y = np.where(mine, rng.permutation(trials.y), trials.y)
    return replace(trials, x=np.where(mine[:, None, None], wild, trials.x), y=y)


@pytest.mark.parametrize("point", ["final", "averaged", "best-validation"])
@pytest.mark.parametrize("measure", [None, "density-ratio", "wasserstein"])
def test_test_subjects_do_not_touch_training(
    trials: Trials, tmp_path: Path, measure: str | None, point: str
) -> None:
    """Whatever the test subjects' trials hold, weights, records and other scores stay."""
    other = noise_of(trials, [4], seed=1)
    outcomes, weights = [], []
    for name, given in (("a", trials), ("b", other)):
        options = {**BASE, "measure": measure, "evaluation_point": point}
        run = Run("m", {**options, "checkpoint": str(tmp_path / name)}, SPLIT, seed=0)
        outcomes.append(execute(run, given))
        tensors, _ = tensorfile.read(tmp_path / name, "checkpoint")
        weights.append(tensors)
    a, b = outcomes
    assert same(*weights)
    assert list(a.history) == list(b.history)
    assert a.train == b.train
    assert a.valid == b.valid
    assert a.test != b.test


def test_subjects_outside_the_split_have_no_part(trials: Trials) -> None:
    """Trials of people who are in no part of the split change nothing at all."""
    split = SubjectSplit([1, 2], [], [4])
    runs = [execute(Run("m", CENSORED, split, 0), t) for t in (trials, noise_of(trials, [3], 1))]
    first, second = (replace(outcome, seconds=0.0) for outcome in runs)
    assert first == second


def test_validation_labels_do_not_touch_the_final_weights(trials: Trials) -> None:
    """With evaluation point 'final', the validation subjects' trials leave train and test alone."""
    other = noise_of(trials, [3], seed=1)
    a, b = (execute(Run("m", CENSORED, SPLIT, 0), t) for t in (trials, other))
    assert (a.train, a.test) == (b.train, b.test)
    assert a.valid != b.valid


def test_an_outcome_is_what_the_classifier_gives(trials: Trials) -> None:
    """Scores of a run equal those of a classifier fitted and scored by hand, set by set."""
    seen: list[int] = []
    outcome = execute(
        Run("m", CENSORED, SPLIT, 7), trials, on_epoch=lambda record: seen.append(record.epoch)
    )
    model = CensoredClassifier(**CENSORED, random_state=7, validation_subjects=SPLIT.valid)
    model.fit(trials.of([1, 2, 3]))
    names = np.array(trials.info.class_names)
    for evaluation, subjects in (
        (outcome.train, [1, 2]),
        (outcome.valid, [3]),
        (outcome.test, [4]),
    ):
        part = trials.of(subjects)
        predicted = model.predict(part)
        expected = balanced_accuracy_score(names[part.y], predicted)
        assert evaluation.balanced_accuracy == pytest.approx(expected)
        assert evaluation.per_subject == pytest.approx(
            {
                s: balanced_accuracy_score(
                    names[part.y[part.subject == s]], predicted[part.subject == s]
                )
                for s in subjects
            }
        )
    assert outcome.train.identity == probe(
        model.transform(trials.of([1, 2])), trials.of([1, 2]).subject
    )
    assert outcome.test.identity is None
    assert outcome.history == model.history_
    assert seen == [1, 2, 3]
    ratio = outcome.test.balanced_accuracy / outcome.train.balanced_accuracy
    assert outcome.overfit_ratio == pytest.approx(ratio)


def test_without_validation_subjects_there_is_no_validation_score(trials: Trials) -> None:
    """A split without validation trains on all its training subjects and leaves valid empty."""
    outcome = execute(Run("m", BASE, SubjectSplit([1, 2, 3], [], [4]), 0), trials)
    assert outcome.valid is None
    assert set(outcome.train.per_subject) == {1, 2, 3}
    assert all(r.valid_balanced_accuracy is None for r in outcome.history)


@pytest.mark.parametrize(("who", "name"), [(1, "train"), (3, "valid"), (4, "test")])
def test_trials_that_cannot_be_scored_are_known_before_training(
    trials: Trials, who: int, name: str
) -> None:
    """NaN in anybody's trials stops a run before its first epoch, test subjects' too."""
    x = trials.x.copy()
    x[np.flatnonzero(trials.subject == who)[5], 2, 0] = np.nan
    words = f"^Among the trials of the {name} subjects: Trial 5 has NaN .* in channel 'ch2'"
    with pytest.raises(DataError, match=words):
        execute(
            Run("m", BASE, SPLIT, 0),
            replace(trials, x=x),
            on_epoch=lambda record: pytest.fail("It trained before it looked."),
        )


def test_options_of_any_kind_have_a_key() -> None:
    """NumPy's numbers and measures of one's own are keyed as the plain value or the name is."""
    drawn, own = {"strength": np.float64(0.5)}, {"measure": DropoutCritic}
    assert Run("m", drawn, SPLIT, 0).key == Run("m", {"strength": 0.5}, SPLIT, 0).key
    assert Run("m", own, SPLIT, 0).key == Run("m", {"measure": "DropoutCritic"}, SPLIT, 0).key


def test_one_run_is_one_outcome(trials: Trials) -> None:
    """The same run gives the same outcome; another seed another one."""
    a, b, c = (execute(Run("m", CENSORED, SPLIT, seed), trials) for seed in (0, 0, 1))
    assert replace(a, seconds=0.0) == replace(b, seconds=0.0)
    assert a.history != c.history


def test_a_split_that_does_not_fit_is_refused(trials: Trials) -> None:
    """A subject of whom there are no trials is named."""
    with pytest.raises(SplitError, match="No trials of subject 9"):
        execute(Run("m", BASE, SubjectSplit([1, 2], [3], [9]), 0), trials)


def test_a_run_is_its_options_split_and_seed() -> None:
    """The key changes with options, split and seed; not with the name or the options' order."""
    run = Run("m", CENSORED, SPLIT, 0)
    reordered = dict(reversed(list(CENSORED.items())))
    assert run.key == Run("other", reordered, SPLIT, 0).key
    others: list[Run] = [
        Run("m", {**CENSORED, "strength": 0.6}, SPLIT, 0),
        Run("m", CENSORED, SubjectSplit([1, 2], [4], [3]), 0),
        Run("m", CENSORED, SPLIT, 1),
    ]
    assert len({run.key, *(other.key for other in others)}) == 4


def test_a_key_is_the_same_in_every_process() -> None:
    """The key of this run, once and for all: stored outcomes are found by it."""
    run = Run("m", {"measure": None, "epochs": 3}, SubjectSplit([1, 2], [3], [4]), 0)
    again: dict[str, Any] = json.loads(json.dumps({"measure": None, "epochs": 3}))
    assert run.key == Run("m", again, SubjectSplit((1, 2), (3,), (4,)), 0).key == KEY


def test_a_study_is_models_times_splits_times_seeds() -> None:
    """Every combination once; the models of one split and seed stand beside each other."""
    models = {"baseline": {**BASE, "measure": None}, "censored": CENSORED}
    splits = subject_kfold(range(6), 3)
    runs = Study(models, splits, seeds=(0, 1)).runs()
    assert len({run.key for run in runs}) == len(runs) == 12
    for one, two in zip(runs[::2], runs[1::2], strict=True):
        assert (one.model, two.model) == ("baseline", "censored")
        assert (one.split, one.seed) == (two.split, two.seed)
