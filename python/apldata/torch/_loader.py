"""DataLoader: torch's loader's arguments, for batches as tensors that lie in the library's own memory."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import inspect
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack, cast

import torch

from .._arguments import U32, U64, flag, function, names_checked, number, text, whole, wrong_type, wrong_value
from .._core import Batch, cores
from .._errors import InvalidError, InvalidTypeError
from .._foreign import resolved
from .._loader import Loader
from .._options import RecordOptions
from .._store import Store
from ..collation import Collations
from ..transforms import MIXING, Transform, listed
from . import _pinned
from ._accelerate import Adopted
from ._collate import Collate, Keys, Samples, collate
from ._feed import Feed
from ._order import Padded
from ._ranks import Placed, place
from ._rebuild import Given, Rebuilt, harmless, rebuilt
from ._sampler import BatchSampler, Sampler
from ._sources import Drawn, EpochOf, Reading, check_ascending, dataset_of, in_full, note_reader, reading
from ._tensors import Converter, map_tensors, names_given

_REFUSED = {
    "sampler": "the order is the library's own, so that it can read blocks ahead, share an epoch between "
    "ranks and resume from a state. Choose with shuffle, seed, split, reuse, rank and world, and which "
    "records come, and how often, with sampling (apldata.Sampling) and ids; for an order of your own, "
    "torch's DataLoader over apldata.torch.Dataset takes any sampler",
    "batch_sampler": "batches are cut from the library's own order. Choose with batch_size and drop_last; "
    "for batches of your own, torch's DataLoader over apldata.torch.Dataset takes any batch_sampler",
    "worker_init_fn": "there are no worker processes to call it in: threads in C do the work, and "
    "randomness is keyed by seed, epoch and record",
}


def _refuse(**given: Any) -> None:
    """Refuses those of torch's arguments that have no meaning here, and says what has."""
    for name, value in given.items():
        if value is not None:
            raise InvalidError(f"{name}: {_REFUSED[name]}")


def _seed(generator: torch.Generator | None, seed: int | None) -> int:
    if generator is not None and seed is not None:
        raise InvalidError(
            "generator and seed: give one of them; of a generator, its initial_seed() is the seed"
        )
    if generator is None:
        return 0 if seed is None else whole("seed", seed)
    if not isinstance(generator, torch.Generator):
        raise wrong_type("generator", "a torch.Generator, or None", generator)
    return generator.initial_seed() & U64


def _queue_depth(num_workers: int | None, prefetch_factor: int | None, queue_depth: int) -> int:
    if prefetch_factor is None:
        return queue_depth
    if queue_depth:
        raise InvalidError("prefetch_factor and queue_depth are the same: give one of them")
    if num_workers == 0:
        raise InvalidError(
            "prefetch_factor with num_workers=0: nothing is made ahead; num_workers=None or more would do"
        )
    return whole("prefetch_factor", prefetch_factor, 1, U32)


def _check(
    batch_size: Any,
    num_workers: int | None,
    timeout: float | None,
    pin_memory_device: str,
    snapshot_every_n_steps: int | None,
) -> None:
    if batch_size is None:
        raise InvalidTypeError("batch_size None: the library hands out batches; 1 is the smallest")
    if num_workers is not None:
        whole("num_workers", num_workers, 0, U32 - 1)
    if timeout is not None:
        number("timeout", timeout, "seconds, or 0 to wait for ever", 0)
    if snapshot_every_n_steps is not None:
        whole("snapshot_every_n_steps", snapshot_every_n_steps)
    if pin_memory_device and not text("pin_memory_device", pin_memory_device).startswith("cuda"):
        wanted = "'' or 'cuda...', for which alone memory can be pinned"
        raise wrong_value("pin_memory_device", wanted, pin_memory_device)


_FIXED = frozenset({
    "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers", "num_workers",
    "collate_fn", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
    "prefetch_factor", "pin_memory_device", "in_order", "seed", "split", "store", "shuffle", "transforms",
    "fields", "rank", "world", "snapshot_every_n_steps",
})  # fmt: skip


