"""Loader: order, epochs, states, receipts, functions in Python."""

from __future__ import annotations

import json
import os
import pickle
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Loader, Store

TIGHT = 7_400_000  # bytes: all of the shared store, and some small batches

TRAIN = 1000  # records, of the drawn store


def ids_of(loader: Loader) -> list[int]:
    return [int(i) for batch in loader for i in batch.ids]


def add_one(batch: Any) -> None:
    batch["image"][:] += 1


FUNCTIONS: list[Any] = [[], [add_one]]


@pytest.mark.parametrize("threads", [0, 1, 2, 4, None])
@pytest.mark.parametrize(
    "options", [{}, {"shuffle": False}, {"order": "free"}, {"window": 300}, {"reuse": 3}]
)
def test_each_record_once_an_epoch(store: Store, threads: int | None, options: dict[str, Any]) -> None:
    with Loader(store, "train", 64, seed=3, threads=threads, **options) as loader:
        for _ in range(2):
            assert sorted(ids_of(loader)) == sorted(list(range(TRAIN)) * options.get("reuse", 1))


@pytest.mark.parametrize("window", [0, 300])
def test_the_order_does_not_depend_on_threads_or_batch_size(store: Store, window: int) -> None:
    def orders(**options: Any) -> list[list[int]]:
        with Loader(store, "train", seed=3, window=window, **options) as loader:
            return [ids_of(loader) for _ in range(3)]

    first = orders(threads=0, batch_size=64)
    assert first[0] != first[1] != first[2]
    for threads in (1, 2, 4):
        assert orders(threads=threads, batch_size=64) == first
    assert orders(loaders=1, consumers=2, batch_size=999) == first
    assert orders(threads=1, batch_size=1000, queue_depth=1, transforms=[add_one]) == first
    assert orders(threads=1, batch_size=70, fields=["label"]) == first
    assert orders(threads=1, batch_size=70, fields=[]) == first


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_values_belong_to_the_ids(store: Store, drawn: dict, transforms: list[Any]) -> None:
    train = drawn["train"]
    with Loader(store, "train", 96, threads=2, transforms=transforms) as loader:
        for batch in loader:
            assert np.array_equal(batch["image"], train["image"][batch.ids] + np.uint8(len(transforms)))
            assert np.array_equal(batch["label"], train["label"][batch.ids])


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_iter_goes_to_the_next_epoch(store: Store, transforms: list[Any]) -> None:
    with Loader(store, "train", 64, seed=1) as reference:
        epochs = [ids_of(reference) for _ in range(4)]
    with Loader(store, "train", 64, seed=1, transforms=transforms) as loader:
        unused = iter(loader)  # does not begin the epoch
        assert loader.epoch == 0 and len(loader) == len(unused) == 16
        assert ids_of(loader) == epochs[0]
        for batch in loader:
            assert batch.epoch == loader.epoch == 1
            assert batch.ids.tolist() == epochs[1][:64]
            break
        assert ids_of(loader) == epochs[2]
        last = unused
        assert [int(i) for batch in last for i in batch.ids] == epochs[3]
        for _ in range(3):
            with pytest.raises(StopIteration):
                next(last)


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_iterators_are_independent(store: Store, transforms: list[Any]) -> None:
    """Each has an epoch of its own, from when its first batch is asked for."""
    with Loader(store, "train", 64, seed=1) as reference:
        epochs = [ids_of(reference) for _ in range(5)]
    with Loader(store, "train", 64, seed=1, transforms=transforms) as loader:
        pairs = [(a.ids.tolist(), b.ids.tolist()) for a, b in zip(loader, loader, strict=True)]
        assert [i for ids, _ in pairs for i in ids] == epochs[0]
        assert [i for _, ids in pairs for i in ids] == epochs[1]
        first = iter(loader)
        seen = next(first).ids.tolist()
        inner = iter(loader)
        assert loader.state_dict()["epoch"] == loader.epoch == 3  # the newest iteration is the loader's
        assert seen + ids_of(first) == epochs[2]
        assert loader.state_dict()["position"] == 0
        assert ids_of(inner) == epochs[3] and ids_of(loader) == epochs[4]


def test_nested_loops(store: Store) -> None:
    with Loader(store, "train", 250) as loader:
        rows = [[inner.rows for inner in loader] for _ in loader]
        assert rows == [[250] * 4] * 4 and loader.epoch == 4


