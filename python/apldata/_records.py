"""Calling functions of single records, on threads, with randomness that is keyed by the record."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from copy import copy
from hashlib import blake2b
from typing import Any

from ._errors import InvalidError

_FEWEST = 8  # records that are worth a thread


def record_key(seed: int, epoch: int, record: int, copy: int, number: int) -> int:
    """What seeds the random generators for one record: 64 bits. `number`: how many transforms before it
    change the same images."""
    given = struct.pack("<5Q", seed, epoch, record, copy, number)
    return int.from_bytes(blake2b(given, digest_size=8, person=b"apldata-records").digest(), "little")


class Keys:
    """The keys of a batch's records; those of its rows if it is not a loader's, and has no ids."""

    def __init__(self, seed: int, number: int, batch: Any, rows: int) -> None:
        ids, copies = getattr(batch, "ids", None), getattr(batch, "copies", None)
        self._ids = list(range(rows)) if ids is None else ids.tolist()
        self._copies = [0] * rows if copies is None else copies.tolist()
        self._seed, self._number = seed, number
        self._epoch, self._position = getattr(batch, "epoch", 0), getattr(batch, "position", 0)

    def of_part(self, part: int) -> Keys:
        """Those of a later part of the transform, whose draws have nothing to do with those of the first."""
        keys = copy(self)
        keys._number += part << 32
        return keys

    def of_row(self, row: int) -> int:
        return record_key(self._seed, self._epoch, self._ids[row], self._copies[row], self._number)

    def of_batch(self, step: int) -> int:
        """For what is drawn for the whole batch."""
        return record_key(self._seed, self._epoch, self._position, 2**32 + step, self._number)


def row_told(batch: Any, row: int) -> tuple[str, dict[str, int]]:
    """A row of a batch as errors call it, and the record that they concern, if it is known."""
    try:
        record = int(batch.ids[row])
    except InvalidError:  # a function has changed the rows
        return f"row {row} of a batch", {}
    return f"record {record}", {"first": record, "count": 1}


def in_threads(rows: int, threads: int, work: Callable[[int, int, int], None]) -> None:
    """Calls ``work(start, stop, slot)`` for parts of the rows, each on a thread of its own, and waits. The
    exception of the first part that raises one is raised."""
    parts = max(1, min(threads, rows // _FEWEST))
    errors: list[BaseException | None] = [None] * parts

    def run(slot: int) -> None:
        try:
            work(rows * slot // parts, rows * (slot + 1) // parts, slot)
        except BaseException as error:  # raised below, where it can be caught
            errors[slot] = error

    # Made for each batch: that costs less than a record does, and leaves no thread behind.
    crew = [
        threading.Thread(target=run, args=(slot,), name="apldata-records", daemon=True)
        for slot in range(parts)
    ]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    for error in errors:
        if error is not None:
            raise error
