"""What a loader reads, as its first argument says it: a store, a dataset, parts of one, or several."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.utils.data import ConcatDataset, Subset

from .._arguments import shown
from .._errors import InvalidError, InvalidTypeError
from .._store import Store
from ._dataset import Dataset
from ._feed import Feed, Feeds
from ._fixed import refuse_targets, refuse_transform

_WANTED = (
    "dataset must be a store's path, an apldata.Store, an apldata.torch.Dataset, or a Subset or "
    "ConcatDataset of those"
)


@dataclass(frozen=True)
class Reading:
    """Records of one or more stores."""

    store: Store
    split: str | None
    ids: Any = None  # of the records, going on from store to store; None: all of the splits
    mix: tuple[Any, ...] = ()  # the other stores, each as (store, split)
    fields: list[str] | None = None
    as_dict: Any = False
    dataset: Dataset | None = None  # that was given, if it is just that
    given: tuple[Dataset, ...] = ()  # all that were given


def reading(dataset: Any, split: str | None) -> Reading:
    """What the first argument means."""
    if isinstance(dataset, (Store, str, os.PathLike)):
        return Reading(dataset if isinstance(dataset, Store) else Store(dataset), split)
    found = _of(dataset)
    splits = {found.split, *(one[1] for one in found.mix)}
    if split is not None and splits != {split}:
        raise InvalidError(
            f"split {split!r}: the Dataset reads {' and '.join(map(repr, sorted(splits)))}; give one of them"
        )
    return found


def _check_own(dataset: Any) -> None:
    """Refuses one of a class that makes samples in its own way, which nothing here would call."""
    of = next((known for known in (Dataset, Subset, ConcatDataset) if isinstance(dataset, known)), None)
    for name in ("__getitem__", "__getitems__"):
        if getattr(type(dataset), name, None) is not getattr(of, name, None):
            raise InvalidTypeError(
                f"{type(dataset).__name__} has a {name} of its own, which the loader would not call: put "
                "what it does into transforms= or collate_fn=, or use torch.utils.data.DataLoader"
            )


def _of(dataset: Any) -> Reading:
    if isinstance(dataset, (Dataset, Subset, ConcatDataset)) and not isinstance(dataset, Joined):
        _check_own(dataset)
    if isinstance(dataset, Dataset):
        return _single(dataset)
    if isinstance(dataset, (Drawn, Joined)):
        return dataset.reading
    if isinstance(dataset, Subset):
        return _part(_of(dataset.dataset), dataset)
    if isinstance(dataset, ConcatDataset):
        return _several([_of(one) for one in dataset.datasets])
    raise InvalidTypeError(
        f"{_WANTED}; got {type(dataset).__name__}; data of other kinds become a store by apldata.ingest() or "
        "apldata.Writer"
    )


def _single(dataset: Dataset) -> Reading:
    if dataset.transform is not None or dataset.target_transform is not None:
        raise InvalidError(
            "the Dataset has a transform over single samples: give transforms= to the loader instead, those "
            "of apldata.transforms, or PerPicture(function)"
        )
    ids = np.asarray(dataset._ids, np.uint64) if dataset._given_ids else None
    as_dict = dataset._keys.keys or False
    return Reading(dataset.store, dataset.split, ids, (), dataset.fields, as_dict, dataset, (dataset,))


def _all_ids(read: Reading) -> np.ndarray:
    """The ids of all records that are read, in the order of the samples."""
    if read.ids is not None:
        return np.asarray(read.ids, np.uint64)
    first, found = 0, []
    for store, split in ((read.store, read.split), *read.mix):
        found.append(store.split_ids(split).astype(np.uint64) + np.uint64(first))
        first += len(store)
    return np.concatenate(found)


def _part(whole: Reading, subset: Subset[Any]) -> Reading:
    indices = np.asarray(subset.indices, np.int64).reshape(-1)
    ids = _all_ids(whole)
    if indices.size and not -len(ids) <= indices.min() <= indices.max() < len(ids):
        raise InvalidError(f"a Subset has the index {shown(indices.max())}; there are {len(ids)} samples")
    return replace(whole, ids=ids[indices], dataset=None)


def check_ascending(read: Reading) -> None:
    """Refuses, for a loader that does not shuffle, records that it would not hand out in their order."""
    if read.ids is not None and (read.ids[1:] < read.ids[:-1]).any():
        raise InvalidError(
            "shuffle=False hands records out in the order of ids, and the indices or ids of the dataset do "
            "not ascend: sort them, as in Subset(dataset, sorted(part.indices)); or use shuffle=True, or "
            "torch.utils.data.DataLoader"
        )


def _several(parts: list[Reading]) -> Reading:
    first = parts[0]
    if any(part.fields != first.fields or part.as_dict != first.as_dict for part in parts):
        raise InvalidError("a ConcatDataset for a loader needs datasets with the same fields and as_dict")
    stores = [one for part in parts for one in ((part.store, part.split), *part.mix)]
    ids = None
    if any(part.ids is not None for part in parts):
        starts = np.cumsum([0, *(sum(len(store) for store, _ in _stores(part)) for part in parts)])
        ids = np.concatenate(
            [_all_ids(part) + np.uint64(start) for part, start in zip(parts, starts, strict=False)]
        )
    given = tuple(one for part in parts for one in part.given)
    return replace(first, ids=ids, mix=tuple(stores[1:]), dataset=None, given=given)


def _stores(read: Reading) -> tuple[tuple[Store, Any], ...]:
    return ((read.store, read.split), *read.mix)


# ------------------------------------------------------------------------------------------ loader.dataset


class _Fed:
    """A dataset that also hands out a loader's batches."""

    def __init__(self, read: Reading) -> None:
        self.reading, self._feeds = read, Feeds()

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses what would have no effect."""
        if name == "targets":
            refuse_targets()
        if name in ("transform", "target_transform", "transforms"):
            refuse_transform(name)
        super().__setattr__(name, value)

    def __getitem__(self, index: Any) -> Any:
        fed = self._feeds.fetch([index])
        return self._sample(index) if fed is None else fed[0]

    def _sample(self, index: int) -> Any:
        """The sample of a plain number."""
        raise NotImplementedError

    def __getitems__(self, indices: Any) -> Any:
        """The samples of these indices; for those of a loader's samplers, what that loader hands out."""
        fed = self._feeds.fetch(indices)
        return [self[index] for index in indices] if fed is None else fed


