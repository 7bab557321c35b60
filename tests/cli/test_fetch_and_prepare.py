"""Recordings brought in by the command line, as a person does it: fetch, prepare, look."""

import os
import signal
import subprocess
import sys
import time

import mne
import numpy as np
import pytest
from click.testing import CliRunner

from censorium import Trials
from censorium.cli import main
from censorium.cli.prepare import numbers, option
from censorium.datasets.thu_rsvp.simulated import write_simulated
from served import serving


def censorium(*words):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(w) for w in words])


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The zips of two simulated people, and their digests in a file beside them."""
    folder = tmp_path_factory.mktemp("published")
    digests = write_simulated(folder, [1, 11], n_sequences=1)
    lines = [f"{digest}  {name}\n" for name, digest in digests.items()]
    (folder / "SHA256SUMS").write_text("".join(lines))
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for data."""
    monkeypatch.setenv("CENSORIUM_DATA", str(tmp_path / "home"))
    return tmp_path


def test_from_a_server_to_a_folder_of_trials(published, home):
    """`data fetch` brings zips, `data prepare` makes trials of them, which `data check` passes."""
    with serving(published) as server:
        fetched = censorium(
            *("data", "fetch", "thu-rsvp", "--from", server.url),
            *("--digests", published / "SHA256SUMS"),
        )
    assert fetched.exit_code == 0, fetched.output
    assert str(home / "home" / "thu-rsvp") in fetched.output.replace("\n", "")
    made = censorium(
        *("data", "prepare", "thu-rsvp", home / "trials", "--subjects", "1,11"),
        *("--workers", 1, "-o", "ratio=5"),
    )
    assert made.exit_code == 0, made.output
    trials = Trials.load(home / "trials")
    assert trials.subjects == [1, 11]
    assert np.bincount(trials.y)[0] == 5 * np.bincount(trials.y)[1]
    assert censorium("data", "check", home / "trials").exit_code == 0


def test_a_wrong_digest_leaves_nothing(published, home):
    """Files that are not the published ones are refused, and none of them stays."""
    result = censorium("data", "fetch", "thu-rsvp", "--from", published, "--subjects", 1)
    assert result.exit_code == 2
    assert "64-channels.loc" in result.output
    (published / "64-channels.loc").write_text("other")
    result = censorium("data", "fetch", "thu-rsvp", "--from", published, "--subjects", 1)
    (published / "64-channels.loc").unlink()
    assert result.exit_code == 2
    assert "is not the published file" in result.output
    assert [p.name for p in (home / "home" / "thu-rsvp").iterdir()] == [".lock"]


def test_recordings_become_trials(tmp_path):
    """Files that MNE reads become a folder of trials, in natural order of subjects."""
    rng = np.random.default_rng(0)
    (tmp_path / "recordings").mkdir()
    for subject in (10, 2):
        info = mne.create_info(["C3", "C4"], 250, "eeg")
        raw = mne.io.RawArray(1e-5 * rng.standard_normal((2, 7500)), info, verbose="error")
        raw.set_annotations(mne.Annotations(np.arange(2, 26, 2), 0, ["left", "right", "rest"] * 4))
        raw.save(tmp_path / "recordings" / f"sub-{subject}_raw.fif", verbose="error")
    made = censorium(
        *("data", "prepare", tmp_path / "recordings", tmp_path / "trials", "--workers", 1),
        *("-o", "classes=left,right", "-o", "band=1,30", "-o", "seconds=1", "-o", "notch=none"),
    )
    assert made.exit_code == 0, made.output
    trials = Trials.load(tmp_path / "trials")
    assert list(dict.fromkeys(trials.subject.tolist())) == ["2", "10"]
    assert trials.info.class_names == ("left", "right")
    assert len(trials) == 16


def test_a_changed_recording_is_prepared_anew(tmp_path):
    """Trials of a file that was changed since are not taken for those of the file."""
    x = np.random.default_rng(0).standard_normal((20, 2, 30))
    arrays = {"y": np.arange(20) % 2, "subject": np.arange(20) // 10, "sfreq": 100.0}
    command = ("data", "prepare", tmp_path / "t.npz", tmp_path / "trials", "--workers", 1)
    for scale in (1.0, 2.0):
        np.savez(tmp_path / "t.npz", x=scale * x, **arrays)
        assert censorium(*command).exit_code == 0
        np.testing.assert_allclose(Trials.load(tmp_path / "trials").x, scale * x, rtol=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("thu-rsp",), "Did you mean 'thu-rsvp'"),
        (("thu-rsvp", "-o", "casual=1"), "Did you mean 'causal'"),
        (("thu-rsvp", "--subjects", "0-3"), "from 1 to 64"),
        (("thu-rsvp", "-o", "ratio"), "NAME=VALUE"),
        (("thu-rsvp",), "censorium data fetch thu-rsvp"),
        (("moabb:BI2014b2",), "Did you mean"),
    ],
)
def test_errors_come_before_any_work(home, words, message):
    """Sources and options that there are not are errors of one sentence, and write nothing."""
    source, *rest = words
    result = censorium("data", "prepare", source, home / "trials", *rest)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (home / "trials").exists()


def test_what_options_mean():
    """Options are numbers, words, lists and JSON; ids are numbers, ranges and names."""
    assert option("band=1,20.5") == ("band", [1, 20.5])
    assert option("notch=none") == ("notch", None)
    assert option("causal=False") == ("causal", False)
    assert option("x=X_int16") == ("x", "X_int16")
    assert option('classes={"S  1": "target", "S  2": "other"}')[1]["S  2"] == "other"
    assert numbers("1-3,12,sub-7") == [1, 2, 3, 12, "sub-7"]


def test_killed_and_run_again(published, tmp_path):
    """Killed in the middle, the same command goes on: sessions that are done are not made again."""
    words = (sys.executable, "-m", "censorium", "data", "prepare", "thu-rsvp")
    command = [*words, str(tmp_path / "trials"), "--subjects", "1,11", "--workers", "1"]
    command += ["-o", f"source={published}"]
    parts = tmp_path / ".trials.parts"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (parts / "sub1A").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    done = {p.name: p.stat().st_mtime_ns for p in parts.glob("sub*/info.json")}
    assert not (tmp_path / "trials").exists()
    assert (parts / "sub1A").exists()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "of 4 parts were prepared before: going on" in result.stderr
    assert len(Trials.load(tmp_path / "trials")) == 2 * 2 * 33
    assert not parts.exists()
    assert done
