"""States of loaders, and functions in Python ahead of the loop."""

from __future__ import annotations

import gc
import json
import math
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Loader, Store

TRAIN = 1000  # records, of the drawn store


def ids_of(batches: Any) -> list[int]:
    return [int(i) for batch in batches for i in batch.ids]


def plus_one(batch: Any) -> None:
    batch["image"] = batch["image"] + np.uint8(1)


def ahead_threads() -> int:
    return sum(thread.name == "apldata-ahead" for thread in threading.enumerate())


FUNCTIONS: list[Any] = [[], [plus_one]]


@pytest.mark.parametrize("transforms", FUNCTIONS)
@pytest.mark.parametrize("options", [{}, {"window": 200}, {"order": "free", "threads": 0}, {"reuse": 2}])
def test_a_state_at_every_batch(store: Store, transforms: list[Any], options: dict[str, Any]) -> None:
    free = options.get("order") == "free"
    with Loader(store, "train", 90, seed=2, transforms=transforms, **options) as loader:
        states, parts = [loader.state_dict()], []
        for _ in range(2):
            for batch in loader:
                parts.append(batch.ids.tolist())
                states.append(loader.state_dict())
                del batch
    order = [i for part in parts for i in part]
    total = TRAIN * options.get("reuse", 1)
    done = 0
    for number, state in enumerate(states):
        with Loader(store, "train", 77, seed=2, **{**options, "threads": number % 3}) as other:
            other.load_state_dict(
                json.loads(json.dumps(state)) if number % 2 else pickle.loads(pickle.dumps(state))
            )
            assert other.state_dict() == state
            rest = ids_of(other)
        end = total if done <= total else 2 * total
        if done == end:
            assert rest == []  # it was the last batch of its epoch
        elif free:
            assert sorted(order[done:end] if number else rest) == sorted(rest)
        else:
            assert rest == order[done:end]
        done += len(parts[number]) if number < len(parts) else 0


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_a_state_of_the_end_goes_on_with_the_next_epoch(store: Store, transforms: list[Any]) -> None:
    with Loader(store, "train", 128, transforms=transforms) as loader:
        first, second = ids_of(loader), None
        state = loader.state_dict()
        assert state["finished"] is True and state["epoch"] == loader.epoch == 0
        second, third = ids_of(loader), ids_of(loader)
        loader.load_state_dict(state)
        assert loader.epoch == 1  # that of the next iteration
        assert ids_of(loader) == second and ids_of(loader) == third and first != second
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        loader.load_state_dict(loader.state_dict())
        assert ids_of(loader) == second


@pytest.mark.parametrize("transforms", FUNCTIONS)
@pytest.mark.parametrize("options", [{}, {"drop_last": True}, {"order": "free"}])
def test_a_state_of_the_last_batch_ends_the_epoch(
    store: Store, transforms: list[Any], options: dict[str, Any]
) -> None:
    """As many steps as without the interruption, whichever loop over epochs goes on."""
    steps = 0
    with Loader(store, "train", 100, transforms=transforms, **options) as loader:
        for _ in loader:
            steps += 1
            if steps == 10:
                state = loader.state_dict()
        assert not state["finished"] and loader.state_dict()["finished"]
        second = ids_of(loader)
        loader.load_state_dict(state)
        assert loader.epoch == 0
        assert [len(ids_of(loader)) for _ in range(loader.epoch, 3)] == [0, 1000, 1000]
        for epochs in ([0, 1], [1]):  # scripts that count from the epoch of the state, or by steps
            loader.load_state_dict(state)
            for epoch in epochs:
                loader.set_epoch(epoch)
                rest = ids_of(loader)
            assert sorted(rest) == sorted(second) and (rest == second or "order" in options)


def test_states_that_say_nonsense(store: Store) -> None:
    with Loader(store, "train", 100) as loader:
        state = loader.state_dict()
        for finished in ("yes", 2, [], math.nan, 1.0, None, {}, np.zeros(2, bool)):
            with pytest.raises(apldata.InvalidError, match="finished"):
                loader.load_state_dict({**state, "finished": finished})
        for name in ("apldata", "epoch", "position", "state"):
            for value in (True, 1.0, math.nan, "1", None, [], b"", {}):
                with pytest.raises(apldata.InvalidError):
                    loader.load_state_dict({**state, name: value})
        loader.load_state_dict({**state, "finished": np.True_, "epoch": np.int64(state["epoch"])})


