#!/usr/bin/env python3
"""Epochs of a store at a URL, beside what the link carries.

    bench/remote.py STORE [OPTION OF apldata bench]...

A server of this script's own serves the store: each answer begins after DELAY (0.02) seconds, and all
answers together take RATE (125e6) bytes a second. It measures the link by eight connections that fetch the
file, and what of it a first epoch of the URL takes (apldata bench). Then it fills a cache, and compares
first epochs from that with those of the directory.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

DELAY, RATE = float(os.environ.get("DELAY", 0.02)), float(os.environ.get("RATE", 125e6))
COMMAND = os.environ.get("APLDATA", "build/apldata")
PIECE, ROUNDS = 1 << 16, int(os.environ.get("ROUNDS", 5))


class Link:
    """What all answers share: a piece is sent when those before it have gone."""

    def __init__(self) -> None:
        self.free, self.requests, self.bytes = 0.0, 0, 0

    async def carry(self, n: int) -> None:
        self.free = max(self.free, time.monotonic()) + n / RATE
        self.bytes += n
        wait = self.free - time.monotonic()
        if wait > 0.001:
            await asyncio.sleep(wait)


class Server:
    """Answers GET, in one thread: with a thread for each connection, Python would be slower than the link."""

    def __init__(self, root: Path) -> None:
        self.root, self.link, self.port = root, Link(), 0
        started = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.run(started)), daemon=True).start()
        started.wait()

    async def run(self, started: threading.Event) -> None:
        server = await asyncio.start_server(self.converse, "127.0.0.1", 0, limit=1 << 16)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await server.serve_forever()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                request, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines if line)
                await asyncio.sleep(DELAY)
                self.link.requests += 1
                await self.answer(self.root / request.split()[1].lstrip("/"), headers.get("range"), writer)
        writer.close()

    async def answer(self, path: Path, wanted: str | None, writer: asyncio.StreamWriter) -> None:
        if not path.is_file():
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        size = path.stat().st_size
        first, last = (int(x) for x in wanted.removeprefix("bytes=").split("-")) if wanted else (0, size - 1)
        end = min(size, last + 1)
        head = f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{end - 1}/{size}\r\n"
        writer.write(f'{head}Content-Length: {end - first}\r\nETag: "x"\r\n\r\n'.encode())
        with path.open("rb") as file:
            file.seek(first)
            while piece := file.read(min(PIECE, end - file.tell())):
                await self.link.carry(len(piece))
                writer.write(piece)
                await writer.drain()


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


def compare_link(url: str, link: Link, carried: float, options: list[str]) -> None:
    """The first epoch alone, as later ones find everything in memory; of several, the fastest."""
    best = 0.0, ""
    for _ in range(ROUNDS):
        link.requests = link.bytes = 0
        epoch = bench(url, ["--epochs", "1", *options])["rows"][0]
        seconds, first = epoch["epochs"][0]["seconds"], epoch["first_batch"]
        told = f"{link.requests} requests, {link.bytes} bytes, first batch {first:.2f} s, all {seconds:.2f} s"
        best = max(best, (link.bytes / seconds / carried, told))
    print(f"there: {best[1]}: {best[0]:.3f} of the link")


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
    server = Server(store.parent)
    url = f"http://127.0.0.1:{server.port}/{store.name}"
    size, link = (store / "data.mdb").stat().st_size, server.link
    carried = max(fetch(url + "/data.mdb", size) for _ in range(2))
    print(f"link: {carried / 1e6:.1f} MB/s")
    link.requests = link.bytes = 0
    subprocess.run([COMMAND, "info", url], check=True, capture_output=True)
    print(f"open: {link.requests} requests, {link.bytes} bytes")
    compare_link(url, link, carried, options)
    compare_cache(url, store, options)


main()
