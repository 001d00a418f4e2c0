"""The loader: batches of a split, epoch after epoch, in random order, decoded and augmented ahead of time."""

from __future__ import annotations

import atexit
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from . import _core, _trees
from ._arguments import (
    U32,
    U63,
    U64,
    choice,
    flag,
    names,
    names_checked,
    number,
    shown,
    text,
    threads_of,
    whole,
    wholes,
    wrong_type,
    wrong_value,
)
from ._checks import check_order, check_state
from ._errors import Error, ForkedError, InvalidError, LentError, NotFoundError
from ._foreign import begin, end, resolved
from ._ids import marked, mask_of
from ._launch import warn_if_alone
from ._mix import records_of, sources, weight_of
from ._pass import Epoch, Pass
from ._roles import declared
from ._source import Source
from ._store import Store
from .collation import Collation, Collations
from .sampling import Sampling
from .schema import listed
from .transforms import check_channels, split_transforms, taken_blend

_SECONDS = "seconds, at least 0, or None"
_ORDERS = {"strict": _core.APL_STRICT, "free": _core.APL_FREE}
_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _working(threads: int) -> int:
    """How many threads those are."""
    return {0: _core.cores() - 1, _core.APL_NO_THREADS: 1}.get(threads, threads)


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
    Iterators that are used at the same time are independent: each has the epoch that was next when its first
    batch was asked for, and all but one of them open a reader of their own, with its own threads and memory.

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
        fields: names of the fields wanted; None: all. Others are not decoded. []: ids alone (`batch.ids`).
        masks: the name of a field that is a mask of the images, or a list of several: it is resized (by
            nearest neighbour), padded, cropped and flipped in C as they are.
        boxes, box_format: the same of a field of boxes, f32[-1, 4], and what their numbers are, in pixels of
            the image as it is stored: "XYXY", "XYWH" or "CXCYWH". They are clamped to the crop; see
            `apldata.transforms.SanitizeBoundingBoxes`.
        collate: how fields of varying shape become arrays, of `apldata.collation`: a dict such as
            ``{"tokens": Pad()}``. Without, ``batch[name]`` is a list with an array for each row.
        shuffle: False: in the order of ids, for evaluation. (`apldata.torch.DataLoader`, as torch's own, does
            not shuffle unless asked to; all other loaders do.)
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
            hold. Kept files do not count: they are read when their batch is made.
        bins, reuse, lanes: see ``apl_reader_options`` in ``apl.h``.
        sampling: an `apldata.Sampling`: an epoch is a sample of the records, drawn anew each time, by weights
            of classes or records.
        ids: only these records of the split, as `Store.where()` gives them, or a mask of bools, one for each
            record of the split in the order of ids; None: all. With shuffle=False they must ascend. With
            `mix`, ids of all stores, which go on from store to store.
        mix: more stores, each a `Store` or its directory, alone or as (store, split) or (store, split,
            weight): an epoch is one order of the records of all. Ids go on from store to store: see
            `source()`.
        weight: of the loader's own store, above 0, where those of the mix have weights: an epoch is then a
            sample in which each store comes in proportion to its weight, and its records equally often, give
            or take one; a `Sampling` says how many records it has, and whether draws are independent.
        memory_budget: bytes that the loader may allocate; 0: what the window needs.
        rank, world: this process among how many, which share an epoch; None: as torchrun, MPI or Slurm say.
        first_epoch: the number of the first epoch. Order and augmentation follow from seed and epoch: a
            loader that is made anew for each epoch repeats epoch 0, unless it is given the number.
        timeout: seconds that a batch may take, in functions too; None: for ever. After a `TimedOutError` the
            next call goes on waiting.
        skip_corrupt: so many records are left out (`batch.skipped` lists them) before that is an error: those
            of corrupt blocks, and those whose image cannot be decoded.
        pin: two functions of (address, bytes), called with memory for batches before it is used and before it
            is freed.

    Raises:
        NotFoundError: no such store, split or field.
        InvalidError: an option is wrong; the message says which, and what would do.
        TimedOutError: while iterating: a batch took longer than `timeout`; it names what is waited for.
        RuntimeError: while iterating: a function has raised StopIteration.
        CorruptError: while iterating: a block is not what was written; `error.records` tells whose.
        LentError: while iterating: arrays of too many batches are still held; copy what is to stay.
    """

    _depth = 2  # batches that functions in Python may be ahead of the loop
    _lent_advice = "arrays lie in their batches: copy what is to stay, as by array.copy()"

    @names_checked()
    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str | None = None,
        batch_size: int = 256,
        *,
        seed: int = 0,
        transforms: Iterable[Any] = (),
        fields: Iterable[str] | None = None,
        masks: str | Iterable[str] = (),
        boxes: str | None = None,
        box_format: str = "XYXY",
        collate: Mapping[str, Collation] | None = None,
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
        weight: float | None = None,
        memory_budget: int = 0,
        rank: int | None = None,
        world: int | None = None,
        first_epoch: int = 0,
        timeout: float | None = None,
        skip_corrupt: int = 0,
        pin: tuple[Callable[[int, int], object], Callable[[int, int], object]] | None = None,
    ) -> None:
        if (rank is None) != (world is None):
            raise InvalidError(f"rank and world go together; got rank={shown(rank)}, world={shown(world)}")
        self.store = db if isinstance(db, Store) else Store(db)
        fields = names("fields", fields)
        said = declared(self.store.schema, masks, boxes, box_format)
        in_c, self._functions = split_transforms(resolved(transforms, self.store.schema, fields, said))
        self._options: dict[str, Any] = {
            "blend": taken_blend(in_c), "transforms": in_c, "fields": fields,
            "order": choice("order", order, _ORDERS),
            "sequential": 1 - flag("shuffle", shuffle), "drop_last": flag("drop_last", drop_last),
            "threads": threads_of(threads), "pin": pin if pin is None else _pair(pin),
            "fill": flag("fill", fill),
            **wholes(1, U64, batch_size=batch_size), **wholes(1, U32, reuse=reuse),
            **wholes(0, U64, seed=seed, window=window, memory_budget=memory_budget,
                     skip_corrupt=skip_corrupt),
            **wholes(0, U32, loaders=loaders, consumers=consumers, queue_depth=queue_depth, bins=bins,
                     lanes=lanes, rank=rank or 0, world=world or 0),
        }  # fmt: skip
        self._collations = Collations(collate, self.store.schema, fields)
        self._options |= self._collations.in_c()
        first_epoch = whole("first_epoch", first_epoch, 0, U63)
        self._timeout = 0.0 if timeout is None else number("timeout", timeout, _SECONDS, 0)
        check_channels(in_c, self.store.schema)
        self.seed = self._options["seed"]
        begin(self._functions, self.seed, _working(self._options["threads"]))
        first = next(iter(self.store._splits()))[0]
        self.split = self._options["split"] = first if split is None else text("split", split)
        self._add_records(sampling, ids, mix, weight)
        self._by_itself = world is None  # does the launcher say which rank it is?
        self._pid, self._starting = os.getpid(), threading.RLock()
        self._passes: weakref.WeakSet[Pass] = weakref.WeakSet()  # also those of iterators of before
        self._cancelled = self._closed = False
        self._waiting: weakref.ref[Epoch] | None = None  # the iterator whose epoch will be the loader's
        try:
            self._pass = self._opened(first_epoch=first_epoch)
        except NotFoundError as error:
            splits, fields = listed(self.store.splits), listed(self.store.schema.names)
            raise NotFoundError(f"{error} (it has the splits {splits}, the fields {fields})") from None
        _open_loaders.add(self)

    def _add_records(
        self, sampling: Sampling | None, ids: Any, mix: Iterable[Any], weight: float | None
    ) -> None:
        """Which records an epoch has, as the extension takes it."""
        if sampling is not None and not isinstance(sampling, Sampling):
            raise wrong_type("sampling", "an apldata.Sampling", sampling)
        more = sources(mix)
        own = None if ids is None else self._own_ids(ids, sum(len(store) for store, *_ in more))
        if own is not None and not own.size:
            raise wrong_value("ids", "at least one record", ids)
        if self._options["sequential"]:
            weighted = weight is not None or any(each for _, _, each in more)
            check_order(sampling is not None, weighted, self._options["order"], own)
        self._sampling = sampling
        self._stores = (self.store, *(store for store, *_ in more))
        self._options |= {
            "sampling": sampling and sampling._in_c(self.store, own), "mix": more,
            "weight": weight_of("weight", weight),
            "ids": None if own is None else own.tobytes(),
        }  # fmt: skip

    def _own_ids(self, ids: Any, others: int) -> np.ndarray:
        mask = mask_of(ids)
        if mask is None:
            return self.store._ids(ids, others)
        if others:
            raise InvalidError("ids: a mask is one of a single split; with mix, give ids")
        split = self.store.split_ids(self.split)
        found: np.ndarray = split[marked(mask, len(split), f"split {self.split!r}")]
        return found

    # ------------------------------------------------------------------------------------------- epochs

    def _opened(self, finished: bool = False, **where: Any) -> Pass:
        """A reader that begins there, and what belongs to it."""
        reader = _core.Reader(self.store, {**self._options, **where})
        depth = self._depth if self._functions else 0
        opened = Pass(reader, self._make_source(reader), depth, self._timeout, finished)
        self._passes.add(opened)
        if self._cancelled:  # meanwhile, too
            opened.cancel()
        return opened

    def _make_source(self, reader: _core.Reader) -> Source:
        """Gives the batches of a reader; for subclasses."""
        return Source(reader, self._timeout, self._functions)

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedError("the loader belongs to the parent process: make one here")
        if self._closed:
            raise InvalidError("the loader is closed")

    def _reopen(self, finished: bool = False, **where: Any) -> None:
        self._check_usable()
        with self._starting:
            before, self._cancelled = self._pass, False
            if not before.in_use:
                before.end_ahead()
            self._pass = self._opened(finished, **where)
            if not before.in_use:
                before.close()
            self._waiting = None

    def __iter__(self) -> Iterator[Any]:
        self._check_usable()  # in a child, the lock may be held for ever
        if self._by_itself and self._options["world"] < 2:
            self._by_itself = False  # told once
            warn_if_alone()
        iterator = Epoch(self)
        _trees.register()
        with self._starting:
            if self._pass.in_use:
                self._waiting = weakref.ref(iterator)
            elif self._pass.begun:
                self._pass.next_epoch()
        return iterator

    def _begin(self, iterator: Epoch) -> Pass:
        """Gives an iterator its epoch. Another that has not come to its end keeps its own, and its reader."""
        self._check_usable()
        with self._starting:
            if self._pass.in_use:
                self._pass = self._opened(first_epoch=self._pass.epoch + 1)
            elif self._pass.begun:
                self._pass.next_epoch()
            iterator.begin(self._pass)
            return self._pass

    def _settled(self) -> Pass:
        """What the last iteration that was begun goes through: also if nothing has been asked of it yet."""
        if os.getpid() != self._pid:
            return self._pass
        with self._starting:
            waiting = None if self._waiting is None else self._waiting()
            self._waiting = None
            if waiting is not None and not waiting.begun:
                self._begin(waiting)
            return self._pass

    def _taken(self, of: Pass) -> Any:
        try:
            item = of.take()
        except LentError as error:
            raise LentError(f"{error}; {self._lent_advice}, or give a larger memory_budget") from None
        if item is None:
            raise StopIteration
        return item

    def _take(self, of: Pass) -> Any:
        return self._convert(self._taken(of))

    def _convert(self, batch: Any) -> Any:
        """What is handed out for a batch; for subclasses."""
        return batch

    @property
    def batch_size(self) -> int:
        """Records in a batch. It cannot be set: the threads are at work."""
        return int(self._options["batch_size"])

    def __len__(self) -> int:
        return self._pass.reader.batches

    @property
    def records(self) -> int:
        """How many records an epoch hands out, over all ranks: copies counted, corrupt ones too; of
        rows that are packed or windows, the records that they are made of."""
        sampling, ids = self._sampling, self._options["ids"]
        if sampling and sampling.records:
            return int(sampling.records)
        if ids is not None:
            return len(ids) // 8 * int(self._options["reuse"])
        read = ((self.store, self.split), *((store, split) for store, split, _ in self._options["mix"]))
        return sum(records_of(store, split) for store, split in read) * int(self._options["reuse"])

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
        """The epoch that is being handed out, or will be by the next iteration if that has not begun. After
        `load_state_dict()` a loop over ``range(loader.epoch, epochs)`` goes on where the other ended."""
        return self._settled().epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration that of epoch `epoch`, from its beginning; where a state of that epoch has
        just been loaded, from there. Needed only to leave the sequence: `iter()` goes from epoch to epoch by
        itself."""
        epoch = whole("epoch", epoch, 0, U63)
        now = self._settled()
        if now.begun and epoch == now.reader.epoch + 1:
            return  # that is where iter() will go
        if now.begun or epoch != now.reader.epoch:
            self._reopen(first_epoch=epoch)

    # -------------------------------------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands after the last batch that it handed out: a small dict of str, int and bool,
        fit for JSON, pickle and `torch.save`. Also within an epoch, and at its end: ``state["finished"]``
        tells whether the iteration had ended by then."""
        now = self._settled()
        state = now.state()
        epoch, position = _core.state_position(state)
        return {
            "apldata": 1, "epoch": epoch, "position": position, "finished": now.finished,
            "state": state.hex(),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Makes the next iteration go on with the very batch that would have followed when `state` was taken:
        by this or another loader, with whatever threads, batch size, world and transforms.

        At an epoch's end it is as with torchdata's StatefulDataLoader. Of a state that was taken within the
        loop, after the last batch of an epoch, the next iteration is what is left of that epoch: nothing; the
        one after it is the next epoch. Of a state that was taken when the loop had ended, the next iteration
        is the next epoch.

        Raises:
            MismatchError: the state is of another store, split, seed, order, window, number of bins, lanes,
                reuse, sampling, ids or mix.
            InvalidError: it is not a valid reader state.
        """
        try:
            where, finished = bytes.fromhex(state["state"]), state.get("finished", False)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InvalidError("not a valid reader state") from None
        check_state(state, where)
        self._reopen(bool(flag("finished of the state", finished)), state=where)

    # ---------------------------------------------------------------------------------------- telling

    def receipt(self) -> dict[str, Any]:
        """What became of the deliveries of the current epoch up to now: first and last position, delivered,
        skipped, dropped, missing, repeated, and the sum of keyed hashes of what was delivered. Receipts of
        all ranks, and of parts that follow each other, add up. Functions in Python work ahead, and what they
        have taken counts."""
        receipt = self._settled().reader.receipt()
        low, high = receipt["sum"]
        return {**receipt, "sum": f"{high << 64 | low:032x}"}

    def stats(self) -> dict[str, Any]:
        """Where the time went since the loader was opened, in seconds: see ``apl_stats`` in ``apl.h``.
        ``stall`` is the part of the time that the caller waited."""
        stats: dict[str, Any] = json.loads(self._pass.reader.stats())
        return stats

    def cancel(self) -> None:
        """Makes `next()` raise `CancelledError` in every thread, from now on. From any thread, or a signal's
        handler."""
        self._cancelled = True
        for one in list(self._passes):
            one.cancel()

    def close(self) -> None:
        """Ends the threads, within a second. Batches that are held stay valid. A function of yours that does
        not return by then is left to itself, with the batch that it has. Also by ``with loader:``, and when
        the loader is gone."""
        self._closed = True
        end(self._functions)
        self.cancel()
        for one in list(self._passes):
            one.close()

    def __del__(self) -> None:
        if hasattr(self, "_passes"):
            self.close()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a loader has threads and memory of its own and cannot be pickled: make one in each process, and "
            "carry state_dict()"
        )

    def __repr__(self) -> str:
        kind, module = type(self), type(self).__module__.removesuffix("._loader")
        what = f"<{module}.{kind.__name__} of {self.store.path!r}, split {self.split!r}"
        try:
            return f"{what}: {len(self):,} batches of {self.batch_size}, epoch {self.epoch}>"
        except (Error, ValueError):
            return f"{what}, closed>"


@atexit.register
def _close_all() -> None:
    """Threads of ours must not outlive the interpreter."""
    loaders = list(_open_loaders)
    for loader in loaders:
        loader.cancel()
    for loader in loaders:
        loader.close()
