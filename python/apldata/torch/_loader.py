"""DataLoader: torch's loader's arguments, for batches as tensors that lie in the library's own memory."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Unpack

import torch

from .._arguments import U32, U64, flag, function, names_checked, number, text, whole, wrong_type, wrong_value
from .._core import Batch
from .._errors import InvalidError, InvalidTypeError
from .._foreign import resolved
from .._loader import Loader
from .._options import RecordOptions
from .._store import Store
from ..transforms import Transform
from . import _pinned
from ._dataset import Dataset
from ._tensors import Converter, map_tensors, names_given

_REFUSED = {
    "sampler": "the order is the library's own, so that it can read blocks ahead, share an epoch between "
    "ranks and go on from a state. Choose with shuffle, seed, split, reuse, rank and world, and which "
    "records come how often with sampling (apldata.Sampling) and ids; for an order of your own, torch's "
    "DataLoader over apldata.torch.Dataset takes any sampler",
    "batch_sampler": "batches are cut from the library's own order. Choose with batch_size and drop_last; "
    "for batches of your own, torch's DataLoader over apldata.torch.Dataset takes any batch_sampler",
    "worker_init_fn": "there are no worker processes that it could be called in: the work is done by "
    "threads in C, and randomness is keyed by seed, epoch and record",
}


def _refuse(**given: Any) -> None:
    """Refuses those of torch's arguments that have no meaning here, and says what has."""
    for name, value in given.items():
        if value is not None:
            raise InvalidError(f"{name}: {_REFUSED[name]}")


def _source(dataset: Any, split: str | None) -> tuple[Store | str | os.PathLike[str], str | None]:
    """The store, and the split, that the first argument means."""
    if isinstance(dataset, (Store, str, os.PathLike)):
        return dataset, split
    if not isinstance(dataset, Dataset):
        raise InvalidTypeError(
            "dataset must be a store's path, an apldata.Store or an apldata.torch.Dataset; got "
            f"{type(dataset).__name__}; data of other kinds become a store by apldata.ingest() or "
            "apldata.Writer"
        )
    if dataset.transform is not None or dataset.target_transform is not None:
        raise InvalidError(
            "the Dataset has a transform over single samples: give transforms= to the loader instead, those "
            "of apldata.transforms, or PerPicture(function)"
        )
    if split not in (None, dataset.split):
        raise InvalidError(f"split {split!r}: the Dataset is that of {dataset.split!r}; give one of them")
    return dataset.store, dataset.split


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


def _place(rank: int | None, world: int | None) -> tuple[int | None, int | None]:
    """Rank and world: as given, else those of torch.distributed if that is in use."""
    distributed = torch.distributed
    if rank is None and world is None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return rank, world


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


