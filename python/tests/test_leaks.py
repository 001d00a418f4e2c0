"""Nothing is left behind: memory, threads, files, references."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memory_tools import resources

import apldata
from apldata import Loader, Store


def resident() -> int:
    """Bytes of memory that belong to this process alone."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssAnon:")[1].split()[0])


def plus_one(batch: Any) -> None:
    batch["image"] = batch["image"] + np.uint8(1)


def touch(batch: apldata.Batch) -> None:
    """Everything that makes an object."""
    image = batch["image"]
    memory, tensor = memoryview(batch.column("image")), np.from_dlpack(batch.column("label"))
    batch.column("image").__dlpack__(max_version=(1, 0))
    batch["more"] = image, memory, tensor, batch.ids, batch.skipped
    batch["cycle"] = batch
    assert "image" in batch and batch.rows and repr(batch)


@pytest.mark.parametrize("transforms", [[], [plus_one]])
def test_memory_over_10000_batches(store: Store, transforms: list[Any]) -> None:
    with Loader(store, "train", 10, threads=1, transforms=transforms) as loader:

        def epochs(n: int) -> None:
            for _ in range(n):
                for batch in loader:
                    image = batch["image"]
                    assert image[0, 0, 0, 0] >= 0
                    np.from_dlpack(batch.column("image"))

        epochs(20)
        gc.collect()
        before = resident()
        epochs(100)
        gc.collect()
        assert resident() - before < 2 << 20


def test_memory_of_batches_in_cycles(store: Store) -> None:
    def draw(n: int) -> None:
        for i in range(n):
            touch(store.get(range(i, i + 5)))
            if i % 50 == 0:
                gc.collect()
        gc.collect()

    gc.freeze()  # what others have made: much, once PyTorch is loaded
    try:
        draw(300)
        before = resident()
        draw(1000)
        assert resident() - before < 2 << 20
    finally:
        gc.unfreeze()


def test_threads_and_files_over_200_loaders(store_path: str) -> None:
    def use(n: int) -> None:
        for i in range(n):
            loader = Loader(store_path, "train", 100, threads=i % 4, transforms=[plus_one] * (i % 2))
            iterator = iter(loader)
            batch = next(iterator)
            if i % 3 == 0:
                loader.load_state_dict(loader.state_dict())
                next(iter(loader))
            if i % 5:
                loader.close()
            del loader, iterator, batch

    use(60)
    before, memory = resources(), resident()
    use(200)
    assert resources() - before == set()
    assert resident() - memory < 8 << 20


def failing_calls(store: Store, path: Path) -> list[Callable[[], Any]]:
    batch = store.get([1])
    writer = apldata.Writer(path, {"x": ("u8", (2,))})
    return [
        lambda: Store("/none/such"),
        lambda: Store(store.path, expected_content="00" * 32),
        lambda: store.get([10**6]),
        lambda: store.get([1.5]),
        lambda: store.get([1], fields=["no field"]),
        lambda: store.get([1], fields=[b"label", 3]),
        lambda: store.get([1], threads=-1),
        lambda: store.to_numpy("no split"),
        lambda: store.split("x", 7.0),
        lambda: store.class_counts("no split"),
        lambda: store._moments(1, 2),
        lambda: store.verify(-1),
        lambda: batch["no field"],
        lambda: batch.column(3),
        lambda: batch.column("label").__dlpack__(max_version=3),
        lambda: batch.column("label").__dlpack__(copy=True),
        lambda: batch.__reduce__(),
        lambda: Loader(store, "no split"),
        lambda: Loader(store, fields=["no field"]),
        lambda: Loader(store, transforms=[apldata.RandomCrop(99)]),
        lambda: Loader(store, pin=(print, 3)),
        lambda: Loader(store, memory_budget=1),
        lambda: apldata._core.Reader(store, {"state": b"junk"}),
        lambda: apldata._core.Reader(store, {"fields": ["image", 3]}),
        lambda: apldata._core.Reader(store, {"transforms": [{"mean": ["x"]}]}),
        lambda: apldata._core.Reader(store, {"transforms": [{"odd": 1}]}),
        lambda: apldata._core.Reader(store, {"odd": 1}),
        lambda: apldata.Writer(store.path, {"x": "u8"}),
        lambda: writer.append(x=[1, 2, 3]),
        lambda: writer._core.append([(b"abc", None)]),
        lambda: writer._core.append([(b"ab", None), (b"ab", None)]),
        lambda: writer._core.set_classes("x", ["a", 3]),
        lambda: writer._core.add_field("y", "u9", 1, ()),
        lambda: writer._core.add_field("y", "u8", 1, (1, "a")),
    ]


