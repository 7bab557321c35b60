"""Trials and outcomes written down by hand, in which no two numbers are alike."""

from itertools import count

import numpy as np

from censorium import SubjectSplit, Trials
from censorium.auditing import Probe
from censorium.recipe import EpochRecord
from censorium.study import Evaluation, Outcome, Run, Scores

FOLDS = (
    SubjectSplit(train=(4, 5), valid=(6,), test=(1, 2, 3)),
    SubjectSplit(train=(1, 2), valid=(3,), test=(4, 5, 6)),
)
SEEDS = (7, 3)
OPTIONS = {
    "worse": {"measure": "adversarial", "mode": "marginal", "strength": 0.5},
    "baseline": {"measure": None},
    "better": {"measure": "density-ratio", "mode": "conditional", "strength": 0.25},
    "undecided": {"measure": "wasserstein", "mode": "marginal", "strength": 2.0},
}
PEOPLE = {  # the balanced accuracy of each person when they test
    "worse": {1: 0.50, 2: 0.53, 3: 0.62, 4: 0.44, 5: 0.63, 6: 0.69},
    "baseline": {1: 0.60, 2: 0.65, 3: 0.70, 4: 0.55, 5: 0.72, 6: 0.68},
    "better": {1: 0.65, 2: 0.71, 3: 0.74, 4: 0.62, 5: 0.77, 6: 0.71},
    "undecided": {1: 0.63, 2: 0.61, 3: 0.725, 4: 0.54, 5: 0.72, 6: 0.735},
}
TRAIN = {"worse": (0.80, 0.84), "baseline": (0.95, 0.91), "better": (0.89, 0.93)}
TRAIN["undecided"] = (0.96, 0.98)
VALID = {"worse": (0.561, 0.573), "baseline": (0.661, 0.673), "better": (0.713, 0.727)}
VALID["undecided"] = (0.641, 0.653)
TEST = {"worse": (0.54, 0.58), "baseline": (0.64, 0.66), "better": (0.69, 0.71)}
TEST["undecided"] = (0.62, 0.66)
SECONDS = {"worse": (20.0, 23.0), "baseline": (10.0, 13.0), "better": (30.0, 34.0)}
SECONDS["undecided"] = (41.0, 46.0)
SEEN = {"worse": (0.20, 0.24), "baseline": (0.90, 0.96), "better": (0.40, 0.50)}
SEEN["undecided"] = (0.80, 0.82)
WATCHED = {"worse": (0.31, 0.32), "baseline": (0.33, 0.34), "better": (0.35, 0.36)}
WATCHED["undecided"] = (0.37, 0.38)
UNSEEN = {"worse": (0.51, 0.55), "baseline": (0.70, 0.74), "better": (0.60, 0.64)}
UNSEEN["undecided"] = (0.64, 0.70)
CURVES = {  # training people, validation people, the critic's estimate: a row per fold
    "worse": ([[0.61, 0.81], [0.63, 0.85]], [[0.58, 0.55], [0.60, 0.57]], [[-2, -5], [-3, -4]]),
    "baseline": ([[0.71, 0.93], [0.73, 0.89]], [[0.66, 0.67], [0.68, 0.65]], None),
    "better": (
        [[0.65, 0.87], [0.67, 0.91]],
        [[0.69, 0.74], [0.70, 0.72]],
        [[0.4, 0.2], [0.6, 0.1]],
    ),
    "undecided": ([[0.75, 0.94], [0.77, 0.96]], [[0.62, 0.64], [0.64, 0.66]], [[5, 7], [9, 8]]),
}
N_SESSIONS = {1: 1, 2: 1, 3: 1, 4: 2, 5: 1, 6: 2}


def trials():
    """Four trials of each person, at six electrodes; targets are more negative at P1 in the end."""
    names = ("Fz", "C3", "C4", "P1", "Oz", "Cz")
    who = np.repeat(np.arange(1, 7), 4)
    y = np.tile([0, 1], 12)
    session = np.concatenate([np.arange(4) * n // 4 for n in N_SESSIONS.values()])
    at_electrode = np.array([1.0, 2.0, 3.0, -6.0, 4.0, 5.0])
    at_time = np.array([0.0, 0.2, 0.7, 1.0])
    response = np.multiply.outer(y, np.multiply.outer(at_electrode, at_time))
    microvolts = who[:, None, None] + response
    return Trials.from_arrays(
        1e-6 * microvolts,
        np.array(["non-target", "target"])[y],
        who,
        session,
        sfreq=100,
        ch_names=names,
        tmin=-0.01,
    )


def outcomes():
    """Two folds of a baseline, a better model, a worse one and one that is neither."""
    return [_outcome(model, fold) for fold in range(len(FOLDS)) for model in OPTIONS]


def _outcome(model, fold):
    split = FOLDS[fold]
    scores = PEOPLE[model]
    train, valid, test = (
        Evaluation(score[model][fold], people, Probe(named[model][fold], chance))
        for score, people, named, chance in (
            (TRAIN, {p: 0.9 + p / 100 for p in split.train}, SEEN, 0.5 - 0.1 * fold),
            (VALID, {p: 0.8 + p / 100 for p in split.valid}, WATCHED, 0.11),
            (TEST, {p: scores[p] for p in split.test}, UNSEEN, 0.3 + 0.04 * fold),
        )
    )
    run = Run(model, OPTIONS[model], split, SEEDS[fold])
    scores = {"final": Scores(train, valid, test)}
    return Outcome(run, scores, _history(model, fold), SECONDS[model][fold])


def _history(model, fold):
    learnt, watched, estimates = CURVES[model]
    told = [(float(e),) for e in estimates[fold]] if estimates else [(), ()]
    return [
        EpochRecord(epoch, 9.1, 9.2, 9.3, dependence, seen, unseen, 9.4)
        for epoch, dependence, seen, unseen in zip(
            count(1), told, learnt[fold], watched[fold], strict=False
        )
    ]