class Joined(_Fed, ConcatDataset):
    """The samples of several stores, one store after another."""

    def __init__(self, read: Reading, parts: list[Dataset]) -> None:
        _Fed.__init__(self, read)
        ConcatDataset.__init__(self, parts)

    def _sample(self, index: int) -> Any:
        return ConcatDataset.__getitem__(self, index)

    def _index_of(self, ids: np.ndarray, places: range) -> list[int]:
        parts = [part for part in self.datasets if isinstance(part, Dataset)]
        ends = np.cumsum([len(part.store) for part in parts])
        numbers = np.searchsorted(ends, ids.astype(np.int64), side="right")
        found = np.empty(len(ids), np.int64)
        for number, part in enumerate(parts):
            its = numbers == number
            own = ids[its] - np.uint64(ends[number] - len(part.store))
            found[its] = np.asarray(part._index_of(own, places), np.int64)
            found[its] += self.cumulative_sizes[number] - len(part)
        return list(found.tolist())


class EpochOf:
    """The epoch that a loader hands out, for as long as the loader is there."""

    def __init__(self, loader: Any) -> None:
        self._loader, self._last = weakref.ref(loader), 0

    def __call__(self) -> int:
        loader = self._loader()
        if loader is not None:
            self._last = loader.epoch
        return self._last

    def __reduce__(self) -> tuple[Any, ...]:
        return _Constant, (self(),)


class _Constant:
    def __init__(self, epoch: int) -> None:
        self._epoch = epoch

    def __call__(self) -> int:
        return self._epoch


class Drawn(_Fed, torch.utils.data.Dataset):
    """The samples that a loader hands out in an epoch, in its order, where those are drawn."""

    def __init__(self, read: Reading, records: Dataset | Joined, epoch: Callable[[], int]) -> None:
        super().__init__(read)
        self._records, self._epoch = records, epoch
        self._drawn: tuple[int, list[int]] | None = None
        self.feed: Feed | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("feed", "reading", "targets"):
            raise AttributeError(name)
        return getattr(self._records, name)

    def __len__(self) -> int:
        assert self.feed is not None
        return self.feed.records

    def _samples(self) -> list[int]:
        """Of each delivery of the epoch, which sample of all records it is."""
        epoch = self._epoch()
        if self._drawn is None or self._drawn[0] != epoch:
            assert self.feed is not None
            ids = self.feed.ids(epoch)
            self._drawn = epoch, self._records._index_of(ids, range(len(ids)))
        return self._drawn[1]

    def _sample(self, index: int) -> Any:
        return self._records[self._samples()[index]]

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def _index_of(self, ids: np.ndarray, places: range) -> list[int]:
        return list(places)


def in_full(read: Reading, split: str, ids: bytes | None, mix: Iterable[Any]) -> Reading:
    """What is read, with the loader's own ids and mix."""
    more = tuple((store, its or next(iter(store._splits()))[0]) for store, its, _ in mix)
    own = None if ids is None else np.frombuffer(ids, np.uint64)
    return replace(read, split=split, ids=own, mix=more)


def dataset_of(read: Reading, fields: list[str] | None, as_dict: Any) -> Dataset | Joined:
    """The samples that are read, in the order of ids, or in that of the ids given."""
    its = read.dataset
    if its is not None and not read.mix and list(its.fields) == fields and len(its) == _count(read):
        return its
    if not read.mix:
        return Dataset(read.store, read.split, fields=fields, ids=read.ids, as_dict=as_dict)
    parts, first = [], 0
    for store, split in _stores(read):
        own = None if read.ids is None else _within(read.ids, first, len(store))
        parts.append(Dataset(store, split, fields=fields, ids=own, as_dict=as_dict))
        first += len(store)
    return Joined(read, parts)


def note_reader(loader: Any, read: Reading, dataset: Any) -> None:
    """From now on, as long as the loader is open, the datasets refuse transforms that it would not call."""
    for one in (*read.given, dataset, *getattr(dataset, "datasets", ())):
        if isinstance(one, Dataset):
            one._readers.add(loader)


def _count(read: Reading) -> int:
    return len(read.dataset or ()) if read.ids is None else len(read.ids)


def _within(ids: Any, first: int, count: int) -> np.ndarray:
    its = np.asarray(ids, np.int64) - first
    return its[(its >= 0) & (its < count)].astype(np.uint64)
