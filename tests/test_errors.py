"""The exception tree and the report of unknown names."""

import inspect
import re

import pytest

from censorium import errors
from censorium.errors import CensoriumError, CensoriumWarning, OptionError, lookup, unknown

TABLE = {"adversarial": 1, "density-ratio": 2, "wasserstein": 3}
DRAWN = dict(re.findall(r"(\w+(?:Error|Warning)) +\((\w+)\)", errors.__doc__))


def defined():
    classes = dict(inspect.getmembers(errors, inspect.isclass))
    return {n: c for n, c in classes.items() if c.__module__ == errors.__name__}


def test_the_drawn_tree_names_every_class():
    """The tree in the docstring names each exception and warning of the module, and no other."""
    assert {"CensoriumError", *DRAWN} == {n for n in defined() if n != "T"}


@pytest.mark.parametrize(("name", "base"), DRAWN.items())
def test_each_leaf_has_the_drawn_base(name, base):
    """Each drawn class derives from the built-in one beside it and, if an error, from the root."""
    cls = defined()[name]
    assert base in [c.__name__ for c in cls.__bases__]
    assert issubclass(cls, CensoriumError) is (cls is not CensoriumWarning)


def test_lookup_finds_the_object():
    """A known name stands for its object."""
    assert lookup("measure", "density-ratio", TABLE) == 2


def test_lookup_suggests_the_nearest_name():
    """A misspelt name is reported with the nearest right one and all known ones, sorted."""
    with pytest.raises(OptionError) as caught:
        lookup("measure", "wasserstien", TABLE)
    assert str(caught.value) == (
        "Unknown measure 'wasserstien'. Did you mean 'wasserstein'? "
        "Known: adversarial, density-ratio, wasserstein."
    )
    assert caught.value.__suppress_context__


def test_a_name_near_nothing_gets_no_suggestion():
    """Where no name is near, none is suggested."""
    assert "Did you mean" not in unknown("measure", "zzz", TABLE)


@pytest.mark.parametrize("name", [None, 3, ["adversarial"], {}])
def test_what_is_no_name_is_an_option_error(name):
    """Something that is no name at all, hashable or not, is reported in the same way."""
    with pytest.raises(OptionError, match="Unknown measure"):
        lookup("measure", name, TABLE)
