"""Comparisons of a study's results: the tables hold what the rows do, and the tests agree."""

import time

import numpy as np
import pytest
from scipy import stats

from censorium import SubjectSplit, paper_folds
from censorium.errors import DataError
from censorium.stats import choose, compare, flip_test, groups, holm, max_t, resampled_t
from censorium.study import Results

SPLITS = paper_folds(range(1, 65))
STRENGTHS = (0.1, 1.0, 10.0)


def row(model, strength, split, seed, rng, *, measure="mmd", gain=0.0, method="network"):
    people = {s: 0.7 + gain + 0.05 * rng.standard_normal() for s in split.test}
    censored = bool(measure)
    return {
        "key": "",
        "model": model,
        "method": method,
        "measure": measure,
        "mode": "marginal" if censored else "",
        "projection": "direct" if censored else "",
        "strength": strength if censored else np.nan,
        "point": "final",
        "split": (split.test, split.valid, split.train),
        "seed": seed,
        "train": 0.9,
        "valid": 0.7 + gain + 0.02 * rng.standard_normal(),
        "test": float(np.mean(list(people.values()))),
        "identity": np.nan,
        "chance": np.nan,
        "seconds": 1.0,
        "people": people,
    }


def study(splits=SPLITS, seeds=range(3), gains=(0.0, 0.03, 0.1)):
    """Rows of a baseline and three strengths, in an order of no meaning."""
    rng = np.random.default_rng(0)
    rows = [
        row(model, strength, split, seed, rng, measure=measure, gain=gain)
        for split in splits
        for seed in seeds
        for model, strength, measure, gain in (
            ("baseline", 0.0, "", 0.0),
            *((f"mmd {s:g}", s, "mmd", g) for s, g in zip(STRENGTHS, gains, strict=True)),
        )
    ]
    return [rows[i] for i in rng.permutation(len(rows))]


def table(rows, model, splits=SPLITS):
    """Test scores by hand, (folds, seeds)."""
    found = {(r["split"][0], r["seed"]): r["test"] for r in rows if r["model"] == model}
    return np.array([[found[split.test, seed] for seed in range(3)] for split in splits])


def test_every_number_is_that_of_the_rows():
    """Means and p are those that the core functions give for tables made by hand."""
    rows = study()
    found = compare(Results.of_rows(rows), SPLITS)
    assert [c.strength for c in found] == list(STRENGTHS)
    assert [c.model for c in found] == [f"mmd {s:g}" for s in STRENGTHS]
    plain = table(rows, "baseline")
    d = np.stack([table(rows, c.model) - plain for c in found])
    folds = d.mean(axis=2).T
    by_hand = resampled_t(folds, ratio=4 / 24)
    for i, c in enumerate(found):
        paper = stats.ttest_1samp(d[i].ravel(), 0)
        assert (c.paper_t, c.paper_p) == pytest.approx((paper.statistic, paper.pvalue))
        assert c.mean == pytest.approx(d[i].mean())
        assert c.low < c.mean < c.high
        assert (c.n_runs, c.n_units) == (30, 10)
    assert [c.resampled_p for c in found] == pytest.approx(by_hand.p)
    assert [c.holm_p for c in found] == pytest.approx(holm(by_hand.p))
    assert [c.flip_p for c in found] == pytest.approx(flip_test(folds, ratio=4 / 24).p)
    # Folds come in the order of their test people's ids, of which flips take no note.
    assert [c.max_t_p for c in found] == pytest.approx(max_t(folds, ratio=4 / 24))
    assert found[2].mark == "‡"
    assert found[2].overlap_p > found[2].resampled_p
    assert found[2].worse < found[0].worse


def test_a_run_that_failed_leaves_its_pair_out():
    """Without one of the baseline's runs, what stood beside it has no part."""
    rows = study()
    gone = next(r for r in rows if r["model"] == "baseline" and r["seed"] == 1)
    found = compare(Results.of_rows([r for r in rows if r is not gone]), SPLITS)
    kept = [r for r in rows if not (r["split"] == gone["split"] and r["seed"] == 1)]
    expected = compare(Results.of_rows(kept), SPLITS)
    assert [c.n_runs for c in found] == [29] * 3
    assert [c.mean for c in found] == pytest.approx([c.mean for c in expected])
    assert [c.worse for c in found] == pytest.approx([c.worse for c in expected])


def test_folds_with_a_person_in_common_are_one_unit():
    """Two splits that test the same person count once; the rest of the folds for themselves."""
    splits = [
        SubjectSplit([5, 6], [], [1, 2]),
        SubjectSplit([5, 6], [], [2, 3]),
        SubjectSplit([1, 2], [], [4, 5]),
    ]
    group = groups(Results.of_rows(study(splits)))[0]
    assert group.units[0] == group.units[1] != group.units[2]
    assert {c.n_units for c in compare(Results.of_rows(study(splits)), splits)} == {2}


