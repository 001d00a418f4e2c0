"""Batch: arrays in the library's memory, and how long they live."""

from __future__ import annotations

import ctypes
import gc
import itertools
import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Store


@pytest.fixture
def batch(store: Store) -> apldata.Batch:
    return store.get(range(20))


@pytest.fixture
def varying(tmp_path: Path) -> tuple[apldata.Batch, list[np.ndarray], list[str]]:
    random = np.random.default_rng(2)
    rows = [random.normal(size=(n, 3)).astype(np.float32) for n in (2, 0, 5, 1)]
    names = ["one", "", "dré", "\U0001f600"]
    with apldata.Writer(tmp_path / "s", {"x": ("f32", (-1, 3)), "name": str}) as writer:
        writer.extend(x=rows, name=names)
    return Store(tmp_path / "s").get(slice(None)), rows, names


def address(array: Any) -> int:
    return array.__array_interface__["data"][0]


VIEWS: list[Callable[[Any], np.ndarray]] = [
    lambda batch: batch["image"],
    lambda batch: np.asarray(batch.column("image")),
    lambda batch: np.from_dlpack(batch.column("image")),
    lambda batch: np.asarray(memoryview(batch.column("image"))),
    lambda batch: np.asarray(
        type("Shim", (), {"__array_interface__": batch.column("image").__array_interface__})()
    ),
    lambda batch: np.frombuffer(batch.column("image"), np.uint8).reshape(batch["image"].shape),
    lambda batch: np.ctypeslib.as_array(
        (ctypes.c_ubyte * (20 * 3072)).from_buffer(batch.column("image"))
    ).reshape(20, 3, 32, 32),
]


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_copied(batch: apldata.Batch, drawn: dict, view: Callable[[Any], np.ndarray]) -> None:
    array = view(batch)
    assert array.shape == (20, 3, 32, 32) and array.dtype == np.uint8
    assert address(array) == address(batch["image"]) == address(batch.column("image"))
    assert np.array_equal(array, drawn["train"]["image"][:20])
    assert batch["image"] is batch["image"]


@pytest.mark.parametrize("view", [view for i, view in enumerate(VIEWS) if i != 4])
def test_an_array_keeps_its_memory(store: Store, drawn: dict, view: Callable[[Any], np.ndarray]) -> None:
    with apldata.Loader(store, "train", 20, shuffle=False, threads=1) as loader:
        for batch in loader:
            array = view(batch)
            break
    del batch, loader
    gc.collect()
    others = [store.get(range(500, 520)) for _ in range(20)]
    assert np.array_equal(array, drawn["train"]["image"][:20])
    part = array[3:5, 1]
    del array, others
    gc.collect()
    [store.get(range(500, 520)) for _ in range(20)]
    assert np.array_equal(part, drawn["train"]["image"][3:5, 1])


ORDERS = list(itertools.permutations(range(4)))


@pytest.mark.parametrize("order", ORDERS if os.environ.get("APL_LONG") else ORDERS[::5])
def test_whatever_goes_first(store_path: str, drawn: dict, order: tuple[int, ...]) -> None:
    store = Store(store_path)
    loader = apldata.Loader(store, "train", 20, shuffle=False, threads=1)
    batch = next(iter(loader))
    things: list[Any] = [store, loader, batch, batch.column("label")]
    array = batch["image"]
    del store, loader, batch
    for i in order:
        things[i] = None
        gc.collect()
        assert np.array_equal(array, drawn["train"]["image"][:20])


def test_memory_is_used_again_only_when_free(store: Store) -> None:
    with apldata.Loader(store, "train", 20, threads=1, queue_depth=1) as loader:
        held: dict[int, np.ndarray] = {}
        for number, batch in enumerate(loader):
            assert address(batch["image"]) not in held
            if number % 4 == 0 and len(held) < 8:
                held[address(batch["image"])] = np.from_dlpack(batch.column("image"))
        assert len(held) == 8


def test_release(batch: apldata.Batch, drawn: dict) -> None:
    image, ids = batch["image"], batch.ids
    batch.release()
    batch.release()
    for use in (
        lambda: batch["image"],
        lambda: batch.column("label"),
        lambda: batch.ids,
        lambda: batch.skipped,
    ):
        with pytest.raises(ValueError, match="released"):
            use()
    assert (
        batch.rows == 20
        and len(batch) == 0
        and list(batch) == []
        and "image" not in batch
        and batch.position == 0
    )
    assert isinstance(repr(batch), str)
    batch["own"] = 3
    assert batch["own"] == 3 and list(batch) == ["own"]
    assert np.array_equal(image, drawn["train"]["image"][:20]) and ids.tolist() == list(range(20))


def test_with(store: Store) -> None:
    with store.get([1, 2]) as batch:
        assert len(batch["image"]) == 2
    with pytest.raises(ValueError):
        batch["image"]


