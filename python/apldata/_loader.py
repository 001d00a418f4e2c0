"""The loader: batches of a split, epoch after epoch, in random order, decoded and augmented ahead of time."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from . import _core
from ._arguments import U63, flag, names, names_checked, number, shown, text, whole
from ._checks import check_state
from ._chosen import Chosen
from ._course import Course
from ._errors import Error, InvalidError, NotFoundError
from ._foreign import begin, end, resolved
from ._interrupts import interrupt_later
from ._later import collated_later
from ._node import Connection, connected, shared
from ._reader_options import reader_options, working
from ._store import Store
from .collation import Collation, Collations
from .kinds import Kind, texts_of
from .sampling import Sampling
from .schema import listed
from .transforms import check_channels, split_transforms, taken_blend

_SECONDS = "seconds, at least 0, or None"
_open_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


class Loader(Course):
    """Batches of a split of a store.

    Each iteration is an epoch: every record once (`reuse` times), in batches (`Batch`). Their arrays live in
    the library's own memory, except those of fields of at most 64 bytes per record, which are copies. The
    order depends only on content, split, seed and epoch: it is the same on every machine, with any number of
    threads. `iter()` starts the next epoch, also after a `break`; after `load_state_dict()` it resumes where
    the state was saved. `len()` is the number of batches in an epoch. Iterators that are used at the same
    time are independent: each gets the epoch that was next when its first batch was requested, and all but
    one of them open a reader of their own, with its own threads and memory.

    Several threads may use a loader. It belongs to the process that created it: create one in each child.

    Args:
        db: a `Store`, or its directory.
        split: its name ("train", "val", "train-val", ...); None: the first of the store.
        batch_size: records in a batch. The last batch of an epoch may have fewer.
        seed: another seed gives another order and other augmentation.
        transforms: what is done to images, from `apldata.transforms`; then functions of a whole batch. These
            are called with the `Batch` on a Python thread ahead of the loop, may write into its arrays or
            replace them (``batch["image"] = ...``), and may return something else to deliver instead. One
            that leaves out or reorders rows, of all fields, sets ``batch.ids`` too.
        fields: names of the fields to read; None: all. Other fields are not decoded. []: only ids
            (`batch.ids`).
        kinds: what fields are, by their names, where the store does not say it, or says something else:
            ``{"pose": Keypoints("xy")}``, from `apldata.kinds`, or strings of the words of ``--field``. It
            decides what moves with the images: see docs/PYTHON.md.
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
        late: with order="free", wait for slow blocks until at most this many are missing; 0: for none.
        window: how many records are mixed; 0: the whole split if it is at most 4 GiB decoded, otherwise as
            many records as fit in 4 GiB. All fields count, also those that are not read. Kept files do not:
            they are read when their batch is made.
        bins, reuse, lanes: see ``apl_reader_options`` in ``apl.h``.
        sampling: an `apldata.Sampling`: each epoch is a new sample of the records, by weights of classes or
            records.
        ids: only these records of the split, as returned by `Store.where()`, or a mask of bools, one for each
            record of the split in the order of ids; None: all. With shuffle=False they must ascend. Negative
            ids are errors. With `mix`, they are ids across all stores, numbered as in `source()`.
        mix: more stores, each a `Store` or its directory, alone or as (store, split) or (store, split,
            weight). An epoch is a single order of the records of all of them. Ids continue from store to
            store: see `source()`.
        weight: the weight of the loader's own store, above 0, if those of the mix have weights. An epoch is
            then a sample in which each store is drawn in proportion to its weight, and its records equally
            often, to within one. `sampling` may set the number of records, and whether draws are independent.
        weight_by: what `weight` and the weights of `mix` are shares of: "records", or with `Pack` "tokens".
            Packed epochs all have the same number of tokens. Windows are all of one length: weights are shares
            of them, and so of tokens.
        memory_budget: bytes that the loader may allocate; 0: what the window needs.
        rank, world: the number of this process, and how many there are; None: as torchrun, MPI or Slurm say.
        first_epoch: the number of the first epoch. Order and augmentation depend on seed and epoch, so a
            loader that is created for each epoch repeats epoch 0 unless it gets the number.
        timeout: seconds that a batch may take, functions included; None: no limit. After a `TimedOutError`,
            the next call resumes waiting.
        skip_corrupt: how many records may be left out before it is an error: records of corrupt blocks, and
            records whose image cannot be decoded. `batch.skipped` lists them.
        pin: two functions of (address, bytes), called with memory for batches before it is first used and
            before it is freed.
        share: "node": the processes of this machine that make this loader, with the same arguments, share one
            reader, in a separate process, which the first of them starts and which ends with the last: each
            block is decoded once for all of them, and is in memory once. Batches are the same as without
            sharing. torchrun, mpirun, mpiexec or srun says which ranks there are. Ranks advance together: see
            docs/SCALE.md.
        socket: where `apldata serve` listens: the server reads, and has the options of the reader. Of the
            other arguments, only `rank`, `transforms` (functions), `timeout`, `first_epoch` and `monitor` may
            be given here. Without `rank`, it comes from the launcher, as RANK does, or is LOCAL_RANK.
        monitor: a directory, which must exist, where the loader writes a file of its figures each second, for
            `apldata top`: see docs/MONITORING.md. None: the one that APL_MONITOR names, if it is set; "":
            none.

    Raises:
        NotFoundError: there is no such store, split or field.
        InvalidError: an option is invalid; the message says which, and what is allowed.
        TimedOutError: while iterating: a batch took longer than `timeout`; the message names what it waits
            for.
        RuntimeError: while iterating: a function raised StopIteration.
        CorruptError: while iterating: a block is not what was written; `error.records` says which records.
        LentError: while iterating: arrays of too many batches are still held; copy those you want to keep.
    """

    @names_checked()
    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str | None = None,
        batch_size: int = 256,
        *,
        seed: int = 0,
        transforms: Iterable[Any] | None = (),
        fields: Iterable[str] | None = None,
        kinds: Mapping[str, Kind | str] | None = None,
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
        late: int = 0,
        sampling: Sampling | None = None,
        ids: Any = None,
        mix: Iterable[Any] = (),
        weight: float | None = None,
        weight_by: str = "records",
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
        given = locals()
        self._connection = None if socket is None else connected(socket, rank, given, Loader.__init__)
        if socket is not None and share is not None:
            raise InvalidError("share and socket exclude each other")
        if (rank is None) != (world is None) and socket is None:
            raise InvalidError(f"rank and world go together; got rank={shown(rank)}, world={shown(world)}")
        self.store = db if isinstance(db, Store) else Store(db)
        if socket is not None and self.store.expected_digest:
            raise InvalidError(
                "expected_digest goes with the server, which reads: apldata serve --expect DIGEST; give the "
                "loader a store without it"
            )
        fields = names("fields", fields)
        in_c, self._functions = split_transforms(resolved(transforms, self.store, fields, kinds))
        self._options = {
            "blend": taken_blend(in_c), "transforms": in_c, "fields": fields, "kinds": texts_of(kinds),
            **reader_options(given),
        }  # fmt: skip
        self._collations = Collations(collate, self.store.schema, fields)
        self._functions = collated_later(self._functions, self._collations)
        self._options |= self._collations.in_c()
        first_epoch = whole("first_epoch", first_epoch, 0, U63)
        self._timeout = 0.0 if timeout is None else number("timeout", timeout, _SECONDS, 0)
        check_channels(in_c, self.store.schema)
        self.seed = self._options["seed"]
        begin(self._functions, self.seed, working(self._options["threads"]))
        first = next(iter(self.store._splits()))[0]
        self.split = self._options["split"] = first if split is None else text("split", split)
        self._chosen = Chosen(self.store, self.split, sampling, ids, mix, weight, weight_by)
        if self._options["sequential"]:
            self._chosen.check_in_order(self._options["order"])
        self._options |= self._chosen.in_c()
        if socket is not None and in_c:
            raise InvalidError(
                "transforms of apldata.transforms go with the server: give them to apldata serve"
            )
        if share is not None:
            self._connection = shared(share, self.store, self._options)
        try:
            self._set_out(first_epoch, by_itself=world is None)
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

    # ------------------------------------------------------------------------------------------- epochs

    @property
    def batch_size(self) -> int:
        """Records in a batch. It cannot be set: the threads are at work."""
        return int(self._options["batch_size"])

    @property
    def records(self) -> int:
        """How many records an epoch delivers, over all ranks, including copies and corrupt records. For
        packed rows and windows: the records that they are made of. With `socket`, only the server knows
        this."""
        if self._connection is not None and type(self._connection) is Connection:
            raise InvalidError("the server at the socket knows how many records an epoch has")
        return self._chosen.deliveries(int(self._options["reuse"]))

    def source(self, ids: Any) -> tuple[Any, Any]:
        """For ids that a loader with `mix` delivers (``batch.ids``): the store of each, 0 for the loader's
        own and i + 1 for ``mix[i]``, and the id in that store; int64 arrays of the shape of `ids`."""
        return self._chosen.source(ids)

    @property
    def epoch(self) -> int:
        """The epoch of the latest iteration, also when that has ended; before the first one and after
        `load_state_dict()`, that of the next. So a loop over ``range(loader.epoch, epochs)`` resumes where
        the saved one stopped."""
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
        ``stall`` is the fraction of the time that the caller waited."""
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
        self._cancel_readers()

    def close(self) -> None:
        """Stops the threads, within a second. Batches that you hold stay valid. A function of yours that has
        not returned by then is abandoned, with its batch. ``with loader:`` and freeing the loader close it
        too."""
        shares = not self._closed and self._connection is not None and hasattr(self, "_pass")
        self._closed = True
        end(self._functions)
        self._close_readers()
        if shares and os.getpid() == self._pid and self._connection is not None:
            self._connection.leave()

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
