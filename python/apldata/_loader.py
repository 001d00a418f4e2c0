"""The loader: batches of a split, epoch after epoch, in random order, decoded and augmented ahead of time."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
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
    path_of,
    shown,
    text,
    threads_of,
    whole,
    wholes,
    wrong_type,
    wrong_value,
)
from ._checks import check_order, check_state
from ._errors import Error, ForkedError, InvalidError, LentError, NotFoundError, StorageError
from ._foreign import begin, end, resolved
from ._ids import marked, mask_of
from ._interrupts import interrupt_later
from ._launch import warn_if_alone
from ._mix import records_of, sources, weight_of
from ._node import Connection, connected, shared
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

    Each iteration is an epoch: every record once (`reuse` times), in batches (`Batch`). Their arrays live in
    the library's own memory, except those of fields of at most 64 bytes per record, which are copies. The
    order is a function of content, split, seed and epoch alone: the same on every machine, with any number
    of threads. `iter()` starts the next epoch, also after a `break`; after `load_state_dict()` it resumes
    where the state was saved. `len()` is the number of batches in an epoch.
    Iterators that are used at the same time are independent: each gets the epoch that was next when its first
    batch was requested, and all but one of them open a reader of their own, with its own threads and memory.

    Several threads may use a loader. It belongs to the process that created it: create one in each child.

    Args:
        db: a `Store`, or its directory.
        split: its name ("train", "val", "train-val", ...); None: the first of the store.
        batch_size: records in a batch. The last batch of an epoch may have fewer.
        seed: another seed gives another order and other augmentation.
        transforms: what is done to images, from `apldata.transforms`; then functions of a whole batch. These
            are called with the `Batch` on a Python thread ahead of the loop, may write into its arrays or
            replace them (``batch["image"] = ...``), and may return something else to deliver instead.
        fields: names of the fields to read; None: all. Other fields are not decoded. []: only ids
            (`batch.ids`).
        masks: the name of a field that is a mask of the images, or a list of several. Masks are resized (by
            nearest neighbour), padded, cropped and flipped in C like their images.
        boxes, box_format: the name of a field of boxes, f32[-1, 4], and what their numbers mean, in pixels of
            the image as stored: "XYXY", "XYWH" or "CXCYWH". Boxes follow their images and are clamped to the
            crop; see `apldata.transforms.SanitizeBoundingBoxes`.
        collate: how fields of varying shape become arrays, from `apldata.collation`: a dict such as
            ``{"tokens": Pad()}``. Otherwise, ``batch[name]`` is a list with an array for each row.
        shuffle: False: in the order of ids, for evaluation. (`apldata.torch.DataLoader`, like torch's, does
            not shuffle by default; all other loaders do.)
        drop_last: leave out a last batch that is not full (with ranks: a last step that is not).
        threads: threads that load and assemble; None: one per core this process may use, less one; 0: none,
            `next()` does the work.
        loaders, consumers: instead of `threads`: threads that only load, and threads that only assemble.
        queue_depth: finished batches that may wait, in addition to one per thread that assembles; 0: 4.
        order: "strict", or "free": whatever is ready comes first, so a slow block delays nothing else, but
            the order is not reproducible.
        fill: with order="free", the first epoch begins only when the whole split is loaded, so that its
            order is uniform too.
        window: how many records are mixed; 0: the whole split if it is at most 4 GiB decoded, otherwise as
            many records as fit in 4 GiB. Kept files do not count: they are read when their batch is made.
        bins, reuse, lanes: see ``apl_reader_options`` in ``apl.h``.
        sampling: an `apldata.Sampling`: each epoch is a new sample of the records, by weights of classes or
            records.
        ids: only these records of the split, as returned by `Store.where()`, or a mask of bools, one for each
            record of the split in the order of ids; None: all. With shuffle=False they must ascend. With
            `mix`, they are ids across all stores, numbered as in `source()`.
        mix: more stores, each a `Store` or its directory, alone or as (store, split) or (store, split,
            weight). An epoch is a single order of the records of all of them. Ids continue from store to
            store: see `source()`.
        weight: the weight of the loader's own store, above 0, if those of the mix have weights. An epoch is
            then a sample in which each store comes in proportion to its weight, and its records equally
            often, to within one. `sampling` may say how many records it has, and whether draws are
            independent.
        memory_budget: bytes that the loader may allocate; 0: what the window needs.
        rank, world: the number of this process, and of how many; None: as torchrun, MPI or Slurm say.
        first_epoch: the number of the first epoch. Order and augmentation depend on seed and epoch, so a
            loader that is created for each epoch repeats epoch 0 unless it gets the number.
        timeout: seconds that a batch may take, functions included; None: no limit. After a `TimedOutError`,
            the next call resumes waiting.
        skip_corrupt: how many records may be left out before it is an error: records of corrupt blocks, and
            records whose image cannot be decoded. `batch.skipped` lists them.
        pin: two functions of (address, bytes), called with memory for batches before it is first used and
            before it is freed.
        share: "node": the processes of this machine that make this loader, with the same arguments, have one
            reader, in a process of its own, which the first of them starts and which ends with the last:
            each block is decoded once for all of them, and is in memory once. Batches are those of loaders
            that share nothing. torchrun or mpirun says which ranks there are. Ranks advance together: see
            docs/SCALE.md.
        socket: where `apldata serve` listens: it reads, and has the options of the reader; of the other
            arguments, only `rank`, `transforms` (functions), `timeout`, `first_epoch` and `monitor` may be
            given here. Without `rank`, the launcher says which it is: RANK, or LOCAL_RANK.
        monitor: a directory, which must exist, where the loader writes a file of its figures each second, for
            `apldata top`: see docs/MONITORING.md. None: what APL_MONITOR names, if it is set; "": none.

    Raises:
        NotFoundError: there is no such store, split or field.
        InvalidError: an option is invalid; the message says which, and what is allowed.
        TimedOutError: while iterating: a batch took longer than `timeout`; the message names what it waits
            for.
        RuntimeError: while iterating: a function raised StopIteration.
        CorruptError: while iterating: a block is not what was written; `error.records` says which records.
        LentError: while iterating: arrays of too many batches are still held; copy those you want to keep.
    """

    _depth = 2  # batches that functions in Python may be ahead of the loop
    _lent_advice = "arrays lie in their batches: copy those you want to keep: array.copy()"

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
        share: str | None = None,
        socket: str | os.PathLike[str] | None = None,
        monitor: str | os.PathLike[str] | None = None,
    ) -> None:
        self._connection = None if socket is None else connected(socket, rank, locals(), Loader.__init__)
        if socket is not None and share is not None:
            raise InvalidError("share and socket exclude each other")
        if (rank is None) != (world is None) and socket is None:
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
            "monitor": monitor if monitor in (None, "") else path_of("monitor", monitor),
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
        if socket is not None and in_c:
            raise InvalidError(
                "transforms of apldata.transforms go with the server: give them to apldata serve"
            )
        if share is not None:
            self._connection = shared(share, self.store, self._options)
        self._by_itself = world is None  # does the launcher say which rank it is?
        self._pid, self._starting = os.getpid(), threading.RLock()
        self._passes: weakref.WeakSet[Pass] = weakref.WeakSet()  # also those of iterators of before
        self._cancelled = self._closed = False
        self._waiting: weakref.ref[Epoch] | None = None  # the iterator whose epoch will be the loader's
        self._bound_for: int | None = None  # the epoch to begin at, while the reader is where other ranks are
        try:
            self._pass = self._opened(first_epoch=first_epoch, join=True)
        except NotFoundError as error:
            if error.errno is not None:  # no name, but a file, such as that of a monitor
                raise
            splits, fields = listed(self.store.splits), listed(self.store.schema.names)
            raise NotFoundError(f"{error} (it has the splits {splits}, the fields {fields})") from None
        if socket is not None:
            self._options["batch_size"] = self._pass.reader.batch_size
        _open_loaders.add(self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses what would have no effect."""
        if name in _ARGUMENTS and hasattr(self, "_pass"):
            raise InvalidError(f"{name} cannot be set after the loader has been made: make another")
        object.__setattr__(self, name, value)

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

    def _opened(self, finished: bool = False, join: bool = False, **where: Any) -> Pass:
        """A reader that begins there, and what belongs to it. With `join`, one that is shared may be where
        other ranks have gone."""
        there = True
        if self._connection is None:
            reader = _core.Reader(self.store, {**self._options, **where})
        else:
            reader, there = self._connection.open(self.store, self._options, where, join)
        self._bound_for = None if there else where["first_epoch"]
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
            if self._connection is not None:  # a rank has one client at a time
                before.close()
            self._pass = self._opened(finished, **where)
            if not before.in_use:
                before.close()
            self._waiting = None

    def _arrive(self) -> None:
        """Goes to where the loader begins, for which other ranks must come too."""
        if self._bound_for is not None and not self._closed:
            self._reopen(first_epoch=self._bound_for)

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
            self._arrive()
            if self._pass.in_use and self._connection is not None:
                if self._pass.failure:
                    raise copy(self._pass.failure)
                raise InvalidError(
                    "a loader that shares a reader has one iterator at a time: end the other first"
                )
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
            self._arrive()
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
        except StorageError as error:
            of.failure = copy(error)  # without the frames, and what they hold
            raise
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
        """How many records an epoch delivers, over all ranks, including copies and corrupt records. For
        packed rows and windows: the records that they are made of.
        With `socket`, only the server knows."""
        if self._connection is not None and type(self._connection) is Connection:
            raise InvalidError("the server at the socket knows how many records an epoch has")
        sampling, ids = self._sampling, self._options["ids"]
        if sampling and sampling.records:
            return int(sampling.records)
        if ids is not None:
            return len(ids) // 8 * int(self._options["reuse"])
        read = ((self.store, self.split), *((store, split) for store, split, _ in self._options["mix"]))
        return sum(records_of(store, split) for store, split in read) * int(self._options["reuse"])

    def source(self, ids: Any) -> tuple[Any, Any]:
        """For ids that a loader with `mix` delivers (``batch.ids``): the store of each, 0 for the loader's
        own and i + 1 for ``mix[i]``, and the id in that store; int64 arrays of the shape of `ids`."""
        given = np.asarray(ids, np.int64)
        ends = np.cumsum([len(store) for store in self._stores])
        if given.size and not 0 <= given.min() <= given.max() < ends[-1]:
            raise wrong_value("ids", f"below {ends[-1]}, the records of all stores", ids)
        number = np.searchsorted(ends, given, side="right")
        return number, given - np.concatenate(([0], ends))[number]

    @property
    def epoch(self) -> int:
        """The current epoch, or, between iterations, the next one. After `load_state_dict()`, a loop over
        ``range(loader.epoch, epochs)`` resumes where the saved one stopped."""
        return self._settled().epoch if self._bound_for is None else self._bound_for

    def set_epoch(self, epoch: int) -> None:
        """Makes `epoch` the epoch of the next iteration, from its beginning, or, if a state of that epoch has
        just been loaded, from there. Only needed to leave the sequence: epochs count themselves."""
        epoch = whole("epoch", epoch, 0, U63)
        if self._bound_for is not None:
            self._reopen(first_epoch=epoch)
            return
        now = self._settled()
        if now.begun and epoch == now.reader.epoch + 1:
            return  # that is where iter() will go
        if now.begun or epoch != now.reader.epoch:
            self._reopen(first_epoch=epoch)

    # -------------------------------------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """The position after the last batch that was delivered, also within an epoch: a small dict of str,
        int and bool for JSON, pickle or `torch.save`. ``state["finished"]`` says whether the iteration had
        ended by then."""
        now = self._settled()
        state = now.state()
        epoch, position = _core.state_position(state)
        return {
            "apldata": 1, "epoch": epoch, "position": position, "finished": now.finished,
            "state": state.hex(),
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Makes the next iteration resume with the very record that would have followed when `state` was
        saved, by this or another loader, with any number of threads, batch size, world and transforms.

        At the end of an epoch, it works as in torchdata's StatefulDataLoader. If the state was saved within
        the loop, after the last batch of an epoch, the next iteration is the rest of that epoch, which is
        empty; the one after it is the next epoch. If it was saved after the loop, the next iteration is the
        next epoch.

        Raises:
            MismatchError: the state belongs to another store, split, seed, order, window, number of bins,
                lanes, reuse, sampling, ids or mix.
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
        """Accounts for the deliveries of the current epoch so far: first and last position, delivered,
        skipped, dropped, missing, repeated, and the sum of keyed hashes of what was delivered. Receipts of
        all ranks, and of consecutive parts, add up. Batches that functions in Python have taken ahead
        count."""
        receipt = self._settled().reader.receipt()
        low, high = receipt["sum"]
        return {**receipt, "sum": f"{high << 64 | low:032x}"}

    def stats(self) -> dict[str, Any]:
        """Where the time went since the loader was opened, in seconds: see ``apl_stats`` in ``apl.h``.
        ``stall`` is the part of the time that the caller waited."""
        stats: dict[str, Any] = json.loads(self._pass.reader.stats())
        return stats

    def explain(self, *, recent: bool = False) -> str:
        """What keeps training from going faster, what would help, and by which figures, in a few lines: the
        first is the answer, such as "training waits for decoding; two more threads would remove it".

        Args:
            recent: since the last call, instead of since the loader was opened.
        """
        return self._pass.explain(bool(flag("recent", recent)))

    def cancel(self) -> None:
        """Makes `next()` raise `CancelledError` in every thread, from now on. May be called from any thread,
        or from a signal handler."""
        self._cancelled = True
        for one in list(self._passes):
            one.cancel()

    def close(self) -> None:
        """Stops the threads, within a second. Batches that you hold stay valid. A function of yours that does
        not return by then is abandoned, with the batch that it has. ``with loader:`` and freeing the loader
        close it too."""
        self._closed = True
        end(self._functions)
        self.cancel()
        for one in list(self._passes):
            one.close()

    def __del__(self) -> None:
        try:
            if hasattr(self, "_passes"):
                self.close()
        except KeyboardInterrupt:
            interrupt_later()

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
        place = f"split {self.split!r}" if self._connection is None else f"by {self._connection.path!r}"
        what = f"<{module}.{kind.__name__} of {self.store.path!r}, {place}"
        try:
            return f"{what}: {len(self):,} batches of {self.batch_size}, epoch {self.epoch}>"
        except (Error, ValueError, AttributeError):  # the latter in a debugger, where it could not be opened
            return f"{what}, closed>"


@atexit.register
def _close_all() -> None:
    """Threads of ours must not outlive the interpreter."""
    loaders = list(_open_loaders)
    for loader in loaders:
        loader.cancel()
    for loader in loaders:
        loader.close()


_ARGUMENTS = frozenset(inspect.signature(Loader.__init__).parameters) - set(dir(Loader))
