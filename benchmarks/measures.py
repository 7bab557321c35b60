"""What every measure says of joints whose dependence is known: truth, estimate, bias, spread, time.

`make bench-measures` prints the table. With --docs it also writes the docs' table and figure.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scipy.special import rel_entr

from censorium.datasets.joints import (
    Joint,
    gaussian_clusters,
    independent,
    label_between,
    uniform_mixture,
)
from censorium.dependence import MEASURES
from censorium.dependence.fitting import Estimate, estimate
from censorium.dependence.mmd import WIDTHS

DOCS = Path(__file__).parents[1] / "docs"
TABLE_BEGINS, TABLE_ENDS = "<!-- table: made by benchmarks/measures.py -->", "<!-- end -->"
N_TRIALS = 10_000
SEEDS = (0, 1, 2)

ALIKE = (independent(2), independent(8, n_features=8), independent(56, n_features=128))
TWO, EIGHT = gaussian_clusters(2, 2.0), gaussian_clusters(8, 1.0, n_features=8)
MANY = (
    TWO,
    EIGHT,
    uniform_mixture(8),
    gaussian_clusters(56, 0.2, n_features=128),
    gaussian_clusters(128, 0.24, n_features=32),
)
FEW = (ALIKE[1], TWO, EIGHT)
PAIR = (ALIKE[1], EIGHT)
SLAB = tuple(  # as wide as the distance of two nuisance values, so that W1 is known
    uniform_mixture(m, scale=np.sqrt(2) / (m + 1), n_features=d)
    for m, d in ((2, 1), (8, 8), (32, 32), (128, 8))
)
DIFFER = label_between([[0.3, 0.1, 0.1], [0.05, 0.15, 0.3]], n_features=4)

Truth = Callable[[Joint], float | None]


def jensen_shannon(joint: Joint) -> float:
    """The mean relative entropy of the two distributions from their even mixture."""
    return joint.divergence(lambda u: (rel_entr(u, (u + 1) / 2) + rel_entr(1, (u + 1) / 2)) / 2)


def kernel_means(joint: Joint, width: float) -> np.ndarray | None:
    """The mean Gaussian kernel of trials of each two nuisance values, for Gaussian clusters."""
    if joint.shape != "normal":
        return None
    share, centres, d = joint.table[0], joint.centres[0], joint.n_features
    spread = 2 * (d + share @ centres**2 - (share @ centres) ** 2)
    h = width * spread
    apart = (centres[:, None] - centres) ** 2
    return (1 + 2 / h) ** (-d / 2) * np.exp(-apart / (2 * (h + 2)))


def mmd(joint: Joint) -> float | None:
    """The share-weighted squared discrepancy from the pooled features."""
    share, found = joint.table[0], [kernel_means(joint, width) for width in WIDTHS]
    if found[0] is None:
        return None
    return float(np.mean([share @ np.diag(k) - share @ k @ share for k in found]))


def hsic(joint: Joint) -> float | None:
    """The same of one kernel, weighted by the squared shares."""
    share, k = joint.table[0], kernel_means(joint, 1.0)
    return None if k is None else float(share**2 @ (np.diag(k) - 2 * k @ share + share @ k @ share))


def coral(joint: Joint) -> float:
    """The variance of the centres over the number of features: covariances are equal."""
    share, centres = joint.table[0], joint.scale * joint.centres[0]
    return float(share @ (centres - share @ centres) ** 2 / joint.n_features)


def only_none(joint: Joint) -> float | None:
    """0 where there is nothing; else unknown."""
    return 0.0 if joint.mutual_information < 1e-12 else None


class Plan(NamedTuple):
    """Which joints a measure is tried on, what is true of each, and what its features are."""

    joints: Sequence[Joint]
    truth: Truth
    standardised: bool = True
    plus_entropy: bool = False
    n_folds: int = 2


INFORMATION: Truth = lambda joint: joint.mutual_information  # noqa: E731
W1: Truth = lambda joint: joint.wasserstein  # noqa: E731
PLANS = {
    "adversarial": Plan((*ALIKE, *MANY), INFORMATION, plus_entropy=True, n_folds=5),
    "gradient-reversal": Plan(PAIR, INFORMATION, plus_entropy=True),
    "density-ratio": Plan((*ALIKE, *MANY), INFORMATION, n_folds=5),
    "nwj": Plan(FEW, INFORMATION),
    "donsker-varadhan": Plan(FEW, INFORMATION),
    "info-nce": Plan(FEW, INFORMATION),
    "jensen-shannon": Plan(FEW, jensen_shannon),
    "chi-square": Plan(FEW, lambda joint: joint.divergence(lambda u: (u - 1) ** 2)),
    "total-variation": Plan(PAIR, lambda joint: joint.divergence(lambda u: np.abs(u - 1) / 2)),
    "wasserstein": Plan((ALIKE[1], *SLAB), W1, standardised=False, n_folds=3),
    "wasserstein-scale-free": Plan(ALIKE[1:2], only_none),
    "wasserstein-published": Plan(ALIKE[1:2], only_none, standardised=False),
    "mmd": Plan(FEW, mmd, standardised=False),
    "mmd-scale-free": Plan((ALIKE[1], TWO), mmd, standardised=False),
    "hsic": Plan(FEW, hsic, standardised=False),
    "sinkhorn": Plan(ALIKE[1:2], only_none, standardised=False),
    "sinkhorn-scale-free": Plan(ALIKE[1:2], only_none, standardised=False),
    "coral": Plan(FEW, coral, standardised=False),
    "coral-scale-free": Plan(ALIKE[1:2], only_none, standardised=False),
}
IN_NATS = (
    "adversarial",
    "gradient-reversal",
    "density-ratio",
    "nwj",
    "donsker-varadhan",
    "info-nce",
)


class Case(NamedTuple):
    """One measure on one joint; `given` as in the measure's name."""

    measure: str
    joint: int
    given: str = ""


