"""Results of studies that nobody ran, with a truth that is known."""

from itertools import product

import numpy as np

from censorium.study import NETWORK, Results

PAPER = {
    "measures": ("adversarial", "density-ratio", "wasserstein"),
    "modes": ("marginal", "conditional", "complementary"),
    "projections": ("direct", "projected"),
    "strengths": (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100),
    "points": ("final", "best-validation"),
}
SMALL = {
    "measures": ("density-ratio",),
    "modes": ("marginal",),
    "projections": ("direct",),
    "strengths": (0.3,),
    "points": ("final",),
    "n_seeds": 1,
}
BUMPS = {"adversarial": 0.004, "density-ratio": 0.022, "wasserstein": 0.014}


def bump(measure, mode, strength, point):
    """A gain that rises to a middling strength and falls; less where validation chose the epoch."""
    peak = BUMPS.get(measure, 0.01) * np.exp(-(np.log10(strength / 0.5) ** 2))
    collapse = 0.03 * max(np.log10(strength / 10), 0) if measure == "adversarial" else 0.0
    return (peak - collapse) * (1.0 if point == "final" else 0.35)


def nothing(measure, mode, strength, point):
    """No gain whatever is done."""
    return 0.0


def synthetic(
    *,
    measures=PAPER["measures"],
    modes=PAPER["modes"],
    projections=PAPER["projections"],
    strengths=PAPER["strengths"],
    points=PAPER["points"],
    n_folds=10,
    n_seeds=10,
    n_test=4,
    gain=bump,
    between_people=0.015,
    between_folds=0.008,
    between_runs=0.012,
    valid=True,
    baseline=True,
    yardsticks=(),
    seed=0,
):
    """A study in which a setting's true gain on person p is `gain(...)` + what p has of it.

    Validation people are others: their scores know the gain and nothing else of the test people's.
    A run's score is how well its people can be read, its gain, what its fold's training people do
    to this setting (`between_folds`, for all seeds of the fold alike: the overlap that the paper's
    test takes no notice of), and noise of its own.
    """
    rng = np.random.default_rng(seed)
    models = [("baseline", NETWORK, "", "", "", np.nan)] if baseline else []
    models += [(name, how, "", "", "", np.nan) for name, how in yardsticks]
    models += [
        (f"{m} {o} {p} {s:g}", NETWORK, m, o, p, float(s))
        for m, o, p, s in product(measures, modes, projections, strengths)
    ]
    n_people = n_folds * n_test
    level = np.clip(rng.normal(0.72, 0.05, n_people), 0.55, 0.9)
    taste = {way: rng.normal(0, between_people, n_people) for way in product(measures, modes)}
    parts = []
    for point in points:
        for model, method, measure, mode, projection, strength in models:
            here = method == NETWORK or point == points[0]
            if not here:
                continue
            true = gain(measure, mode, strength, point) if measure else 0.0
            parts.append(
                _rows(
                    rng,
                    {"model": model, "method": method, "measure": measure, "mode": mode},
                    {"projection": projection, "strength": strength, "point": point},
                    level + true + (taste[measure, mode] if measure else 0.0),
                    0.72 + true,
                    (n_folds, n_seeds, n_test),
                    spread=(between_folds if measure else 0.0, between_runs),
                    valid=valid,
                )
            )
    names = [f.name for f in Results.__dataclass_fields__.values()]
    return Results(**{n: np.concatenate([part[n] for part in parts]) for n in names})


def _rows(rng, what, where, level, elsewhere, shape, *, spread, valid):  # noqa: PLR0917
    """All runs of one model at one evaluation point."""
    n_folds, n_seeds, n_test = shape
    between_folds, between_runs = spread
    n = n_folds * n_seeds
    fold, seed = (a.ravel() for a in np.mgrid[:n_folds, :n_seeds])
    people = fold[:, None] * n_test + np.arange(n_test)
    own = rng.normal(0, between_runs, n) + rng.normal(0, between_folds, n_folds)[fold]
    scores = level[people] + own[:, None] + rng.normal(0, 0.01, (n, n_test))
    test = scores.mean(axis=1)
    network = what["method"] == NETWORK
    censored = what["measure"] != ""
    strength = where["strength"] if censored else 0.0
    # What is lost on new people shrinks as the strength grows.
    train = np.clip(test + (0.19 if network else 0.08) / (1 + strength), 0.0, 0.995)
    columns = {name: np.full(n, value) for name, value in {**what, **where}.items()}
    named = 0.85 - 0.3 * strength / (1 + strength) if network else np.nan
    label = f"{what['model']}{where['point'] if not network else ''}"
    return columns | {
        "key": np.array([f"{label}-{f}-{s}" for f, s in zip(fold, seed, strict=True)]),
        "fold": fold,
        "seed": seed,
        "train": train,
        "valid": elsewhere + rng.normal(0, 0.02, n) if valid else np.full(n, np.nan),
        "test": test,
        "identity": named + rng.normal(0, 0.03, n),
        "chance": np.full(n, 1 / n_test if network else np.nan),
        "seconds": rng.uniform(0.9, 1.1, n) * ((60 + 25 * censored) if network else 2),
        "subjects": np.array([[f"S{p + 1}" for p in row] for row in people], dtype=object),
        "scores": scores,
    }
