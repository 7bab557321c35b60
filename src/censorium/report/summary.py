"""What the outcomes of a study amount to, in numbers and in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import entropy

from censorium.auditing import Probe, mean_probe
from censorium.stats import Difference, paired_difference
from censorium.study import Outcome
from censorium.trials import Trials

BASELINE = "baseline"


@dataclass(frozen=True)
class Row:
    """One model: means over its runs, and its difference from the baseline over unseen people."""

    model: str
    test: float
    train: float
    overfit_ratio: float
    seen: Probe | None
    unseen: Probe | None
    seconds: float
    difference: Difference | None


def by_model(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each model, the baseline first."""
    names = dict.fromkeys(o.run.model for o in outcomes)
    ordered = sorted(names, key=lambda name: name != BASELINE)
    return {name: [o for o in outcomes if o.run.model == name] for name in ordered}


def person_scores(outcomes: Sequence[Outcome]) -> dict[Any, float]:
    """Balanced accuracy of each person who tested, mean over the runs in which they did."""
    scores: dict[Any, list[float]] = {}
    for outcome in outcomes:
        for person, score in outcome.test.per_subject.items():
            scores.setdefault(person, []).append(score)
    return {person: float(np.mean(scores[person])) for person in sorted(scores)}


def rows(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row per model, the baseline first."""
    models = by_model(outcomes)
    reference = person_scores(models[BASELINE])
    return [_row(name, mine, reference) for name, mine in models.items()]


def _row(model: str, outcomes: Sequence[Outcome], reference: Mapping[Any, float]) -> Row:
    people = person_scores(outcomes)
    against = None
    if model != BASELINE:
        against = paired_difference(list(people.values()), [reference[p] for p in people])
    return Row(
        model=model,
        test=float(np.mean([o.test.balanced_accuracy for o in outcomes])),
        train=float(np.mean([o.train.balanced_accuracy for o in outcomes])),
        overfit_ratio=float(np.mean([o.overfit_ratio for o in outcomes])),
        seen=mean_probe([o.train.identity for o in outcomes]),
        unseen=mean_probe([o.test.identity for o in outcomes]),
        seconds=float(np.mean([o.seconds for o in outcomes])),
        difference=against,
    )


def nuisance_entropy(trials: Trials, outcomes: Sequence[Outcome]) -> float:
    """H(S) in nats over the training people's trials, mean over outcomes."""
    nuisances = [trials.of(o.run.split.train).nuisance() for o in outcomes]
    return float(np.mean([entropy(np.bincount(s)) for s in nuisances]))


def signed(value: float) -> str:
    """A difference, with its sign."""
    return f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")


def percent(value: float) -> str:
    """A share of one in percent."""
    return f"{100 * value:.0f}\N{NO-BREAK SPACE}%"


def conclusion(censored: Sequence[Row]) -> str:
    """How many censored models are better than the baseline, how many worse, how many neither."""
    clear = [row.difference.mean for row in censored if row.difference and row.difference.clear]
    if not clear:
        return (
            "On these people there is no evidence that censoring changed how well new people are "
            "decoded."
        )
    n, n_better = len(censored), sum(mean > 0 for mean in clear)
    return (
        f"Of {n} censored decoder{'s' if n > 1 else ''}, {_are(n_better)} better than the "
        f"{BASELINE} on unseen people, {_are(len(clear) - n_better)} worse and "
        f"{_are(n - len(clear))} undecided, which means that the interval of the difference holds "
        "zero. The comparisons are not corrected for their number: take it as a hint."
    )


def _are(n: int) -> str:
    return "none is" if n == 0 else "1 is" if n == 1 else f"{n} are"


def verdict(row: Row, baseline: Row) -> str:
    """One sentence on how a model compares with the baseline on unseen people."""
    d = row.difference
    if d is None:
        raise ValueError("The baseline has no difference from itself.")
    if not d.clear:
        said = "no evidence of a difference"
    else:
        said = "better than the baseline here" if d.mean > 0 else "worse than the baseline here"
    return (
        f"balanced accuracy {row.test:.3f} on unseen people ({BASELINE}: {baseline.test:.3f}). "
        f"Person by person {signed(d.mean)}, {percent(0.95)} interval {signed(d.low)} to "
        f"{signed(d.high)}; "
        f"{d.n_better} better, {d.n_worse} worse: {said}."
    )


def identity_sentence(row: Row, baseline: Row) -> str:
    """One sentence on what the features still tell of who the person is."""
    if row.unseen is None or baseline.unseen is None:
        return ""
    return (
        f"From one trial's features a linear probe names an unseen person in "
        f"{percent(row.unseen.balanced_accuracy)} of cases ({BASELINE}: "
        f"{percent(baseline.unseen.balanced_accuracy)}, guessing: {percent(row.unseen.chance)})."
    )