def test_a_yardstick_stands_beside_the_baseline():
    """A classical method, run from one seed, is compared where the baseline ran beside it."""
    rng = np.random.default_rng(1)
    more = [row("lda", 0, split, 0, rng, measure="", method="lda") for split in SPLITS]
    for r in more:
        r["point"] = ""
    found = {c.model: c for c in compare(Results.of_rows(study() + more), SPLITS)}
    assert (found["lda"].n_runs, found["lda"].n_units) == (10, 10)
    assert found["lda"].family.point == "final"
    assert np.isnan(found["lda"].strength)


def test_an_averaged_network_stands_beside_the_baseline_too():
    """A network without censoring at a point where no baseline is has the baseline's points."""
    rng = np.random.default_rng(1)
    name = "weight-averaging"
    more = [row(name, 0, split, seed, rng, measure="") for split in SPLITS for seed in range(3)]
    for r in more:
        r["point"] = "averaged"
    found = {c.model: c for c in compare(Results.of_rows(study() + more), SPLITS)}
    assert found[name].family.point == "final"
    assert found[name].n_units == 10


def test_the_chosen_strength_is_the_best_one():
    """Validation people choose the strength that helps; its gain is found, about as it is."""
    (chosen,) = choose(Results.of_rows(study()), SPLITS)
    assert chosen.by == "other-folds"
    assert chosen.shares["mmd 10"] == 1
    assert chosen.mean == pytest.approx(0.1, abs=0.03)
    assert chosen.resampled_p < 0.01
    (none,) = choose(Results.of_rows(study(gains=(-0.1, -0.1, -0.1))), SPLITS)
    assert none.shares["baseline"] == 1
    assert (none.mean, none.resampled_p) == (0, 1)


def test_what_does_not_fit_is_said():
    """A study without a baseline, a model run twice, other splits: each is an error that helps."""
    rows = study()
    with pytest.raises(DataError, match="no baseline at evaluation point 'final'"):
        compare(Results.of_rows([r for r in rows if r["model"] != "baseline"]), SPLITS)
    with pytest.raises(DataError, match=r"'mmd \S+' has two rows|'baseline' has two rows"):
        compare(Results.of_rows([*rows, rows[0]]), SPLITS)
    with pytest.raises(DataError, match="give the splits of these results"):
        compare(Results.of_rows(rows), paper_folds(range(101, 165)))
    with pytest.raises(DataError, match="got 2 splits"):
        compare(Results.of_rows(rows), SPLITS[:2])


def test_one_fold_says_nothing():
    """A study of one fold is described, but has no p and no interval."""
    (first, *_) = compare(Results.of_rows(study(SPLITS[:1])), SPLITS[:1])
    assert np.isfinite(first.mean) or np.isnan(first.low)
    assert np.isnan(first.resampled_p)
    assert np.isnan(first.flip_p)


def test_the_papers_study_takes_seconds():
    """61,200 rows, 612 settings of 100 repetitions, are compared in less than 20 s."""
    rng = np.random.default_rng(0)
    n_folds, n_seeds, names = 10, 10, [f"m{i:03d}" for i in range(17)]
    settings = [
        (measure, mode, projection, point, name)
        for measure in ("a", "b", "c")
        for mode in ("marginal", "conditional", "complementary")
        for projection in ("direct", "projected")
        for point in ("final", "best-validation")
        for name in names
    ] + [("", "", "", point, "baseline") for point in ("final", "best-validation")]
    each = np.repeat(np.arange(len(settings)), n_folds * n_seeds)
    n = len(each)
    measure, mode, projection, point, model = (
        np.array([s[i] for s in settings])[each] for i in range(5)
    )
    fold = np.tile(np.repeat(np.arange(n_folds), n_seeds), len(settings))
    scores = rng.normal(0.7, 0.05, (n, 4))
    who = np.array([[str(s) for s in split.test] for split in SPLITS], dtype=object)
    nothing = np.full(n, np.nan)
    results = Results(
        key=model, model=model, method=np.full(n, "network"), measure=measure, mode=mode,
        projection=projection, point=point, fold=fold,
        strength=np.array([float(m[1:]) if m[1:].isdigit() else np.nan for m in model]),
        seed=np.tile(np.arange(n_seeds), n // n_seeds), train=nothing, identity=nothing,
        valid=rng.normal(0.7, 0.05, n), test=scores.mean(axis=1), chance=nothing,
        seconds=nothing, subjects=who[fold], scores=scores,
    )  # fmt: skip
    start = time.process_time()
    found = compare(results, SPLITS)
    chosen = choose(results, SPLITS)
    assert time.process_time() - start < 20
    assert (len(found), len(chosen)) == (612, 36)
    assert {c.n_runs for c in found} == {100}
