"""Functions in Python over batches, in every loader: what they raise, and how long they take."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
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


# ------------------------------------------------------------------------- those that change the rows


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    with apldata.Writer(tmp_path / "numbers", {"x": "i64", "y": "i64", "image": ("u8", (3, 8, 8))}) as writer:
        for i in range(12):
            writer.append(x=i, y=10 * i, image=np.full((3, 8, 8), i))
    return tmp_path / "numbers"


def kept(batch: Any, of: Any) -> None:
    for name in batch:
        batch[name] = batch[name][of]


def even(batch: Any) -> None:
    kept(batch, batch["x"] % 2 == 0)


def even_with_ids(batch: Any) -> None:
    ids = batch.ids[batch["x"] % 2 == 0]
    even(batch)
    batch.ids = ids


def test_rows_that_a_function_has_changed_have_no_ids(numbers: Path) -> None:
    """Those of the whole batch would go with other rows."""
    told = "a function has changed the rows of the batch"
    for function, rows in (
        (even, 3),
        (lambda batch: kept(batch, [0, 1] * 6), 12),
        (lambda b: kept(b, []), 0),
    ):
        for batch in Loader(numbers, batch_size=6, shuffle=False, transforms=[function, lambda batch: None]):
            assert batch.rows == len(batch["x"]) == rows and f"Batch of {rows}" in repr(batch)
            with pytest.raises(
                apldata.InvalidError, match=rf"^batch.ids: {told}: .*batch.ids = batch.ids\[kept\]"
            ):
                _ = batch.ids
            assert batch.copies.tolist() == [0] * rows and batch.skipped.tolist() == []
    for batch in Loader(numbers, batch_size=6, reuse=2, transforms=[even]):
        if batch.rows:
            with pytest.raises(apldata.InvalidError, match=f"^batch.copies: {told}"):
                _ = batch.copies
    batch = next(
        iter(Loader(numbers, batch_size=6, shuffle=False, transforms=[lambda batch: kept(batch, slice(6))]))
    )
    assert batch.ids.tolist() == [0, 1, 2, 3, 4, 5]  # as many as there were


def test_a_function_may_set_the_ids_of_the_rows_that_it_keeps(numbers: Path) -> None:
    def backwards(batch: Any) -> None:
        kept(batch, slice(None, None, -1))
        batch.ids = batch.ids[::-1]

    for functions, expected in (
        ([even_with_ids], [0, 2, 4]),
        ([backwards], [5, 4, 3, 2, 1, 0]),
        ([even_with_ids, backwards], [4, 2, 0]),
        ([even, lambda batch: setattr(batch, "ids", batch["x"])], [0, 2, 4]),
    ):
        batch = next(iter(Loader(numbers, batch_size=6, shuffle=False, transforms=functions)))
        assert batch.ids.dtype == np.uint64 and batch.ids.tolist() == batch["x"].tolist() == expected
        assert batch.rows == len(expected) and not batch.ids.flags.writeable
    for functions in (
        [even_with_ids, even, lambda batch: kept(batch, [0])],
        [lambda b: setattr(b, "ids", [7])],
    ):
        batch = next(iter(Loader(numbers, batch_size=6, shuffle=False, transforms=functions)))
        with pytest.raises(apldata.InvalidError, match=r"^batch\.ids"):
            _ = batch.ids
    for wrong in (1, "ids", [-1], [True], [[1]], [1.5]):
        with pytest.raises(apldata.InvalidError, match="ids of records, in one row"):
            batch.ids = wrong
    with pytest.raises(TypeError, match="not deleted"):
        del batch.ids


def test_batches_of_ids_alone_may_be_filtered(numbers: Path) -> None:
    def odd(batch: Any) -> None:
        batch.ids = batch.ids[batch.ids % 2 == 1]

    batch = next(iter(Loader(numbers, batch_size=6, shuffle=False, fields=[], transforms=[odd])))
    assert batch.rows == 3 and batch.ids.tolist() == [1, 3, 5]


def test_pieces_of_changed_rows_are_not_known(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"x": ("i64", (-1,))}) as writer:
        writer.append(x=range(12))
    collate = {"x": apldata.Windows(2)}
    batch = next(iter(Loader(tmp_path / "s", collate=collate, transforms=[lambda batch: kept(batch, [0])])))
    with pytest.raises(apldata.InvalidError, match=r"^batch\.pieces: a function has changed the rows"):
        _ = batch.pieces


def test_draws_for_each_record_after_rows_were_left_out(numbers: Path) -> None:
    """They are those of the record, or there are none."""
    pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    jitter = v2.RandomApply([v2.ColorJitter(0.5)], p=0.9)

    def drawn(*functions: Any) -> dict[int, Any]:
        loader = Loader(numbers, batch_size=6, shuffle=False, transforms=[*functions, jitter])
        return {
            int(x): image.copy()
            for batch in loader
            for x, image in zip(batch["x"], batch["image"], strict=True)
        }

    whole, part = drawn(lambda batch: None), drawn(even_with_ids)
    assert list(part) == list(range(0, 12, 2)) and all((part[i] == whole[i]).all() for i in part)
    with pytest.raises(apldata.InvalidError, match=r"^batch\.ids: a function has changed the rows"):
        drawn(even)


def test_samples_of_rows_that_a_function_has_left(numbers: Path) -> None:
    data_loader = framework("torch").DataLoader
    seen: list[Any] = []

    def collate(samples: Any) -> int:
        seen.append([int(sample[0]) for sample in samples])
        assert len(samples) == len(list(samples)) == 3 and int(samples[2][0]) == seen[-1][2]
        with pytest.raises(IndexError):
            samples[3]
        return len(samples)

    options: dict[str, Any] = {"fields": ["x", "y"], "transforms": [even]}
    assert list(data_loader(numbers, 6, collate_fn=collate, **options)) == [3, 3]
    assert seen == [[0, 2, 4], [6, 8, 10]]
    loader = data_loader(numbers, 6, shuffle=True, **options)
    rows = [row for batch in loader.batch_sampler for row in batch]
    with pytest.raises(apldata.InvalidError, match=r"a batch of .* records has .* rows after the functions"):
        loader.dataset.__getitems__([rows[4], rows[0]])
