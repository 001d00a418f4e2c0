"""apldata.torch.DataLoader: long runs, many loaders, Ctrl-C."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from memory_tools import resident, resources

from apldata import Normalize

pytest.importorskip("torch")
DataLoader = pytest.importorskip("apldata.torch").DataLoader


@pytest.mark.parametrize("functions", [[], [lambda batch: None]], ids=["plain", "ahead"])
def test_nothing_leaks_in_10000_batches(store_path: str, functions: list[Any]) -> None:
    loader = DataLoader(store_path, 10, True, transforms=[Normalize(), *functions])
    marks = []
    for epoch in range(100):  # of 100 batches
        for images, labels in loader:
            assert len(images) == len(labels)
        if epoch in (19, 99):
            gc.collect()
            marks.append((resident(), resources()))
    (memory, before), (memory_after, after) = marks
    assert after - before == set()
    assert memory_after - memory < 4 << 20


def test_loaders_come_and_go(store_path: str) -> None:
    def once() -> None:
        with DataLoader(store_path, 64, True, transforms=[lambda batch: None]) as loader:
            next(iter(loader))
        next(iter(DataLoader(store_path, 64)))

    once()
    before = resources()
    for _ in range(20):
        once()
    assert resources() - before == set()


_PROGRAM = """
import sys, time
from apldata.torch import DataLoader
def stuck(batch):
    time.sleep(0.4)
for functions in [], [stuck]:
    loader = DataLoader(sys.argv[1], 64, True, transforms=functions)
    print("ready", flush=True)
    try:
        while True:
            for batch in loader:
                pass
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_control_c(store_path: str) -> None:
    """In the loop, and in a function, which still runs when the program ends."""
    child = subprocess.Popen([sys.executable, "-c", _PROGRAM, store_path], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for _ in range(2):
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 10
    assert child.wait(10) == 0
    child.stdout.close()
