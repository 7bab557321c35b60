"""Laws of the simulated people: their randomness, their waveforms, and what the knobs do."""

from functools import cache

import numpy as np
import pytest
from scipy.signal import welch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from censorium.datasets import load
from censorium.datasets.simulated import (
    CH_NAMES,
    LIMITS,
    SFREQ,
    Recording,
    recording,
    simulated,
)
from censorium.errors import OptionError
from censorium.signal import filtered
from censorium.trials import Info

N_SUBJECTS = 12
SMALL = {"n_sessions": 1, "n_trials": 60}


@cache
def cohort(**options):
    return simulated(N_SUBJECTS, **options)


@cache
def resting() -> Recording:
    """Two minutes of the typical person whom the images leave cold."""
    return recording(1, 1, n_trials=1000, subject_strength=0, snr=0)


def channel(*names):
    return [CH_NAMES.index(name) for name in names]


def contrast(trials):
    """Target minus non-target average, in µV."""
    target, other = (trials.x[trials.y == k].mean(axis=0) for k in (1, 0))
    return 1e6 * (target - other)


def decoded(trials):
    """AUC of a shrinkage LDA on each third of the people, trained on the others."""
    x = 1e6 * trials.x[:, ::3, 2:62].reshape(len(trials), 21, 10, 6).mean(axis=3)
    x = x.reshape(len(trials), -1)
    scores = []
    for fold in range(3):
        test = trials.subject % 3 == fold
        lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        lda.fit(x[~test], trials.y[~test])
        scores.append(roc_auc_score(trials.y[test], lda.decision_function(x[test])))
    return np.mean(scores)


def recognised(trials):
    """How often a probe of channel powers, taught in session 1, knows who it is in session 2."""
    once = trials[::10]  # one a second: no two overlap
    power = np.log(once.x[:, channel("Fz", "C3", "C4", "Pz", "O1", "O2")].var(axis=2))
    first = once.session == 1
    probe = make_pipeline(
        StandardScaler(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    )
    probe.fit(power[first], once.subject[first])
    return probe.score(power[~first], once.subject[~first])


def test_what_comes():
    """Trials have the benchmark's form: 62 x 63 at 125 Hz, two classes, ids that count from 1."""
    trials = simulated(3, n_sessions=2, n_trials=44)
    assert trials.x.shape == (3 * 2 * 44, 62, 63)
    assert trials.info == Info(125.0, CH_NAMES, ("non-target", "target"))
    assert trials.subjects == [1, 2, 3]
    assert np.unique(trials.session).tolist() == [1, 2]
    assert np.unique(trials.nuisance(), return_counts=True)[1].tolist() == [44] * 6
    assert len(set(CH_NAMES)) == 62


def test_same_seed_same_bits():
    """One seed gives the same bits each time; another seed gives other people."""
    a, b, c = (simulated(2, seed=seed, **SMALL) for seed in (3, 3, 4))
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.y, b.y)
    assert not np.array_equal(a.x, c.x)
    assert not np.array_equal(a.y, c.y)


def test_subject_does_not_depend_on_the_others():
    """Subject 2 is the same person among two as among three, and session 1 among one as two."""
    few, many = simulated(2, **SMALL), simulated(3, n_sessions=2, n_trials=60)
    second = many.of([2])
    np.testing.assert_array_equal(few.of([2]).x, second[second.session == 1].x)


def test_nobody_is_another():
    """People and sessions share no noise, even when all are statistically the same."""
    trials = simulated(2, n_sessions=2, n_trials=20, subject_strength=0)
    flat = trials.x.reshape(4, -1)
    assert np.abs(np.corrcoef(flat) - np.eye(4)).max() < 0.5


def test_global_randomness_is_untouched():
    """Simulating neither reads nor moves NumPy's global generator."""
    np.random.seed(0)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    simulated(1, **SMALL)
    assert np.random.random() == expected  # noqa: NPY002


