"""Files from the web arrive bit for bit, or not at all, whatever the server and the disk do."""

import hashlib
import shutil
from collections import namedtuple
from threading import Thread

import numpy as np
import pytest

from censorium.datasets import download
from censorium.datasets.download import ATTEMPTS, SPARE, Wanted, fetch, take
from censorium.errors import FileError
from served import serving

N_BYTES = 300_000
CUT = 100_000
Disk = namedtuple("Disk", "total used free")  # as shutil.disk_usage gives


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    """Failed attempts are repeated at once."""
    monkeypatch.setattr(download, "PAUSE", 0.0)


@pytest.fixture
def held(tmp_path):
    """The folder that is served."""
    (tmp_path / "held").mkdir()
    return tmp_path / "held"


@pytest.fixture
def folder(tmp_path):
    """The folder that is downloaded to."""
    return tmp_path / "new" / "folder"


def put(held, name="a b.zip", n_bytes=N_BYTES):
    """Random bytes in a file; it by name and digest."""
    content = np.random.default_rng(list(name.encode())).bytes(n_bytes)
    (held / name).write_bytes(content)
    return Wanted(name, hashlib.sha256(content).hexdigest())


def names(folder):
    return {p.name for p in folder.iterdir()} - {".lock"}


def assert_same(folder, held, files):
    for wanted in files:
        assert (folder / wanted.name).read_bytes() == (held / wanted.name).read_bytes()
    assert names(folder) == {wanted.name for wanted in files}


def test_what_is_fetched_is_bit_equal(held, folder):
    """Files arrive as they are served, and are not asked for again."""
    sizes = {"a b.zip": 3_000_000, "b": 1, "ö.mat": 70_000}
    files = [put(held, name, n) for name, n in sizes.items()]
    with serving(held) as server:
        fetch(files, folder, server.url)
        assert_same(folder, held, files)
        assert len(server.requests) == 6
        fetch(files, folder, server.url + "/")
        assert len(server.requests) == 6


def test_a_second_call_needs_no_space(held, folder, monkeypatch):
    """Where all files are there, a disk that is full is no hindrance."""
    files = [put(held)]
    with serving(held) as server:
        fetch(files, folder, server.url)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(1, 1, 0))
        fetch(files, folder, server.url)
        take(files, held, folder, on_bytes=lambda *_: None)


def test_an_empty_file_is_fetched(held, folder):
    """A file of no bytes has no range that a server could send, and arrives."""
    files = [put(held, n_bytes=0)]
    with serving(held) as server:
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_bytes_are_counted(held, folder):
    """Each call says how many bytes are there, rising to the total; those of before count."""
    files, seen = [put(held, name) for name in "abc"], []
    folder.mkdir(parents=True)
    (folder / "a.part").write_bytes((held / "a").read_bytes()[:CUT])
    with serving(held, cuts=2, cut_after=CUT) as server:
        fetch(files, folder, server.url, on_bytes=lambda *counts: seen.append(counts))
    done = [d for d, _ in seen]
    assert {total for _, total in seen} == {3 * N_BYTES}
    assert done == sorted(done)
    assert CUT <= done[0] < done[-1] == 3 * N_BYTES


def test_files_come_in_parallel(held, folder):
    """As many files are asked for at the same time as connections are allowed."""
    files = [put(held, name) for name in "abc"]
    with serving(held, together=3) as server:
        fetch(files, folder, server.url, connections=3)
    assert_same(folder, held, files)


def test_a_cut_connection_is_resumed(held, folder):
    """After a cut, the rest is asked for and nothing that came before."""
    files = [put(held)]
    with serving(held, cuts=2, cut_after=CUT) as server:
        fetch(files, folder, server.url)
        assert server.starts("a b.zip") == [0, CUT, 2 * CUT]
    assert_same(folder, held, files)


def test_a_download_is_resumed_by_another_call(held, folder):
    """What a server that then fails has sent is kept, and another call asks for the rest."""
    files = [put(held)]
    with serving(held, cuts=1, cut_after=CUT, errors=10**9) as server:
        with pytest.raises(FileError, match=r"cannot be downloaded: .*500.* What came is kept"):
            fetch(files, folder, server.url)
        assert server.starts("a b.zip") == [0] + ATTEMPTS * [CUT]
        assert (folder / "a b.zip.part").stat().st_size == CUT
        assert not (folder / "a b.zip").exists()
        server.errors = 0
        server.requests.clear()
        fetch(files, folder, server.url)
        assert server.starts("a b.zip") == [CUT]
    assert_same(folder, held, files)


