#!/usr/bin/env python3
"""Epochs of a store at a URL, beside what the link carries.

    bench/remote.py STORE [OPTION OF apldata bench]...

A server of this script's own serves the store: each answer begins after DELAY (0.02) seconds, and all answers together take RATE (125e6)
bytes a second. It measures the link by eight connections that fetch the file, runs apldata bench on the URL and on the directory, and
says how many requests an epoch took. Then it fills a cache, and compares first epochs from that with those of the directory.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DELAY, RATE = float(os.environ.get("DELAY", 0.02)), float(os.environ.get("RATE", 125e6))
COMMAND = os.environ.get("APLDATA", "build/apldata")
PIECE, ROUNDS = 1 << 16, int(os.environ.get("ROUNDS", 5))


class Link:
    """What all answers share: a piece is sent when those before it have gone."""

    def __init__(self) -> None:
        self.lock, self.free, self.requests, self.bytes = threading.Lock(), 0.0, 0, 0

    def carry(self, n: int) -> None:
        with self.lock:
            self.free = max(self.free, time.monotonic()) + n / RATE
            self.bytes += n
            wait = self.free - time.monotonic()
        if wait > 0.001:
            time.sleep(wait)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    root: Path
    link = Link()

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.root / self.path.lstrip("/")
        time.sleep(DELAY)
        self.link.requests += 1
        if not path.is_file():
            self.send_error(404)
            return
        size = path.stat().st_size
        first, end = 0, size
        if "Range" in self.headers:
            a, b = self.headers["Range"].removeprefix("bytes=").split("-")
            first, end = int(a), min(size, int(b) + 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - first))
        self.send_header("ETag", '"x"')
        self.end_headers()
        with path.open("rb") as file:
            while first < end:
                n = min(PIECE, end - first)
                self.link.carry(n)
                self.wfile.flush()
                os.sendfile(self.connection.fileno(), file.fileno(), first, n)
                first += n


def serve(root: Path) -> ThreadingHTTPServer:
    Handler.root = root
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def fetch(url: str, size: int, parts: int = 8) -> float:
    """Bytes per second, by that many connections."""

    def part(i: int) -> None:
        step = -(-size // parts)
        headers = {"Range": f"bytes={i * step}-{min(size, (i + 1) * step) - 1}"}
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            while answer.read(1 << 20):
                pass

    threads = [threading.Thread(target=part, args=(i,)) for i in range(parts)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return size / (time.monotonic() - begin)


def bench(path: str, options: list[str]) -> dict:
    done = subprocess.run(
        [COMMAND, "bench", "--json", *options, path], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def first_epoch(path: str, options: list[str]) -> tuple[float, float]:
    """CPU seconds and seconds."""
    epoch = bench(path, ["--epochs", "1", *options])["rows"][0]["epochs"][0]
    return epoch["cpu_seconds"], epoch["seconds"]


def compare_cache(url: str, store: Path, options: list[str]) -> None:
    """By turns, and the least of each counts."""
    with tempfile.TemporaryDirectory(dir=store.parent) as directory:
        cached = ["--cache", directory, *options]
        first_epoch(url, cached)
        pairs = [(first_epoch(url, cached), first_epoch(str(store), options)) for _ in range(ROUNDS)]
    for what, i in (("CPU", 0), ("time", 1)):
        there, here = (min(pair[k][i] for pair in pairs) for k in (0, 1))
        print(f"full cache: {what} of a first epoch, over a local store: {there / here:.3f} x")


def main() -> None:
    store, options = Path(sys.argv[1]).resolve(), sys.argv[2:]
    server = serve(store.parent)
    url = f"http://127.0.0.1:{server.server_address[1]}/{store.name}"
    size, link = (store / "data.mdb").stat().st_size, Handler.link
    carried = max(fetch(url + "/data.mdb", size) for _ in range(2))
    print(f"link: {carried / 1e6:.1f} MB/s")
    link.requests = link.bytes = 0
    subprocess.run([COMMAND, "info", url], check=True, capture_output=True)
    print(f"open: {link.requests} requests, {link.bytes} bytes")
    link.requests = link.bytes = 0
    begin = time.monotonic()
    there = bench(url, options)
    wall = time.monotonic() - begin
    print(f"there: {link.requests} requests, {link.bytes} bytes, {wall:.2f} s: "
          f"{link.bytes / wall / carried:.3f} of the link, opening included")  # fmt: skip
    here = bench(str(store), options)
    compare_cache(url, store, options)
    print(json.dumps({"there": there, "here": here}, indent=1))


main()
