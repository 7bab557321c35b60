"""The probe: how much do features know about the subject?"""

import numpy as np
import pytest

from censorium.auditing import probe
from censorium.errors import DataError

N_SUBJECTS, N_EACH, N_FEATURES = 5, 80, 12
SUBJECT = np.repeat(np.arange(N_SUBJECTS) + 1, N_EACH)


def noise(seed=0):
    return np.random.default_rng(seed).standard_normal((len(SUBJECT), N_FEATURES))


@pytest.mark.parametrize("seed", range(4))
def test_noise_is_named_by_chance(seed):
    """Features that are independent of the subject are named as often as by guessing."""
    found = probe(noise(seed).astype(np.float32), SUBJECT)
    assert found.chance == 1 / N_SUBJECTS
    # A binomial share of 400 trials; folds share their training trials, hence four deviations.
    error = np.sqrt(found.chance * (1 - found.chance) / len(SUBJECT))
    assert abs(found.balanced_accuracy - found.chance) < 4 * error


def test_separate_clusters_are_named_right():
    """Clusters six deviations and more apart are nearly all named right."""
    centres = 6 * np.eye(N_SUBJECTS, N_FEATURES)
    found = probe((noise() + centres[SUBJECT - 1]).astype(np.float32), SUBJECT)
    # A half-distance of 4.2 deviations leaves an error of about 1e-5 a pair.
    assert found.balanced_accuracy > 0.99


def test_the_scale_of_a_feature_means_nothing():
    """Features multiplied by any constants are probed as well as before."""
    features = noise() + 0.7 * np.eye(N_SUBJECTS, N_FEATURES)[SUBJECT - 1]
    scales = np.logspace(-6, 6, N_FEATURES)
    a, b = probe(features, SUBJECT), probe(features * scales, SUBJECT)
    # One trial on the border may change sides by round-off.
    assert abs(a.balanced_accuracy - b.balanced_accuracy) <= 1.01 / len(SUBJECT)


def test_constant_features_do_no_harm():
    """Features that never change are no obstacle."""
    features = noise()
    features[:, 3:] = 1
    assert 0 <= probe(features, SUBJECT).balanced_accuracy <= 1


def test_string_subjects_are_probed_alike():
    """What a subject is called changes nothing."""
    features = noise() + np.eye(N_SUBJECTS, N_FEATURES)[SUBJECT - 1]
    named = np.array([f"s{i}" for i in SUBJECT])
    assert probe(features, named) == probe(features, SUBJECT)


@pytest.mark.parametrize("subject", [[1] * 20, [1] * 16 + [2] * 4])
def test_too_little_to_probe_is_a_data_error(subject):
    """One subject alone, or one with fewer trials than folds, is an error that says so."""
    with pytest.raises(DataError, match="two subjects or more with 5 trials"):
        probe(np.zeros((20, 2)), np.array(subject))


def test_neighbours_give_nobody_away() -> None:
    """Trials that overlap with their neighbours, and tell nothing: nobody is named by those."""
    subject = np.repeat(np.arange(4), 150)
    noise = np.random.default_rng(0).standard_normal((604, 64))
    trials = sum(noise[i : i + 600] for i in range(5))
    found = probe(trials.astype(np.float32), subject)
    # Shuffled folds name more than half. In stretches a fifth as many trials are independent, 120,
    # of which a share of 1/4 has a deviation of 0.04; the ends of stretches overlap still.
    assert found.balanced_accuracy < 0.25 + 4 * 0.04