def test_a_break_by_the_user_keeps_what_came(held, folder):
    """Whatever ends a call, the next one goes on from the bytes that were written."""
    files = [put(held)]

    def end(done, _):
        if done > CUT:
            raise KeyboardInterrupt

    with serving(held) as server:
        with pytest.raises(KeyboardInterrupt):
            fetch(files, folder, server.url, on_bytes=end)
        kept = (folder / "a b.zip.part").stat().st_size
        assert kept > CUT
        fetch(files, folder, server.url)
        assert server.starts("a b.zip") == [0] + [kept] * (kept < N_BYTES)
    assert_same(folder, held, files)


def test_cuts_that_bring_something_are_no_failures(held, folder):
    """A server may cut more often than the attempts allowed, as long as bytes come."""
    files = [put(held)]
    with serving(held, cuts=10**9, cut_after=N_BYTES // (3 * ATTEMPTS)) as server:
        fetch(files, folder, server.url)
        assert len(server.starts("a b.zip")) >= 3 * ATTEMPTS
    assert_same(folder, held, files)


def test_a_server_without_ranges(held, folder):
    """A file that always comes from its beginning is begun anew, and its bytes counted once."""
    files, seen = [put(held)], []
    with serving(held, ranges=False, cuts=2, cut_after=CUT) as server:
        fetch(files, folder, server.url, on_bytes=lambda *counts: seen.append(counts))
        assert server.starts("a b.zip") == [0, CUT, CUT]
    assert_same(folder, held, files)
    assert seen[-1] == (N_BYTES, N_BYTES)


def test_a_server_that_does_not_tell_sizes(held, folder):
    """Without an answer to HEAD, files arrive all the same."""
    files = [put(held)]
    with serving(held, heads=False) as server:
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_a_whole_part_is_only_verified(held, folder):
    """Where a break came just before the end, the server has nothing left to send."""
    files = [put(held)]
    folder.mkdir(parents=True)
    shutil.copy(held / "a b.zip", folder / "a b.zip.part")
    with serving(held) as server:
        fetch(files, folder, server.url)
        assert server.starts("a b.zip") == [N_BYTES]
    assert_same(folder, held, files)


def test_errors_of_the_server_pass(held, folder):
    """A server that fails less often than the attempts allowed is no error."""
    files = [put(held)]
    with serving(held, errors=ATTEMPTS - 1) as server:
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_a_server_that_keeps_failing(held, folder):
    """After so many attempts that brought nothing: an error with the address and the reason."""
    files = [put(held)]
    with serving(held, errors=10**9) as server:
        with pytest.raises(FileError, match=f"{server.url}/a%20b.zip cannot.*500") as caught:
            fetch(files, folder, server.url)
        assert len(server.starts("a b.zip")) == ATTEMPTS
    assert "is kept" not in str(caught.value)
    assert names(folder) == set()


def test_nobody_at_the_address(held, folder):
    """A server that is gone is an error that names the address."""
    with serving(held) as server:
        url = server.url
    with pytest.raises(FileError, match=f"{url}/a%20b.zip cannot be reached"):
        fetch([put(held)], folder, url)


@pytest.mark.parametrize("kept", [b"", b"other bytes", bytes(N_BYTES + 1)])
def test_wrong_content_is_refused(held, folder, kept):
    """The error names file and digests; neither the file nor what came of it stays."""
    wanted = put(held)
    folder.mkdir(parents=True)
    (folder / "a b.zip.part").write_bytes(kept)
    if not kept:
        (held / "a b.zip").write_bytes(b"altered")
    with serving(held) as server, pytest.raises(FileError) as caught:
        fetch([wanted], folder, server.url)
    content = kept + (held / "a b.zip").read_bytes()[len(kept) :]
    found = hashlib.sha256(content).hexdigest()
    for word in (wanted.name, wanted.sha256, found):
        assert word in str(caught.value)
    assert names(folder) == set()


def test_a_missing_file_is_told_at_once(held, folder):
    """If the server lacks a file, nothing is downloaded of the others."""
    files = [put(held, "a"), Wanted("b", "0" * 64)]
    with serving(held) as server:
        with pytest.raises(FileError, match=f"{server.url}/b answers 404"):
            fetch(files, folder, server.url)
        assert {r.method for r in server.requests} == {"HEAD"}
    assert names(folder) == set()


def test_a_file_without_digest_may_be_missing(held, folder):
    """One that is not there is no error; one that is comes as it is."""
    files = [put(held, "a"), Wanted("notes")]
    with serving(held) as server:
        fetch(files, folder, server.url)
        assert_same(folder, held, files[:1])
        put(held, "notes")
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_no_space_is_told_at_once(held, folder, monkeypatch):
    """What will not fit, with what is left alone of the disk, is not begun."""
    files = [put(held)]
    with serving(held) as server:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(0, 0, SPARE + N_BYTES - 1))
        with pytest.raises(FileError, match="No space left"):
            fetch(files, folder, server.url)
        assert server.starts("a b.zip") == []
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Disk(0, 0, SPARE + N_BYTES))
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_a_disk_that_fills_up(held, folder):
    """Where the disk has no room after all, the error says so and what came makes room."""
    folder.mkdir(parents=True)
    (folder / "a b.zip.part").symlink_to("/dev/full")
    with serving(held) as server, pytest.raises(FileError, match="No space left"):
        fetch([put(held)], folder, server.url)
    assert names(folder) == set()


