"""One HTML file that needs nothing else: figures and style are inside it."""

import base64
import io
import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
import numpy as np
import torch
from markupsafe import Markup
from matplotlib.figure import Figure

import censorium
from censorium.files import replacing
from censorium.report import figures
from censorium.report.summary import (
    conclusion,
    identity_sentence,
    percent,
    rows,
    signed,
    verdict,
)
from censorium.study import Outcome
from censorium.trials import Trials


def write_report(out: Path, trials: Trials, outcomes: Sequence[Outcome]) -> None:
    """Write the report on `outcomes`, which were computed on `trials`."""
    baseline, *censored = table = rows(outcomes)
    with figures.style():
        write_page(
            out,
            "report.html",
            trials=trials,
            counts=np.bincount(trials.y).tolist(),
            runs=len(outcomes),
            folds=len({o.run.split for o in outcomes}),
            split=outcomes[0].run.split,
            seeds=sorted({o.run.seed for o in outcomes}),
            options={o.run.model: o.run.options for o in outcomes},
            table=table,
            verdicts=[
                (row.model, f"{verdict(row, baseline)} {identity_sentence(row, baseline)}")
                for row in censored
            ],
            conclusion=conclusion(censored),
            seconds=sum(o.seconds for o in outcomes),
            waveforms=image(figures.waveforms(trials), "Class-average waveforms and a scalp map."),
            paired=image(figures.paired_dots(outcomes), "Balanced accuracy of each unseen person."),
            overfit=image(figures.overfit(outcomes), "Balanced accuracy against overfit ratio."),
            learning=image(
                figures.learning_curves(trials, outcomes), "Learning curves of each model."
            ),
            identity=image(figures.identity(outcomes), "How often a probe names the person."),
        )


def write_page(
    out: Path,
    template: str,
    *,
    filters: Mapping[str, Callable[[Any], Any]] = MappingProxyType({}),
    **values: Any,
) -> None:
    """Write the page that `template` makes of `values`, with what made it at its foot."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("censorium.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"signed": signed, "percent": percent, **filters}
    page = environment.get_template(template).render(
        **values,
        version=censorium.__version__,
        torch=torch.__version__,
        python=platform.python_version(),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )
    with replacing(out) as new:
        new.write_text(page, encoding="utf-8")


def image(figure: Figure, alternative: str) -> Markup:
    """The figure as an image inside the page, with words for those who cannot see it."""
    svg = io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None})
    data = base64.b64encode(svg.getvalue()).decode()
    return Markup('<img alt="{}" src="data:image/svg+xml;base64,{}">').format(alternative, data)