def test_progress():
    """The callback hears of each person once, in order."""
    heard = []
    simulated(3, n_sessions=2, n_trials=11, on_subject=lambda *call: heard.append(call))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_stream():
    """Images come at 10 Hz with pauses, one in eleven is a target, and targets keep 0.5 s apart."""
    made = recording(1, 1, n_trials=330)
    steps = np.diff(made.onsets)
    assert np.count_nonzero(steps != 25) == 3
    assert (steps[[99, 199, 299]] > 250).all()
    assert made.labels.sum() == 30
    assert np.diff(made.onsets[made.labels == 1]).min() >= 125


def test_snr_scales_the_evoked_part():
    """A recording is background plus snr times what is evoked, to round-off."""
    x0, x1, x2 = (recording(1, 1, n_trials=60, snr=snr).data for snr in (0, 1, 2))
    np.testing.assert_allclose(x2 - x0, 2 * (x1 - x0), atol=1e-15)


def test_strength_leaves_labels():
    """Turning the subject's strength changes the signal, not which images are targets."""
    a, b = (recording(1, 1, n_trials=60, subject_strength=k) for k in (0, 2))
    np.testing.assert_array_equal(a.labels, b.labels)
    assert not np.array_equal(a.data, b.data)


def test_spectrum_falls():
    """Power falls with frequency at every electrode: 2-4 Hz above 15-30 Hz above 60-100 Hz."""
    f, power = welch(resting().data, SFREQ, nperseg=1000)
    bands = [power[:, (f >= a) & (f <= b)].mean(axis=1) for a, b in ((2, 4), (15, 30), (60, 100))]
    assert (bands[0] > bands[1]).all()
    assert (bands[1] > bands[2]).all()


def test_alpha():
    """At Oz power rises again around 10 Hz, far more than at Fz, with no image evoking it."""
    f, power = welch(resting().data[channel("Oz", "Fz")], SFREQ, nperseg=1000)
    around = np.sqrt(
        power[:, (f >= 6) & (f <= 8)].mean(1) * power[:, (f >= 13) & (f <= 15)].mean(1)
    )
    rise = power[:, (f >= 9.5) & (f <= 11)].mean(axis=1) / around
    assert rise[0] > 3
    assert rise[0] > 2 * rise[1]


def test_mains():
    """The mains stand out of the raw recording, and not out of what is cut from."""
    raw = resting().data
    wide = filtered(raw, SFREQ, band=(1.0, 100.0))
    for data, there in ((raw, True), (wide, False)):
        f, power = welch(data, SFREQ, nperseg=1000)
        ratio = (
            power[:, f == 50.0].mean()
            / power[:, (np.abs(f - 50) > 3) & (np.abs(f - 50) < 6)].mean()
        )
        assert (ratio > 10) == there
        assert ratio > 10 or ratio < 1.5


def test_blinks_are_frontal():
    """The largest excursions are at the front, near 100 µV, and fade towards the back."""
    slow = 1e6 * filtered(resting().data, SFREQ, band=(0.1, 10.0), causal=False)
    at = slow[channel("Fpz")[0]].argmax()
    fpz, fz, oz = slow[channel("Fpz", "Fz", "Oz"), at]
    assert 60 < fpz < 300
    assert fpz > 1.5 * fz > 3 * abs(oz)


def test_sizes():
    """Ongoing activity is of some 10 µV rms, the typical channel of each person within 5 and 20."""
    for subject in range(1, 5):
        data = recording(subject, 1, n_trials=100).data
        assert 5 < np.median(1e6 * data.std(axis=1)) < 20


def test_target_response():
    """A target evokes a parietal wave that peaks between 250 and 500 ms, at 3 to 12 µV."""
    trials = cohort()
    difference = contrast(trials)
    pz = channel("Pz")[0]
    late = np.arange(63) / trials.info.sfreq >= 0.25
    peak = np.flatnonzero(late)[difference[pz, late].argmax()]
    assert 0.25 < peak / trials.info.sfreq < 0.5 - 1 / trials.info.sfreq
    assert 3 < difference[pz, peak] < 12
    target = 1e6 * trials.x[trials.y == 1, pz].mean(axis=0)
    assert target[peak] > 0
    assert CH_NAMES[difference[:, peak].argmax()].startswith(("C", "P"))
    front = difference[channel("Fp1", "Fpz", "Fp2", "AF3", "AF4", "Fz"), peak]
    assert front.mean() < 0.5 * difference[pz, peak]


