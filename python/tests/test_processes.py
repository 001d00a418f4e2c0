"""Forks, other ways to make processes, and the end of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

PREAMBLE = """
import os, sys, threading, time, traceback
import numpy as np
import apldata
from apldata import Loader, Store

path = sys.argv[1]

def slow(batch):
    time.sleep(0.02)

def child(work):
    # Runs `work` in a forked child, which must end by itself, soon, with status 0.
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        sys.stderr.flush()
        sys.exit(0)  # as a child ends that knows nothing better: with atexit and all
    until = time.monotonic() + 20
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0, status
            return
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    raise SystemExit("the child hangs")

def refused(call):
    began = time.monotonic()
    try:
        call()
    except apldata.ForkedError:
        assert time.monotonic() - began < 5
        return
    raise SystemExit("not refused")
"""


def run(script: str, path: str, limit: float = 60, **options: object) -> float:
    """Runs a script of its own, which must end with 0 and say nothing; returns the seconds that its end took,
    if it told when that began."""
    # From Python 3.12 on, os.fork() itself warns of threads, which is what is tried here.
    quiet = "ignore:This process:DeprecationWarning"
    command = [sys.executable, "-X", "faulthandler", "-W", quiet, "-c", PREAMBLE + script, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, **options)  # type: ignore[call-overload]
    ended = time.time()
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    return ended - float(done.stdout.split()[-1]) if done.stdout.strip() else 0


@pytest.mark.parametrize("transforms", ["[]", "[slow]"])
def test_a_fork_in_the_middle_of_an_epoch(store_path: str, transforms: str) -> None:
    run(
        f"""
store = Store(path)
loader = Loader(store, "train", 20, threads=2, transforms={transforms})
iterator = iter(loader)
held = [next(iterator) for _ in range(3)]
first = held[0]["image"].copy()
def work():
    refused(lambda: next(iterator))
    refused(lambda: next(iter(loader)))
    refused(lambda: loader.load_state_dict(loader.state_dict()))
    assert np.array_equal(held[0]["image"], first)      # the copy of the parent's memory
    held.clear()
    assert len(store.get([1, 2])["image"]) == 2         # opened again
    with Loader(store, "train", 100) as own:
        assert sum(batch.rows for batch in own) == 1000
    assert isinstance(repr(loader), str) and isinstance(repr(store), str)
    loader.close()
for _ in range(5):
    child(work)
child(lambda: None)
assert sum(batch.rows for batch in iterator) == 940
""",
        store_path,
    )


def test_a_fork_while_threads_draw(store_path: str) -> None:
    run(
        """
store = Store(path)
loaders = [Loader(store, "train", 5, threads=2), Loader(store, "train", 5, threads=1, transforms=[slow])]
stop = []
def draw(loader):
    while not stop:
        for batch in loader:
            if stop:
                return
crew = [threading.Thread(target=draw, args=(loader,)) for loader in loaders]
[thread.start() for thread in crew]
def work():
    for loader in loaders:
        refused(lambda: next(iter(loader)))
    assert len(store[3]["image"]) == 3
for _ in range(10):
    child(work)
stop.append(1)
[thread.join() for thread in crew]
""",
        store_path,
    )


def test_threads_in_a_child_open_the_store_once(store_path: str) -> None:
    run(
        """
store = Store(path)
def work():
    sums = []
    def add():
        sums.append(store.get(range(50))["label"].sum())
    crew = [threading.Thread(target=add) for _ in range(8)]
    [thread.start() for thread in crew]
    [thread.join() for thread in crew]
    assert len(set(map(int, sums))) == 1 and len(sums) == 8
    files = [os.path.realpath(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")]
    assert sum(file.endswith("data.mdb") for file in files) <= 2, files
child(work)
""",
        store_path,
    )


DRAWN = """
def draw():
    try:
        while True:
            for batch in loader:
                pass
    except (apldata.CancelledError, ValueError):
        pass
threading.Thread(target=draw, daemon=True).start()
time.sleep(0.1)
"""
ENDS = {
    "open loaders": """
a, b = Loader(path, 'train', 8), Loader(path, 'test', 8)
held = next(iter(a)), next(iter(b))
""",
    "functions ahead": "a = Loader(path, 'train', 8, transforms=[slow]); held = next(iter(a))",
    "a thread inside": f"loader = Loader(path, 'train', 8, threads=1)\n{DRAWN}",
    "functions ahead of a thread": f"loader = Loader(path, 'train', 8, transforms=[slow])\n{DRAWN}",
    "pinned memory": """
loader = Loader(path, 'train', 8, pin=(lambda address, size: None, lambda address, size: None))
held = [batch for batch, _ in zip(loader, range(3))]
""",
    "a cycle": """
loader = Loader(path, 'train', 8)
held = loader.held = next(iter(loader))
held['me'] = held, loader
""",
    "a loader in a module": """
sys.loader = Loader(path, 'train', 8, transforms=[slow])
sys.held = next(iter(sys.loader))
""",
}


@pytest.mark.parametrize("what", ENDS)
def test_the_end_of_the_interpreter(store_path: str, what: str) -> None:
    script = ENDS[what] + "\nprint(time.time())"
    assert run(script, store_path) < 2 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_stores_and_loaders_in_children(store_path: str, method: str, tmp_path: object) -> None:
    script = f"{tmp_path}/script.py"
    with open(script, "w") as file:
        file.write(
            f"""
import multiprocessing, sys
import apldata

def epoch(store, rank):
    with apldata.Loader(store, "train", 50, rank=rank, world=2) as loader:
        return [int(i) for batch in loader for i in batch.ids]

if __name__ == "__main__":
    store = apldata.Store(sys.argv[1])
    running = apldata.Loader(store, "train", 50)
    iterator = iter(running)
    next(iterator)
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        parts = pool.starmap(epoch, [(store, 0), (store, 1)])
    assert sorted(parts[0] + parts[1]) == list(range(1000))
    assert sum(batch.rows for batch in iterator) == 950
"""
        )
    done = subprocess.run([sys.executable, script, store_path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