def cases() -> list[Case]:
    """Every measure on its joints, then two given the label."""
    plain = [Case(m, i) for m, plan in PLANS.items() for i in range(len(plan.joints))]
    return plain + [
        Case(m, 0, g) for m in ("density-ratio", "adversarial") for g in ("Y", "with Y")
    ]


@dataclass(frozen=True)
class Row:
    """A line of the table; over seeds."""

    measure: str
    joint: str
    n_features: int
    truth: float | None
    estimate: float
    held_out: float
    spread: float
    seconds: float

    @property
    def bias(self) -> float | None:
        """Estimate less truth."""
        return None if self.truth is None else self.estimate - self.truth


def run(case: Case, seed: int) -> tuple[Estimate, float]:
    """One estimate of one sample, and how long it took."""
    torch.set_num_threads(1)
    plan, joint = PLANS[case.measure], joint_of(case)
    drawn = joint.sample(N_TRIALS, seed=seed)
    z, s = torch.from_numpy(drawn.features), torch.from_numpy(drawn.nuisance)
    if plan.standardised:
        z = (z - z.mean(0)) / z.std(0)
    if case.given == "with Y":
        z = torch.cat([z, torch.from_numpy(np.eye(2, dtype=np.float32)[drawn.label])], dim=1)
    given = torch.from_numpy(drawn.label) if case.given == "Y" else None
    start = time.perf_counter()
    found = estimate(MEASURES[case.measure], z, s, given, n_folds=plan.n_folds, seed=seed)
    seconds = time.perf_counter() - start
    entropy = joint.entropy - joint.of_label * (case.given == "Y")
    shift = entropy * plan.plus_entropy
    return Estimate(*(value + shift for value in found)), seconds


def joint_of(case: Case) -> Joint:
    """The case's joint."""
    return DIFFER if case.given else PLANS[case.measure].joints[case.joint]


def truth_of(case: Case) -> float | None:
    """What is true of the case."""
    joint = joint_of(case)
    match case.given:
        case "Y":
            return joint.given_label
        case "with Y":
            return joint.with_label
    return PLANS[case.measure].truth(joint)


def row(case: Case, results: Sequence[tuple[Estimate, float]]) -> Row:
    """What the seeds amount to."""
    joint, found = joint_of(case), [estimate for estimate, _ in results]
    # That the seen trials show as much too much as the held-out ones too little holds where the
    # optimum is smooth; these two have kinks.
    bound = case.measure.startswith(("wasserstein", "total-variation"))
    values = [e.held_out if bound else e.value for e in found]
    return Row(
        measure=" ".join(
            [case.measure, {"Y": "given Y", "with Y": "with Y"}.get(case.given, "")]
        ).strip(),
        joint=joint.name,
        n_features=joint.n_features,
        truth=truth_of(case),
        estimate=float(np.mean(values)),
        held_out=float(np.mean([e.held_out for e in found])),
        spread=float(np.std(values, ddof=1)),
        seconds=float(np.mean([seconds for _, seconds in results])),
    )


