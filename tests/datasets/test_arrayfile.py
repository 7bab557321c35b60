"""Arrays in files become trials."""

import csv
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from censorium.datasets.arrayfile import array_parts, read_arrays
from censorium.errors import DataError, FileError, OptionError

SHARED = Path(__file__).parents[3] / "shared" / "data"
X = np.random.default_rng(0).standard_normal((6, 3, 20)).astype(np.float32)
Y = ["go", "stop", "go", "go", "stop", "stop"]
WHO = ["anna", "anna", "ben", "ben", "cleo", "cleo"]
DAY = [1, 2, 1, 2, 1, 2]


def npz(path, **changes):
    """Write six trials of three people; a change of None leaves an array out."""
    arrays = {"x": X, "y": Y, "subject": WHO, "session": DAY, "sfreq": 100.0} | changes
    np.savez(path, **{name: a for name, a in arrays.items() if a is not None})
    return path


def npy(path, kind="csv", people=WHO):
    """The same as .npy with a table beside it."""
    np.save(path, X)
    columns = {"label": Y, "subject": people, "session": DAY}
    if kind == "parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns), path.with_suffix(".parquet"))
    else:
        with path.with_suffix(".csv").open("w", newline="") as file:
            csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


def test_an_npz_is_trials(tmp_path):
    """Signals, labels, ids and what else is in the file come over."""
    path = npz(tmp_path / "a.npz", ch_names=["Fz", "Cz", "Pz"], tmin=-0.2)
    trials = read_arrays(path)
    np.testing.assert_array_equal(trials.x, X)
    assert [trials.info.class_names[k] for k in trials.y] == Y
    assert (trials.subject.tolist(), trials.session.tolist()) == (WHO, DAY)
    assert trials.info.ch_names == ("Fz", "Cz", "Pz")
    assert (trials.info.sfreq, trials.info.tmin) == (100.0, -0.2)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_npy_with_a_table_is_trials(tmp_path, kind):
    """A table beside it gives labels and ids, options the rate; the signals stay on disk."""
    path = npy(tmp_path / "a.npy", kind)
    trials = read_arrays(path, sfreq=100, ch_names=["Fz", "Cz", "Pz"])
    np.testing.assert_array_equal(trials.x, X)
    assert isinstance(trials.signals, np.memmap)
    assert [trials.info.class_names[k] for k in trials.y] == Y
    assert (trials.subject.tolist(), trials.session.tolist()) == (WHO, DAY)
    elsewhere = path.with_suffix(f".{kind}").rename(tmp_path / f"table.{kind}")
    again = read_arrays(path, metadata=elsewhere, sfreq=100)
    np.testing.assert_array_equal(again.y, trials.y)
    with pytest.raises(FileError, match=r"needs a table .* there is no .*a\.parquet or .*a\.csv"):
        read_arrays(path, sfreq=100)


def test_ids_in_a_csv_keep_their_zeros(tmp_path):
    """Whole numbers are integers, "01" is a name."""
    for people, found in ((list("112233"), [1, 2, 3]), (["01", "1"] * 3, ["01", "1"])):
        path = npy(tmp_path / "a.npy", people=people)
        assert read_arrays(path, sfreq=1).subjects == found


def test_scale_and_unit_make_volts(tmp_path):
    """Integers times `scale`, in the file's unit; an option goes before both."""
    counts = np.arange(6 * 3 * 20, dtype=np.int16).reshape(6, 3, 20)
    path = npz(tmp_path / "a.npz", x=counts, scale=0.5, unit="uV")
    np.testing.assert_allclose(read_arrays(path).x, counts * 0.5e-6, rtol=1e-6)
    np.testing.assert_allclose(read_arrays(path, scale=2.0).x, counts * 2.0, rtol=1e-6)
    # What is no count was scaled before; what has no unit that is known stays.
    path = npz(tmp_path / "b.npz", x=X, scale=0.5, unit="arbitrary")
    np.testing.assert_array_equal(read_arrays(path).x, X)


def test_people_classes_and_channels_are_chosen(tmp_path):
    """Whom, which labels and which channels: by name."""
    path = npz(tmp_path / "a.npz", ch_names=["Fz", "EOG", "Pz"])
    trials = read_arrays(path, subjects=["ben", "cleo"], drop=["EOG"], classes={"stop": "halt"})
    np.testing.assert_array_equal(trials.x, X[4:, [0, 2]])
    assert trials.info.class_names == ("halt",)
    assert trials.info.ch_names == ("Fz", "Pz")
    for wrong, said in (
        ({"subjects": ["bem"]}, r"Unknown subject 'bem'\. Did you mean 'ben'\?"),
        ({"drop": ["EOX"]}, r"Unknown channel 'EOX'\. Did you mean 'EOG'\?"),
        ({"classes": ["stopp"]}, r"Unknown event 'stopp'\. Did you mean 'stop'\?"),
    ):
        with pytest.raises(OptionError, match=said):
            read_arrays(path, **wrong)


