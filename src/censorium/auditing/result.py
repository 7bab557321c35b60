"""What an audit found: numbers, a table, a file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from censorium.errors import FileError
from censorium.files import replacing


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Information:
    """Mutual information of the features with `about`, in nats, by one estimator.

    `given` is what is known beside, "label" or nothing. `entropy` is that of `about`, or what is
    left of it given the label: the most that there can be to tell.
    """

    about: str
    given: str | None
    by: str
    nats: Interval
    entropy: float

    @property
    def percent(self) -> Interval:
        """The same in percent of the entropy."""
        factor = 100 / self.entropy
        nats = self.nats
        return Interval(factor * nats.estimate, factor * nats.low, factor * nats.high)

    @property
    def name(self) -> str:
        """What is measured, in letters."""
        return f"I(features; {self.about}{' | label' if self.given else ''})"


@dataclass(frozen=True)
class Accuracy:
    """Balanced accuracy with which the linear probe names the subject of held-out trials.

    `p_value` is the chance that guessing names as many right.
    """

    balanced: Interval
    chance: float
    p_value: float


@dataclass(frozen=True)
class Person:
    """How well one subject is known by the linear probe, from one trial.

    `recall` is the share of their trials that are named theirs; `auc` how well their trials are
    told from those of all others; `taken_for` who their trials are named most, besides them.
    """

    subject: int | str
    n_trials: int
    recall: float
    auc: float
    taken_for: int | str


@dataclass(frozen=True)
class Plane:
    """Some trials as points of a plane: place, subject, and label if labels were given."""

    points: tuple[tuple[float, float], ...]
    subject: tuple[int | str, ...]
    label: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Audit:
    """How much features tell about who the subject is, on held-out trials of these people.

    Attributes
    ----------
    people, view : str
        Whose trials, and which features of them, were audited.
    n_trials, n_features, n_read, n_sessions : int
        Trials; features of a trial; how many the probes read, when constant ones are left out and
        more than 128 are reduced to principal components; values of subject x session.
    information : tuple of Information
        By two estimators each: about subject x session, about the subject, and given the label.
    naming : Accuracy
        How often the linear probe names the subject.
    distance : Interval
        W1 between features beside their own subject x session and beside anyone's.
    each : tuple of Person
        Each subject, those who are known best first.
    confusion : tuple of tuple of float
        Share of each subject's trials (rows) named as each (columns), in the order of `subjects`.
    subjects : tuple
        Whose trials they are, sorted.
    plane : Plane
        Trials in the plane that tells subjects apart best.
    seed : int
        What decided all that was drawn.
    """

    people: str
    view: str
    n_trials: int
    n_features: int
    n_read: int
    n_sessions: int
    information: tuple[Information, ...]
    naming: Accuracy
    distance: Interval
    each: tuple[Person, ...]
    confusion: tuple[tuple[float, ...], ...]
    subjects: tuple[int | str, ...]
    plane: Plane
    seed: int

    def __repr__(self) -> str:
        head = (
            f"<Audit of {self.view}, {self.people}: {self.n_trials} trials of "
            f"{len(self.subjects)} subjects, {self.n_sessions} subject x session"
        )
        rows = [
            (i.name, i.by, f"{i.nats} nats", f"{i.percent.estimate:.0f} % of {i.entropy:.2f}")
            for i in self.information
        ]
        naming = self.naming
        rows += [
            ("subject named", "linear probe", str(naming.balanced), f"chance {naming.chance:.3f}"),
            ("W1(joint, product)", "critic", str(self.distance), ""),
        ]
        wide = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ("  ".join(w.ljust(n) for w, n in zip(row, wide, strict=True)) for row in rows)
        return "\n  ".join([head, *(line.rstrip() for line in lines)]) + ">"

    def of_subject(self, by: str) -> Information:
        """What one estimator says of the subject, the label unknown."""
        (found,) = (
            i for i in self.information if i.about == "subject" and not i.given and i.by == by
        )
        return found

    def to_json(self) -> str:
        """All of it as JSON, which `from_json` reads."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The audit that `to_json` wrote."""
        return cls.of(json.loads(text))

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        """The audit whose fields a dict holds, as JSON gives them."""
        information = tuple(
            Information(**{**i, "nats": Interval(**i["nats"])}) for i in found["information"]
        )
        naming = found["naming"]
        return cls(
            **{
                **found,
                "information": information,
                "naming": Accuracy(**{**naming, "balanced": Interval(**naming["balanced"])}),
                "distance": Interval(**found["distance"]),
                "each": tuple(Person(**person) for person in found["each"]),
                "confusion": tuple(map(tuple, found["confusion"])),
                "subjects": tuple(found["subjects"]),
                "plane": Plane(
                    tuple((x, y) for x, y in found["plane"]["points"]),
                    tuple(found["plane"]["subject"]),
                    tuple(found["plane"]["label"]),
                ),
            }
        )

    def save(self, path: str | Path) -> None:
        """Write it into a JSON file that `load` opens."""
        with replacing(Path(path)) as new:
            new.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The audit that `save` wrote."""
        if not Path(path).is_file():
            raise FileError(f"There is no file {path}.")
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise FileError(
                f"{path} holds no audit that this censorium can open: {error}"
            ) from None
