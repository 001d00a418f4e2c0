"""Functions in Python over batches, in every loader: what they raise, and how long they take."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import apldata
from apldata import Loader, PerPicture

LOADERS: dict[str, Callable[..., Any]] = {
    "Loader": lambda path, function, **o: Loader(path, "train", 100, transforms=[function], **o),
    "PerPicture": lambda path, function, **o: Loader(
        path, "train", 100, transforms=[PerPicture(function)], **o
    ),
    "torch": lambda path, function, **o: framework("torch").DataLoader(path, 100, transforms=[function], **o),
    "collate_fn": lambda path, function, **o: framework("torch").DataLoader(
        path, 100, collate_fn=function, **o
    ),
    "jax": lambda path, function, **o: framework("jax").DataLoader(
        path, "train", 100, transforms=[function], **o
    ),
}


def framework(name: str) -> Any:
    pytest.importorskip(name)
    return importlib.import_module(f"apldata.{name}")


def exhausted(calls: int = 3) -> Callable[..., Any]:
    """A function that lets a StopIteration out, from its call of that number on."""
    left = iter(range(calls - 1))

    def draws(item: Any) -> Any:
        next(left)
        return item

    return draws


@pytest.mark.parametrize("kind", LOADERS)
def test_a_stop_iteration_does_not_end_the_epoch(store_path: str, kind: str) -> None:
    with LOADERS[kind](store_path, exhausted()) as loader:
        with pytest.raises(RuntimeError, match=r"exhausted.*draws.*raised StopIteration") as caught:
            list(loader)
        assert isinstance(caught.value.__cause__, StopIteration)
        assert not loader.state_dict()["finished"]


def test_a_stop_iteration_in_a_dataset(store_path: str) -> None:
    dataset = framework("torch").Dataset
    plain = importlib.import_module("torch.utils.data").DataLoader
    for name in ("transform", "target_transform"):
        with pytest.raises(RuntimeError, match=r"draws.*raised StopIteration"):
            list(plain(dataset(store_path, "train", **{name: exhausted()}), 1))


# ------------------------------------------------------------------------------------- those that hang


class Stuck:
    """A function that does not return from its call of number `at` before it is let go."""

    def __init__(self, at: int = 1) -> None:
        self.calls, self.at = 0, at
        self.within, self.go = threading.Event(), threading.Event()

    def __call__(self, item: Any) -> Any:
        self.calls += 1
        if self.calls == self.at:
            self.within.set()
            assert self.go.wait(60)
        return item

    def __repr__(self) -> str:
        return "Stuck()"


@pytest.mark.parametrize("kind", [kind for kind in LOADERS if kind != "PerPicture"])
def test_a_timeout_holds_for_functions(store_path: str, kind: str) -> None:
    function = Stuck(at=2)
    with LOADERS[kind](store_path, function, timeout=0.2) as loader:
        iterator = iter(loader)
        next(iterator)
        for _ in range(2):
            with pytest.raises(
                apldata.TimeoutError, match=r"waited 0.2 s for a batch: Stuck\(\) has not returned"
            ):
                next(iterator)
        del iterator
        with pytest.raises(apldata.TimeoutError, match=r"Stuck\(\)"):
            loader.set_epoch(5)  # two calls at a time would be worse
        function.go.set()
        loader.set_epoch(5)
        assert sum(1 for _ in loader) == 10 and loader.epoch == 5


def test_a_wait_goes_on_after_a_timeout(store_path: str) -> None:
    function = Stuck(at=3)
    with Loader(store_path, "train", 100, transforms=[function], timeout=0.1) as loader:
        iterator, ids = iter(loader), []
        ids += [next(iterator).ids for _ in range(2)]
        with pytest.raises(apldata.TimeoutError):
            next(iterator)
        function.go.set()
        ids += [batch.ids for batch in iterator]
        assert sorted(i for part in ids for i in part) == list(range(1000))


@pytest.mark.parametrize("kind", [kind for kind in LOADERS if kind != "PerPicture"])
def test_close_does_not_wait_for_a_function(store_path: str, kind: str) -> None:
    function = Stuck()
    loader = LOADERS[kind](store_path, function)
    raised: list[BaseException] = []

    def draw() -> None:
        try:
            next(iter(loader))
        except BaseException as error:
            raised.append(error)

    waiting = threading.Thread(target=draw)
    waiting.start()
    assert function.within.wait(60)
    loader.close()  # would wait for the function, which nobody releases
    waiting.join(60)
    assert isinstance(raised[0], apldata.CancelledError)
    (left,) = (thread for thread in threading.enumerate() if thread.name == "apldata-ahead")
    function.go.set()
    left.join(60)
    assert not left.is_alive() and function.calls == 1


def test_what_a_function_has_outlives_its_loader(store_path: str) -> None:
    function, sums = Stuck(), []

    def adds(batch: Any) -> None:
        image, before = batch["image"], batch["image"].copy()
        function(batch)
        sums.append((image == before).all() and (batch["image"] == before).all())

    loader = Loader(store_path, "train", 100, transforms=[adds, lambda batch: sums.append("called")])
    threading.Timer(0.2, loader.close).start()
    with pytest.raises(apldata.CancelledError):
        next(iter(loader))
    (left,) = (thread for thread in threading.enumerate() if thread.name == "apldata-ahead")
    del loader
    function.go.set()
    left.join(60)
    assert sums == [True]  # and the next function is not called


@pytest.mark.parametrize("end", ["", "loader.close()", "del loader, batches"])
def test_the_process_ends_while_a_function_runs(store_path: str, end: str) -> None:
    """Without a crash, and without waiting for it."""
    script = f"""
import signal, sys, threading, time
import apldata
def slow(batch):
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)    # as Ctrl-C does
    time.sleep(60)
loader = apldata.Loader(sys.argv[1], "train", 100, transforms=[slow])
batches = iter(loader)
try:
    next(batches)
except KeyboardInterrupt:
    pass
{end}
print("end", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script, store_path],
        capture_output=True, text=True, timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
