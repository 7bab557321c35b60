"""Clean trials, and what can be wrong with them."""

import numpy as np

from censorium.trials import Info, Trials

NAMES = ("F3", "Fz", "F4", "C3", "Cz", "C4", "P3", "Pz")
INFO = Info(100.0, NAMES, ("rest", "move"))


def clean(seed=0, *, n_per_session=12, info=INFO):
    """Trials of four subjects in two sessions: smooth signals of some 10 µV, channels alike."""
    rng = np.random.default_rng(seed)
    cell = np.repeat(np.arange(8), n_per_session)
    shape = (len(cell), len(info.ch_names), 60)
    shared, own = rng.standard_normal((shape[0], 1, 60)), rng.standard_normal(shape)
    x = 3e-6 * np.cumsum(shared + own, axis=2)
    return Trials(
        x, np.arange(len(cell)) % len(info.class_names), cell // 2 + 1, cell % 2 + 1, info
    )


def cut(onsets, *, seed=0, n_times=60):
    """Trials of one subject that begin at these samples of one recording."""
    rng = np.random.default_rng(seed)
    recording = 1e-5 * rng.standard_normal((len(NAMES), onsets[-1] + n_times))
    x = np.array([recording[:, start : start + n_times] for start in onsets])
    return Trials(x, np.arange(len(x)) % 2, np.ones(len(x), int), np.ones(len(x), int), INFO)


def of(trials, subject, session=None):
    """Which trials are a subject's, of one session or all."""
    mine = trials.subject == subject
    return mine if session is None else mine & (trials.session == session)


def changed(change):
    """Clean trials whose signals `change` has changed in place."""

    def make():
        trials = clean()
        x = trials.x.copy()
        change(trials, x)
        return replace_signals(trials, x)

    return make


def replace_signals(trials, x):
    return Trials(x, trials.y, trials.subject, trials.session, trials.info)


def labelled(y, **sizes):
    """Clean trials whose labels are `y` of the trials."""
    trials = clean(**sizes)
    return Trials(trials.x, y(trials), trials.subject, trials.session, trials.info)
