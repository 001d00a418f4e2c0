"""An HTTP server that sends ranges of files, and misbehaves when asked to; for this machine alone."""

from __future__ import annotations

import hashlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Server(ThreadingHTTPServer):
    """Serves the files below `root`. `fault` is called with each request's handler, and the range that was
    asked for; it returns True if it has answered the request."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.fault: Callable[[Handler, int, int], bool] | None = None
        self.lock = threading.Lock()
        self.log: list[tuple[str, int, int]] = []
        self.etags: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # who was cut off says so on the other side


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def find(self) -> Path | None:
        path = self.server.root / unquote(urlsplit(self.path).path).removeprefix("/to").lstrip("/")
        return path if path.is_file() else None

    def do_GET(self) -> None:
        path = self.find()
        self.size = path.stat().st_size if path else 0
        first, end = 0, self.size
        if "Range" in self.headers:
            begin, last = self.headers["Range"].removeprefix("bytes=").split("-")
            first, end = int(begin), min(int(last) + 1, self.size)
        with self.server.lock:
            self.server.log.append((self.path, first, end))
        if self.server.fault and self.server.fault(self, first, end):
            return
        if path is None:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        elif self.headers.get("If-Match", self.etag()) != self.etag():
            self.answer(412)
        else:
            self.send_range(first, end)

    def read(self, first: int, end: int) -> bytes:
        """Bytes first ... end-1 of the file."""
        path = self.find()
        if path is None:
            return b""
        with path.open("rb") as file:
            file.seek(first)
            return file.read(end - first)

    def etag(self) -> str:
        path = urlsplit(self.path).path.removeprefix("/to")
        return '"' + self.server.etags.setdefault(path, hashlib.md5(path.encode()).hexdigest()) + '"'

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A whole answer that is no range."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_range(
        self, first: int, end: int, sent: bytes | None = None, length: int | None = None, **headers: str
    ) -> None:
        """Bytes first ... end-1; or `sent`, which says it is those."""
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{end - 1}/{self.size}")
        self.send_header("ETag", self.etag())
        self.send_header("Content-Length", str(end - first if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(self.read(first, end) if sent is None else sent)

    def reset(self) -> None:
        """Breaks the connection off, as a machine that falls over does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def cut(self, first: int, end: int) -> None:
        """Sends half of the bytes, and closes."""
        self.send_range(first, end, self.read(first, (first + end) // 2))
        self.wfile.flush()
        self.close_connection = True


class Times:
    """Does something the first `count` times; not for the first request of a file, unless told so."""

    def __init__(self, count: int, what: Callable[[Handler, int, int], None], opening: bool = False) -> None:
        self.count, self.what, self.opening, self.lock = count, what, opening, threading.Lock()

    def __call__(self, handler: Handler, first: int, end: int) -> bool:
        with self.lock:
            if self.count == 0 or not (self.opening or first > 0):
                return False
            self.count -= 1
        self.what(handler, first, end)
        return True


@contextmanager
def serving(root: Path) -> Iterator[Server]:
    """A server over `root`, in a thread of its own."""
    server = Server(root)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
