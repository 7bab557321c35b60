"""Studies without a difference: the honest tests find one in 5 % of them, the paper's in many."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "nulls.py"
N = 1000
LIMIT = 0.06 + 3 * (0.06 * 0.94 / N) ** 0.5  # 6 %, and three deviations of a share of 1,000
HONEST = ("Nadeau-Bengio", "its flips", "its interval", "overlap t")
CORRECTED = ("with Holm", "max-T of its flips", "chosen by other-folds")


@pytest.fixture(scope="module")
def nulls():
    spec = importlib.util.spec_from_file_location("nulls", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its data classes look for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_honest_tests_find_nothing_where_nothing_is(nulls):
    """In every realistic structure of the paper's study they keep to 6 %."""
    for i, null in enumerate(nulls.REALISTIC):
        found = nulls.single(null, nulls.PAPER, n=N, seed=i)
        assert all(found[name] < LIMIT for name in HONEST), (null.name, found)


def test_the_papers_test_is_inflated(nulls):
    """Where a person or a fold suits a model, it finds a difference in a quarter at least."""
    for null in nulls.REALISTIC[2:]:
        assert nulls.single(null, nulls.PAPER, n=N)["t of runs (paper)"] > 0.25, null.name
    alone = nulls.single(nulls.REALISTIC[0], nulls.PAPER, n=N)
    assert alone["t of runs (paper)"] < LIMIT


def test_people_of_a_fold_are_not_independent(nulls):
    """They share trained models: flips of people find a difference where a model had luck."""
    luck = nulls.single(nulls.REALISTIC[1], nulls.PAPER, n=N)
    assert luck["flips of people"] > 0.15
    assert luck["flips of folds"] < LIMIT


def test_who_trains_may_decide_everything(nulls):
    """Then only the strictest test holds, and the others are known not to."""
    found = nulls.single(nulls.EXTREME[1], nulls.PAPER, n=N)
    assert found["overlap t"] < LIMIT
    assert found["Nadeau-Bengio"] > 0.15


def test_a_true_difference_is_found(nulls):
    """A difference of one deviation between folds is found in a third of studies and more."""
    assert nulls.power(nulls.PAPER, n=N)["Nadeau-Bengio"] > 0.33


@pytest.mark.slow
def test_corrections_keep_to_their_level(nulls):
    """Of 17 strengths without a difference any is found in 6 % of studies at most."""
    for i, null in enumerate(nulls.REALISTIC):
        found = nulls.families(null, n=N, seed=i)
        assert all(found[name] < LIMIT for name in CORRECTED), (null.name, found)


def test_choosing_a_run_is_not_choosing_a_strength(nulls):
    """The best of 18 lucky trainings beats one, whatever was censored; other folds know no luck."""
    found = nulls.families(nulls.REALISTIC[1], n=200)
    assert found["chosen by run"] > 0.9
    assert found["chosen by other-folds"] < 0.06