def test_calls_that_fail(store: Store, tmp_path: Path) -> None:
    calls = failing_calls(store, tmp_path / "s")
    names = "image", "no field", store.path

    def fail(times: int) -> None:
        for call in calls:
            for _ in range(times):
                with pytest.raises((apldata.Error, ValueError, TypeError, KeyError, BufferError)):
                    call()

    fail(20)
    before, memory = resources(), resident()
    gc.collect()  # where others have made much, garbage that has grown old is left for long
    references, blocks = [sys.getrefcount(name) for name in names], sys.getallocatedblocks()
    fail(200)
    gc.collect()
    more = sys.getallocatedblocks() - blocks  # before the list of threads and files, which may be long
    assert resources() - before == set()
    assert resident() - memory < 4 << 20
    assert more < 500
    assert all(abs(a - b) < 20 for a, b in zip(references, map(sys.getrefcount, names), strict=True))


def test_references_to_arguments(store: Store) -> None:
    """The library's objects give back what they were given."""
    name, ids, fields, value = (
        "".join(["la", "bel"]),
        np.array([1, 2], np.uint64),
        ["".join(["im", "age"])],
        object(),
    )
    state = bytes(72)

    def pin(address: int, size: int) -> None:
        pass

    things = [name, ids, fields, fields[0], value, pin, state]
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(100):
        batch = store.get(ids, fields)
        batch[name] = value
        assert batch[name] is value and name in batch
        batch.release()
        with Loader(store, "train", 500, fields=fields, pin=(pin, pin)) as loader:
            next(iter(loader))
        with pytest.raises(apldata.Error):
            apldata._core.Reader(store, {"state": state})
    del batch, loader
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert all(abs(a - b) < 10 for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("transforms", [[], [plus_one]])
def test_pinned_memory_is_unpinned_once(store: Store, transforms: list[Any]) -> None:
    pinned: dict[int, int] = {}
    history: list[tuple[int, int]] = []

    def pin(address: int, size: int) -> None:
        assert address % 4096 == size % 4096 == 0 and size and address not in pinned
        pinned[address] = size
        history.append((address, size))

    def unpin(address: int, size: int) -> None:
        assert pinned.pop(address) == size

    loader = Loader(store, "train", 50, threads=2, pin=(pin, unpin), transforms=transforms)
    held = []
    for number, batch in enumerate(loader):
        address = np.asarray(batch.column("image")).ctypes.data
        assert any(a <= address and address + 50 * 3072 <= a + size for a, size in pinned.items())
        if number % 4 == 0:
            held.append(np.from_dlpack(batch.column("image")))
        del batch
    loader.close()
    del loader
    gc.collect()
    assert len(pinned) >= len(held) == 5 and history
    copies = [array.copy() for array in held]
    assert all(np.array_equal(a, b) for a, b in zip(held, copies, strict=True))
    held.clear()
    gc.collect()
    assert not pinned


def test_a_pin_that_fails(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    unpinned = []

    def pin(address: int, size: int) -> None:
        raise OSError("no memory can be locked")

    def use() -> None:
        with Loader(store, "train", 50, pin=(pin, lambda address, size: unpinned.append(address))) as loader:
            list(loader)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda _: None)
        with pytest.raises(apldata.Error):
            use()
    assert not unpinned