def test_an_iterator_goes_on_after_a_load(store: Store) -> None:
    with Loader(store, "train", 64) as loader:
        old = iter(loader)
        seen = next(old).ids.tolist()
        state = loader.state_dict()
        loader.load_state_dict(state)
        rest = ids_of(loader)
        loader.set_epoch(7)
        assert ids_of(old) == rest and sorted(seen + rest) == list(range(TRAIN))
        assert loader.epoch == 7


def test_readers_of_iterators_end_with_them(store: Store) -> None:
    def tasks() -> int:
        return len(os.listdir("/proc/self/task"))

    before = tasks()
    with Loader(store, "train", 64, threads=1) as loader:
        iterators = [iter(loader) for _ in range(5)]
        for iterator in iterators:
            next(iterator)
        assert tasks() == before + 5
        del iterators, iterator
        assert tasks() == before + 1
        kept = [iter(loader) for _ in range(3)]
        for iterator in kept:
            next(iterator)
    assert tasks() == before
    for iterator in kept:
        with pytest.raises(ValueError, match="closed"):
            next(iterator)


def test_two_loaders_side_by_side(store: Store) -> None:
    with Loader(store, "train", 50, threads=1) as one, Loader(store, "test", 50, threads=1) as two:
        pairs = list(zip(one, two, strict=False))  # all of them held
        assert len(pairs) == 6
        assert all(a.ids.max() < TRAIN <= b.ids.min() for a, b in pairs)


def test_sizes(store: Store) -> None:
    with Loader(store, "train", 64) as loader:
        assert [batch.rows for batch in loader] == [64] * 15 + [40]
    with Loader(store, "train", 64, drop_last=True) as loader:
        assert [batch.rows for batch in loader] == [64] * 15 and len(loader) == 15
        assert loader.receipt()["dropped"] == 40
    with Loader(store, "train", 5000) as loader:
        assert [batch.rows for batch in loader] == [1000]
    with Loader(store, "test", 7, fields=["label"]) as loader:
        assert next(iter(loader)).keys() == {"label"}


def test_loaders_made_anew_are_given_the_epoch(store: Store) -> None:
    with Loader(store, "train", 100, seed=3) as loader:
        epochs = [ids_of(loader) for _ in range(3)]
    for number, epoch in enumerate(epochs):
        with Loader(store, "train", 100, seed=3, first_epoch=number) as loader:
            assert ids_of(loader) == epoch


def test_evaluation_goes_in_the_order_of_ids(store: Store) -> None:
    with Loader(store, "test", 64, shuffle=False) as loader:
        assert ids_of(loader) == ids_of(loader) == list(range(TRAIN, TRAIN + 300))


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_set_epoch(store: Store, transforms: list[Any]) -> None:
    with Loader(store, "train", 64, transforms=transforms) as loader:
        epochs = [ids_of(loader) for _ in range(3)]
        for epoch in (1, 2, 0, 0):
            loader.set_epoch(epoch)
            assert loader.epoch == epoch or epoch == loader.epoch + 1
            assert ids_of(loader) == epochs[epoch]
        next(iter(loader))
        state = loader.state_dict()
        assert state["epoch"] == 1
        loader.load_state_dict(state)
        loader.set_epoch(1)  # where the state is: it goes on there
        assert ids_of(loader) == epochs[1][64:]
    with Loader(store, "train", 64, first_epoch=2) as loader:
        assert ids_of(loader) == epochs[2]


def test_ranks_share_an_epoch(store: Store) -> None:
    with Loader(store, "train", 64) as alone:
        order = ids_of(alone)
        whole = alone.receipt()
    parts, receipts = [], []
    for rank in range(3):
        with Loader(store, "train", 64, rank=rank, world=3) as loader:
            batches = [batch.ids.tolist() for batch in loader]
            assert len(batches) == len(loader) == 6
            parts.append(batches)
            receipts.append(loader.receipt())
    shared = [i for step in zip(*parts, strict=True) for batch in step for i in batch]
    assert shared == order
    assert sum(r["delivered"] for r in receipts) == whole["delivered"] == TRAIN
    assert f"{sum(int(r['sum'], 16) for r in receipts) % 2**128:032x}" == whole["sum"]


