"""Ctrl-C: in whatever wait, the exception comes within a second."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import apldata
from apldata._pass import Pass

PREAMBLE = """
import sys, threading, time
import apldata
from apldata import Loader, Store

path, big = sys.argv[1:]

def slow(batch):
    time.sleep(0.5)

def draw(loader):
    while True:
        for batch in loader:
            pass

def ready():
    print("ready", flush=True)
"""

WAITS = {
    "next": "loader = Loader(path, 'train', 8); ready(); draw(loader)",
    "next, without threads": "loader = Loader(path, 'train', 8, threads=0); ready(); draw(loader)",
    "next, of many threads": """
loader = Loader(path, 'train', 8, threads=1)
iterator = iter(loader)
def others():
    try:
        draw(loader)
    except (apldata.CancelledError, ValueError, apldata.InvalidError):
        pass
[threading.Thread(target=others, daemon=True).start() for _ in range(3)]
ready()
while True:
    try:
        draw(loader)
    except apldata.InvalidError:
        pass
""",
    "a function ahead": "loader = Loader(path, 'train', 8, transforms=[slow]); ready(); draw(loader)",
    "to_numpy": "store = Store(big); ready()\nwhile True: store.to_numpy(threads=1)",
    "verify": "store = Store(big); ready()\nwhile True: store.verify(1)",
    "iterating a store": "store = Store(big); ready()\nwhile True: list(store)",
    "commit": """
ready()
while True:
    with apldata.Writer(path + "-more", {"x": ("u8", (3, 256, 256))}, threads=1, replace=True) as writer:
        writer.extend(x=__import__("numpy").random.default_rng(1).integers(0, 99, (100, 3, 256, 256), "u1"))
""",
}


@pytest.fixture(scope="module")
def big_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of 590 MB that is quickly made."""
    path = str(tmp_path_factory.mktemp("big") / "store")
    picture = np.random.default_rng(1).integers(0, 4, (3, 256, 256), np.uint8)
    with apldata.Writer(path, {"x": ("u8", picture.shape)}) as writer:
        for _ in range(30):
            writer.extend(x=np.broadcast_to(picture, (100, *picture.shape)))
    return path


@pytest.mark.parametrize("what", WAITS)
def test_ctrl_c(store_path: str, big_path: str, what: str) -> None:
    script = f"{PREAMBLE}\ntry:\n" + "".join(
        f"    {line}\n" for line in WAITS[what].replace("; ", "\n").split("\n")
    )
    script += "except KeyboardInterrupt:\n    print(time.time(), flush=True)\n"
    with subprocess.Popen(
        [sys.executable, "-c", script, store_path, big_path], stdout=-1, stderr=-1, text=True
    ) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n", child.communicate()
            time.sleep(0.4)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            told, complaints = child.communicate(timeout=10)
        finally:
            child.kill()
    assert (child.returncode, complaints) == (0, ""), complaints[-2000:]
    crowd = max(1, os.getloadavg()[0] / (os.cpu_count() or 1))  # of others who want the processors
    assert float(told) - sent < 1 * crowd
    assert time.time() - sent < 3 * crowd
    assert not list(Path(f"{store_path}-more").glob("*.mdb*")) or what == "commit"


def test_what_is_freed_half_made_says_nothing(store_path: str) -> None:
    """As Ctrl-C may leave it."""
    with apldata.Loader(store_path, "train", 8) as loader:
        next(iter(loader))
        half = object.__new__(Pass)
        half.reader = loader._pass.reader
        half.__del__()
        assert next(iter(loader)) is not None


def test_ctrl_c_while_a_loader_is_freed(store_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops what __del__ raises: the program gets the interrupt even so, a moment later."""
    raised: list[bool] = []

    def interrupted(self: Pass) -> None:
        if not raised:
            raised.append(True)
            signal.raise_signal(signal.SIGINT)
        self.reader.close()

    monkeypatch.setattr(Pass, "close", interrupted)
    loader = apldata.Loader(store_path, "train", 8)
    with pytest.raises(KeyboardInterrupt):
        del loader
        time.sleep(10)
    assert raised


def test_a_shared_reader_holds_no_pipe_of_who_started_it(store_path: str, tmp_path: Path) -> None:
    """It waits for others to come: whoever reads what the script says to its end does not wait with it."""
    script = """
import sys
import apldata
apldata._node.IDLE = 600.0
loader = apldata.Loader(sys.argv[1], "train", 8, share="node")
next(iter(loader))
print(loader._connection._starter._child.pid, flush=True)
raise KeyboardInterrupt
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, store_path],
        stdout=-1, stderr=-1, text=True, env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    ) as child:  # fmt: skip
        told, complaints = child.communicate(timeout=300)
    assert "KeyboardInterrupt" in complaints, complaints
    os.kill(int(told), signal.SIGTERM)  # it still serves
