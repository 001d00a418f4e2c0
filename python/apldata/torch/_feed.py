"""Feed: the batches of a loader, for those who ask for them by the indices that its samplers give out."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
import pickle
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from .. import _core
from .._errors import InvalidError
from .._interrupts import interrupt_later
from .._store import Store
from ._collate import Samples
from ._cursor import STRIDE, Cursor, in_whole_step, runs_of, spans_of
from ._order import has_buckets, order_options, refuse_rows

_CHUNK = 1 << 20  # deliveries that are passed over at a time


class Row(int):
    """An index into a loader's dataset that knows which delivery of an epoch it stands for."""

    epoch: int
    position: int  # in the order of the epoch, over all ranks
    feed: str  # its name

    def __new__(cls, index: int, epoch: int, position: int, feed: str) -> Row:
        self = super().__new__(cls, index)
        self.epoch, self.position, self.feed = epoch, position, feed
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (int(self), self.epoch, self.position, self.feed)


class Rows(list[Row]):
    """A batch as a sampler gives it out, which may be empty."""

    def __init__(self, rows: Sequence[Row], feed: str, epoch: int) -> None:
        super().__init__(rows)
        self.feed, self.epoch = feed, epoch

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (list(self), self.feed, self.epoch)


class Feed:
    """Makes a loader's batches again, wherever they are asked for: in this process or another, in the
    loader's order or another. As long as what is asked for follows the loader's order, at whatever steady
    stride, one reader hands out its batches as they are; anything else is looked up in the middle of an
    epoch, which takes longer.

    It can be pickled where the loader's transforms and collate_fn can.

    Args:
        name: by which rows know it.
        given: all arguments of the loader.
        options: those of its reader.
    """

    def __init__(self, name: str, store: Store, given: dict[str, Any], options: dict[str, Any]) -> None:
        self.name, self.store, self.given = name, store, given
        self.options = {**options, "pin": None}
        self.records = 0
        self._dataset: Any = None
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._cursor: Cursor | None = None
        self._found: dict[int, int] | None = None

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_cursor", "_found", "_pid")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def dataset(self) -> Any:
        """The loader's dataset."""
        return self._dataset

    def settle(self, options: dict[str, Any]) -> None:
        """Takes the rank that the loader has."""
        self.options |= {"rank": options["rank"], "world": options["world"]}

    @property
    def rank(self) -> int:
        return int(self.options["rank"])

    @property
    def world(self) -> int:
        return max(1, int(self.options["world"]))

    # ------------------------------------------------------------------------------------------ the order

    def _reader(self, **options: Any) -> _core.Reader:
        """A reader of ids, which decodes nothing but the fields that its order depends on."""
        quick: dict[str, Any] = {
            "transforms": [],
            **order_options(self.options),
            "blend": None,
            "threads": _core.APL_NO_THREADS,
            "loaders": 0,
            "consumers": 0,
            "monitor": "",
        }
        return _core.Reader(self.store, {**self.options, "memory_budget": 0, **quick, **options})

    def _refuse_unknown(self) -> None:
        if self.options["order"]:
            raise InvalidError("sampler: with in_order=False nobody knows the order of samples beforehand")
        if self.options["lanes"] > 1:
            raise InvalidError("sampler: with lanes, batches are the loader's alone: iterate the loader")
        refuse_rows(self.options)

    def batches(self, epoch: int, batch_size: int = 0, drop_last: bool | None = None) -> Iterator[Rows]:
        """The rank's batches of an epoch."""
        self._refuse_unknown()
        self._refuse_size(batch_size)
        reader = self._reader(**self._cut(epoch, batch_size, drop_last))
        index = self._dataset._index_of
        try:
            while (batch := reader.next()) is not None:
                ids = np.asarray(batch.ids)
                places = range(batch.position, batch.position + len(ids))
                numbers = index(ids, places)
                rows = [Row(i, epoch, at, self.name) for i, at in zip(numbers, places, strict=True)]
                yield Rows(rows, self.name, epoch)
        finally:
            reader.close()

    def _refuse_size(self, batch_size: int) -> None:
        if has_buckets(self.options) and batch_size not in (0, self.options["batch_size"]):
            raise InvalidError(
                f"batch_sampler: with bucket=, the order depends on batch_size, which is "
                f"{self.options['batch_size']}, not {batch_size}: make another loader with that batch_size"
            )

    @property
    def _chunk(self) -> int:
        """Deliveries that a reader of the order of all ranks hands out at a time."""
        return self._step if has_buckets(self.options) else _CHUNK

    @property
    def _step(self) -> int:
        """Rows of the batches of all ranks."""
        return int(self.options["batch_size"]) * self.world

    def _cut(self, epoch: int, batch_size: int, drop_last: bool | None) -> dict[str, Any]:
        dropped = self.options["drop_last"] if drop_last is None else int(drop_last)
        size = batch_size or self.options["batch_size"]
        return {"first_epoch": epoch, "batch_size": size, "drop_last": dropped}

    def ids(self, epoch: int) -> np.ndarray:
        """The ids of all deliveries of an epoch, of all ranks, in their order."""
        self._refuse_unknown()
        reader = self._reader(first_epoch=epoch, batch_size=self._chunk, rank=0, world=1, drop_last=0)
        found = [np.zeros(0, np.uint64)]
        try:
            while (batch := reader.next()) is not None:
                found.append(np.array(batch.ids))
        finally:
            reader.close()
        return np.concatenate(found)

    def steps(self, epoch: int, batch_size: int, drop_last: bool) -> int:
        """How many batches an epoch has."""
        reader = self._reader(**self._cut(epoch, batch_size, drop_last))
        try:
            return int(reader.batches)
        finally:
            reader.close()

    def _state(self, epoch: int, position: int) -> bytes | None:
        """That of a loader which has handed out so much of an epoch; None: nothing."""
        where: dict[str, Any] = {"first_epoch": epoch}
        chunk = self._chunk
        for size, times in ((chunk, position // chunk), (position % chunk, 1)):
            if size * times == 0:
                continue
            reader = self._reader(**where, batch_size=size, rank=0, world=1, drop_last=0)
            try:
                for _ in range(times):
                    reader.next()
                where = {"state": reader.state()}
            finally:
                reader.close()
        return where.get("state")

    # ---------------------------------------------------------------------------------------- the batches

    def open(self, epoch: int, position: int, batch_size: int, rank: int, world: int, **more: Any) -> Any:
        """A loader with the same options that goes on from there; it hands out `Samples`."""
        from ._loader import DataLoader

        given = {
            **self.given, "batch_size": batch_size, "rank": rank, "world": world, "first_epoch": epoch,
            "pin_memory": False, "shard": True, **more,
        }  # fmt: skip
        loader = DataLoader(**given, _hand=True)
        state = self._state(epoch, position)
        if state is not None:
            loader._reopen(state=state)
        return loader

    def fetch(self, rows: list[Row]) -> Any:
        """What the loader hands out for these rows, as `Samples`; whatever the last of its functions has made
        of them, if that is something else."""
        if os.getpid() != self._pid:
            self._forget()  # a loader is its process's
        if not rows:
            return self._part(getattr(rows, "epoch", 0), 0, 1).pick([])
        runs = list(runs_of(rows))
        if len(runs) == 1:
            return self._run(*runs[0])
        return Samples.joined([self._picked(rows, *span) for span in spans_of(rows)])

    def _run(self, epoch: int, first: int, count: int) -> Any:
        """Deliveries that follow each other."""
        cursor, size = self._cursor, self.options["batch_size"]
        if cursor is not None and self._steady:
            cursor.pass_over(epoch, first)
        if cursor is not None and cursor.is_at(epoch, first, count):
            return cursor.take()
        stride = self.world if self._steady else self._stride(cursor, epoch, first)
        if count != size or first % size or not in_whole_step(first, size * stride, self.records):
            return self._last(epoch, first, count) or self._part(epoch, first, count)
        self.close()
        number, threads = first // size, {"num_workers": 0} if torch.utils.data.get_worker_info() else {}
        loader = self.open(epoch, number // stride * stride * size, size, number % stride, stride, **threads)
        self._cursor = Cursor(loader, epoch, first, size, stride, self.records)
        return self._cursor.take()

    def _stride(self, cursor: Cursor | None, epoch: int, first: int) -> int:
        """By how many batches the next request is likely to be further on."""
        if cursor is not None and cursor.epoch == epoch and cursor.last is not None:
            ahead = (first - cursor.last) // self.options["batch_size"]
            if 1 <= ahead <= STRIDE:
                return ahead
        worker = torch.utils.data.get_worker_info()
        return self.world * (worker.num_workers if worker else 1)

    @property
    def _mixes(self) -> bool:
        """Does C mix the images of a batch? What it draws depends on the rank, which so must be the
        loader's."""
        return self.options["blend"] is not None

    @property
    def _steady(self) -> bool:
        """Must batches be made for as many ranks as the loader's?"""
        return self._mixes or has_buckets(self.options)

    def _last(self, epoch: int, first: int, count: int) -> Any:
        """The rank's share of the last step of an epoch, where it must be made for the rank; None: these are
        other deliveries."""
        size = self.options["batch_size"]
        start = first // (size * self.world) * size * self.world
        if not self._steady or in_whole_step(first, size * self.world, self.records):
            return None
        loader = self.open(epoch, start, size, self.rank, self.world, num_workers=0)
        try:
            reader = self._reader(first_epoch=epoch, state=self._state(epoch, start))
            batch = reader.next()
            reader.close()
            there = batch is not None and (batch.position, batch.rows) == (first, count)
            return next(iter(loader)) if there else None
        finally:
            loader.close()

    def _part(self, epoch: int, first: int, count: int) -> Any:
        """Deliveries somewhere in an epoch."""
        if has_buckets(self.options):
            return self._part_of_steps(epoch, first, count)
        loader = self.open(epoch, first, count, 0, 1, num_workers=0, drop_last=False)
        try:
            return next(iter(loader))
        finally:
            loader.close()

    def _part_of_steps(self, epoch: int, first: int, count: int) -> Any:
        """The same, where the order depends on the rows of a step."""
        step, end = self._step, first + count
        at = first // step * step
        loader = self.open(epoch, at, step, 0, 1, num_workers=0, drop_last=False)
        parts: list[tuple[Samples, list[int]]] = []
        try:
            for samples in loader:
                rows = range(max(first, at), min(end, at + step))
                whole = _samples(samples, min(step, self.records - at))
                part = whole.pick([row - at for row in rows])
                parts.append((part, [row - first for row in rows]))
                at += step
                if at >= end:
                    break
        finally:
            loader.close()
        return parts[0][0] if len(parts) == 1 else Samples.joined(parts)

    def _picked(self, rows: list[Row], epoch: int, first: int, count: int, of: list[int]) -> Any:
        part = _samples(self._part(epoch, first, count), count)
        return part.pick([rows[at].position - first for at in of]), of

    def close(self) -> None:
        """Ends the reader that stands ready, if there is one."""
        if self._cursor is not None and self._pid == os.getpid():
            self._cursor.close()
        self._cursor = None

    def __del__(self) -> None:
        try:
            if "_cursor" in self.__dict__:
                self.close()
        except KeyboardInterrupt:
            interrupt_later()


def _samples(part: Any, rows: int) -> Samples:
    """The part, if it has a sample for each of these rows."""
    if not isinstance(part, Samples):
        raise InvalidError(
            "the last function of the loader makes something else than a batch of each batch: its rows "
            "cannot be put together in another order; iterate the loader itself"
        )
    if len(part) != rows:
        raise InvalidError(
            f"a batch of {rows} records has {len(part)} rows after the functions of the loader: rows that "
            "they change cannot be put together in another order; iterate the loader itself"
        )
    return part


class Feeds:
    """The feeds of the loaders over a dataset, by name, for as long as somebody has them."""

    def __init__(self, feeds: Iterable[Any] = ()) -> None:
        self._known: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._kept = list(feeds)  # in another process
        for feed in self._kept:
            self.add(feed)

    def add(self, feed: Any) -> None:
        self._known[feed.name] = feed

    def fetch(self, indices: Any) -> Any:
        """What a loader hands out for indices of its samplers; None: they are plain numbers."""
        name = getattr(indices, "feed", None) or (indices and getattr(indices[0], "feed", None))
        if not name:
            return None
        feed = self._known.get(name)
        if feed is None:
            raise InvalidError("these indices are of the sampler of a loader over another dataset")
        return feed.fetch(indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return Feeds, ([_portable(feed) for feed in self._known.values()],)


class _Unportable:
    """A feed that could not be sent to another process."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self._reason = name, reason

    def fetch(self, indices: Any) -> Any:
        raise InvalidError(
            f"the loader's transforms cannot be sent to a worker process: {self._reason}; define functions "
            "at the top of a module, or give num_workers=0"
        )


def _portable(feed: Any) -> Any:
    if not isinstance(feed, Feed):
        return feed
    try:
        pickle.dumps((feed.given, feed.options))
    except Exception as error:  # whatever an object of somebody else's raises
        return _Unportable(feed.name, f"{type(error).__name__}: {error}")
    return feed
