"""Trials: made, chosen, joined, thinned, checked."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from censorium.errors import DataError, OptionError
from censorium.trials import Info, Trials, concatenate

ARRAYS = ("x", "y", "subject", "session")
INFO = Info(100.0, ("a", "b"), ("rest", "move"))


def plain(**changes):
    """The parts of three small trials, some of them changed."""
    parts = {
        "x": np.zeros((3, 2, 5)),
        "y": np.array([0, 1, 0]),
        "subject": np.array([1, 1, 2]),
        "session": np.array([0, 0, 0]),
        "info": INFO,
    }
    return {**parts, **changes}


def assert_same(a, b):
    assert a.info == b.info
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": np.zeros((3, 10))}, r"x must be \(trials, channels, times\), got shape \(3, 10\)"),
        ({"x": np.zeros((3, 0, 5))}, "x needs one channel and one time at least"),
        ({"x": np.zeros((3, 2, 0))}, r"x needs one channel .* got shape \(3, 2, 0\)"),
        ({"x": np.zeros((3, 2, 5), complex)}, "x must hold real numbers, got complex128"),
        ({"x": np.full((3, 2, 5), "1")}, "x must hold real numbers, got <U1"),
        ({"x": np.full((3, 2, 5), 1j, object)}, "x must hold real numbers, got object"),
        ({"x": [[[1, 2]], [[1]]]}, "x must be one array; its trials differ"),
        ({"x": np.zeros((3, 4, 5))}, "x has 4 channels, but 2 are named"),
        ({"y": np.array([0, 1])}, r"y has shape \(2,\), but x holds 3 trials"),
        ({"y": np.zeros((3, 1), int)}, r"y has shape \(3, 1\), but x holds 3 trials"),
        ({"y": np.array([0, 1, 2])}, "y must hold integers from 0 to 1"),
        ({"y": np.array([0, -1, 1])}, "y must hold integers from 0 to 1"),
        ({"y": np.array([0.0, 1.0, 0.0])}, "y must hold integers from 0 to 1"),
        ({"y": np.array(["rest", "move", "rest"])}, "y must hold integers from 0 to 1"),
        ({"subject": np.array([1, 2])}, r"subject has shape \(2,\), but there are 3 trials"),
        ({"session": np.zeros((3, 2), int)}, r"session has shape \(3, 2\), but there are 3"),
        ({"subject": np.array([1.0, 2.5, 3.0])}, r"subject ids must be integers .*; got 2\.5"),
        ({"session": np.array([True, False, True])}, "session ids must be integers or strings"),
        ({"subject": np.array(["a", 2, "b"], object)}, "subject ids must be all integers or all"),
        ({"subject": np.array(["a", None, "b"], object)}, "subject ids .*; trial 1 has None"),
        ({"subject": np.array([True, False, True], object)}, "subject ids must be integers or"),
        ({"session": np.array([1, 2, 3], "datetime64[D]")}, "session ids must be integers or str"),
    ],
)
def test_parts_that_do_not_fit_are_a_data_error(changes, message):
    """Parts of other lengths, shapes, types or ranges are an error that says what came."""
    with pytest.raises(DataError, match=message):
        Trials(**plain(**changes))


@pytest.mark.parametrize("x", [3.0, np.zeros(4), np.zeros((2, 3)), np.zeros((1, 2, 3, 4))])
def test_from_arrays_wants_three_dimensions(x):
    """Signals that are not (trials, channels, times) are an error that gives their shape."""
    with pytest.raises(DataError, match="x must be"):
        Trials.from_arrays(x, [0], [0], sfreq=1)


def test_types_are_settled_once():
    """Signals become single precision and labels 64-bit integers, whatever came."""
    trials = Trials(**plain(y=np.array([0, 1, 0], np.uint8)))
    assert (trials.x.dtype, trials.y.dtype) == (np.float32, np.int64)


def test_signals_of_the_right_type_are_not_copied():
    """Signals in single precision are held as they are, not copied."""
    x = np.zeros((3, 2, 5), np.float32)
    assert np.shares_memory(Trials(**plain(x=x)).x, x)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b"],
        [10, 3, 10],
        [True, False, True],
        np.array([10, 3, 10], np.uint8),
        np.array(["b", "a", "b"], object),
        np.array(["b", "a", "b"], np.dtypes.StringDType()),
        np.array([True, False, True], object),
    ],
)
def test_any_labels_become_sorted_class_names(labels):
    """Class names are the labels' sorted values, and y their places."""
    trials = Trials.from_arrays(np.zeros((3, 2, 5)), labels, [1, 1, 1], sfreq=100)
    assert trials.info.class_names == tuple(str(v) for v in np.unique(labels))
    assert trials.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("labels", [[2.0, -1.0, 2.0], [2, -1.0, 2], np.array([2, -1, 2.0], "f2")])
