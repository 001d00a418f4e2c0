"""Requests in flight: a slow server is asked for less at a time, and none of its answers is thrown away."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND
from remote_server import Handler, Server, serving
from remote_tools import stand_alone

import apldata
from apldata import Loader, StorageError, Store

EPOCH = """
import sys, apldata
with apldata.Store(sys.argv[1]) as store, apldata.Loader(store, "train", batch_size=64, seed=7) as loader:
    print(sum(len(batch.ids) for batch in loader), loader.stats()["remote"]["retries"])
"""
BLOCKS = 48


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "8")  # a connection is given up after two seconds, not ten


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root")
    random = np.random.default_rng(3)
    with apldata.Writer(str(folder / "db"), [apldata.Field("x", "u8", (16384,))], block_records=16) as w:
        w.begin("train")
        for _ in range(16 * BLOCKS):
            w.append(x=random.integers(0, 256, 16384, "u1"))
    return folder


@pytest.fixture()
def server(root: Path) -> Iterator[Server]:
    with serving(root) as s:
        yield s


class Queue:
    """Answers requests in the order in which they come, `rate` of them a second."""

    def __init__(self, rate: float) -> None:
        self.each, self.free, self.lock = 1 / rate, 0.0, threading.Lock()
        self.aborted = self.waiting = self.longest = 0

    def __call__(self, handler: Handler, first: int, end: int) -> bool:
        with self.lock:
            self.free = turn = max(self.free, time.monotonic()) + self.each
            self.waiting += 1
            self.longest = max(self.longest, self.waiting)
        time.sleep(max(0.0, turn - time.monotonic()))
        with self.lock:
            self.waiting -= 1
            self.aborted += has_left(handler.connection)
        return False


class Few:
    """Answers `most` requests at a time, and refuses others."""

    def __init__(self, most: int) -> None:
        self.most, self.now, self.refused, self.lock = most, 0, 0, threading.Lock()

    def __call__(self, handler: Handler, first: int, end: int) -> bool:
        with self.lock:
            fits = self.now < self.most
            self.now += fits
            self.refused += not fits
        if not fits:
            handler.answer(503, b"<Error><Code>SlowDown</Code></Error>")
            return True
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return False


class Together:
    """Answers requests for blocks only once `count` of them are there, or nine seconds after the first."""

    def __init__(self, count: int) -> None:
        self.count, self.here, self.met = count, 0, threading.Condition()
        self.in_vain = False  # has one waited for so long?

    def __call__(self, handler: Handler, first: int, end: int) -> bool:
        with self.met:
            self.here += end - first > 100_000
            self.met.notify_all()
            enough = end - first <= 100_000 or self.met.wait_for(lambda: self.here >= self.count, 9)
            self.in_vain = self.in_vain or not enough
        return False


def has_left(connection: socket.socket) -> bool:
    """Has the client closed it?"""
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def read(url: str, readers: int) -> int:
    """As many processes read an epoch; returns how many requests they repeated."""
    command = [sys.executable, "-c", EPOCH, url]
    children = [subprocess.Popen(command, stdout=-1, stderr=-1, text=True) for _ in range(readers)]
    outputs = [child.communicate() for child in children]
    for child, (out, err) in zip(children, outputs, strict=True):
        assert child.returncode == 0, err
        assert int(out.split()[0]) == 16 * BLOCKS
    return sum(int(out.split()[1]) for out, _ in outputs)


@pytest.mark.parametrize(("readers", "rate"), [(8, 60), (1, 8)])
def test_a_slow_server_is_not_stormed(server: Server, readers: int, rate: float) -> None:
    """With all blocks in flight at once, the last would wait for over five seconds, and be asked again."""
    server.fault = queue = Queue(rate)
    retries = read(server.url + "/db", readers)
    assert queue.aborted == 0
    assert retries * 50 <= len(server.log)


def read_here(url: str, **options: Any) -> None:
    with Store(url, **options) as store, Loader(store, "train", batch_size=64) as loader:
        assert sum(len(batch.ids) for batch in loader) == 16 * BLOCKS


@pytest.mark.parametrize("how", ["option", "environment", "command"])
def test_there_is_a_limit(server: Server, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    server.fault = queue = Queue(50)
    url = server.url + "/db"
    if how == "command":
        subprocess.run([COMMAND, "bench", "--requests", "2", "--epochs", "1", url], check=True, stdout=-3)
    elif how == "environment":
        monkeypatch.setenv("APL_REMOTE_REQUESTS", "2")
        read_here(url)
    else:
        read_here(url, requests=2)
    assert queue.longest == 2


def test_processes_share_the_limit(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them may always have one request in flight, and together they have four."""
    server.fault = queue = Queue(100)
    monkeypatch.setenv("APL_REMOTE_REQUESTS", "4")
    read(server.url + "/db", 3)
    assert queue.longest <= 6


def test_a_limit_is_a_number(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="requests"):
        Store(server.url + "/db", requests=1025)
    for wrong in ("0", "many", "9x", "-1", "1025"):
        monkeypatch.setenv("APL_REMOTE_REQUESTS", wrong)
        with pytest.raises(apldata.Error, match="APL_REMOTE_REQUESTS is a number of requests, 1 to 1024"):
            Store(server.url + "/db")
        done = subprocess.run([COMMAND, "bench", "--requests", wrong, "x"], capture_output=True, check=False)
        assert done.returncode == 2 and b"--requests takes a number, 1 to 1024" in done.stderr
    assert not server.log


def test_a_server_that_refuses_is_asked_for_less(server: Server) -> None:
    """With HTTP 503 for more than three requests at a time, as object stores answer."""
    server.fault = few = Few(3)
    read_here(server.url + "/db")
    assert few.refused * 2 <= len(server.log)


def test_the_error_says_what_to_lower(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "0.5")
    with Store(server.url + "/db") as store:
        server.fault = Few(0)
        with pytest.raises(StorageError, match=r"HTTP 503: SlowDown; if .* lower APL_REMOTE_REQUESTS"):
            store[700]


@pytest.mark.parametrize("rank", [None, 1])
def test_blocks_are_fetched_before_they_enter(
    server: Server, root: Path, rank: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of the epoch is known: more are in flight than planned batches need, each once."""
    monkeypatch.setenv("APL_REMOTE_TIMEOUT", "120")
    server.fault = together = Together(8)
    options: dict[str, Any] = {"batch_size": 16, "window": 80, "seed": 3, "threads": 1, "queue_depth": 2}
    if rank is not None:
        options |= {"rank": rank, "world": 4, "lanes": 4}

    def epoch(path: str) -> tuple[list[Any], int]:
        with Store(path) as store, Loader(store, "train", **options) as loader:
            ids = [np.asarray(batch.ids).tolist() for batch in loader]
            return ids, loader.stats().get("remote", {}).get("bytes", 0)

    wanted, _ = epoch(str(root / "db"))
    got, fetched = epoch(server.url + "/db")
    assert got == wanted
    blocks = {id // 16 for ids in wanted for id in ids}
    assert len(blocks) - 2 < fetched / (16 * 16384) < len(blocks) + 12  # and the first of the next epoch
    assert not together.in_vain
