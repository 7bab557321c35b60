"""Laws of the recipe: when the strength is what, what is refused, records as plain values."""

import json
from dataclasses import asdict, replace

import pytest

from censorium.errors import OptionError
from censorium.recipe import EpochRecord, Strength
from planted import recipe_of


def test_the_strength_rises_linearly_and_then_stays() -> None:
    """With w warm-up epochs the strength is e / (w + 1) of its value in epoch e, then all of it."""
    strength = Strength(2.0, warmup_epochs=3)
    assert [strength.at(epoch) for epoch in range(1, 7)] == [0.5, 1.0, 1.5, 2.0, 2.0, 2.0]


def test_without_warm_up_the_strength_is_the_same_in_all_epochs() -> None:
    """No warm-up epochs: the first epoch has the whole strength."""
    assert {Strength(0.3).at(epoch) for epoch in range(1, 9)} == {0.3}


def test_excluded_epochs_have_strength_zero_and_do_not_shift_the_others() -> None:
    """An excluded epoch is 0; the warm-up counts on through it."""
    strength = Strength(1.0, warmup_epochs=3, excluded_epochs=(2, 5))
    assert [strength.at(epoch) for epoch in range(1, 7)] == [0.25, 0.0, 0.75, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 0),
        ("batch_size", 1),
        ("critic_steps", 0),
        ("learning_rate", 0.0),
        ("learning_rate", -1e-3),
        ("learning_rate", float("nan")),
        ("weight_decay", -0.1),
        ("critic_learning_rate", 0.0),
        ("averaging", 1.0),
        ("averaging", -0.1),
        ("strength", -0.1),
        ("strength", float("inf")),
        ("strength", float("nan")),
    ],
)
def test_impossible_numbers_are_refused_by_name(field: str, value: float) -> None:
    """The message names the option and the value that came."""
    with pytest.raises(OptionError, match=rf"^{field} must be .*, got {value}\.$"):
        recipe_of(**{field: value})


def test_negative_warm_up_is_refused() -> None:
    """The message names warmup_epochs."""
    with pytest.raises(
        OptionError, match="warmup_epochs must be a whole number, 0 or more, got -1"
    ):
        recipe_of(strength=Strength(1.0, warmup_epochs=-1))


def test_an_unknown_evaluation_point_is_refused_with_the_nearest_name() -> None:
    """A misspelt point is met with the right spelling."""
    with pytest.raises(OptionError, match=r"evaluation point 'finel'\. Did you mean 'final'\?"):
        recipe_of(evaluation_points=("finel",))


def test_a_record_survives_json_and_ignores_how_long_it_took() -> None:
    """A record made plain, written as JSON and read back is equal; seconds do not count."""
    record = EpochRecord(2, 0.1, 0.7, None, (0.25, -1.5), 0.6, None, seconds=1.0)
    again = EpochRecord.of(json.loads(json.dumps(asdict(record))))
    assert again == record
    assert replace(again, seconds=99.0) == record
    assert replace(again, task_loss=0.8) != record