def test_whole_floats_are_integers(labels):
    """Integers that came as floats are the labels they were."""
    trials = Trials.from_arrays(np.zeros((3, 2, 5)), labels, [1, 1, 1], sfreq=100)
    assert trials.info.class_names == ("-1", "2")
    assert trials.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, np.nan, 1], "Labels in y must be there for every trial; trial 1 has nan"),
        (np.array([0, np.nan, 1]), "trial 1 has nan"),
        (["a", "b", None], "trial 2 has None"),
        (np.array([None, 1, 1], object), "trial 0 has None"),
        (pd.array([1, 2, None], "Int64"), "trial 2 has (nan|<NA>)"),
        (pd.Series(["a", None, "b"], dtype="string"), "trial 1 has"),
        ([1, "1", 2], "all integers or all strings"),
        ([True, 1, 0], "all integers or all strings"),
        ([b"a", b"b", b"a"], "all integers or all strings"),
        (np.array([b"a", b"b", b"a"]), "must be integers or strings, got |S1"),
        ([0.1, 0.7, 0.3], r"must be integers that 64 bits hold, or strings; got 0\.1"),
        (np.array([1, 2, np.inf]), "got inf"),
        ([10**30, 1, 2], "must fit into 64 bits"),
        ([0, 1], r"y has shape \(2,\), but there are 3 trials"),
        ([[0, 1], [1, 0], [0, 1]], r"y has shape \(3, 2\), but there are 3 trials"),
        ("abc", r"y has shape \(\), but there are 3 trials"),
    ],
)
def test_labels_that_name_no_class_are_a_data_error(labels, message):
    """Labels that are missing, mixed, measured or too few are an error that says which."""
    with pytest.raises(DataError, match=message):
        Trials.from_arrays(np.zeros((3, 2, 5)), labels, [1, 1, 2], sfreq=100)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sfreq": 0}, "sfreq must be above 0 Hz, got 0"),
        ({"sfreq": -1.0}, "sfreq must be above 0 Hz, got -1"),
        ({"sfreq": np.nan}, "sfreq must be a finite number, got nan"),
        ({"sfreq": "100"}, "sfreq must be a finite number, got '100'"),
        ({"sfreq": True}, "sfreq must be a finite number, got True"),
        ({"tmin": np.inf}, "tmin must be a finite number, got inf"),
        ({"tmin": None}, "tmin must be a finite number, got None"),
        ({"ch_names": ("a", "a")}, "Channel names must be distinct; 'a' comes twice"),
        ({"ch_names": ("a", "")}, "Channel names must be strings that name something, got ''"),
        ({"ch_names": (1, 2)}, "Channel names must be strings that name something, got 1"),
        ({"ch_names": "ab"}, "Channel names must be a list of strings, got 'ab'"),
        ({"class_names": ("a", "a")}, "Class names must be distinct; 'a' comes twice"),
        ({"class_names": (0, 1)}, "Class names must be strings .*, got 0"),
    ],
)
def test_info_that_cannot_be_is_a_data_error(change, message):
    """A rate, time or name that cannot be is an error that says what came."""
    with pytest.raises(DataError, match=message):
        replace(INFO, **change)


def test_info_is_plain():
    """NumPy's numbers, strings and lists of names become Python's, so that files can hold them."""
    info = Info(np.float32(100), np.array(["a", "b"]), ["rest", "move"], np.int64(0))
    assert info == INFO
    assert {type(v) for v in (info.sfreq, info.tmin)} == {float}
    assert {type(v) for v in (*info.ch_names, *info.class_names)} == {str}


