"""A picture of features in two dimensions: the plane in which a linear probe tells people apart."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from censorium.arrays import Ints
from censorium.auditing.folds import halves
from censorium.auditing.sample import Reals, Sample

MOST_POINTS = 600


def plane(sample: Sample, *, seed: int) -> tuple[Reals, Ints]:
    """Points of some trials, and which they are.

    The plane was chosen by the earlier half of each session and shows the later one. Its axes are
    the first two linear discriminants of the subjects. Where there is one only, the other is the
    direction, among those left, in which the features vary most.
    """
    chosen_by, shown = halves(sample.cell, np.arange(len(sample.cell)))
    shown = np.sort(np.random.default_rng(seed).permutation(shown)[:MOST_POINTS])
    x, who = sample.features[chosen_by], sample.subject[chosen_by]
    lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto", n_components=None)
    axes = lda.fit(x, who).scalings_[:, : min(2, len(sample.subjects) - 1, x.shape[1])]
    if x.shape[1] == 1:
        axes = np.hstack([axes, np.zeros_like(axes)])
    elif axes.shape[1] < 2:
        along = axes / np.linalg.norm(axes)
        axes = np.hstack([axes, PCA(1).fit(x - x @ along @ along.T).components_.T])
    points = sample.features[shown] @ axes
    return points / np.sqrt((points**2).mean(axis=0)).clip(min=1e-12), shown
