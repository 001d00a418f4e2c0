"""The loader: batches of a split, epoch after epoch, in random order, decoded and augmented ahead of time."""

from __future__ import annotations

import atexit
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import _core, _trees
from ._ahead import END, Ahead
from ._arguments import (
    U32,
    U64,
    choice,
    flag,
    names,
    number,
    text,
    whole,
    wholes,
    wrong_type,
    wrong_value,
)
from ._errors import ForkedError, InvalidError, LentError, NotFoundError, TimeoutError
from ._mix import WEIGHT, records_of, sources
from ._store import Store
from .sampling import Sampling
from .schema import listed
from .transforms import check_channels, split_transforms

_NO_THREADS = 0xFFFFFFFF
_SECONDS = "seconds, at least 0, or None"
_ORDERS = {"strict": 0, "free": 1}
_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _threads(threads: int | None) -> int:
    """As the library has it, for which 0 is its own choice."""
    return 0 if threads is None else whole("threads", threads, 0, U32 - 1) or _NO_THREADS


def _pair(pin: Any) -> Any:
    if isinstance(pin, tuple) and len(pin) == 2 and all(map(callable, pin)):
        return pin
    raise wrong_type("pin", "a pair of functions, or None", pin)


class Loader:
    """Batches of a split of a store.

    Iterating hands out one epoch: each record once (`reuse` times), in batches (`Batch`) whose arrays lie in
    the library's own memory, but for those of fields of at most 64 bytes a record, which are copies. The
    order is a function of content, split, seed and epoch alone: the same on every machine, for any number of
    threads. `iter()` starts the next epoch, also after a `break`; after `load_state_dict()` it goes on where
    the state was. `len()` is the number of batches in an epoch.

    A loader may be used by several threads, and belongs to the process that made it: make one in each child.

    Args:
        db: a `Store`, or its directory.
        split: its name ("train", "val", "train-val", ...); None: the first of the store.
        batch_size: records in a batch. The last of an epoch may have fewer.
        seed: another seed is another order, and other augmentation.
        transforms: what is done to pictures, of `apldata.transforms`; after those, functions over a whole
            batch, which are called with the `Batch` on a Python thread ahead of the loop, may write into its
            arrays or replace them (``batch["image"] = ...``), and may return something else to be handed out
            instead.
        fields: names of the fields wanted; None: all. Others are not decoded.
        shuffle: False: in the order of ids, for evaluation.
        drop_last: no batch that is not full (with ranks: no step that is not).
        threads: that load and assemble; None: the cores this process may use, but one; 0: none, the work is
            done in `next()`.
        loaders, consumers: threads that only load, and only assemble, instead of `threads`.
        queue_depth: finished batches that may wait, besides one of each thread that assembles; 0: 4.
        order: "strict", or "free": whoever is ready goes, so that a slow block delays nobody, and the order
            is not repeatable.
        fill: with order="free", the first epoch begins when all of the split stands, so that its order is
            uniform too.
        window: records that mix; 0: the whole split while that is at most 4 GiB decoded, else what 4 GiB
            hold.
        bins, reuse, lanes: see ``apl_reader_options`` in ``apl.h``.
        sampling: an `apldata.Sampling`: an epoch is a sample of the records, drawn anew each time, by weights
            of classes or records.
        ids: only these records of the split, as `Store.where()` gives them; None: all. With `mix`, those of
            all stores, whose ids go on from store to store.
        mix: more stores, each a `Store` or its directory, alone or as (store, split) or (store, split,
            weight): an epoch is one order of the records of all. Ids go on from store to store: see
            `source()`.
        weight: of the loader's own store, where those of the mix have weights: an epoch is then a sample in
            which each store comes in proportion to its weight, and its records equally often, give or take
            one; a `Sampling` says how many records it has, and whether draws are independent.
        memory_budget: bytes that the loader may allocate; 0: what the window needs.
        rank, world: this process among how many, which share an epoch; None: as torchrun, MPI or Slurm say.
        first_epoch: the number of the first epoch.
        timeout: seconds that a batch may take; None: for ever.
        skip_corrupt: so many records of corrupt blocks are left out (`batch.skipped` lists them) before that
            is an error.
        pin: two functions of (address, bytes), called with memory for batches before it is used and before it
            is freed.

    Raises:
        NotFoundError: no such store, split or field.
        InvalidError: an option is wrong; the message says which, and what would do.
        CorruptError: while iterating: a block is not what was written; `error.records` tells whose.
        LentError: while iterating: arrays of too many batches are still held; copy what is to stay.
    """

    _depth = 2  # batches that functions in Python may be ahead of the loop
    _lent_advice = "arrays lie in their batches: copy what is to stay, as by array.copy()"

    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str | None = None,
        batch_size: int = 256,
        *,
        seed: int = 0,
        transforms: Iterable[Any] = (),
        fields: Iterable[str] | None = None,
        shuffle: bool = True,
        drop_last: bool = False,
        threads: int | None = None,
        loaders: int = 0,
        consumers: int = 0,
        queue_depth: int = 0,
        order: str = "strict",
        window: int = 0,
        bins: int = 0,
        reuse: int = 1,
        lanes: int = 0,
        fill: bool = False,
        sampling: Sampling | None = None,
        ids: Any = None,
        mix: Iterable[Any] = (),
        weight: float = 0.0,
        memory_budget: int = 0,
        rank: int | None = None,
        world: int | None = None,
        first_epoch: int = 0,
        timeout: float | None = None,
        skip_corrupt: int = 0,
        pin: tuple[Callable[[int, int], object], Callable[[int, int], object]] | None = None,
    ) -> None:
        if (rank is None) != (world is None):
            raise InvalidError(f"rank and world go together; got rank={rank!r}, world={world!r}")
        in_c, self._functions = split_transforms(transforms)
        self._options: dict[str, Any] = {
            "transforms": in_c, "fields": names("fields", fields), "order": choice("order", order, _ORDERS),
            "sequential": 1 - flag("shuffle", shuffle), "drop_last": flag("drop_last", drop_last),
            "threads": _threads(threads), "pin": pin if pin is None else _pair(pin),
            "fill": flag("fill", fill),
            **wholes(1, U64, batch_size=batch_size), **wholes(1, U32, reuse=reuse),
            **wholes(0, U64, seed=seed, window=window, memory_budget=memory_budget,
                     skip_corrupt=skip_corrupt),
            **wholes(0, U32, loaders=loaders, consumers=consumers, queue_depth=queue_depth, bins=bins,
                     lanes=lanes, rank=rank or 0, world=world or 0),
        }  # fmt: skip
        first_epoch = whole("first_epoch", first_epoch)
        self._timeout = 0.0 if timeout is None else number("timeout", timeout, _SECONDS, 0)
        self.store = db if isinstance(db, Store) else Store(db)
        check_channels(in_c, self.store.schema)
        self.batch_size, self.seed = self._options["batch_size"], self._options["seed"]
        first = next(iter(self.store._splits()))[0]
        self.split = self._options["split"] = first if split is None else text("split", split)
        self._add_records(sampling, ids, mix, weight)
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._ahead: Ahead | None = None
        self._serial = 0  # of the iterator that is valid
        try:
            self._open(first_epoch=first_epoch)
        except NotFoundError as error:
            splits, fields = listed(self.store.splits), listed(self.store.schema.names)
            raise NotFoundError(f"{error} (it has the splits {splits}, the fields {fields})") from None
        _open_loaders.add(self)

    def _add_records(self, sampling: Sampling | None, ids: Any, mix: Iterable[Any], weight: float) -> None:
        """Which records an epoch has, as the extension takes it."""
        if sampling is not None and not isinstance(sampling, Sampling):
            raise wrong_type("sampling", "an apldata.Sampling", sampling)
        more = sources(mix)
        own = None if ids is None else self.store._ids(ids, sum(len(store) for store, *_ in more))
        if own is not None and not own.size:
            raise wrong_value("ids", "at least one record", ids)
        self._sampling = sampling
        self._stores = (self.store, *(store for store, *_ in more))
        self._options |= {
            "sampling": sampling and sampling._in_c(self.store), "mix": more,
            "weight": number("weight", weight, WEIGHT, 0),
            "ids": None if own is None else own.tobytes(),
        }  # fmt: skip

    # ------------------------------------------------------------------------------------------- epochs

    def _open(self, **where: Any) -> None:
        self._reader = _core.Reader(self.store, {**self._options, **where})
        self._source = _Source(self._reader, self._timeout, self._functions, "state" in where)
        self._begun = False  # has anything of the current epoch been handed out?
        self._serial += 1
        self._state: bytes | None = None  # after the last batch that the caller has; None: the reader knows

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedError("the loader belongs to the parent process: make one here")

    def _reopen(self, **where: Any) -> None:
        self._check_process()
        before = self._state or self._reader.state()
        self._stop_ahead()
        self._reader.close()
        try:
            self._open(**where)
        except BaseException:
            self._open(state=before)
            raise

    def __iter__(self) -> Iterator[Any]:
        if self._begun:
            self._stop_ahead()
            self._reader.next_epoch()
            self._begun = self._source.resumed = False
            self._state = None
        self._serial += 1
        _trees.register()
        return _Epoch(self, self._serial)

    def _take(self, serial: int) -> Any:
        if serial != self._serial:
            raise InvalidError("this iterator is over: its loader has been started anew")
        try:
            item = self._take_ahead() if self._functions else self._source.next()
        except LentError as error:
            raise LentError(f"{error}; {self._lent_advice}, or give a larger memory_budget") from None
        self._begun = True
        if item is None:
            raise StopIteration
        return self._convert(item)

    def _take_ahead(self) -> Any:
        """The next of what the functions have made; None: the epoch is over."""
        self._check_process()
        with self._lock:  # so that the state is that after the last one taken
            if self._ahead is None:
                self._state = self._reader.state()
                self._ahead = Ahead(self._source.produce, self._depth)
            self._begun = True  # also if a function raises
            try:
                taken = self._ahead.take()
            except (LentError, TimeoutError):  # may be tried again
                self._stop_ahead()
                raise
            item, self._state = (None, None) if taken is END else taken
        return item

    def _convert(self, batch: Any) -> Any:
        """What is handed out for a batch; for subclasses."""
        return batch

    def _stop_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.stop()
            self._ahead = None

    def __len__(self) -> int:
        return self._reader.batches

    @property
    def records(self) -> int:
        """How many records an epoch hands out, over all ranks: copies counted, corrupt ones too."""
        sampling, ids = self._sampling, self._options["ids"]
        if sampling and sampling.records:
            return int(sampling.records)
        if ids is not None:
            return len(ids) // 8 * self._options["reuse"]
        read = ((self.store, self.split), *((store, split) for store, split, _ in self._options["mix"]))
        return sum(records_of(store, split) for store, split in read) * self._options["reuse"]

    def source(self, ids: Any) -> tuple[Any, Any]:
        """Of records that a loader with `mix` hands out (``batch.ids``): which store each is of, 0 for the
        loader's own and i + 1 for ``mix[i]``, and its id there; int64 arrays of the shape of `ids`."""
        given = np.asarray(ids, np.int64)
        ends = np.cumsum([len(store) for store in self._stores])
        if given.size and not 0 <= given.min() <= given.max() < ends[-1]:
            raise wrong_value("ids", f"below {ends[-1]}, the records of all stores", ids)
        number = np.searchsorted(ends, given, side="right")
        return number, given - np.concatenate(([0], ends))[number]

    @property
    def epoch(self) -> int:
        """The epoch that is being handed out, or will be by the next iteration if that has not begun."""
        return self._reader.epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration that of epoch `epoch`, from its beginning; where a state of that epoch has
        just been loaded, from there. Needed only to leave the sequence: `iter()` goes from epoch to epoch by
        itself."""
        epoch = whole("epoch", epoch)
        if self._begun and epoch == self._reader.epoch + 1:
            return  # that is where iter() will go
        if self._begun or epoch != self._reader.epoch:
            self._reopen(first_epoch=epoch)

    # -------------------------------------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands after the last batch that it handed out: a small dict of str and int, fit
        for JSON, pickle and `torch.save`. Also within an epoch, and at its end."""
        state = self._state or self._reader.state()
        epoch, position = (int.from_bytes(state[at : at + 8], "little") for at in (64, 72))
        return {"apldata": 1, "epoch": epoch, "position": position, "state": state.hex()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Makes the next iteration go on with the very batch that would have followed when `state` was taken:
        by this or another loader, with whatever threads, batch size, world and transforms.

        Raises:
            MismatchError: the state is of another store, split, seed, order, window, number of bins, lanes,
                reuse, sampling, ids or mix.
            InvalidError: it is damaged, or none.
        """
        try:
            where = bytes.fromhex(state["state"])
        except (KeyError, TypeError, ValueError):
            raise InvalidError("the state is damaged, or none of apldata's") from None
        self._reopen(state=where)

    # ---------------------------------------------------------------------------------------- telling

    def receipt(self) -> dict[str, Any]:
        """What became of the deliveries of the current epoch up to now: first and last position, delivered,
        skipped, dropped, missing, repeated, and the sum of keyed hashes of what was delivered. Receipts of
        all ranks, and of parts that follow each other, add up. Functions in Python work ahead, and what they
        have taken counts."""
        receipt = self._reader.receipt()
        low, high = receipt["sum"]
        return {**receipt, "sum": f"{high << 64 | low:032x}"}

    def stats(self) -> dict[str, Any]:
        """Where the time went since the loader was opened, in seconds: see ``apl_stats`` in ``apl.h``.
        ``stall`` is the part of the time that the caller waited."""
        return json.loads(self._reader.stats())

    def cancel(self) -> None:
        """Makes `next()` raise `CancelledError` in every thread, from now on. From any thread, or a signal's
        handler."""
        self._reader.cancel()

    def close(self) -> None:
        """Ends the threads. Batches that are held stay valid. Also by ``with loader:``, and when the loader
        is gone."""
        self._reader.cancel()
        self._stop_ahead()
        self._reader.close()

    def __del__(self) -> None:
        if hasattr(self, "_reader"):
            self.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError(
            "a loader has threads and memory of its own and cannot be pickled: make one in each process, and "
            "carry state_dict()"
        )

    def __repr__(self) -> str:
        from . import _display

        return _display.loader_repr(self)


class _Source:
    """The batches of a reader, and what functions make of them. It knows no loader, so that the thread that
    works ahead does not keep a forgotten one alive."""

    def __init__(
        self, reader: _core.Reader, timeout: float, functions: list[Callable[[Any], Any]], resumed: bool
    ) -> None:
        self._reader, self._timeout, self._functions = reader, timeout, functions
        self.resumed = resumed  # by a state, and nothing has been handed out since

    def next(self) -> _core.Batch | None:
        """The next batch; None at the end of the epoch."""
        batch = self._reader.next(self._timeout)
        if batch is None and self.resumed:  # the state was that of an epoch's end
            self.resumed = False
            self._reader.next_epoch()
            batch = self._reader.next(self._timeout)
        self.resumed = False
        return batch

    def produce(self) -> Any:
        """The next batch, with the functions applied, and the state after it; `END` at the end of the
        epoch."""
        item: Any = self.next()
        if item is None:
            return END
        state = self._reader.state()
        for function in self._functions:
            result = function(item)
            item = item if result is None else result
        return item, state


class _Epoch:
    """The iterator over one epoch of a loader."""

    def __init__(self, loader: Loader, serial: int) -> None:
        self._loader, self._serial = loader, serial

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        return self._loader._take(self._serial)

    def __len__(self) -> int:
        return len(self._loader)


@atexit.register
def _close_all() -> None:
    """Threads of ours must not outlive the interpreter."""
    for loader in list(_open_loaders):
        loader.close()