class _Collate:
    """The user's collate_fn, as the last of the functions over batches."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = self.__wrapped__ = function

    def __call__(self, batch: Any) -> Any:
        result = self._function(batch)
        if result is None:
            raise InvalidTypeError("collate_fn has returned None; what it returns is handed out")
        return result


class DataLoader(Loader):
    """Batches of a split as tensors: what `torch.utils.data.DataLoader` is to a dataset of samples.

        for images, labels in DataLoader("db", batch_size=512, shuffle=True): ...

    Yields a tuple with a member for each field, also known by its name (``batch.image``): all inputs and
    targets of the store, in its order, or those in `fields`. Inputs are tensors of the shape (rows, ...), in
    the dtype that the store, or the transforms, give them; they lie in the library's own memory, are not
    copied, may be written into, and keep their batch by themselves for as long as they live. Targets of
    integers are copied, as int64, and fields of at most 64 bytes a record as they are. Text is a list of str.
    The last batch of an epoch may have fewer rows; with several ranks, none.

    Iterating, epochs, `len()`, `state_dict()` and `load_state_dict()` are those of `apldata.Loader`, and so
    those of torchdata's StatefulDataLoader: states may be taken after any batch, and resumed whatever
    `num_workers` is. There are no processes: the work is done by threads in C.

    Args:
        dataset: a store's directory, an `apldata.Store`, or an `apldata.torch.Dataset` without transforms.
        batch_size: records in a batch; not None.
        shuffle: False, as in torch: in the order of ids. (All other loaders of apldata shuffle unless told
            not to.) Augmentation is random either way.
        sampler, batch_sampler: refused, since the order is the library's own; the error says what to do
            instead.
        num_workers: threads that make batches; None: the cores this process may use, but one; 0: the work is
            done in `next()`.
        collate_fn: a function over a whole `apldata.Batch` (not a list of samples), called after the
            transforms on one Python thread ahead of the loop; what it returns is handed out as it is. A
            `Batch` that it returns is made into tensors.
        pin_memory: the memory of batches is pinned, without a copy, so that ``.to(device,
            non_blocking=True)`` does not block; batches are not used again before the device has read them.
            With functions of your own, what they made is copied into pinned memory, on their thread. Where
            there is no CUDA, a warning.
        drop_last: no batch that is not full (with ranks: no step that is not).
        timeout: seconds that a batch may take; 0: for ever.
        worker_init_fn: refused: there are no worker processes. multiprocessing_context: ignored, for that
            reason.
        generator: its initial_seed() is the seed; it is not advanced. `seed`: the same as a number. With
            neither, the seed is 0, also after `torch.manual_seed()`, so that all ranks have the same.
        prefetch_factor: finished batches that may wait, of all threads together; None: 4. Also called
            `queue_depth`.
        persistent_workers: always; either value will do.
        pin_memory_device: "" or "cuda...".
        in_order: False: whoever is ready goes, so that a slow block delays nobody; each record still comes
            once, and states are exact, but the order is not repeatable.
        snapshot_every_n_steps: of StatefulDataLoader; any number will do, since a state costs a microsecond
            and is always that of the batch that the loop has.
        split, transforms, fields, window, bins, reuse, lanes, fill, sampling, ids, mix, weight,
            memory_budget, first_epoch, skip_corrupt, loaders, consumers: as those of `apldata.Loader`.
        rank, world: this process among how many; None: as torch.distributed says if it is initialised, else
            the launcher.

    Raises:
        InvalidError: an argument is wrong or has no meaning here; the message says which, and what would do.
        LentError: while iterating: tensors of too many batches are still held; clone() what is to be kept.
        Others as `apldata.Loader`.
    """

    @names_checked(RecordOptions)
    def __init__(
        self,
        dataset: Dataset | Store | str | os.PathLike[str],
        batch_size: int = 1,
        shuffle: bool | None = False,
        sampler: None = None,
        batch_sampler: None = None,
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
        transforms: Iterable[Any] = (),
        fields: Iterable[str] | None = None,
        queue_depth: int = 0,
        rank: int | None = None,
        world: int | None = None,
        **options: Unpack[RecordOptions],
    ) -> None:
        _refuse(sampler=sampler, batch_sampler=batch_sampler, worker_init_fn=worker_init_fn)
        _check(batch_size, num_workers, timeout, pin_memory_device, snapshot_every_n_steps)
        store, split = _source(dataset, split)
        store = store if isinstance(store, Store) else Store(store)
        if fields is None and isinstance(dataset, Dataset):
            fields = dataset.fields
        asked = None if fields is None else names_given(store.schema, fields)
        self.generator, self.prefetch_factor = generator, prefetch_factor
        self.snapshot_every_n_steps = snapshot_every_n_steps
        self.collate_fn = function("collate_fn", collate_fn)
        self.drop_last, self.timeout, self.in_order = drop_last, timeout, bool(flag("in_order", in_order))
        self.pin_memory = bool(flag("pin_memory", pin_memory)) and _pinned.available()
        functions = self._prepare(
            store, asked, resolved(transforms, store.schema, names_given(store.schema, asked))
        )
        rank, world = _place(rank, world)
        super().__init__(
            store, split, batch_size, seed=_seed(generator, seed), transforms=functions,
            fields=self._converter.names, shuffle=shuffle or False, drop_last=drop_last, threads=num_workers,
            order="strict" if in_order else "free", queue_depth=_queue_depth(num_workers, prefetch_factor,
            queue_depth), rank=rank, world=world, timeout=timeout or None, pin=self._pin, **options,
        )  # fmt: skip
        self.num_workers = max(1, len(os.sched_getaffinity(0)) - 1) if num_workers is None else num_workers
        if isinstance(dataset, Dataset):
            self.dataset = dataset

    sampler = batch_sampler = worker_init_fn = multiprocessing_context = None
    _lent_advice = "tensors lie in their batches: clone() what is to stay"
    persistent_workers = True

    def _prepare(self, store: Store, asked: list[str] | None, transforms: list[Any]) -> list[Any]:
        """Decides how batches become tensors, and where pinned memory comes from; the transforms are
        returned."""
        if self.collate_fn is not None:
            transforms.append(_Collate(self.collate_fn))
        changed = any(not isinstance(transform, Transform) for transform in transforms)
        self._pin: Any = None
        if self.pin_memory and not changed:
            pins = _pinned.Pins()
            self._pin = pins.pin, pins.unpin
            self._converter = Converter(store.schema, asked, False, _pinned.Loans().lend, _pinned.copy_int64)
        else:
            self._converter = Converter(store.schema, asked, changed)
            if self.pin_memory:
                transforms.append(self._pinned_copy)
        return transforms

    def _pinned_copy(self, item: Any) -> Any:
        return map_tensors(torch.Tensor.pin_memory, self._convert(item))

    def _convert(self, batch: Any) -> Any:
        return self._converter(batch) if isinstance(batch, Batch) else batch

    @cached_property
    def dataset(self) -> Dataset:
        """The split as a `Dataset` of single samples, for those who look: ``len(loader.dataset)``."""
        return Dataset(self.store, self.split, fields=self._converter.names)
