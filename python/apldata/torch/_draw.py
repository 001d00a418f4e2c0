"""What an epoch's batches consist of, drawn ahead and sent to the device where the records lie."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
import threading
from collections import deque
from typing import NamedTuple

import numpy as np
import torch

from .. import _core
from .._errors import ForkedError
from .._source import Source
from ._augment import PLACES, Places
from ._resident import Resident

_AHEAD = 1 << 16  # rows that are drawn, and sent to the device, at a time: all of an epoch of CIFAR-10


class Part(NamedTuple):
    """What the device knows of the rows drawn together."""

    rows: torch.Tensor  # int64[n]: where each record lies
    places: list[Places | None]  # of each column


class Drawn(NamedTuple):
    """A batch that can be taken."""

    part: Part
    start: int  # of its rows in the part
    stop: int
    state: bytes  # of the reader after it


class Drawing(Source):
    """Hands out the batches of a reader of ids as `Drawn`, epoch by epoch."""

    def __init__(self, reader: _core.Reader, resident: Resident, seed: int, batch_size: int) -> None:
        super().__init__(reader, 0.0, [])
        self._resident, self._seed, self._batch_size = resident, seed, batch_size
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._waiting: deque[Drawn] = deque()
        self.forget()

    def forget(self) -> None:
        self._waiting.clear()
        self._state: bytes | None = None  # after the last batch that was handed out; None: the reader's
        self._origin: bytes | None = None  # the reader's state before the first batch of the epoch
        self._calls = 0  # of next(), in this epoch
        self._over = False

    def next(self) -> Drawn | None:
        """The next batch; None at the end of the epoch."""
        if os.getpid() != self._pid:
            raise ForkedError("the loader belongs to the parent process: make one here")
        with self._lock:  # so that the state is that after the last one taken
            if not self._waiting and not self._over:
                self._draw()
            self._calls += bool(self._waiting) or not self._over
            self._over = not self._waiting
            drawn = self._waiting.popleft() if self._waiting else None
            self._state = drawn and drawn.state
        return drawn

    def state(self) -> bytes:
        return self._state or self._reader.state()

    def origin(self) -> tuple[bytes | None, int]:
        """The state before the first batch of the epoch, None if none was asked for, and how many times one
        was."""
        with self._lock:
            return self._origin, self._calls

    def _draw(self) -> None:
        """Draws the batches of the next 65,536 records, or one batch, or what the epoch has left."""
        if self._origin is None:
            self._origin = self._reader.state()
        tables: list[np.ndarray] = []
        tails: list[tuple[int, int, bytes]] = []
        total = 0
        while total + self._batch_size <= _AHEAD or not tables:
            batch = self._reader.next()
            if batch is None:
                break
            tables.append(self._table(batch))
            tails.append((total, total + batch.rows, self._reader.state()))
            total += batch.rows
        if tables:
            part = self._send(np.concatenate(tables))
            self._waiting.extend(Drawn(part, *tail) for tail in tails)

    def _table(self, batch: _core.Batch) -> np.ndarray:
        """Of each row, where its record lies, and its placements for each transform that needs some:
        int32[rows, 1 + 5 n]."""
        parts = [self._resident.rows(batch.ids)[:, None]]
        for settings in self._resident.placing:
            placements = self._resident.store._placements(settings, self._seed, batch)
            parts.append(np.frombuffer(placements, np.int32).reshape(-1, PLACES))
        return np.concatenate(parts, axis=1)

    def _send(self, table: np.ndarray) -> Part:
        """Brings a table to the device, in one copy that nobody waits for."""
        there = torch.from_numpy(table)
        if self._resident.device.type == "cuda":
            there = there.pin_memory()  # torch keeps it until the copy is done
        there = there.to(self._resident.device, non_blocking=True)
        places: list[Places | None] = []
        at = 1
        for column in self._resident.columns:
            placed = column.augment if column.augment and column.augment.places else None
            places.append(placed.place(there[:, at : at + PLACES]) if placed else None)
            at += PLACES if placed else 0
        return Part(there[:, 0].long(), places)
