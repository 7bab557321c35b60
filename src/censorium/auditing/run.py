"""`audit`: fresh probes say how much features tell about who the subject is."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import confusion_matrix, roc_auc_score

from censorium.arrays import Ints
from censorium.auditing.critic import (
    CRITIC_FOLDS,
    DISTANCE_FOLDS,
    critic_bracket,
    distance_terms,
)
from censorium.auditing.interval import above_chance, by_bracket, by_curve, of_mean, reader
from censorium.auditing.linear import Curve, linear_curve
from censorium.auditing.plane import plane
from censorium.auditing.result import Accuracy, Audit, Information, Interval, Person, Plane
from censorium.auditing.sample import Reals, Sample

MOST_DISTANCE = float(np.sqrt(2))  # between two one-hot vectors: no pair need be moved further


def audit(
    features: ArrayLike,
    subjects: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sessions: ArrayLike | None = None,
    people: str = "all subjects",
    view: str = "features",
    seed: int = 0,
    on_step: Callable[[int, int], None] | None = None,
) -> Audit:
    """How much `features` tell about who gave a trial, on trials that the probes have not seen.

    Parameters
    ----------
    features : array, (n, ...)
        Features of each trial, of any decoder or none; more than one dimension is flattened. Their
        scale means nothing.
    subjects, sessions : array of int or str, (n,)
        Who gave each trial and, if known, in which session: two subjects or more, with ten trials
        or more in each session.
    labels : array, (n,), optional
        Labels of the trials: with them, what the features tell given the label is estimated too.
    people, view : str
        What to call the subjects and the features in tables.
    seed : int
        Decides everything that is drawn.
    on_step : callable, optional
        Called as ``on_step(n_done, n_steps)`` as the work goes on.

    Returns
    -------
    Audit
        Estimates with intervals; `print` shows them as a table.

    Examples
    --------
    >>> import numpy as np
    >>> import censorium
    >>> subjects = np.repeat(["anna", "ben"], 60)
    >>> features = np.random.default_rng(0).standard_normal((120, 3))
    >>> features[subjects == "ben"] += 9
    >>> found = censorium.audit(features, subjects)
    >>> found.naming.balanced.estimate, found.naming.chance
    (1.0, 0.5)
    >>> found.information[0].name, found.information[0].by
    ('I(features; subject)', 'linear probe')
    """
    sample = Sample.of(features, subjects, sessions, labels, seed=seed)
    given = None if len(sample.classes) < 2 else sample.label
    step = steps(on_step, n_steps(given))
    information, curve = told(sample, None, step, seed=seed)
    if given is not None:
        information += told(sample, given, step, seed=seed)[0]
    terms, cells = distance_terms(sample, seed=seed, on_fold=step)
    scores = subject_scores(sample, curve.tempered)
    return Audit(
        people=people,
        view=view,
        n_trials=len(sample.cell),
        n_features=sample.n_given,
        n_read=sample.features.shape[1],
        n_sessions=sample.n_cells,
        information=information,
        naming=naming(sample, scores, seed=seed),
        distance=Interval(*of_mean(terms, cells, seed=seed).within(0, MOST_DISTANCE, len(cells))),
        each=persons(sample, scores),
        confusion=tuple(map(tuple, confusion(sample, scores).tolist())),
        subjects=sample.subjects,
        plane=picture(sample, seed=seed),
        seed=seed,
    )


def n_steps(labels: ArrayLike | None) -> int:
    """How many steps an audit takes, with these labels or without."""
    given = labels is not None and len(np.unique(labels)) > 1
    return (1 + CRITIC_FOLDS) * (1 + given) + DISTANCE_FOLDS


def steps(on_step: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    """What to call after each piece of an audit."""
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if on_step:
            on_step(done, total)

    return step


def told(
    sample: Sample, given: Ints | None, step: Callable[[], None], *, seed: int
) -> tuple[tuple[Information, ...], Curve]:
    """What two estimators make of subject x session, and of the subject; and the first's curve."""
    curve = linear_curve(sample, given)
    step()
    bracket = critic_bracket(sample, given, seed=seed, on_fold=step)
    share, cell, found = sample.log_share(given), sample.cell, []
    groups: dict[str, Ints] = {"subject": sample.subject_of}
    if sample.n_cells > len(sample.subjects):
        groups = {"subject x session": np.arange(sample.n_cells)} | groups
    for about, group in groups.items():
        most, read = sample.entropy(group, given), reader(share, group, cell)
        for by, limits in (
            ("linear probe", by_curve(curve, read, cell, seed=seed)),
            ("density ratio", by_bracket(bracket, read, cell, seed=seed)),
        ):
            nats = Interval(*limits.within(0, most, len(cell)))
            found.append(Information(about, None if given is None else "label", by, nats, most))
    return tuple(found), curve


def subject_scores(sample: Sample, table: Reals) -> Reals:
    """The log of q(subject | z) / p(subject), of each trial and subject."""
    joint = np.exp(table + sample.log_share()) @ np.eye(len(sample.subjects))[sample.subject_of]
    share = np.bincount(sample.subject) / len(sample.subject)
    return np.asarray(np.log(np.maximum(joint, np.finfo(float).tiny)) - np.log(share))


def naming(sample: Sample, scores: Reals, *, seed: int) -> Accuracy:
    """How often the subject is named right, each subject counting as much."""
    named, n = scores.argmax(axis=1), len(sample.subject)
    n_subjects = len(sample.subjects)
    weight = n / (n_subjects * np.bincount(sample.subject))
    terms = (named == sample.subject) * weight[sample.subject]
    found = of_mean(terms, sample.cell, seed=seed).within(0, 1, n)
    return Accuracy(Interval(*found), 1 / n_subjects, above_chance(named, sample, seed=seed))


def confusion(sample: Sample, scores: Reals) -> Reals:
    """Share of each subject's trials that are named as each."""
    n = np.arange(len(sample.subjects))
    found = confusion_matrix(sample.subject, scores.argmax(axis=1), labels=n, normalize="true")
    return np.asarray(found)


def persons(sample: Sample, scores: Reals) -> tuple[Person, ...]:
    """Each subject, those who are known best first."""
    shares = confusion(sample, scores)
    found = []
    for k, subject in enumerate(sample.subjects):
        mine = sample.subject == k
        others = np.where(np.arange(len(shares)) == k, -1, shares[k])
        auc = float(roc_auc_score(mine, scores[:, k]))
        other = sample.subjects[int(others.argmax())]
        found.append(Person(subject, int(mine.sum()), float(shares[k, k]), auc, other))
    return tuple(sorted(found, key=lambda person: (-person.recall, -person.auc)))


def picture(sample: Sample, *, seed: int) -> Plane:
    """Some trials in the plane that tells subjects apart best."""
    points, shown = plane(sample, seed=seed)
    return Plane(
        tuple((x, y) for x, y in points.round(3).tolist()),
        tuple(sample.subjects[k] for k in sample.subject[shown]),
        () if sample.label is None else tuple(sample.classes[k] for k in sample.label[shown]),
    )
