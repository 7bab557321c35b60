"""One HTML file on what features tell about who the subject is."""

from collections.abc import Sequence
from pathlib import Path

from censorium.auditing import Audit
from censorium.errors import DataError
from censorium.report import audit_figures as drawn
from censorium.report.audit_words import by_people, headline, known, pairs, verdict
from censorium.report.figures import style
from censorium.report.page import image, write_page


def write_audit(out: Path | str, audits: Sequence[Audit], *, source: str = "") -> None:
    """Write a page on `audits`, several views of one or more groups of people.

    `source` says what was audited.
    """
    if not audits:
        raise DataError("There is no audit to write a page on.")
    groups = by_people(audits)
    with style():
        write_page(
            Path(out),
            "audit.html",
            filters={"verdict": verdict, "pairs": pairs, "known": known},
            audits=audits,
            groups=groups,
            source=source,
            about=headline(audits[0])[0].about,
            information=image(drawn.information(audits), "How much each view tells of the person."),
            confusions={
                people: image(drawn.confusions(mine), f"Who is taken for whom: {people}.")
                for people, mine in groups.items()
            },
            planes={
                people: image(drawn.planes(mine), f"Trials in a plane, by person: {people}.")
                for people, mine in groups.items()
            },
        )
