"""Cursor: a loader for those who ask for batches one after another; and which rows follow each other."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

STRIDE = 1 << 10  # batches between two that one reader is asked for, at most


class Cursor:
    """A loader whose batches are those that are asked for, as long as they come at a steady stride.

    Args:
        loader: begins with the batch at `first`.
        size: rows of a batch.
        stride: batches from one to the next.
        records: that an epoch has.
    """

    def __init__(self, loader: Any, epoch: int, first: int, size: int, stride: int, records: int) -> None:
        self.epoch, self.last, self._size, self._stride = epoch, None, size, stride
        self._loader, self._batches = loader, iter(loader)
        self._next, self._records = first, records

    last: int | None  # that was asked for

    def is_at(self, epoch: int, first: int, count: int) -> bool:
        """Is that what it hands out next?"""
        if (epoch, first, count) != (self.epoch, self._next, self._size):
            return False
        return in_whole_step(first, self._size * self._stride, self._records)

    def pass_over(self, epoch: int, first: int) -> None:
        """Goes on to a batch that is not far ahead, which may be any of this process's share."""
        step = self._size * self._stride
        ahead = (first - self._next) // step if epoch == self.epoch else 0
        if 0 < ahead <= STRIDE and first % step == self._next % step:
            for _ in range(ahead):
                next(self._batches, None)
            self._next = first

    def take(self) -> Any:
        self.last = self._next
        self._next += self._size * self._stride
        return next(self._batches)

    def close(self) -> None:
        self._loader.close()


def in_whole_step(position: int, step: int, records: int) -> bool:
    """Is the step of all ranks, of `step` rows, complete? The last one of an epoch, if it is not, is shared
    otherwise."""
    return (position // step + 1) * step <= records


def runs_of(rows: list[Any]) -> Iterator[tuple[int, int, int]]:
    """(epoch, first position, count) of deliveries that follow each other."""
    first = 0
    for at in range(1, len(rows) + 1):
        before = rows[at - 1]
        if at < len(rows) and (rows[at].epoch, rows[at].position) == (before.epoch, before.position + 1):
            continue
        yield rows[first].epoch, rows[first].position, at - first
        first = at


def spans_of(rows: list[Any]) -> Iterator[tuple[int, int, int, list[int]]]:
    """Rows in whatever order, as few stretches of the epochs to be read: (epoch, first position, count, which
    of the rows lie there)."""
    order = sorted(range(len(rows)), key=lambda at: (rows[at].epoch, rows[at].position))
    room = max(64, 4 * len(rows))  # deliveries that are rather read in vain than sought beyond
    span: list[int] = []
    for at in chain(order, [-1]):
        if span and (at < 0 or rows[at].epoch != rows[span[-1]].epoch
                     or rows[at].position > rows[span[-1]].position + room):  # fmt: skip
            first, last = rows[span[0]].position, rows[span[-1]].position
            yield rows[span[0]].epoch, first, last - first + 1, span
            span = []
        span.append(at)