def test_receipts_of_parts_add_up(store: Store) -> None:
    with Loader(store, "train", 64) as loader:
        ids_of(loader)
        whole = loader.receipt()
        assert (whole["first"], whole["last"], whole["delivered"]) == (0, TRAIN, TRAIN)
        assert whole["missing"] == whole["repeated"] == whole["skipped"] == 0
    with Loader(store, "train", 64) as loader:
        iterator = iter(loader)
        for _ in range(5):
            next(iterator)
        first, state = loader.receipt(), loader.state_dict()
    with Loader(store, "train", 33) as loader:
        loader.load_state_dict(state)
        ids_of(loader)
        rest = loader.receipt()
    assert first["last"] == rest["first"] == 320
    assert first["delivered"] + rest["delivered"] == TRAIN
    assert f"{(int(first['sum'], 16) + int(rest['sum'], 16)) % 2**128:032x}" == whole["sum"]


def test_no_python_runs_for_a_batch(store: Store) -> None:
    with Loader(store, "train", 8, threads=1) as loader:
        iterator, calls = iter(loader), []
        rows = next(iterator).rows  # which the loader has a part in
        sys.setprofile(lambda frame, event, arg: calls.append(frame.f_code) if event == "call" else None)
        try:
            for batch in iterator:
                rows += len(batch["image"])
        finally:
            sys.setprofile(None)
        assert [code.co_name for code in calls] == ["_end", "_finish"] and rows == TRAIN
        assert loader.state_dict()["finished"] and next(iterator, None) is None


def test_an_iterator_of_before_keeps_its_epoch(store: Store) -> None:
    with Loader(store, "train", 100, threads=1) as loader:
        first = iter(loader)
        assert next(first).epoch == 0 and next(first).epoch == 0
        loader.load_state_dict(loader.state_dict())
        second = iter(loader)
        assert [batch.position for batch in second] == list(range(200, TRAIN, 100))
        assert [batch.position for batch in first] == list(range(200, TRAIN, 100))
        assert next(first, None) is None and next(second, None) is None


def test_a_closed_loader_says_so(store: Store) -> None:
    loader = Loader(store, "train", 8)
    state = loader.state_dict()
    loader.close()
    for use in (
        lambda: next(iter(loader)),
        loader.state_dict,
        loader.receipt,
        lambda: loader.load_state_dict(state),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert "closed" in repr(loader)


def test_cancelling(store: Store) -> None:
    with Loader(store, "train", 8) as loader:
        next(iter(loader))
        loader.cancel()
        with pytest.raises(apldata.CancelledError):
            list(loader)


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_all_batches_held(store: Store, transforms: list[Any]) -> None:
    """Held batches cost memory: with none left the loader says so, and goes on when some are given back."""
    with Loader(store, "train", 8, threads=1, transforms=transforms, memory_budget=TIGHT) as loader:
        held, order, iterator = [], [], iter(loader)
        with pytest.raises(apldata.LentError):
            while True:
                held.append(next(iterator))
                order += held[-1].ids.tolist()
        assert loader.state_dict()["position"] == len(order)
        held.clear()
        order += [int(i) for batch in iterator for i in batch.ids]
        assert sorted(order) == list(range(TRAIN))


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 0},
        {"split": "none"},
        {"order": "odd"},
        {"rank": 1},
        {"rank": 3, "world": 2},
        {"fields": ["no"]},
        {"fields": "label"},
        {"memory_budget": 1000},
        {"threads": -1},
        {"seed": -1},
        {"window": 1.5},
        {"pin": (1,)},
        {"pin": 1},
        {"pin": (1, 2)},
        {"transforms": ["no"]},
        {"transforms": [add_one, apldata.RandomFlip()]},
        {"transforms": [apldata.RandomCrop(99)]},
        {"transforms": [apldata.RandomCrop(8), apldata.RandomCrop(9)]},
        {"bins": 2**40},
        {"transforms": [apldata.Normalize(), apldata.ToFloat32(scale=False)]},
        {"transforms": [apldata.RandomFlip(field="label")]},
        {"transforms": [apldata.Normalize(mean=[0.1, 0.2], std=[1, 2])]},
    ],
)
def test_wrong_options_are_refused(store: Store, options: dict[str, Any]) -> None:
    with pytest.raises((apldata.Error, ValueError, TypeError)):
        Loader(store, **options)


