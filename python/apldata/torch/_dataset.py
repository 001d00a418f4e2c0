"""Dataset: single samples, for those who keep torch's own DataLoader."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from .._arguments import U64, flag, function, names_checked, text, whole
from .._errors import InvalidError, NoRecordError
from .._source import call
from .._store import Store
from ._collate import Keys, members
from ._feed import Feeds
from ._fixed import Labels, refuse_targets, refuse_transform, refuse_transforms
from ._images import decoder
from ._places import image_place, label_place
from ._tensors import Converter, names_given


class Dataset(torch.utils.data.Dataset[Any]):
    """The records of a split as a map-style dataset, such as ``torch.utils.data.DataLoader`` takes.

    ``dataset[i]`` is a tuple with an element for each field: for images with labels, (a tensor u8 (channels,
    height, width), an int). Inputs are tensors, targets of one whole number int, other targets tensors, text
    str. Kept files of images, such as JPEGs, are decoded: by default to PIL images, as torchvision's ImageFolder
    has them.

    It works with fork, forkserver and spawn: a child reopens the store. Getting a single record decodes a
    whole block; `__getitems__`, which torch's DataLoader calls for each batch, decodes each block once. In
    random order, a batch has records of many blocks, which is slow: hold the split in memory if it fits, and
    otherwise use `apldata.torch.DataLoader`, which decodes each block once per epoch.

    Args:
        db: a `Store`, or its directory.
        split: its name; None: the first of the store.
        transform: a function of a sample's image, as in torchvision's datasets: of the first field that is an
            image, or, where none is, the first that is no target.
        target_transform: a function of its label: of the first target with classes, the only target, or the
            second of two fields.
        fields: names of the fields, in the order of the tuple; None: all inputs and targets.
        in_memory: True: decode the split once, now, and keep it. Workers share that memory.
        ids: only these records of the split, in this order, as returned by `Store.where()`; None: all.
        decode: what kept files of images become: "pil" (RGB), "tensor" (u8, (3, height, width)), or None: the
            files' bytes.
        as_dict: samples are dicts by the names of fields; a dict of names gives some of them other keys, as
            in ``{"image": "pixel_values", "label": "labels"}``.

    Raises:
        NotFoundError: no such store, split or field.
        IndexError: there is no such sample.
        CorruptError: a block is not what was written; `error.records` says which records.
    """

    @names_checked()
    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        fields: Iterable[str] | None = None,
        in_memory: bool = False,
        *,
        ids: Any = None,
        as_dict: bool | Mapping[str, str] = False,
        decode: str | None = "pil",
    ) -> None:
        self.store = db if isinstance(db, Store) else Store(db)
        self.split = next(iter(self.store._splits()))[0] if split is None else text("split", split)
        self.transform, self.target_transform = transform, target_transform
        self.fields = names_given(self.store.schema, fields)
        if target_transform is not None:
            label_place(self.store.schema, self.fields, "target_transform")
        self._how, self._decode = decode, decoder(decode, [self.store.schema[name] for name in self.fields])
        self._keys, self._feeds = Keys(self.fields, as_dict), Feeds()
        self._readers: weakref.WeakSet[Any] = weakref.WeakSet()  # loaders that read it
        self._given_ids = ids is not None
        self._ids = self._ids_of_split() if ids is None else self._chosen(ids)
        self._converter = Converter(self.store.schema, self.fields, changed=False)
        self._held: list[Any] | None = None
        if flag("in_memory", in_memory):
            self._held = self._decoded(self._ids, None)

    def _ids_of_split(self) -> range | np.ndarray:
        for name, first, count in self.store._splits():
            if name == self.split:
                return range(first, first + count)
        return self.store.split_ids(self.split)

    def _chosen(self, ids: Any) -> np.ndarray:
        """Some ids, all of which must be of the split."""
        chosen = self.store._ids(ids, from_end=False)
        strange = chosen[~np.isin(chosen, np.asarray(self._ids_of_split(), np.uint64))]
        if strange.size:
            raise NoRecordError(f"{self.store.path}: record {strange[0]} is not of split {self.split}")
        return chosen

    def _index_of(self, ids: np.ndarray, places: range) -> list[int]:
        """Which samples these records are."""
        if isinstance(self._ids, range):
            return list((ids.astype(np.int64) - self._ids.start).tolist())
        order = self._sorted
        return list(order[np.searchsorted(self._ids, ids, sorter=order)].tolist())

    @cached_property
    def _sorted(self) -> np.ndarray:
        return np.argsort(np.asarray(self._ids), kind="stable")

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_converter", "_decode", "_readers")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._readers = weakref.WeakSet()
        self._converter = Converter(self.store.schema, self.fields, changed=False)
        self._decode = decoder(self._how, [self.store.schema[name] for name in self.fields])

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses what would have no effect."""
        if name == "targets":
            refuse_targets()
        if name == "transforms":
            refuse_transforms()
        if name in ("store", "split", "fields") and name in self.__dict__:
            raise InvalidError(f"{name} of a Dataset cannot be set: make another Dataset")
        if name in ("transform", "target_transform") and value is not self.__dict__.get(name):
            function(name, value)
            if not all(loader._closed for loader in self.__dict__.get("_readers", ())):
                refuse_transform(name)
        super().__setattr__(name, value)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes of the first target that has some."""
        return self.store.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class, by its name."""
        return {name: number for number, name in enumerate(self.classes or ())}

    @cached_property
    def targets(self) -> list[Any]:
        """The labels of all samples, without transforms, as a list that cannot be changed, since that would
        change no sample: of the first target with classes, the only target, or the second of two members.
        They are decoded once, at the first use; images are not."""
        place = label_place(self.store.schema, self.fields, "targets")
        if self._held is not None:
            return Labels(members(self._held[place]))
        fields = self.fields[place : place + 1]
        column = Converter(self.store.schema, fields, changed=False)
        return Labels(members(column(self.store.get(self._ids, fields))[0]))

    def __len__(self) -> int:
        return len(self._ids)

    def _decoded(self, ids: Iterable[int], threads: int | None = 0) -> list[Any]:
        """Of each field, the values of these records; by the caller alone, which may be one of many."""
        return list(self._converter(self.store.get(ids, self.fields, threads)))

    def _row(self, index: Any) -> int:
        """The place in the split of a sample, which may be counted from the end."""
        i, n = whole("the number of a sample", index, -U64), len(self._ids)
        if not -n <= i < n:
            raise NoRecordError(f"{self.store.path}: split {self.split} has no sample {i}: it has {n}")
        return i % n

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """The samples of these indices, in that order, with each block decoded once. Their tensors share
        memory. For indices of a loader's samplers, what that loader hands out: a list of samples that its
        collate_fn makes a batch of."""
        fed: list[tuple[Any, ...]] | None = self._feeds.fetch(indices)
        if fed is not None:
            return fed
        rows = [self._row(index) for index in indices]
        if self._held is None:
            columns = self._decoded([int(self._ids[row]) for row in rows])
        else:
            columns = [_rows(column, rows) for column in self._held]
        samples = zip(*(members(column) for column in columns), strict=True)
        return [self._keys(self._transformed(*pair)) for pair in zip(samples, rows, strict=True)]

    def _transformed(self, sample: tuple[Any, ...], row: int) -> tuple[Any, ...]:
        if self.transform is None and self.target_transform is None and self._decode is None:
            return sample
        values = list(sample)
        if self._decode is not None:
            values = self._decode(values, int(self._ids[row]))
        if self.transform is not None:
            image = image_place(self.store.schema, self.fields)
            values[image] = call(self.transform, values[image])
        if self.target_transform is not None:
            label = label_place(self.store.schema, self.fields, "target_transform")
            values[label] = call(self.target_transform, values[label])
        return tuple(values)

    def __repr__(self) -> str:
        what = f"{len(self)} samples of {', '.join(self.fields)}"
        return f"<apldata.torch.Dataset {self.store.path!r}, {self.split!r}: {what}>"


def _rows(column: Any, rows: list[int]) -> Any:
    """These rows of a column, copied."""
    if isinstance(column, torch.Tensor):
        return column[rows]
    return [one.clone() if isinstance(one, torch.Tensor) else one for one in map(column.__getitem__, rows)]
