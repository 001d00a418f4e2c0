"""The records of a split, numbered from 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from ._core import Batch
from ._errors import NoRecordError
from ._ids import Ids, is_one, numbers


class _Store(Protocol):
    """What is asked of a `Store`."""

    @property
    def path(self) -> str: ...

    def __getitem__(self, key: int, /) -> Any: ...
    def split_ids(self, split: str) -> np.ndarray: ...
    def get(self, ids: Ids, fields: Iterable[str] | None = None, threads: int | None = None) -> Batch: ...
    def to_numpy(
        self, split: str | None = None, fields: Iterable[str] | None = None, threads: int | None = None
    ) -> dict[str, Any]: ...
    def _records(self, ids: np.ndarray) -> Iterator[dict[str, Any]]: ...


class SplitView:
    """The records of a split, as ``store["train"]`` gives them: ``store["train"][0]`` is its first record,
    whatever its id is. Slices, lists and masks of bools, one for each record of the split, give a `Batch`.

    Attributes:
        store, name: the `Store`, and the split's name.
        ids: the ids of its records, ascending: uint64[n]; ``view.ids[mask]`` are those that a mask selects.
    """

    def __init__(self, store: _Store, name: str) -> None:
        self.store, self.name = store, name
        self.ids = store.split_ids(name)

    def _ids(self, rows: Ids) -> np.ndarray:
        whose = f"split {self.name!r}"
        found: np.ndarray = self.ids[numbers(rows, len(self), whose, self._missing)]
        return found

    def _missing(self, row: int) -> NoRecordError:
        split = f"{self.store.path}: split {self.name!r}"
        return NoRecordError(f"{split} has no record {row}: it has {len(self)}")

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, key: Ids) -> Any:
        if not is_one(key):
            return self.get(key)
        key = int(key)
        if not -len(self) <= key < len(self):
            raise self._missing(key)
        return self.store[int(self.ids[key])]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.store._records(self.ids)

    def get(self, rows: Ids, fields: Iterable[str] | None = None, threads: int | None = None) -> Batch:
        """Records by their numbers in the split, as `Store.get()`."""
        return self.store.get(self._ids(rows), fields, threads)

    def to_numpy(self, fields: Iterable[str] | None = None, threads: int | None = None) -> dict[str, Any]:
        """All of its records, as `Store.to_numpy()`."""
        return self.store.to_numpy(self.name, fields, threads)

    def __repr__(self) -> str:
        return f"<apldata.SplitView of {self.store.path!r}, split {self.name!r}: {len(self):,} records>"
