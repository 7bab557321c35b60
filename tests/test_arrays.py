"""What arrays of trials must be: identifiers that identify, numbers that are finite."""

import numpy as np
import pytest

from censorium import arrays as arrays_module
from censorium.arrays import identifiers, listed, nuisance_of, require_finite
from censorium.errors import DataError


def test_nuisance_values_are_contiguous():
    """Each pair of subject and session that occurs has one number, from 0 in sorted order."""
    subject = np.array(["b", "a", "b", "a", "c"])
    session = np.array([7, 2, 2, 2, 9])
    assert nuisance_of(subject, session).tolist() == [2, 0, 1, 0, 3]


@pytest.mark.parametrize("seed", range(5))
def test_nuisance_values_tell_pairs_apart(seed):
    """Two trials share a nuisance value exactly where they share subject and session."""
    rng = np.random.default_rng(seed)
    subject, session = rng.choice([-5, 3, 10**12], 40), rng.choice(["x", "y", "zz"], 40)
    s = nuisance_of(subject, session)
    same = (subject[:, None] == subject) & (session[:, None] == session)
    np.testing.assert_array_equal(s[:, None] == s, same)
    assert np.unique(s).tolist() == list(range(s.max() + 1))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("trial", [0, 4095, 4096, 9000])
def test_a_value_that_is_no_number_is_found(trial, value):
    """NaN or infinity is an error that names the first trial and channel, in any chunk."""
    x = np.zeros((9001, 3, 2), np.float32)
    x[trial, 1, 1] = value
    x[9000, 2, 0] = np.nan
    with pytest.raises(DataError, match=f"Trial {trial} has NaN or infinite values in channel 1"):
        require_finite(x)
    with pytest.raises(DataError, match=f"Trial {trial} .* channel 'Cz'"):
        require_finite(x, ["Fz", "Cz", "Pz"])


def test_numbers_pass(monkeypatch):
    """Finite signals pass, however large, and so do none."""
    monkeypatch.setattr(arrays_module, "CHUNK", 2)
    require_finite(np.full((5, 2, 3), 3e38, np.float32))
    require_finite(np.zeros((0, 2, 3), np.float32))


@pytest.mark.parametrize(
    "ids",
    [
        [1, "a", 2],
        ["a", None, "b"],
        [1.0, 2.5, 3.0],
        [True, False, True],
        np.array([True, False, True]),
        np.array([1, 2, 2**63], np.uint64),
        np.array([1.0, 2.0, 2.0**53 + 2]),
        np.array([1.0, 2.0, 2.0**24 + 2], np.float32),
    ],
)
def test_ids_of_other_kinds_are_refused(ids):
    """A list that mixes kinds, misses an id or measures something is an error, not a string."""
    with pytest.raises(DataError, match="subject ids must be"):
        identifiers("subject", ids, 3)


@pytest.mark.parametrize("kind", ["f4", "f8", "u1", "u8", "i2", "O"])
def test_whole_numbers_are_64_bit_integers(kind):
    """Integers of any type, and whole floats, are one kind of id."""
    ids = identifiers("subject", np.array([3, 200, 3], kind), 3)
    assert ids.dtype == np.int64
    assert ids.tolist() == [3, 200, 3]


@pytest.mark.parametrize("ids", [[1.0, np.nan], [1, None], ["a", np.nan], np.array([1, np.nan])])
def test_a_missing_id_is_named(ids):
    """NaN or None among ids is an error that says of which trial the id is missing."""
    with pytest.raises(DataError, match="subject ids must be there for every trial; trial 1 has"):
        identifiers("subject", ids, 2)


@pytest.mark.parametrize("one", ["anna", 7, 7.0, np.int64(7), np.str_("anna")])
def test_one_id_is_a_list_of_one(one):
    """A lone id is one id; several come as they are, NumPy's as Python's."""
    assert listed(one) == [one]
    assert listed([one, one]) == listed(iter([one, one])) == [one, one]
    assert {type(v) for v in listed(np.array([1, 2]))} == {int}