def test_from_arrays_fills_in_what_is_not_given():
    """Without names channels are numbered; without sessions all trials are of one."""
    trials = Trials.from_arrays(np.zeros((3, 2, 5)), [0, 1, 0], [1, 1, 2], sfreq=100)
    assert trials.info == Info(100.0, ("ch0", "ch1"), ("0", "1"), 0.0)
    assert np.unique(trials.session).tolist() == [0]


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (np.array(["a", "b", "a"], object), "U"),
        (np.array(["a", "b", "a"], np.dtypes.StringDType()), "U"),
        (["a", "b", "a"], "U"),
        (np.array([1, 2, 1], object), "i"),
        (np.array([1, 2, 1], np.uint8), "i"),
        (np.array([1, 2, 1], np.int16), "i"),
        (np.array([1.0, 2.0, 1.0]), "i"),
        (pd.array([1, 2, 1], "Int64"), "i"),
        (pd.Series(["a", "b", "a"], dtype="category"), "U"),
    ],
)
def test_ids_are_integers_or_strings(ids, kind):
    """Identifiers of any integer or string type are taken, and never kept as objects."""
    trials = Trials.from_arrays(np.zeros((3, 2, 5)), [0, 1, 0], ids, sfreq=100)
    assert trials.subject.dtype.kind == kind
    assert kind == "U" or trials.subject.dtype == np.int64
    assert trials.subjects == sorted(set(np.asarray(ids).tolist()))


def test_subjects_are_plain_and_sorted(small_trials):
    """`subjects` has each subject once, sorted, as Python values."""
    trials = small_trials(n_subjects=3)[::-1]
    assert trials.subjects == [1, 2, 3]
    assert {type(s) for s in trials.subjects} == {int}


def test_no_trials_have_no_nuisance_values(small_trials):
    """An empty selection has an empty nuisance."""
    assert small_trials()[:0].nuisance().shape == (0,)


@pytest.mark.parametrize(
    "index",
    [
        slice(3, 30, 4),
        slice(None, None, -1),
        slice(0, 0),
        np.arange(96) % 5 == 1,
        np.zeros(96, bool),
        np.array([5, 5, 0, -1]),
        [2, 1],
        [],
        7,
    ],
    ids=str,
)
def test_a_selection_is_numpys(small_trials, index):
    """A slice, a mask or positions select from every part as NumPy does; one trial stays 3-D."""
    trials = small_trials()
    picked = np.atleast_1d(np.arange(len(trials))[index])
    chosen = trials[index]
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(chosen, name), getattr(trials, name)[picked])
    assert chosen.info == trials.info
    assert len(chosen) == len(picked)


@pytest.mark.parametrize("index", ["a", [0.5], np.array([1.0]), None, ["x"]])
def test_other_selections_are_a_data_error(small_trials, index):
    """What is no slice, mask or positions is an error that says what to use."""
    with pytest.raises(DataError, match="by a slice, a mask or an array of positions"):
        small_trials()[index]


def test_a_slice_is_a_view(small_trials):
    """A slice of trials copies no signals."""
    trials = small_trials()
    assert np.shares_memory(trials[3:9].x, trials.x)


def test_of_keeps_the_order_of_the_trials(small_trials):
    """`of` gives all trials of the named subjects, in the order they were in."""
    trials = small_trials()[::-1]
    assert_same(trials.of([1, 3]), trials[(trials.subject == 1) | (trials.subject == 3)])
    assert_same(trials.of(iter([3, 1])), trials.of([1, 3]))
    assert len(trials.of([])) == 0


def test_of_names_the_missing_subject(small_trials):
    """A subject who is not there is an error that names them and says who is."""
    with pytest.raises(DataError, match=r"No trials of subject 9\. There are: \[1, 2\]"):
        small_trials(n_subjects=2).of([1, 9])
    with pytest.raises(DataError, match="No trials of subject '1'"):
        small_trials().of(["1"])


def test_one_id_is_one_subject(small_trials):
    """A lone id means that subject: a string is not its letters."""
    trials = small_trials()
    named = replace(trials, subject=np.array([f"anna{s}" for s in trials.subject]))
    assert_same(named.of("anna2"), named.of(["anna2"]))
    for one in (2, np.int64(2)):
        assert_same(trials.of(one), trials.of([2]))
    with pytest.raises(DataError, match="No trials of subject 'anna'"):
        named.of("anna")


def test_of_looks_once(small_trials, monkeypatch):
    """Who is there is found out once, not once for each subject that is asked for."""
    looks = []
    monkeypatch.setattr(Trials, "subjects", property(lambda _: looks.append(1) or [1, 2, 3, 4]))
    small_trials().of([1, 2, 3])
    assert len(looks) == 1