def test_a_wait_may_take_only_so_long(store: Store) -> None:
    with Loader(store, "train", 32, timeout=30) as loader:
        assert sum(batch.rows for batch in loader) == TRAIN


def test_it_tells_where_the_time_went(store: Store) -> None:
    with Loader(store, "train", 100) as loader:
        list(loader)
        stats = loader.stats()
    assert 0 <= stats["stall"] <= 1 and all(isinstance(key, str) for key in json.loads(json.dumps(stats)))


def test_it_explains_what_the_loop_waits_for(store: Store) -> None:
    def slow(batch: Any) -> None:
        time.sleep(0.01)

    def be_slow(loader: Loader, step: int) -> None:
        """Slower than the loader, whatever else runs: until all that may be ready is."""
        time.sleep(0.01)
        while loader.stats()["queued"] < min(4, len(loader) - step):
            time.sleep(0.003)

    def explained(loader: Loader) -> str:
        """Of an epoch of a slow loop."""
        left = iter(loader)
        next(left)  # for which it waits
        be_slow(loader, 1)
        assert loader.explain(recent=True).startswith("too few batches to tell")
        for step, _ in enumerate(left, 2):
            be_slow(loader, step)
        return loader.explain(recent=True)

    with Loader(store, "train", 10, reuse=2) as loader:
        # Once, the process may have to wait for a processor while it takes a batch that is ready.
        said = next((said for said in (explained(loader) for _ in range(5)) if "does not wait" in said), "")
        assert said.startswith("training does not wait for data") and "processor" in said
        assert loader.explain(recent=True).startswith("too few batches to tell")
    with Loader(store, "train", 10, reuse=4, transforms=[slow]) as loader:
        for _ in loader:
            pass
        assert loader.explain().startswith("training waits for functions in Python")
    with Loader(store, "train", 10) as loader, pytest.raises(TypeError):
        loader.explain(True)  # type: ignore[misc]


def test_it_cannot_be_pickled(store: Store) -> None:
    with Loader(store) as loader, pytest.raises(TypeError, match="state_dict"):
        pickle.dumps(loader)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_batches_that_wait(store: Store, threads: int) -> None:
    """As many as queue_depth says, and one more of each thread that assembles."""
    with Loader(store, batch_size=10, threads=threads, queue_depth=2) as loader:
        next(iter(loader))
        end = time.monotonic() + 10
        while loader.stats()["queued"] < 2 + threads and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)
        assert loader.stats()["queued"] == 2 + threads


def test_batch_size_cannot_be_set(store_path: str) -> None:
    with Loader(store_path, batch_size=100) as loader:
        with pytest.raises(AttributeError, match="batch_size"):
            loader.batch_size = 8  # type: ignore[misc]
        assert loader.batch_size == 100 == next(iter(loader)).rows


@pytest.mark.parametrize(("name", "value"), [("seed", 7), ("transforms", [add_one]), ("split", "test")])
def test_options_cannot_be_set(name: str, value: Any, store_path: str) -> None:
    with Loader(store_path, batch_size=100) as loader:
        with pytest.raises(apldata.InvalidError, match=rf"^{name} cannot be set after"):
            setattr(loader, name, value)
        loader.note = "mine"  # type: ignore[attr-defined]


def test_half_of_a_launcher_is_told_of(store: apldata.Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", "4")
    with apldata.Loader(store) as loader:
        with pytest.warns(RuntimeWarning, match="WORLD_SIZE is 4 and RANK is not set.*rank=0, world=1"):
            iter(loader)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            iter(loader)  # told once
    with monkeypatch.context() as patched, apldata.Loader(store) as loader:
        patched.delenv("WORLD_SIZE")
        patched.setenv("RANK", "3")
        with pytest.warns(RuntimeWarning, match="RANK is 3 and WORLD_SIZE is not set.*rank=0, world=1"):
            iter(loader)
    for options, environment in (
        ({"rank": 0, "world": 1}, {}),
        ({}, {"RANK": "0"}),
        ({}, {"WORLD_SIZE": "1"}),
    ):
        with monkeypatch.context() as patched, warnings.catch_warnings():
            warnings.simplefilter("error")
            for name, value in environment.items():
                patched.setenv(name, value)
            with apldata.Loader(store, **options) as loader:
                iter(loader)