def test_what_is_missing_is_named(tmp_path):
    """An array that is not there, and a rate that nobody tells."""
    path = npz(tmp_path / "a.npz", y=None, target=Y)
    said = r"a\.npz: Unknown array 'y'.* Known: .*target, x\. Name the one that is y: y=\.\.\."
    with pytest.raises(DataError, match=said):
        read_arrays(path)
    assert read_arrays(path, y="target").y.tolist() == [0, 1, 0, 0, 1, 1]
    with pytest.raises(DataError, match=r"Unknown array 'day'"):
        read_arrays(path, y="target", session="day")
    with pytest.raises(DataError, match=r"does not say its sampling rate\. Pass sfreq="):
        read_arrays(npz(tmp_path / "b.npz", sfreq=None))
    with pytest.raises(DataError, match=r"trials, channels, times\), got shape \(6, 3\)"):
        read_arrays(npz(tmp_path / "c.npz", x=X[:, :, 0]))
    one = read_arrays(npz(tmp_path / "d.npz", session=None))
    assert set(one.session) == {0}


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
@pytest.mark.parametrize("share", [0, 0.02, 0.5, 0.95])
def test_a_file_cut_short_is_a_file_error(tmp_path, suffix, share):
    """Wherever it breaks off."""
    path = (npz if suffix == ".npz" else npy)(tmp_path / f"a{suffix}")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(FileError, match="is cut short, altered, or holds something else"):
        read_arrays(path, sfreq=1)


def test_nothing_in_a_file_is_executed(tmp_path):
    """Pickled objects are refused, whatever they would do."""

    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    for path in (tmp_path / "a.npz", tmp_path / "a.npy"):
        (npz if path.suffix == ".npz" else npy)(path)
    npz(tmp_path / "a.npz", subject=np.array([Trap()] * 6, dtype=object))
    np.save(tmp_path / "a.npy", np.array([Trap()] * 6, dtype=object), allow_pickle=True)
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Trap()))
    for name in ("a.npz", "a.npy", "b.npz"):
        with pytest.raises(FileError, match="something else than plain arrays"):
            read_arrays(tmp_path / name, sfreq=1)
    assert not (tmp_path / "sprung").exists()


def test_parts_of_arrays(tmp_path):
    """An .npz is one part; an .npy one for each person, each reading theirs only."""
    assert list(array_parts(npz(tmp_path / "all.npz"))) == ["all"]
    parts = array_parts(npy(tmp_path / "a.npy"), sfreq=100)
    assert list(parts) == ["sub-anna", "sub-ben", "sub-cleo"]
    trials = pickle.loads(pickle.dumps(parts["sub-ben"]))()  # noqa: S301
    np.testing.assert_array_equal(trials.x, X[2:4])
    assert trials.subjects == ["ben"]
    assert list(array_parts(tmp_path / "a.npy", sfreq=100, subjects="ben")) == ["sub-ben"]
    with pytest.raises(OptionError, match=r"option of a file of arrays 'sfrq'.*'sfreq'"):
        array_parts(tmp_path / "a.npy", sfrq=100)
    with pytest.raises(FileError, match="There is no file"):
        array_parts(tmp_path / "gone.npz")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, monkeypatch):
    """A missing extra is named."""
    path = npy(tmp_path / "a.npy", "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(OptionError, match=r"needs pyarrow: pip install 'censorium\[parquet\]'"):
        read_arrays(path, sfreq=100)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("uci_smni20", {"y": "cond", "drop": ("X", "Y", "nd")}, (20, 1056, 61, 256, "012")),
        ("ssvep_exo12", {"y": "label"}, (12, 864, 8, 256, "1234")),
        ("arith36", {}, (36, 4338, 8, 128, "01")),
    ],
)
def test_real_files_hold_what_their_readme_says(name, options, expected):
    """Every file of ../shared/data opens by names alone: people, trials, channels, rate, labels."""
    path = SHARED / f"{name}.npz"
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail("The recordings in ../shared/data are missing in CI.")
        pytest.skip("The recordings in ../shared/data are not part of the repository.")
    found = read_arrays(path, x="X_int16", **options)
    classes = "".join(found.info.class_names)
    assert (len(found.subjects), *found.x.shape[:2], found.info.sfreq, classes) == expected
    # Where the unit is known, people's signals are some µV to some hundred.
    if name != "ssvep_exo12":
        assert 1e-6 < float(np.median(found.x[::10].std(axis=(1, 2)))) < 1e-4