def test_parts_join_to_the_whole(small_trials):
    """The trials of each subject, joined, are all trials again."""
    trials = small_trials()
    assert_same(concatenate([trials.of([s]) for s in trials.subjects]), trials)


@pytest.mark.parametrize(
    "change",
    [
        {"sfreq": 250.0},
        {"ch_names": ("a", "b", "c")},
        {"class_names": ("a", "c")},
        {"tmin": 0.1},
    ],
)
def test_trials_that_differ_are_not_joined(small_trials, change):
    """Other channels, rate, classes or times are an error that shows both."""
    trials = small_trials()
    other = replace(trials, info=replace(trials.info, **change))
    with pytest.raises(DataError, match="differ in channels, times, rate or classes"):
        concatenate([trials, trials, other])
    with pytest.raises(DataError, match=r"\(3, 20\).*\(3, 19\)"):
        concatenate([trials, replace(trials, x=trials.x[:, :, :19])])


@pytest.mark.parametrize("kind", ["subject", "session"])
def test_ids_of_two_kinds_are_not_joined(small_trials, kind):
    """Integers are not turned into strings, be they subjects or sessions."""
    trials = small_trials()
    other = replace(trials, **{kind: getattr(trials, kind).astype(str)})
    with pytest.raises(DataError, match=f"{kind} ids must be integers in all parts or strings"):
        concatenate([trials, other])


def test_integers_of_any_size_are_joined(small_trials):
    """Ids that came as small or unsigned integers join with others."""
    trials = small_trials()
    small = replace(trials, subject=trials.subject.astype(np.uint8))
    assert_same(concatenate([small, trials]), concatenate([trials, trials]))


def test_nothing_is_not_joined():
    """To join no trials is an error."""
    with pytest.raises(DataError, match="nothing to concatenate"):
        concatenate([])


def numbered(subject, y):
    """Trials whose signal is their place."""
    n = len(y)
    x = np.arange(n, dtype=np.float32).reshape(n, 1, 1)
    return Trials.from_arrays(x, y, subject, sfreq=1)


def unbalanced():
    subject = np.repeat([1, 2, 3], [110, 60, 30])
    y = np.zeros(200, int)
    y[:4], y[110:116] = 1, 1
    order = np.random.default_rng(0).permutation(200)
    return numbered(subject[order], y[order])


@pytest.mark.parametrize("ratio", [1, 1.5, 2.7, 10, 1000])
def test_thin_keeps_at_most_the_ratio(ratio):
    """Each subject keeps all of their rarest class and at most `ratio` times it of another."""
    trials = unbalanced()
    thinned = trials.thin(ratio)
    for subject, n_rare, n_common in ((1, 4, 106), (2, 6, 54)):
        counts = np.bincount(thinned.of([subject]).y)
        assert counts.tolist() == [min(n_common, int(ratio * n_rare)), n_rare]


def test_thin_keeps_the_order():
    """The trials that stay are in the order they were in, each once."""
    kept = unbalanced().thin(2).x.ravel()
    assert (np.diff(kept) > 0).all()


def test_thin_keeps_all_of_one_class():
    """A subject who shows one class only keeps every trial."""
    assert len(unbalanced().thin(1).of([3])) == 30


def test_thin_is_drawn_from_its_seed():
    """One seed keeps the same trials, another seed others."""
    trials = unbalanced()
    assert_same(trials.thin(2, seed=4), trials.thin(2, seed=4))
    assert not np.array_equal(trials.thin(2, seed=4).x, trials.thin(2, seed=5).x)


def test_thin_draws_for_each_subject_alone():
    """More trials of a later subject do not change which trials of the others stay."""
    trials = unbalanced()
    without = trials[trials.subject != 3]
    assert_same(trials.thin(2).of([1, 2]), without.thin(2))


@pytest.mark.parametrize("ratio", [0.5, 0, -1])
def test_a_ratio_below_one_is_an_option_error(ratio):
    """A ratio that would thin the rarest class is an error that says what came."""
    with pytest.raises(OptionError, match=f"ratio must be at least 1, got {ratio}"):
        unbalanced().thin(ratio)


def test_repr_tells_what_is_there(small_trials):
    """The representation counts trials, subjects, sessions, channels, times and classes."""
    assert repr(small_trials()) == (
        "<Trials: 96 trials of 4 subjects in 8 sessions, 3 channels x 20 times at 100 Hz; "
        "a 72, b 24>"
    )