def test_a_place_that_cannot_be_written(held, folder):
    """What the system says of it becomes an error with the address."""
    (folder / "a b.zip.part").mkdir(parents=True)
    with serving(held) as server, pytest.raises(FileError, match=r"a%20b.zip cannot.*directory"):
        fetch([put(held)], folder, server.url)


def test_where_one_fails_the_others_stop(held, folder):
    """The error is that of the file that failed; what came of others is kept."""
    files = [put(held, "large", 1 << 24), put(held, "small", 10)]
    (held / "small").write_bytes(b"altered")
    with serving(held, pause=0.05) as server:  # 13 s for the large file
        with pytest.raises(FileError, match="small is not the published file"):
            fetch(files, folder, server.url)
        assert names(folder) <= {"large.part"}
        server.pause = 0.0
        shutil.copy(held / "large", held / "small")
        files[1] = Wanted("small", files[0].sha256)
        fetch(files, folder, server.url)
    assert_same(folder, held, files)


def test_two_calls_at_once_fetch_each_file_once(held, folder):
    """The second waits for the first, and finds everything there."""
    files = [put(held, name) for name in "ab"]
    with serving(held, pause=0.02) as server:
        calls = [Thread(target=fetch, args=(files, folder, server.url)) for _ in range(2)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        assert (server.starts("a"), server.starts("b")) == ([0], [0])
    assert_same(folder, held, files)


@pytest.mark.parametrize("base", ["ftp://host/path", "file:///held", "/held", "", "host/path"])
def test_what_is_no_address_of_the_web(folder, base):
    """Only http and https are fetched from; nothing is made for others."""
    with pytest.raises(FileError, match="is no address of the web"):
        fetch([Wanted("a", "0" * 64)], folder, base)
    assert not folder.exists()


def test_files_are_taken_from_a_folder(held, folder):
    """They are copied bit for bit, once; of two parts one may be missing that has no digest."""
    files, seen = [put(held, "a", 3_000_000), put(held, "b"), Wanted("notes")], []
    for _ in range(2):
        take(files, held, folder, on_bytes=lambda *counts: seen.append(counts))
    assert_same(folder, held, files[:2])
    assert seen[-1] == (3_000_000 + N_BYTES, 3_000_000 + N_BYTES)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_wrong_files_are_not_taken(held, folder):
    """One that is missing, or is not what it must be, is an error; nothing of it stays."""
    wanted = Wanted("a", "0" * 64)
    with pytest.raises(FileError, match=f"{held} lacks a"):
        take([wanted], held, folder, on_bytes=lambda *_: None)
    put(held, "a")
    with pytest.raises(FileError, match="a is not the published file"):
        take([wanted], held, folder, on_bytes=lambda *_: None)
    assert names(folder) == set()
    assert names(held) == {"a"}


def test_a_disk_that_fills_up_while_files_are_taken(held, folder):
    """As when they come from the web: the error says so, and nothing of the file stays."""
    folder.mkdir(parents=True)
    (folder / "a b.zip.part").symlink_to("/dev/full")
    with pytest.raises(FileError, match="No space left"):
        take([put(held)], held, folder, on_bytes=lambda *_: None)
    assert names(folder) == set()