def test_as_a_mapping(batch: apldata.Batch) -> None:
    assert isinstance(batch, Mapping) and batch.rows == 20
    assert list(batch) == list(batch.keys()) == ["image", "label"] and len(batch) == 2
    image, label = batch["image"], batch["label"]
    assert [value is own for value, own in zip(batch.values(), (image, label), strict=True)] == [True, True]
    assert {name: value is batch[name] for name, value in batch.items()} == {"image": True, "label": True}
    assert batch.get("image") is image and batch.get("x") is None and batch.get("x", 3) == 3
    assert {**batch}.keys() == batch.keys() == {"image", "label"} and batch.keys() - {"image"} == {"label"}
    assert (lambda image, label: image)(**batch) is image
    match batch:
        case {"image": matched}:
            assert matched is image
        case _:
            raise AssertionError("no mapping to `match`")
    assert "image" in batch and "x" not in batch and 3 not in batch
    assert dict(batch).keys() == {"image", "label"}
    for wrong in ("x", 3, None):
        with pytest.raises(KeyError):
            batch[wrong]  # type: ignore[index]
    with pytest.raises(TypeError):
        batch[["image"]]  # type: ignore[index]
    with pytest.raises(TypeError, match="not deleted"):
        del batch["image"]  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        batch[3] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match="stores and loaders"):
        type(batch)()
    with pytest.raises(TypeError):
        type(batch)(image=image)  # type: ignore[call-arg]
    rebuilt = type(batch)({"image": 1})
    assert type(rebuilt) is dict and rebuilt == {"image": 1}


def test_assigning(batch: apldata.Batch) -> None:
    batch["image"] = np.zeros((20, 2))
    batch["more"] = ["any", "thing"]
    assert batch["image"].shape == (20, 2) and list(batch) == ["image", "label", "more"]
    assert batch.column("image").shape == (20, 3, 32, 32)
    batch["self"] = batch  # a cycle, for the collector
    assert isinstance(repr(batch), str)


def test_arrays_may_be_written_to_but_not_ids(batch: apldata.Batch, drawn: dict) -> None:
    batch["image"][0] = 7
    assert (np.asarray(batch.column("image"))[0] == 7).all() and not batch["image"].flags.owndata
    assert batch.ids.dtype == batch.skipped.dtype == np.uint64 and len(batch.skipped) == 0
    with pytest.raises(ValueError):
        batch.ids[:] = 1
    with pytest.raises(ValueError):
        batch.ids.flags.writeable = True


SMALL = {"small": ("f32", (16,)), "large": ("u8", (65,)), "number": "i64"}


@pytest.fixture
def small_path(tmp_path: Path) -> Path:
    """A store of fields of 64, 65 and 8 bytes a record."""
    with apldata.Writer(tmp_path / "small", SMALL) as writer:
        number = np.arange(2000)
        writer.extend(small=np.tile(number[:, None], 16), large=np.full((2000, 65), 3), number=number)
    return tmp_path / "small"


def test_small_fields_are_copies(small_path: Path) -> None:
    batch = Store(small_path).get(range(100))
    assert [batch.column(name).lent for name in SMALL] == [False, True, False]
    for name in SMALL:
        array = batch[name]
        assert address(array) == address(batch.column(name)) and address(array) % 64 == 0
        array[0] = 9  # writing into it reaches all who ask later
        view = batch.column(name)
        assert (np.asarray(view)[0] == 9).all() and (np.from_dlpack(view)[0] == 9).all()
    small, number, ids = batch["small"], batch["number"], batch.ids
    batch.release()
    del batch
    gc.collect()
    assert number.tolist() == [9, *range(1, 100)] and (small[5] == 5).all()
    assert ids.tolist() == list(range(100))


def test_small_fields_and_ids_can_be_collected(small_path: Path) -> None:
    with apldata.Loader(small_path, batch_size=10, threads=1, memory_budget=6_600_000) as loader:
        numbers = np.concatenate([batch["number"] for batch in loader])
        ids = np.concatenate([batch.ids for batch in loader])
        assert sorted(numbers.tolist()) == sorted(ids.tolist()) == list(range(2000))
        views = [batch.column("small") for batch in loader]
        assert len(views) == 200
        others = [(batch.skipped, batch.copies) for batch in loader]
        assert len(others) == 200
        with pytest.raises(apldata.LentError, match=r"copy those you want to keep.*memory_budget"):
            [batch["large"] for batch in loader]


def test_labels_of_many_batches(store: Store, drawn: dict) -> None:
    with apldata.Loader(store, "train", 8, shuffle=False, memory_budget=7_400_000) as loader:
        labels = np.concatenate([batch["label"] for batch in loader])
    assert np.array_equal(labels, drawn["train"]["label"])


