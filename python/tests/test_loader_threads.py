"""Loader: threads that draw from one, and its end."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

import apldata
from apldata import Loader, Store

TRAIN = 1000  # records, of the drawn store


def add_one(batch: Any) -> None:
    batch["image"][:] += 1


FUNCTIONS: list[Any] = [[], [add_one]]


def test_many_threads_draw_from_one_loader(store: Store) -> None:
    for transforms in FUNCTIONS:
        with Loader(store, "train", 8, threads=2, transforms=transforms) as loader:
            for _ in range(3):
                iterator, seen = iter(loader), []

                def draw(iterator: Any = iterator, seen: list[int] = seen) -> None:
                    for batch in iterator:
                        seen.extend(batch.ids.tolist())

                crew = [threading.Thread(target=draw) for _ in range(4)]
                for thread in crew:
                    thread.start()
                for thread in crew:
                    thread.join()
                assert sorted(seen) == list(range(TRAIN))


def test_every_thread_is_told_of_the_end(store: Store) -> None:
    with Loader(store, "train", 100, threads=1) as loader:
        iterator, told = iter(loader), []
        crew = [threading.Thread(target=lambda: told.extend([list(iterator), 1])) for _ in range(4)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        assert told[1::2] == [1] * 4 and sum(map(len, told[::2])) == TRAIN // 100
        assert loader.state_dict()["finished"] and loader.epoch == 0


def test_the_end_that_another_thread_was_told_of_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with Loader(store, "train", 100) as loader:
        next(iter(loader))
        now = loader._pass
        taken = now.source.next

        def late() -> Any:
            batch = taken()
            now.finished = True  # by who was told meanwhile
            return batch

        monkeypatch.setattr(now.source, "next", late)
        assert now.take() is not None and now.finished


def test_closing_wakes_who_waits(store: Store) -> None:
    for transforms in ([], [lambda batch: time.sleep(0.3)]):
        loader, raised = Loader(store, "train", 8, threads=1, transforms=transforms), []
        held = [next(iter(loader))]

        def draw(loader: Loader = loader, raised: list[Any] = raised) -> None:
            try:
                while True:
                    for _ in loader:
                        pass
            except Exception as error:
                raised.append(error)

        thread = threading.Thread(target=draw)
        thread.start()
        time.sleep(0.1)
        loader.close()
        thread.join(20)
        assert not thread.is_alive()
        assert isinstance(raised[0], (apldata.CancelledError, ValueError))
        loader.close()
        assert all(len(batch["image"]) == batch.rows for batch in held)  # stay valid
