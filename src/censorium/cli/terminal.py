"""What a person at a terminal sees: tables and warnings."""

from collections.abc import Mapping, Sequence

import numpy as np
from rich.table import Table

from censorium.auditing import Audit, Interval, mean_probe
from censorium.study import Evaluation, Outcome


def scores_of_models(outcomes: Sequence[Outcome]) -> Table:
    """One row per model: means over its runs."""
    table = Table(title="Balanced accuracy, mean over folds")
    for column in ("model", "unseen", "training", "overfit ratio", "person named (chance)"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for model in dict.fromkeys(o.run.model for o in outcomes):
        mine = [o for o in outcomes if o.run.model == model]
        table.add_row(
            model,
            f"{np.mean([o.test.balanced_accuracy for o in mine]):.3f}",
            f"{np.mean([o.train.balanced_accuracy for o in mine]):.3f}",
            f"{np.mean([o.overfit_ratio for o in mine]):.3f}",
            _identity([o.test for o in mine]),
        )
    return table


def scores_of_sets(scores: Mapping[str, Evaluation]) -> Table:
    """One row per set of people: training, validation, test."""
    table = Table(title="Balanced accuracy")
    for column in ("people", "all", "worst", "best", "person named (chance)"):
        table.add_column(column, justify="left" if column == "people" else "right")
    for name, score in scores.items():
        each = list(score.per_subject.values())
        table.add_row(
            f"{name} ({len(each)})",
            f"{score.balanced_accuracy:.3f}",
            f"{min(each):.3f}",
            f"{max(each):.3f}",
            _identity([score]),
        )
    return table


def told_of_people(audits: Sequence[Audit]) -> Table:
    """One row per audit: what share of the nuisance is told, how often the subject is named."""
    table = Table(title=f"{audits[0].information[0].about} told, % of H(S) [95 %]")
    for column in ("people", "features", "linear probe", "density ratio", "subject named (chance)"):
        table.add_column(column, justify="left" if column in ("people", "features") else "right")
    for audit in audits:
        linear, ratio = audit.information[:2]
        named = f"{audit.naming.balanced.estimate:.2f} ({audit.naming.chance:.2f})"
        table.add_row(
            f"{audit.people} ({len(audit.subjects)})",
            audit.view,
            _whole(linear.percent),
            _whole(ratio.percent),
            named,
        )
    return table


def _identity(scores: Sequence[Evaluation]) -> str:
    probe = mean_probe([s.identity for s in scores])
    return f"{probe.balanced_accuracy:.2f} ({probe.chance:.2f})" if probe else "-"


def _whole(percent: Interval) -> str:
    return f"{percent.estimate:.0f} \\[{percent.low:.0f}, {percent.high:.0f}]"
