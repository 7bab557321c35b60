"""Euclidean alignment: each subject's trials turned so that their mean covariance is the identity.

It is not zero-shot. To align a subject's trials it must have seen all of them, the test subject's
too: no labels, but signals that a decoder for a new person has not got when the first trial comes.
A score on aligned test subjects is one of unsupervised adaptation, and is to be called that.
"""

import numpy as np
from numpy.typing import NDArray

from censorium.arrays import chunks, require_finite
from censorium.trials import Trials

# Of the largest eigenvalue. Below it a direction holds rounding errors alone: a sum of channels
# that single precision cannot tell from 0 keeps some 1e-14 of their power; the quietest direction
# of a recorded cap keeps 1e-5.
NOTHING = 1e-10

Reals = NDArray[np.float64]


def euclidean_alignment(trials: Trials, *, sessions: bool = False) -> Trials:
    """The trials with each subject's whitened by the inverse square root of their mean covariance.

    Not zero-shot: it uses all trials of a subject, test subjects included, though no labels and
    nobody else's trials.

    Parameters
    ----------
    trials : Trials
        What is to be aligned; it is left as it was. Nothing may be NaN or infinite.
    sessions : bool
        Align each session of a subject by itself, rather than all of the subject's together.

    Returns
    -------
    Trials
        The same trials in memory, without a unit. The mean over trials of x xᵀ / times is the
        identity for each subject. Where the channels depend on one another, as after an average
        reference, it is the identity on the directions that there are, and the others stay 0.

    Notes
    -----
    He and Wu, "Transfer learning for brain-computer interfaces: a Euclidean space data alignment
    approach", IEEE Transactions on Biomedical Engineering 67 (2020), take x xᵀ: here it is divided
    by the number of times. The channels' means are not taken out, so filter slow drifts away first.

    Examples
    --------
    >>> import numpy as np
    >>> from censorium.alignment import euclidean_alignment
    >>> from censorium.datasets import load
    >>> aligned = euclidean_alignment(load("simulated", n_subjects=2, n_sessions=1, n_trials=55))
    >>> x = aligned.of(1).x
    >>> np.allclose(np.einsum("nct,ndt->cd", x, x) / (55 * 63), np.eye(62), atol=1e-3)
    True
    """
    require_finite(trials.signals, trials.info.ch_names)
    x = np.empty(trials.signals.shape, dtype=np.float32)
    whose = trials.nuisance() if sessions else np.unique(trials.subject, return_inverse=True)[1]
    for value in np.unique(whose):
        places = np.flatnonzero(whose == value)
        mine = trials[places].signals
        power = np.zeros(2 * x.shape[1:2])
        for piece in chunks(mine):
            power += _power(np.asarray(piece))
        white, done = whitener(power / len(places)), 0
        for piece in chunks(mine):
            x[places[done : done + len(piece)]] = white @ np.asarray(piece)
            done += len(piece)
    return Trials(x, trials.y, trials.subject, trials.session, trials.info)


def whitener(covariance: Reals) -> Reals:
    """The inverse square root of a covariance, 0 where it holds nothing."""
    heard = np.diag(covariance) > 0  # else a silent channel would get rounding errors of others
    values, vectors = np.linalg.eigh(covariance[np.ix_(heard, heard)])
    there = values > NOTHING * values.max(initial=0)
    roots = np.where(there, 1 / np.sqrt(np.where(there, values, 1)), 0)
    white = np.zeros_like(covariance)
    white[np.ix_(heard, heard)] = (vectors * roots) @ vectors.T
    return white


def _power(x: NDArray[np.float32]) -> Reals:
    """The sum over trials of x xᵀ / times."""
    rows = x.transpose(1, 0, 2).reshape(x.shape[1], -1).astype(np.float64)
    return np.asarray(rows @ rows.T / x.shape[2])