def run_all(console: Console) -> list[Row]:
    """All rows, two processes at a time, the longest measures first."""
    jobs = [(case, seed) for case in cases() for seed in SEEDS]
    with ProcessPoolExecutor(os.cpu_count()) as pool, Progress(console=console) as bar:
        task = bar.add_task("estimating", total=len(jobs))
        futures = [pool.submit(run, *job) for job in jobs]
        for future in futures:
            future.add_done_callback(lambda _: bar.advance(task))
        results = [future.result() for future in futures]
    n = len(SEEDS)
    return [row(case, results[n * i : n * (i + 1)]) for i, case in enumerate(cases())]


COLUMNS = ("measure", "joint", "features", "truth", "estimate", "bias", "spread", "seconds")


def cells(row: Row) -> list[str]:
    """A row as text."""
    truth = "" if row.truth is None else number(row.truth)
    bias = "" if row.bias is None else number(row.bias, "+")
    values = [number(row.estimate), bias, number(row.spread), f"{row.seconds:.1f}"]
    return [row.measure, row.joint, str(row.n_features), truth, *values]


def number(value: float, sign: str = "") -> str:
    """Three digits after the point, with a minus sign that is one, and none before 0.000."""
    return f"{value:{sign}z.3f}".replace("-", "\N{MINUS SIGN}")


def markdown(rows: Sequence[Row]) -> str:
    """The table for the docs."""
    lines = [COLUMNS, ["---"] * 3 + ["--:"] * 5, *map(cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def figure(rows: Sequence[Row]) -> Figure:
    """Estimate against truth, of the measures in nats and of the Wasserstein critic."""
    fig = Figure(figsize=(9.4, 4.2), layout="constrained")
    left, right = fig.subplots(1, 2)
    for ax, names, title in (
        (left, IN_NATS, "mutual information, nats"),
        (right, ("wasserstein",), "Wasserstein distance"),
    ):
        mine = [r for r in rows if r.measure.split()[0] in names and r.truth is not None]
        most = 1.08 * max(r.truth for r in mine)
        ax.plot([0, most], [0, most], color="#9ca3af", lw=1)
        for name, mark in zip(names, "os^v<>", strict=False):
            here = [r for r in mine if r.measure.split()[0] == name]
            ax.errorbar(
                [r.truth for r in here],
                [r.estimate for r in here],
                [r.spread for r in here],
                fmt=mark,
                ms=5,
                alpha=0.75,
                label=name,
            )
        low = 0.85 if names == ("wasserstein",) else 0.95
        shade = np.array([0, most])
        tolerance = np.maximum(0.05, 0.05 * shade) if len(names) > 1 else 0 * shade
        top = shade + tolerance
        bottom = shade - tolerance if len(names) > 1 else low * shade
        ax.fill_between(shade, bottom, top, color="#9ca3af", alpha=0.2, lw=0)
        ax.set(title=title, xlabel="truth", ylabel="estimate")
        ax.legend(frameon=False, fontsize=8.5)
        ax.spines[["right", "top"]].set_visible(False)
    return fig


def main() -> None:
    """Print the table; write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows there")
    parser.add_argument("--docs", action="store_true", help="write the docs' table and figure")
    options = parser.parse_args()
    console, start = Console(width=120), time.perf_counter()
    rows = run_all(console)
    table = Table(title=f"{N_TRIALS:,} trials, mean over {len(SEEDS)} seeds")
    for i, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if i < 2 else "right")
    for one in rows:
        table.add_row(*cells(one))
    console.print(table)
    console.print(f"{(time.perf_counter() - start) / 60:.1f} minutes")
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in rows], indent=2))
    if options.docs:
        page = DOCS / "measures.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(TABLE_BEGINS)
        after = rest.partition(TABLE_ENDS)[2]
        text = f"{before}{TABLE_BEGINS}\n{markdown(rows)}{TABLE_ENDS}{after}"
        page.write_text(text, encoding="utf-8")
        figure(rows).savefig(DOCS / "images" / "measures.png", dpi=110)


if __name__ == "__main__":
    main()
