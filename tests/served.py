"""A folder served over HTTP from this machine, with the faults that servers on the web have."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Lock, Thread
from time import sleep
from typing import Any, NamedTuple
from urllib.parse import unquote

BLOCK = 1 << 16


class Request(NamedTuple):
    """What was asked for; `start` is where its Range begins, 0 if it has none."""

    method: str
    name: str
    start: int


class Served(ThreadingHTTPServer):
    """The server; its faults are attributes, which may change while it runs.

    Parameters
    ----------
    cuts, cut_after : int
        So many times the connection is cut after so many bytes of a file.
    errors : int
        So many times a file is answered by 500, once no cut is left.
    ranges : bool
        Whether it knows ranges; if not, the answer is 200 and the whole file.
    heads : bool
        Whether it knows HEAD; if not, the answer is 501.
    pause : float
        Seconds before each 64 KiB of a file.
    together : int
        Files are sent once so many are asked for at the same time; alone, after 10 s, none is.
    """

    daemon_threads = True

    def __init__(
        self,
        folder: Path,
        *,
        cuts: int = 0,
        cut_after: int = 0,
        errors: int = 0,
        ranges: bool = True,
        heads: bool = True,
        pause: float = 0.0,
        together: int = 1,
    ) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.requests, self.turn = folder, list[Request](), Lock()
        self.cuts, self.cut_after, self.errors = cuts, cut_after, errors
        self.ranges, self.heads, self.pause = ranges, heads, pause
        self.together = Barrier(together)

    @property
    def url(self) -> str:
        """The address of the folder."""
        return f"http://127.0.0.1:{self.server_port}"

    def starts(self, name: str) -> list[int]:
        """Where each request for a file's content began."""
        return [r.start for r in self.requests if (r.method, r.name) == ("GET", name)]

    def is_due(self, fault: str) -> bool:
        """Whether a fault that comes so many times comes now; it is counted down."""
        with self.turn:
            left = getattr(self, fault)
            setattr(self, fault, max(left - 1, 0))
            return bool(left)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: clients that leave early are none of the server's business."""


class Answer(BaseHTTPRequestHandler):
    """The answer to one request."""

    server: Served

    def do_HEAD(self) -> None:
        """The size of a file."""
        path, _ = self.asked()
        if not self.server.heads:
            self.send_error(501)
        elif not path.is_file():
            self.send_error(404)
        else:
            self.head(200, path.stat().st_size)

    def do_GET(self) -> None:
        """A file, or what is left of it."""
        path, start = self.asked()
        self.server.together.wait(10)
        cut = self.server.is_due("cuts")
        if not cut and self.server.is_due("errors"):
            self.send_error(500)
        elif not path.is_file():
            self.send_error(404)
        else:
            content = path.read_bytes()
            ranged = self.server.ranges and "Range" in self.headers
            self.send(content, start if ranged else None, cut=cut)

    def asked(self) -> tuple[Path, int]:
        """Which file is asked for, from which byte on; the request is logged."""
        name = unquote(self.path).removeprefix("/")
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        self.server.requests.append(Request(self.command, name, start))
        return self.server.folder / name, start

    def send(self, content: bytes, start: int | None, *, cut: bool) -> None:
        """Answer with all of `content` or, where a range is asked for, with its end."""
        whole = len(content)
        if start is None:
            self.head(200, whole)
        elif start >= whole:
            self.head(416, 0, f"bytes */{whole}")
            return
        else:
            self.head(206, whole - start, f"bytes {start}-{whole - 1}/{whole}")
        content = content[start or 0 :][: self.server.cut_after if cut else None]
        for place in range(0, len(content), BLOCK):
            sleep(self.server.pause)
            self.wfile.write(content[place : place + BLOCK])

    def head(self, status: int, length: int, content_range: str | None = None) -> None:
        """Everything that comes before the content."""
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: the server has its own log."""


@contextmanager
def serving(folder: Path, **faults: Any) -> Iterator[Served]:
    """A server of `folder` at `.url`, for as long as the block lasts, which logs `.requests`."""
    with Served(folder, **faults) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
