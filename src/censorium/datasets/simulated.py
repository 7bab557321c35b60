"""Simulated people who watch a rapid stream of images, made with MNE's spherical head model.

What makes one person differ from the next, and one sitting from the next, is a knob whose truth is
known: at ``subject_strength=0`` everybody is the same typical person on the same day.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft, rfftfreq
from scipy.special import expit, logit

from censorium.datasets.people import (
    CH_NAMES,
    N_EVOKED,
    PEOPLE,
    SFREQ,
    SITTINGS,
    SOURCES,
    Floats,
    Traits,
    depart,
    scalp_maps,
    typical,
)
from censorium.errors import OptionError
from censorium.signal import cut
from censorium.trials import Info, Trials

CLASS_NAMES = ("non-target", "target")
N_TIMES = 63  # half a second at half that rate
PACE = 25  # samples from image to image: 10 Hz
SEQUENCE = 100  # images between two pauses
PAUSE = 375  # samples
LEAD = 1000  # samples before the first image, while filters settle
GAP = 5  # images from one target to the next, at least
TARGET_RATIO = 1 / 11

UV = 1e-6
MAINS = 50.0  # Hz
ALPHA_WIDTH = 0.6  # Hz: the narrower, the slower it waxes and wanes


# How far each knob turns. Strength: the background's covariance is factorised, which can fail once
# its condition number is over 1e16. At 5 that is about 1e8 and 1e12 at the worst of 1500 sittings;
# at 10 some are over 1e18, and at 15 one sitting in twenty fails.
# snr: at strength 5 a source of 11 µV whose size lies ten deviations out is some 1e3 V; 1000 times
# that is far below the 3e38 that single precision holds.
# class_shift: at 10 nearly everybody has either the fewest targets or the most.
LIMITS = {"subject_strength": 5.0, "snr": 1000.0, "class_shift": 10.0}


class Recording(NamedTuple):
    """A continuous recording: data in volt (channels, samples), image onsets, labels."""

    data: Floats
    onsets: NDArray[np.int64]
    labels: NDArray[np.int64]


def simulated(
    n_subjects: int = 12,
    *,
    n_sessions: int = 2,
    n_trials: int = 300,
    subject_strength: float = 1.0,
    snr: float = 1.0,
    class_shift: float = 0.0,
    causal: bool = False,
    seed: int = 0,
    on_subject: Callable[[int, int], None] | None = None,
) -> Trials:
    """Trials of simulated people, prepared as the paper's benchmark is: 62 x 63 at 125 Hz, in volt.

    Parameters
    ----------
    n_subjects, n_sessions, n_trials : int
        People, sittings of each, images in each sitting.
    subject_strength : float
        Scales every departure of a person from the typical one, and of a sitting from the person.
        0: all are statistically the same; 1: as people are; 2: stronger than most cohorts; 5 is
        the most.
    snr : float
        Scales the evoked responses against all the rest; 0: there are none; at most 1000.
    class_shift : float
        Standard deviation, between people, of the log odds of a target. 0: one target in eleven
        images for everybody. As targets keep half a second apart, one in five is the most. At
        most 10.
    causal : bool
        Filter forward only, as published (see `censorium.signal.cut`). By default both ways: a
        forward fifth-order high-pass at 1 Hz leaves a P300 a quarter of its height and follows it
        with a trough twice that, so that class averages no longer look like what was put in.
    seed : int
        The same seed gives the same bits; a subject's do not depend on how many others there are.
    on_subject : callable, optional
        Called with the number of people done and of all, after each.

    Examples
    --------
    >>> import numpy as np
    >>> from censorium.datasets import simulated
    >>> trials = simulated(3, n_sessions=1, n_trials=110)
    >>> trials.x.shape
    (330, 62, 63)
    >>> np.bincount(trials.y)
    array([300,  30])
    """
    check({"n_subjects": n_subjects, "n_sessions": n_sessions, "n_trials": n_trials})
    subject = np.repeat(np.arange(1, n_subjects + 1), n_sessions * n_trials)
    session = np.tile(np.repeat(np.arange(1, n_sessions + 1), n_trials), n_subjects)
    x = np.empty((len(subject), len(CH_NAMES), N_TIMES), dtype=np.float32)
    y = np.empty(len(subject), dtype=np.int64)
    for start in range(0, len(subject), n_trials):
        made = recording(
            int(subject[start]),
            int(session[start]),
            n_trials=n_trials,
            subject_strength=subject_strength,
            snr=snr,
            class_shift=class_shift,
            seed=seed,
        )
        here = slice(start, start + n_trials)
        x[here] = cut(made.data, SFREQ, made.onsets, causal=causal)
        y[here] = made.labels
        if on_subject is not None and session[start] == n_sessions:
            on_subject(int(subject[start]), n_subjects)
    return Trials(x, y, subject, session, Info(SFREQ / 2, CH_NAMES, CLASS_NAMES))


def recording(
    subject: int,
    session: int,
    *,
    n_trials: int = 300,
    subject_strength: float = 1.0,
    snr: float = 1.0,
    class_shift: float = 0.0,
    target_ratio: float = TARGET_RATIO,
    seed: int = 0,
) -> Recording:
    """One person's continuous recording of one sitting, at 250 Hz; the options of `simulated`.

    `target_ratio` is the typical person's share of targets.
    """
    check({"subject": subject, "session": session, "n_trials": n_trials})
    check_scales(subject_strength=subject_strength, snr=snr, class_shift=class_shift)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"seed must be a whole number, 0 or more; got {seed!r}.")
    # Sittings count from 1: stream 0 is the person's own. Every stream has one use, so that
    # turning one knob leaves all other draws as they were.
    person, ratio = np.random.default_rng([seed, subject, 0]).spawn(2)
    sitting, design, evoked, ongoing = np.random.default_rng([seed, subject, session]).spawn(4)
    traits = depart(typical(), PEOPLE.times(subject_strength), person)
    traits = depart(traits, SITTINGS.times(subject_strength), sitting)
    odds = logit(target_ratio) + class_shift * ratio.standard_normal()
    onsets, labels = stream(n_trials, float(expit(odds)), design)
    n_samples = int(onsets[-1]) + PAUSE
    maps, mixing = scalp_maps(traits)
    scalp = snr * maps[:, :N_EVOKED] @ responses(traits, onsets, labels, n_samples, evoked)
    scalp += background(traits, maps[:, N_EVOKED:], mixing, n_samples, ongoing)
    return Recording(UV * scalp, onsets, labels)


def stream(
    n_trials: int, ratio: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When each image appears (in samples), and which are targets."""
    image = np.arange(n_trials)
    onsets = LEAD + PACE * image + PAUSE * (image // SEQUENCE)
    most = (n_trials - 1) // GAP + 1
    n_targets = min(max(round(ratio * n_trials), 1), most)
    # Choosing among the images left when each gap is folded away makes all patterns equally likely.
    free = n_trials - (GAP - 1) * (n_targets - 1)
    places = np.sort(rng.choice(free, n_targets, replace=False)) + (GAP - 1) * np.arange(n_targets)
    labels = np.zeros(n_trials, dtype=np.int64)
    labels[places] = 1
    return onsets, labels


def responses(
    traits: Traits,
    onsets: NDArray[np.int64],
    labels: NDArray[np.int64],
    n_samples: int,
    rng: np.random.Generator,
) -> Floats:
    """The course of each evoked source, by which its scalp map is multiplied."""
    courses = np.zeros((N_EVOKED, n_samples))
    jitter = rng.standard_normal((2, N_EVOKED, len(onsets)))
    progress = onsets / n_samples - 0.5
    window = np.arange(int(0.8 * SFREQ))
    for i, source in enumerate(SOURCES[:N_EVOKED]):
        shown = np.flatnonzero(labels) if source.rare else np.arange(len(onsets))
        size = np.exp(0.25 * jitter[0, i] + traits.fade[0] * progress)
        # Late responses vary more from image to image than early ones.
        peak = traits.peak[i] * np.exp(0.08 * jitter[1, i] + traits.fade[1] * progress)
        bump = np.exp(-0.5 * ((window / SFREQ - peak[shown, None]) / source.width) ** 2)
        np.add.at(courses[i], onsets[shown, None] + window, size[shown, None] * bump)
    return courses


def background(
    traits: Traits, maps: Floats, mixing: Floats, n_samples: int, rng: np.random.Generator
) -> Floats:
    """All that goes on without regard to the images, at the scalp, in µV."""
    n_channels = len(CH_NAMES)
    n = next_fast_len(n_samples, real=True)
    f = rfftfreq(n, 1 / SFREQ)
    pink = np.where(f > 0, (1.0 + f) ** -traits.slope, 0.0)
    humps = np.exp(-0.5 * ((f - traits.alpha) / ALPHA_WIDTH) ** 2)
    scalp = mixing @ noise(n_channels, pink, n, rng)[:, :n_samples]
    scalp += maps[:, :2] @ noise(2, humps, n, rng)[:, :n_samples]
    scalp += maps[:, 2:] * blinks(traits.blink, n_samples, rng)
    phase = rng.uniform(0, 2 * np.pi) + 0.2 * rng.standard_normal(n_channels)
    angle = 2 * np.pi * MAINS / SFREQ * np.arange(n_samples)
    waves = np.column_stack([np.cos(phase), np.sin(phase)]) @ [np.sin(angle), np.cos(angle)]
    scalp += traits.line[:, None] * waves
    scalp += traits.noise[:, None] * rng.standard_normal((n_channels, n_samples))
    return scalp


def noise(rows: int, power: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Gaussian noise of unit variance whose power spectrum has this shape."""
    white = rfft(rng.standard_normal((rows, n)), axis=1)
    return np.asarray(irfft(white * np.sqrt(power / power.mean()), n, axis=1))


def blinks(every: float, n_samples: int, rng: np.random.Generator) -> Floats:
    """Closing lids: quick down, slower up, 200 to 400 ms, of size about 1."""
    course = np.zeros(n_samples)
    most = int(n_samples / SFREQ) + 20  # even of who blinks every second
    waits = 0.5 + max(every - 0.5, 0.5) * rng.gamma(2.0, 0.5, most)
    starts = (np.cumsum(waits) * SFREQ).astype(int)
    lengths = (rng.uniform(0.2, 0.4, most) * SFREQ).astype(int)
    sizes = np.exp(0.2 * rng.standard_normal(most))
    for start, length, size in zip(starts, lengths, sizes, strict=True):
        if start + length < n_samples:
            shape = np.sin(np.pi * (np.arange(length) / length) ** 0.7) ** 2
            course[start : start + length] += size * shape
    return course


def check(counts: dict[str, int]) -> None:
    """Raise an `OptionError` for a number of things that cannot be."""
    for name, count in counts.items():
        if not isinstance(count, int | np.integer) or count < 1:
            raise OptionError(f"{name} must be a whole number, 1 or more; got {count!r}.")


def check_scales(**scales: float) -> None:
    """Raise an `OptionError` for a knob that cannot stand there."""
    for name, scale in scales.items():
        if not isinstance(scale, int | float | np.number) or not 0 <= scale <= LIMITS[name]:
            raise OptionError(f"{name} must be a number from 0 to {LIMITS[name]:g}; got {scale!r}.")
