"""Connections to a server are kept for the next request, but not without bound."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from remote_server import serving
from remote_tools import stand_alone

from apldata import Store

AT_ONCE = 100  # more than the library keeps connections for


def sockets() -> int:
    names = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return sum(os.readlink(name).startswith("socket") for name in names if name.is_symlink())


def test_bursts_of_requests_leave_no_connections(
    store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many threads that open a store at once, the connections beyond those that are kept are closed."""
    stand_alone(monkeypatch, tmp_path)
    together = threading.Barrier(AT_ONCE)

    def open_store(url: str) -> None:
        together.wait(30)
        Store(url).close()

    def slow(*_: Any) -> bool:
        time.sleep(0.02)  # so that requests run at once
        return False

    with serving(Path(store_path).parent) as server, ThreadPoolExecutor(AT_ONCE) as pool:
        server.fault = slow
        counts = []
        for _ in range(4):
            list(pool.map(open_store, [f"{server.url}/{Path(store_path).name}"] * AT_ONCE))
            time.sleep(0.2)  # the server's side closes after ours
            counts.append(sockets())
    assert counts[-1] - counts[0] < AT_ONCE // 2, counts
