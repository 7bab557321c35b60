"""How often each test finds a difference where there is none: studies simulated with their overlap.

`make bench-nulls` prints the tables and `make bench-nulls ARGS=--docs` writes them into
docs/statistics.md.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from censorium.splits import SubjectSplit, leave_one_subject_out, paper_folds, subject_kfold
from censorium.stats import (
    bootstrap,
    flip_test,
    holm,
    max_t,
    overlap_of,
    overlap_t,
    paired_t,
    resampled_t,
    selected,
)

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
TABLE_BEGINS, TABLE_ENDS = "<!-- table: made by benchmarks/nulls.py -->", "<!-- end -->"
LEVEL = 0.05
N_STUDIES, BATCH = 4000, 100
N_STRENGTHS = 17
LIKENESS = 0.8  # correlation of two neighbouring strengths
STRICTEST = 0.001  # the paper's double dagger

Reals = NDArray[np.float64]
Rates = dict[str, float]  # by the name of a test


@dataclass(frozen=True)
class Null:
    """By how much what two models share by chance makes them differ: standard deviations.

    `run` is of one person in one run; `trained` of a trained model, for all whom it reads; `person`
    of a person, in every run; `fold` of a fold, in every run; `people` of a person both when
    tested and, averaged over those who train, when trained on; `training` of the latter alone;
    `seed` of a seed in all folds.
    """

    name: str
    run: float = 1.0
    trained: float = 0.0
    person: float = 0.0
    fold: float = 0.0
    people: float = 0.0
    training: float = 0.0
    seed: float = 0.0
    skewed: bool = False
    heavy: bool = False


TOGETHER = Null("all of these together", 1, 0.7, 0.7, 0.5, 0.2, 0.3, 0.2)
REALISTIC = (
    Null("nothing but each run's noise"),
    Null("each trained model has its luck", trained=1),
    Null("a person suits a model", trained=0.5, person=1),
    Null("a few people suit a model by far the most", trained=0.5, person=1, skewed=True),
    Null("a fold suits a model", trained=0.5, fold=1),
    Null("a few folds suit a model by far the most", trained=0.5, fold=1, heavy=True),
    Null("a person matters as much in training", trained=1, people=1),
    TOGETHER,
)
EXTREME = (
    Null("a seed suits a model in all folds", trained=1, seed=0.5),
    Null("who trains decides everything", run=0.1, training=1),
)


@dataclass(frozen=True)
class Design:
    """Splits and how many seeds."""

    name: str
    splits: Sequence[SubjectSplit]
    n_seeds: int


PAPER = Design("the paper's ten folds, ten seeds", paper_folds(range(64)), 10)
OTHERS = (
    Design("five folds of 20 people, four seeds", subject_kfold(range(20), 5), 4),
    Design("leave one of 12 people out, four seeds", leave_one_subject_out(range(12)), 4),
)


def draw(
    null: Null, design: Design, lead: tuple[int, ...], rng: np.random.Generator
) -> tuple[Reals, Reals]:
    """Test scores (*lead, folds, seeds, people) and validation scores (*lead, folds, seeds)."""
    splits, n_seeds = design.splits, design.n_seeds
    n_folds, n_people = len(splits), 1 + max(max(s.train) for s in splits)
    who = np.array([s.test for s in splits])
    train = np.zeros((n_folds, n_people))
    for k, split in enumerate(splits):
        train[k, list(split.train)] = 1 / len(split.train)

    def normal(*shape: int) -> Reals:
        return rng.standard_normal((*lead, *shape))

    fold = rng.standard_t(3, (*lead, n_folds, 1)) / 3**0.5 if null.heavy else normal(n_folds, 1)
    odd, taught = null.people * normal(n_people), null.training * normal(n_people)
    person = rng.exponential(size=(*lead, n_people)) - 1 if null.skewed else normal(n_people)
    person = null.person * person + odd
    # The mean of many people is small; `training` is that of the fold, not of one of them.
    trains = (odd + taught * len(splits[0].train) ** 0.5) @ train.T
    model = (
        null.trained * normal(n_folds, n_seeds)
        + null.fold * fold
        + null.seed * normal(1, n_seeds)
        + trains[..., None]
    )
    test = null.run * normal(n_folds, n_seeds, who.shape[1]) + model[..., None]
    test += person[..., who][..., None, :]
    valid = model
    if splits[0].valid:
        choosing = np.array([s.valid for s in splits])
        valid = model + null.run * normal(n_folds, n_seeds) / choosing.shape[1] ** 0.5
        valid = valid + person[..., choosing].mean(axis=-1)[..., None]
    return test, valid


def rejections(d: Reals, design: Design) -> Rates:
    """The share of studies `d` (studies, folds, seeds, people) in which each test rejects."""
    ratio, shared, _ = overlap_of(design.splits)
    n = len(d)
    runs, folds = d.mean(axis=3).reshape(n, -1).T, d.mean(axis=(2, 3)).T
    people = d.mean(axis=2).reshape(n, -1).T

    def outside(d: Reals) -> Reals:
        interval = bootstrap(d, ratio=ratio)
        return np.where((interval.low > 0) | (interval.high < 0), 0.0, 1.0)

    found = {
        "t of runs (paper)": paired_t(runs).p,
        "flips of people": in_parts(lambda d: flip_test(d).p, people),
        "flips of folds": in_parts(lambda d: flip_test(d).p, folds),
        "Nadeau-Bengio": resampled_t(folds, ratio=ratio).p,
        "its flips": in_parts(lambda d: flip_test(d, ratio=ratio).p, folds),
        "its interval": in_parts(outside, folds),
        "overlap t": overlap_t(folds, overlap=shared).p,
    }
    return {name: float(np.mean(p <= LEVEL)) for name, p in found.items()}


def in_parts(test: Callable[[Reals], Reals], d: Reals) -> Reals:
    """The p of a test, asked about few columns at a time: every flip of all would fill memory."""
    return np.concatenate([test(part) for part in np.array_split(d, -(-d.shape[1] // 500), axis=1)])


def single(null: Null, design: Design, *, n: int, seed: int = 0) -> Rates:
    """The share of `n` studies of one strength in which each test finds a difference."""
    return rejections(draw(null, design, (n,), np.random.default_rng(seed))[0], design)


def power(design: Design, *, n: int, seed: int = 0) -> Rates:
    """How often each test finds a difference of one standard deviation between folds."""
    d, _ = draw(TOGETHER, design, (n,), np.random.default_rng(seed))
    return rejections(d + d.mean(axis=(2, 3)).std(), design)


def mixing() -> Reals:
    """What makes neighbouring strengths alike, (models, models): the baseline is like none."""
    place = np.arange(N_STRENGTHS)
    alike = np.eye(1 + N_STRENGTHS)
    alike[1:, 1:] = LIKENESS ** np.abs(place[:, None] - place)
    return np.linalg.cholesky(alike) / 2**0.5  # so that a difference has the null's deviations


def families(null: Null, *, n: int, seed: int = 0) -> Rates:
    """The share of `n` studies of 17 strengths in which each procedure finds any difference."""
    rng, mix = np.random.default_rng(seed), mixing()
    hits: dict[str, list[bool]] = {}
    for _ in range(n // BATCH):
        draws = draw(null, PAPER, (BATCH, 1 + N_STRENGTHS), rng)
        tests, valids = (np.einsum("ab,nb...->na...", mix, scores) for scores in draws)
        for test, valid in zip(tests.mean(axis=-1), valids, strict=True):
            for name, hit in family(test, valid).items():
                hits.setdefault(name, []).append(hit)
    return {name: float(np.mean(found)) for name, found in hits.items()}


def family(test: Reals, valid: Reals) -> dict[str, bool]:
    """Which procedures find a difference in one study, (models, folds, seeds)."""
    ratio, _, apart = overlap_of(PAPER.splits)
    runs = (test[1:] - test[0]).reshape(N_STRENGTHS, -1).T
    folds = (test[1:] - test[0]).mean(axis=2).T
    paper, honest = paired_t(runs).p, resampled_t(folds, ratio=ratio).p
    chosen = {
        by: resampled_t(selected(valid, test, by=by, apart=apart).mean(axis=1), ratio=ratio).p[0]
        for by in ("run", "fold", "other-seeds", "other-folds")
    }
    found = {
        "t of runs, any (paper)": paper.min(),
        "any \N{DOUBLE DAGGER} (paper)": paper.min() * LEVEL / STRICTEST,
        "Nadeau-Bengio, any": honest.min(),
        "with Holm": holm(honest).min(),
        "max-T of folds": max_t(folds).min(),
        "max-T of its flips": max_t(folds, ratio=ratio).min(),
        **{f"chosen by {by}": p for by, p in chosen.items()},
    }
    return {name: bool(p <= LEVEL) for name, p in found.items()}


@dataclass(frozen=True)
class Block:
    """A table: what its rows are, and the rates in each."""

    title: str
    rows: dict[str, Rates]

    def cells(self) -> list[list[str]]:
        """The table's cells in percent, its head first."""
        head = [self.title, *next(iter(self.rows.values()))]
        body = [
            [name, *(f"{100 * v:.1f}" for v in row.values())] for name, row in self.rows.items()
        ]
        return [head, *body]

    def markdown(self) -> str:
        """The table for the docs."""
        head, *body = [f"| {' | '.join(row)} |" for row in self.cells()]
        rule = f"|---|{'--:|' * (len(self.cells()[0]) - 1)}"
        return "\n".join([head, rule, *body, ""])