class DataLoader(Placed, Adopted, Loader, torch.utils.data.DataLoader):  # type: ignore[misc, unused-ignore]
    """Batches of a split as tensors: what `torch.utils.data.DataLoader` is to a dataset of samples.

        for images, labels in DataLoader("db", batch_size=512, shuffle=True): ...

    Yields a tuple with a member for each field, also known by its name (``batch.image``): all inputs and
    targets of the store, in its order, or those in `fields`; then what functions have added. Inputs are
    tensors of the shape (rows, ...), in the dtype that the store or the transforms give them. They are in the
    library's own memory, are not copied, may be written to, and keep their batch alive. Integer targets are
    copied as int64, and fields of at most 64 bytes per record as they are. Text is a list of str. The last
    batch of an epoch may have fewer rows; with several ranks, none.

    Iterating, epochs, `len()`, `state_dict()` and `load_state_dict()` work as in `apldata.Loader`, and thus
    as in torchdata's StatefulDataLoader: states may be saved after any batch, and resumed with any
    `num_workers`. There are no worker processes: threads in C do the work.

    It is a `torch.utils.data.DataLoader`: `isinstance` holds. `dataset` has the samples of an epoch,
    `sampler` and `batch_sampler` give their order, and a loader that a tool builds of these parts, of this
    class or of torch's, delivers the same batches, with the same transforms, for the same rank. In torch's,
    at most one worker process does the work that threads do here, so keep this loader where speed counts.

    Ranks share each epoch. Every rank must ask for the same order: if one has another seed, or another option
    that affects the order, the first iteration raises `MismatchError`. To read all records on one rank, such
    as to evaluate on rank 0 alone, pass ``shard=False``.

    Args:
        dataset: a store's directory, an `apldata.Store`, an `apldata.torch.Dataset` without transforms, or a
            `Subset` or `ConcatDataset` of such datasets (also from `random_split`). A class with a
            `__getitem__` of its own is refused, since the loader would not call it. Unshuffled, the indices
            or ids of a part must ascend, as in ``Subset(dataset, sorted(part.indices))``, since records come
            in the order of ids.
        batch_size: records in a batch; not None.
        shuffle: False by default, as in torch: in the order of ids. (All other loaders of apldata shuffle by
            default.) Augmentation is random either way.
        sampler, batch_sampler: refused, since the order is the library's own; the error says what to use
            instead.
        num_workers: threads that make batches; None: one per core this process may use, less one; 0: none,
            `next()` does the work.
        collate_fn: a function called for each batch, after the transforms, on one Python thread ahead of the
            loop. Its argument is a sequence of samples, as for torch's collate functions, and also the whole
            `apldata.Batch` by names of fields (``samples["image"]``, ``samples.ids``), which is much faster.
            What it returns is delivered; if it returns its argument, that is the batch as tensors if it was
            used by names, otherwise the list of samples.
        pin_memory: the memory of batches is pinned, without a copy, so that ``.to(device,
            non_blocking=True)`` does not block; batches are not reused before the device has read them.
            What functions of your own return is copied into pinned memory, on their thread. Without CUDA,
            this is a warning.
        drop_last: leave out a last batch that is not full (with ranks: a last step that is not).
        timeout: seconds that a batch may take; 0: no limit.
        worker_init_fn: refused: there are no worker processes. multiprocessing_context: ignored, for the same
            reason.
        generator: its initial_seed() is the seed; it is not advanced. `seed`: the same as a number. With
            neither, the seed is 0, even after `torch.manual_seed()`, so that all ranks have the same.
        prefetch_factor: finished batches that may wait, over all threads; None: 4. Also called
            `queue_depth`.
        persistent_workers: always the case; either value is accepted.
        pin_memory_device: "" or "cuda...".
        in_order: False: whatever is ready comes first, so a slow block delays nothing else; each record is
            still delivered once, and states are exact, but the order is not reproducible.
        snapshot_every_n_steps: as in StatefulDataLoader; any number is accepted, since a state costs a
            microsecond and always belongs to the batch that the loop has.
        split, transforms, kinds, collate, fields, window, bins, reuse, lanes, fill, late,
        sampling, ids, mix, weight, memory_budget, first_epoch, skip_corrupt, loaders, consumers, share: as
        for `apldata.Loader`.
        rank, world: the number of this process, and how many there are; None: as torch.distributed says, even
            if it is initialised after the loader was created but before its first iteration; otherwise as the
            launcher says.
        shard: False: all records in this process, whatever the ranks.
        as_dict: True: batches (and samples) are dicts by the names of fields; a dict renames some of the
            keys, such as for Hugging Face: ``{"image": "pixel_values", "label": "labels"}``.

    Raises:
        InvalidError: an argument is invalid or has no meaning here; the message says which, and what to use.
            Also if an attribute is set: the options of a loader are fixed.
        MismatchError: while iterating: the ranks differ in what they read.
        LentError: while iterating: tensors of too many batches are still held; clone() those you keep.
        Others as `apldata.Loader`.
    """

    @names_checked(RecordOptions)
    def __init__(
        self,
        dataset: torch.utils.data.Dataset[Any] | Store | str | os.PathLike[str],
        batch_size: int = 1,
        shuffle: bool | None = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int | None = None,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = True,
        pin_memory_device: str = "",
        in_order: bool = True,
        snapshot_every_n_steps: int | None = 1,
        seed: int | None = None,
        split: str | None = None,
        transforms: Iterable[Any] | None = (),
        fields: Iterable[str] | None = None,
        queue_depth: int = 0,
        rank: int | None = None,
        world: int | None = None,
        shard: bool = True,
        as_dict: bool | Mapping[str, str] = False,
        _hand: bool = False,
        **options: Unpack[RecordOptions],
    ) -> None:
        given = {name: value for name, value in locals().items() if name in _ARGUMENTS} | options
        again = rebuilt(given)
        if again is not None:
            self._rebuild(again)
            return
        _refuse(sampler=sampler, batch_sampler=batch_sampler, worker_init_fn=worker_init_fn)
        _check(batch_size, num_workers, timeout, pin_memory_device, snapshot_every_n_steps)
        read = reading(dataset, split)
        store, split = read.store, read.split
        transforms = listed(transforms)  # once: it may be an iterator
        given |= {"dataset": _reopenable(dataset, store), "transforms": transforms}
        _add_read(cast(dict[str, Any], options), read)
        if not shuffle:
            check_ascending(read)
        fields = read.fields if fields is None else fields
        as_dict = read.as_dict if as_dict is False else as_dict
        packed = Collations(options.get("collate"), store.schema, None).packed
        fields = packed if fields is None and packed else fields
        asked = None if fields is None else names_given(store.schema, fields)
        self._handing, self._wrapper = _hand, None
        self._user_collate = function("collate_fn", collate_fn)
        self.collate_fn = collate_fn or collate
        self.generator, self.prefetch_factor = generator, prefetch_factor
        self.snapshot_every_n_steps = snapshot_every_n_steps
        self.multiprocessing_context, self.pin_memory_device = multiprocessing_context, pin_memory_device
        self.drop_last, self.timeout, self.in_order = drop_last, timeout, bool(flag("in_order", in_order))
        self.pin_memory = bool(flag("pin_memory", pin_memory)) and _pinned.available()
        done = resolved(transforms, store, names_given(store.schema, asked), options.get("kinds"))
        parts = Collations(options.get("collate"), store.schema, names_given(store.schema, asked)).part_names
        padded = Padded(options.get("collate"), store.schema)
        functions = self._prepare(store, asked, done, as_dict, parts, padded)
        by_default = rank is None and world is None and shard is True
        rank, world = place(rank, world, shard)
        super().__init__(
            store, split, batch_size, seed=_seed(generator, seed), transforms=functions,
            fields=self._converter.names, shuffle=shuffle or False, drop_last=drop_last, threads=num_workers,
            order="strict" if in_order else "free", queue_depth=_queue_depth(num_workers, prefetch_factor,
            queue_depth), rank=rank, world=world, timeout=timeout or None, pin=self._pin, **options,
        )  # fmt: skip
        self._place(by_default)
        self.num_workers = max(1, cores() - 1) if num_workers is None else num_workers
        self.persistent_workers = self.num_workers > 0
        self._add_parts(given, read, as_dict)

    sampler: Sampler
    batch_sampler: Any
    worker_init_fn: Any = None
    multiprocessing_context: Any = None
    _lent_advice = "tensors lie in their batches: clone() those you want to keep"
    _made = False  # are its attributes fixed?

    def _rebuild(self, again: Rebuilt) -> None:
        """The loader that a tool has put together of another's parts."""
        DataLoader.__init__(self, **again.given)
        if again.wrapper is not None:
            self._wrapper = again.wrapper
            self.__dict__["batch_sampler"] = again.wrapper

    def _add_parts(self, given: dict[str, Any], read: Reading, as_dict: Any) -> None:
        """What torch's loaders have, for tools that look at it or build another loader of it."""
        feed = Feed(uuid.uuid4().hex, self.store, given, self._options)
        feed.records = self.records
        options = self._options
        read = in_full(read, self.split, options["ids"], options["mix"])
        dataset: Any = dataset_of(read, list(self._converter.names), self._keys.of_fields)
        if self._chosen.sampling is not None or options["reuse"] > 1 or options["weight"]:
            dataset = Drawn(read, dataset, EpochOf(self))
            dataset.feed = feed
        feed._dataset = dataset
        dataset._feeds.add(feed)
        note_reader(self, read, dataset)
        self.dataset, self.transforms = dataset, Given(given["transforms"], given)
        self.sampler = Sampler(self, feed)
        self.batch_sampler = BatchSampler(self.sampler, self.batch_size, bool(self.drop_last))
        self._dataset_kind = torch.utils.data.dataloader._DatasetKind.Map
        self._iterator = self._IterableDataset_len_called = None
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made and name in _FIXED:
            if name == "worker_init_fn" and harmless(value):
                return
            raise InvalidError(
                f"{name} cannot be set after the DataLoader has been made: its threads are at work; "
                "make another"
            )
        object.__setattr__(self, name, value)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override, unused-ignore]
        self._settle()
        epoch = self._adopt(super().__iter__())
        self._agree()
        self.sampler._next = None
        return epoch if self._wrapper is None else _beside(epoch, iter(self._wrapper))

    def __len__(self) -> int:
        self._settle()
        return super().__len__()

    def _settle(self) -> None:
        super()._settle()
        if self._made:
            self.sampler._source.settle(self._options)

    def _get_iterator(self) -> Any:
        return iter(self)

    def _coming_epoch(self) -> int:
        now = self._settled()
        return now.epoch + int(now.begun and not now.loaded)

    def _prepare(
        self,
        store: Store,
        asked: list[str] | None,
        transforms: list[Any],
        as_dict: Any,
        parts: tuple[str, ...],
        padded: Padded,
    ) -> list[Any]:
        """Decides how batches become tensors, and where pinned memory comes from; the transforms are
        returned."""
        changed = any(not isinstance(one, Transform) or isinstance(one, MIXING) for one in transforms)
        collated = self._user_collate is not None and not self._handing
        more: Any = {"parts": parts, "padded": padded}
        self._pin: Any = None
        if self.pin_memory and not (changed or collated):
            pins = _pinned.Pins()
            self._pin = pins.pin, pins.unpin
            self._converter = Converter(
                store.schema, asked, False, _pinned.Loans().lend, _pinned.copy_int64, **more
            )
        else:
            self._converter = Converter(store.schema, asked, changed or collated, **more)
        self._keys = Keys(self._converter.names, as_dict, parts)
        if collated:
            assert self._user_collate is not None
            transforms.append(Collate(self._user_collate, self._converter, self._keys))
        if self.pin_memory and self._pin is None:
            transforms.append(self._pinned_copy)
        return transforms

    def _pinned_copy(self, item: Any) -> Any:
        return map_tensors(torch.Tensor.pin_memory, self._convert(item))

    def _convert(self, batch: Any) -> Any:
        if not isinstance(batch, Batch):
            return batch
        if self._handing:
            return Samples.of(batch, self._converter, self._keys)
        return self._keys(self._converter(batch))


def _reopenable(dataset: Any, store: Store) -> Any:
    """The dataset as it is, or the store for its path: so that another working directory changes nothing."""
    return store if isinstance(dataset, (str, os.PathLike)) else dataset


def _add_read(options: dict[str, Any], read: Reading) -> None:
    """Puts what a dataset says is to be read in among the options."""
    for name, value in (("ids", read.ids), ("mix", read.mix or None)):
        if value is None:
            continue
        if options.get(name) is not None:
            raise InvalidError(f"{name}: the dataset says already which records are read; give one of them")
        options[name] = value


def _beside(batches: Iterator[Any], indices: Iterator[Any]) -> Iterator[Any]:
    """The batches, while a sampler that notes what goes by is led along."""
    for batch in batches:
        next(indices, None)
        yield batch


_ARGUMENTS = frozenset(inspect.signature(DataLoader.__init__).parameters) - {"self", "options", "_hand"}