def test_every_image_is_seen():
    """Non-targets evoke a 10 Hz wave at the back that is larger than at the front."""
    trials = cohort()
    seen = 1e6 * trials.x[trials.y == 0].mean(axis=0)
    back, front = (np.ptp(seen[channel(*n)], axis=1).mean() for n in (("PO7", "PO8"), ("F3", "F4")))
    assert 2 < back < 10
    assert back > 2 * front


def test_strength_zero_hides_the_subject():
    """At strength 0 a subject probe guesses: within four binomial deviations of one in twelve."""
    chance, n = 1 / N_SUBJECTS, 30 * N_SUBJECTS
    tolerance = 4 * np.sqrt(chance * (1 - chance) / n)
    assert abs(recognised(cohort(subject_strength=0)) - chance) < tolerance


def test_strength_shows_the_subject():
    """The stronger the subject, the better the probe, by over two standard errors each time."""
    scores = [recognised(cohort(subject_strength=k)) for k in (0, 1, 2)]
    error = np.sqrt(0.5 * 0.5 / (30 * N_SUBJECTS))
    assert np.diff(scores).min() > 2 * error


def test_nothing_evoked_nothing_decoded():
    """At snr 0 the AUC is 0.5, within four of the deviations that an AUC has by chance."""
    trials = cohort(snr=0)
    n_targets, n = trials.y.sum(), len(trials)
    deviation = np.sqrt((n + 1) / (12 * n_targets * (n - n_targets)))
    assert abs(decoded(trials) - 0.5) < 4 * deviation


def test_unseen_people_can_be_decoded():
    """Targets of unseen people are found, not all of them (AUC 0.65 to 0.9), and snr helps."""
    middle, high = decoded(cohort()), decoded(cohort(snr=2))
    assert 0.65 < middle < 0.9
    assert middle < high


def test_class_shift():
    """Without shift all have one target ratio; with it ratios differ, as its log odds say."""
    same, apart = (simulated(6, n_sessions=1, n_trials=110, class_shift=k) for k in (0, 1))
    ratios = [[t.of([s]).y.mean() for s in t.subjects] for t in (same, apart)]
    assert np.ptp(ratios[0]) == 0
    assert len(set(ratios[1])) > 3
    assert 0 < min(ratios[1]) < ratios[0][0] < max(ratios[1]) <= 0.2


def test_extreme_knobs():
    """Knobs turned as far as they go still give finite trials of both classes."""
    for seed in range(3):
        trials = simulated(8, n_trials=30, seed=seed, **LIMITS)
        assert np.isfinite(trials.x).all()
        for subject in trials.subjects:
            assert set(trials.of([subject]).y) == {0, 1}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_subjects": 0}, "n_subjects must be a whole number, 1 or more; got 0"),
        ({"n_sessions": 0}, "n_sessions"),
        ({"n_trials": 1.5}, "n_trials"),
        ({"snr": -1}, "snr must be a number from 0 to 1000; got -1"),
        ({"snr": 1e300}, r"snr must be a number from 0 to 1000; got 1e\+300"),
        ({"subject_strength": 5.1}, r"subject_strength must be a number from 0 to 5; got 5\.1"),
        ({"class_shift": 11}, "class_shift must be a number from 0 to 10; got 11"),
        ({"subject_strength": float("nan")}, "subject_strength"),
        ({"class_shift": "much"}, "class_shift"),
        ({"seed": -1}, "seed"),
        ({"subject_strenght": 1}, "Did you mean 'subject_strength'"),
    ],
)
def test_bad_options(options, told):
    """An option that cannot be is refused, and the error says which."""
    with pytest.raises(OptionError, match=told):
        load("simulated", **options)


def test_unknown_dataset():
    """A dataset's misspelt name is answered with the right one."""
    with pytest.raises(OptionError, match="Did you mean 'simulated'"):
        load("simulatd")
    assert len(load("simulated", n_subjects=1, **SMALL)) == 60