def measure(n: int) -> list[Block]:
    """All tables."""
    nulls = (*REALISTIC, *EXTREME)
    blocks = []
    for design in (PAPER, *OTHERS):
        rows = {null.name: single(null, design, n=n) for null in nulls}
        rows["**found, of a true difference**"] = power(design, n=n)
        blocks.append(Block(design.name, rows))
    many = {null.name: families(null, n=n) for null in nulls}
    procedures = list(next(iter(many.values())))
    for title, mine in (
        ("17 strengths, any found", procedures[:6]),
        ("17 strengths, one chosen", procedures[6:]),
    ):
        blocks.append(Block(title, {k: {p: row[p] for p in mine} for k, row in many.items()}))
    return blocks


def main() -> None:
    """Print the tables; write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rates there")
    parser.add_argument("--docs", action="store_true", help="write the docs' tables")
    parser.add_argument("--studies", type=int, default=N_STUDIES, help="how many of each kind")
    options = parser.parse_args()
    console, start = Console(width=140), time.perf_counter()
    blocks = measure(options.studies)
    for block in blocks:
        head, *body = block.cells()
        table = Table(title="found, in % of studies")
        for i, column in enumerate(head):
            table.add_column(column, justify="right" if i else "left")
        for row in body:
            table.add_row(*row)
        console.print(table)
    console.print(f"{(time.perf_counter() - start) / 60:.1f} minutes")
    if options.json:
        options.json.write_text(json.dumps([asdict(block) for block in blocks], indent=2))
    if options.docs:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_BEGINS)
        after = rest.partition(TABLE_ENDS)[2]
        tables = "\n".join(block.markdown() for block in blocks)
        text = f"{before}{TABLE_BEGINS}\n{tables}{TABLE_ENDS}{after}"
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