@pytest.mark.parametrize("transforms", FUNCTIONS)
def test_loading_into_a_running_loader(store: Store, transforms: list[Any]) -> None:
    with Loader(store, "train", 100, transforms=transforms) as loader:
        order = ids_of(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        ids_of(iterator)
        next(iter(loader))
        for _ in range(2):
            loader.load_state_dict(state)
            assert loader.epoch == 0 and ids_of(loader) == order[100:]


def test_a_wrong_state_is_refused_and_changes_nothing(store: Store, tmp_path: Any) -> None:
    with apldata.Writer(tmp_path / "other", {"image": "u16"}) as writer:
        writer.extend(image=range(1000))
    with Loader(store, "train", 100) as loader:
        ids_of(loader)
        next(iter(loader))
        state = loader.state_dict()
        sampling = apldata.Sampling("label", records=300)
        strangers = {
            ": split differs$": Loader(store, "test", 100),
            "seed": Loader(store, "train", 100, seed=1),
            ": order": Loader(store, "train", 100, order="free"),
            ": window differs$": Loader(store, "train", 100, window=200),
            ": ids differ$": Loader(store, "train", 100, ids=range(300)),
            ": sampling differs$": Loader(store, "train", 100, sampling=sampling),
            "content": Loader(tmp_path / "other", "train", 100),
        }
        for what, other in strangers.items():
            with pytest.raises(apldata.MismatchError, match=what):
                other.load_state_dict(state)
            assert len(ids_of(other)) in (1000, 300)
            other.close()
        text = state["state"]
        flipped = f"{int(text[:2], 16) ^ 1:02x}{text[2:]}"
        wrong = [{}, {"state": "zz"}, {"state": None}, None, 3, {**state, "state": text[:-2]}, {"state": ""}]
        for bad in [*wrong, {**state, "state": flipped}, {"state": text + "00"}]:
            with pytest.raises((apldata.InvalidError, apldata.MismatchError)):
                loader.load_state_dict(bad)  # type: ignore[arg-type]
            assert loader.state_dict() == state
        assert len(ids_of(loader)) == 1000 and loader.epoch == 2


def test_damaged_states_are_refused(store: Store) -> None:
    with Loader(store, "train", 100) as loader:
        next(iter(loader))
        state = bytes.fromhex(loader.state_dict()["state"])
        for at in range(len(state)):
            damaged = bytearray(state)
            damaged[at] ^= 1 << at % 8
            with pytest.raises(apldata.Error):
                loader.load_state_dict({"state": bytes(damaged).hex()})


def test_the_world_may_change(store: Store) -> None:
    with Loader(store, "train", 50) as loader:
        order = ids_of(loader)
    with Loader(store, "train", 50, rank=0, world=2) as loader:
        iterator = iter(loader)
        for _ in range(3):
            next(iterator)
        state = loader.state_dict()
    parts = []
    for rank in range(3):
        with Loader(store, "train", 10, rank=rank, world=3) as loader:
            loader.load_state_dict(state)
            parts.append([batch.ids.tolist() for batch in loader])
    assert [i for step in zip(*parts, strict=True) for part in step for i in part] == order[300:]


# ------------------------------------------------------------------------------------------ functions


def test_what_functions_may_do(store: Store, drawn: dict) -> None:
    threads = set()

    def grey(batch: Any) -> None:
        threads.add(threading.current_thread())
        batch["image"] = batch["image"].mean(1)
        batch["own"] = "text"

    def pair(batch: Any) -> tuple[Any, Any]:
        assert batch["own"] == "text"
        return batch["image"], batch["label"]

    with Loader(store, "train", 100, shuffle=False, transforms=[grey, pair]) as loader:
        for number, (images, labels) in enumerate(loader):
            rows = slice(100 * number, 100 * number + 100)
            assert np.array_equal(images, drawn["train"]["image"][rows].mean(1))
            assert np.array_equal(labels, drawn["train"]["label"][rows])
    assert len(threads) == 1 and threading.main_thread() not in threads and not threads.pop().is_alive()


@pytest.mark.parametrize("at", [0, 1, 5, 9])
def test_an_exception_of_a_function(store: Store, at: int) -> None:
    calls, trouble = [], [True]

    def fail(batch: Any) -> None:
        calls.append(batch.position)
        if trouble[0] and batch.position == 100 * at:
            raise ZeroDivisionError(f"batch {at}")

    loader = Loader(store, "train", 100, transforms=[fail])
    seen: list[int] = []
    iterator = iter(loader)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match=f"batch {at}"):
            for batch in iterator:
                seen += batch.ids.tolist()
        assert len(seen) == 100 * at
    state = loader.state_dict()
    trouble[0] = False
    assert len(ids_of(loader)) == 1000 and loader.epoch == 1
    loader.load_state_dict(state)  # and the batch that failed, once more
    assert sorted(seen + ids_of(loader)) == list(range(TRAIN))
    loader.close()
    assert ahead_threads() == 0


def test_functions_work_only_a_little_ahead(store: Store) -> None:
    calls: list[int] = []
    with Loader(store, "train", 100, transforms=[lambda batch: calls.append(0)]) as loader:
        time.sleep(0.05)
        assert not calls  # nothing before it is asked for
        next(iter(loader))
        end = time.monotonic() + 20
        while len(calls) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.1)
        assert 2 <= len(calls) <= 4
        assert loader.state_dict()["position"] == 100


def test_a_forgotten_loader_ends(store: Store) -> None:
    for transforms in FUNCTIONS:
        loader = Loader(store, "train", 100, transforms=transforms)
        batch = next(iter(loader))
        before = ahead_threads()
        del loader
        gc.collect()
        assert (before, ahead_threads()) == (len(transforms), 0)
        assert batch["image"].shape == (100, 3, 32, 32)


def test_closing_from_a_function(store: Store) -> None:
    loader: Loader

    def close(batch: Any) -> None:
        loader.close()

    loader = Loader(store, "train", 100, transforms=[close])
    with pytest.raises((apldata.CancelledError, ValueError)):
        list(loader)
    loader.close()


def test_numbers_of_a_state_cannot_be_changed(store: apldata.Store) -> None:
    with apldata.Loader(store, batch_size=100, first_epoch=3) as loader:
        next(iter(loader))
        state = loader.state_dict()
        for name, wrong in (("epoch", 4), ("position", 0), ("epoch", "3")):
            with pytest.raises(apldata.InvalidError, match=rf"says {name} .*cannot be changed; .*set_epoch"):
                loader.load_state_dict({**state, name: wrong})
        with pytest.raises(apldata.InvalidError, match="of version 2; known is 1"):
            loader.load_state_dict({**state, "apldata": 2})
        loader.load_state_dict({"state": state["state"]})
        assert (loader.epoch, loader.state_dict()["position"]) == (3, 100)
