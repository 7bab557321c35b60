"""Euclidean alignment: the identity for each subject, without labels, and from nobody else."""

from dataclasses import replace

import numpy as np
import pytest

from censorium import Trials, arrays
from censorium.alignment import euclidean_alignment, whitener
from censorium.errors import DataError


@pytest.fixture
def mixed(small_trials):
    """Trials of five channels that each subject and session mixes and scales in its own way."""
    trials = small_trials(n_channels=5)
    for place, cell in enumerate(np.unique(trials.nuisance())):
        mine = trials.nuisance() == cell
        mixing = 10.0**-place * np.random.default_rng(place).standard_normal((5, 5))
        trials.x[mine] = mixing @ trials.x[mine]
    return trials


def covariance(trials):
    """The mean over trials of x xᵀ / times."""
    x = trials.x.astype(np.float64)
    return np.einsum("nct,ndt->cd", x, x) / (len(x) * x.shape[2])


def test_the_mean_covariance_becomes_the_identity(mixed):
    """Of each subject; asked for sessions, of each session of each."""
    aligned = euclidean_alignment(mixed)
    for subject in mixed.subjects:
        np.testing.assert_allclose(covariance(aligned.of(subject)), np.eye(5), atol=1e-5)
    first = aligned[(aligned.subject == 1) & (aligned.session == 0)]
    assert np.abs(covariance(first) - np.eye(5)).max() > 0.1
    by_session = euclidean_alignment(mixed, sessions=True)
    for cell in np.unique(mixed.nuisance()):
        mine = by_session[by_session.nuisance() == cell]
        np.testing.assert_allclose(covariance(mine), np.eye(5), atol=1e-5)


@pytest.mark.parametrize("removed", [1, 2])
def test_dependent_channels_become_the_identity_on_what_there_is(mixed, removed):
    """After an average reference, or a copied channel too: a projection of that rank, finite."""
    x = mixed.x - mixed.x.mean(axis=1, keepdims=True)
    if removed == 2:
        x[:, 4] = x[:, 3]
        x -= x.mean(axis=1, keepdims=True)
        expected = 3
    else:
        expected = 4
    given = Trials(x, mixed.y, mixed.subject, mixed.session, mixed.info)
    aligned = euclidean_alignment(given)
    assert np.isfinite(aligned.x).all()
    for subject in given.subjects:
        there = np.linalg.eigvalsh(covariance(given.of(subject)))
        assert (there > 1e-8 * there[-1]).sum() == expected
        found = covariance(aligned.of(subject))
        np.testing.assert_allclose(found @ found, found, atol=1e-4)
        assert np.trace(found) == pytest.approx(expected, abs=1e-4)


def test_silence_stays_silent(mixed):
    """A flat channel stays 0, and so does a subject without any signal."""
    mixed.x[:, 2] = 0
    mixed.x[mixed.subject == 3] = 0
    aligned = euclidean_alignment(mixed)
    assert not aligned.x[:, 2].any()
    assert not aligned.of(3).x.any()
    assert np.trace(covariance(aligned.of(1))) == pytest.approx(4, abs=1e-4)


def test_the_whitener_is_symmetric_and_undoes_the_covariance():
    """W C W is the identity and W is its own transpose, as He and Wu have it."""
    root = np.random.default_rng(0).standard_normal((4, 9))
    c = root @ root.T
    w = whitener(c)
    np.testing.assert_allclose(w, w.T)
    np.testing.assert_allclose(w @ c @ w, np.eye(4), atol=1e-10)


def test_labels_are_not_used(mixed):
    """With other labels the signals are the same, bit for bit."""
    other = replace_labels(mixed)
    np.testing.assert_array_equal(euclidean_alignment(other).x, euclidean_alignment(mixed).x)


def replace_labels(trials):
    return Trials(trials.x, 1 - trials.y, trials.subject, trials.session, trials.info)


def test_nobody_depends_on_the_others(mixed):
    """One subject's result is the same among others, alone, and in whatever unit it came."""
    aligned = euclidean_alignment(mixed)
    alone = mixed.of(2)
    np.testing.assert_array_equal(euclidean_alignment(alone).x, aligned.of(2).x)
    scaled = Trials(1e-6 * alone.x, alone.y, alone.subject, alone.session, alone.info)
    np.testing.assert_allclose(euclidean_alignment(scaled).x, aligned.of(2).x, atol=1e-3)


def test_only_the_signals_change(mixed, tmp_path, monkeypatch):
    """Order, labels and names stay, what came is left as it was, from disk as from memory."""
    before = mixed.x.copy()
    order = np.random.default_rng(0).permutation(len(mixed))
    aligned = euclidean_alignment(mixed)
    np.testing.assert_array_equal(mixed.x, before)
    for name in ("y", "subject", "session"):
        np.testing.assert_array_equal(getattr(aligned, name), getattr(mixed, name))
    assert aligned.info == replace(mixed.info)
    mixed[order].save(tmp_path / "kept")
    monkeypatch.setattr(arrays, "CHUNK", 5)
    read = euclidean_alignment(Trials.load(tmp_path / "kept"))
    np.testing.assert_allclose(read.x, aligned.x[order], atol=1e-4)


def test_a_hole_is_an_error(mixed):
    """NaN would spread over a subject's trials: it is an error that names the place."""
    mixed.x[7, 2, 3] = np.nan
    with pytest.raises(DataError, match=r"Trial 7 .* 'ch2'"):
        euclidean_alignment(mixed)