@pytest.mark.parametrize("dtype", ["u64", "i64"])
def test_whole_numbers_of_64_bits_have_the_types_that_torch_takes(tmp_path: Path, dtype: str) -> None:
    apldata.convert({"x": np.arange(3, dtype=dtype[0] + "8")}, tmp_path / "s")
    batch = next(iter(apldata.Loader(tmp_path / "s", batch_size=3)))
    for array in (batch["x"], batch.ids, Store(tmp_path / "s").get([1]).ids):
        assert array.dtype.num == np.dtype(array.dtype.str).num  # not that of longlong


def test_views(batch: apldata.Batch) -> None:
    view = batch.column("image")
    assert (view.shape, view.dtype, view.rows, view.offsets, view.shapes) == (
        (20, 3, 32, 32),
        "u8",
        20,
        None,
        None,
    )
    memory = memoryview(view)
    assert (memory.format, memory.shape, memory.readonly, memory.c_contiguous) == (
        "B",
        view.shape,
        False,
        True,
    )
    assert bytes(view) == batch["image"].tobytes()
    assert view.__dlpack_device__() == (1, 0)
    with pytest.raises(TypeError):
        type(view)()


def test_varying_shapes(varying: tuple[apldata.Batch, list[np.ndarray], list[str]]) -> None:
    batch, rows, names = varying
    assert batch["name"] == names
    assert all(np.array_equal(a, b) for a, b in zip(batch["x"], rows, strict=True))
    view = batch.column("x")
    assert view.shape == (24,) and np.asarray(view.offsets).tolist() == [0, 6, 6, 21, 24]
    assert np.asarray(view.shapes).tolist() == [[2, 3], [0, 3], [5, 3], [1, 3]]
    assert not np.asarray(view.offsets).flags.writeable and address(batch["x"][0]) == address(view)
    array = batch["x"][2]
    del batch, view, varying
    gc.collect()
    assert np.array_equal(array, rows[2])


def test_no_rows(store: Store, varying: tuple[apldata.Batch, list[np.ndarray], list[str]]) -> None:
    batch = store.get([])
    assert batch.rows == 0 and batch["image"].shape == (0, 3, 32, 32) and batch.ids.shape == (0,)
    assert np.from_dlpack(batch.column("image")).shape == (0, 3, 32, 32)
    assert memoryview(batch.column("label")).nbytes == 0
    assert np.asarray(batch.column("label").bits()).shape == (0,)


def capsule_name(capsule: Any) -> str:
    function = ctypes.pythonapi.PyCapsule_GetName
    function.restype, function.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return function(capsule).decode()


def test_dlpack_of_both_versions(batch: apldata.Batch) -> None:
    view = batch.column("image")
    assert capsule_name(view.__dlpack__()) == "dltensor"
    assert capsule_name(view.__dlpack__(stream=None, max_version=(0, 8))) == "dltensor"
    for version in ((1, 0), (1, 5), (2, 0)):
        assert capsule_name(view.__dlpack__(max_version=version)) == "dltensor_versioned"
    assert capsule_name(view.__dlpack__(dl_device=(1, 0), copy=False)) == "dltensor"
    for wrong in ({"dl_device": (2, 0)}, {"copy": True}):
        with pytest.raises(BufferError):
            view.__dlpack__(**wrong)
    for wrong in ({"dl_device": "cpu"}, {"max_version": 1}, {"odd": 1}):
        with pytest.raises(TypeError):
            view.__dlpack__(**wrong)  # type: ignore[arg-type]


class Old:
    """A consumer's view of an exporter of before DLPack 1.0."""

    def __init__(self, view: apldata.View) -> None:
        self.view = view

    def __dlpack__(self, **_: Any) -> Any:
        return self.view.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.view.__dlpack_device__()


def test_dlpack_of_read_only_arrays(varying: tuple[apldata.Batch, list[np.ndarray], list[str]]) -> None:
    offsets = varying[0].column("x").offsets
    assert offsets is not None
    with pytest.raises(BufferError, match="read-only"):
        offsets.__dlpack__()
    array = np.from_dlpack(offsets)
    assert array.tolist() == [0, 6, 6, 21, 24] and not array.flags.writeable


def test_capsules_that_nobody_takes(store: Store) -> None:
    with apldata.Loader(store, "train", 20, threads=1, memory_budget=0) as loader:
        for _ in range(5):
            for batch in loader:  # it would run out of batches if a capsule kept one
                capsules = [batch.column("image").__dlpack__(max_version=v) for v in (None, (1, 0))]
                array = np.from_dlpack(Old(batch.column("image")))
                del batch, capsules
                assert array.any()
                del array


def test_pickling_is_refused_with_the_reason(batch: apldata.Batch) -> None:
    for thing in (batch, batch.column("image")):
        with pytest.raises(TypeError, match=r"pickle (a copy|copies)"):
            pickle.dumps(thing)
    assert np.array_equal(pickle.loads(pickle.dumps(batch["image"])), batch["image"])
