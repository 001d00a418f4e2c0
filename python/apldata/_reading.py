"""Reading many records of a store: one after another, or piece by piece into arrays of the caller's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._arguments import threads_of
from ._core import Store
from .schema import Field

_COPY_FROM = 1 << 28  # bytes: more than this is read piece by piece, so that Ctrl-C is heard between them
_STEP = 1024  # records that are read at once


def copied(
    store: Store, schema: list[Field], ids: np.ndarray, asked: list[str] | None, threads: int | None
) -> dict[str, Any]:
    """The records `ids`, as `Store.to_numpy()` has them. `schema`: the fields of the store."""
    wanted = [f for f in schema if asked is None or f.name in asked]
    rows = max(1, _COPY_FROM * max(1, len(store)) // max(1, sum(f.raw_bytes for f in wanted)))
    if len(ids) <= rows:
        return arrays_of(store, ids, asked, threads)
    joined: dict[str, Any] = {}
    for first in range(0, len(ids), rows):
        for name, column in arrays_of(store, ids[first : first + rows], asked, threads).items():
            if isinstance(column, list):
                joined.setdefault(name, []).extend(column)
                continue
            if name not in joined:
                joined[name] = np.empty((len(ids), *column.shape[1:]), column.dtype)
            joined[name][first : first + len(column)] = column
    return joined


def arrays_of(store: Store, ids: np.ndarray, fields: list[str] | None, threads: int | None) -> dict[str, Any]:
    """The records `ids`: an array, or a list, for each field."""
    batch = store._get(ids, fields, threads_of(threads))
    return {name: batch[name] for name in batch}


def one_by_one(store: Store, ids: np.ndarray) -> Iterator[dict[str, Any]]:
    """The records `ids`, each as a dict of values."""
    for first in range(0, len(ids), _STEP):
        batch = store._get(ids[first : first + _STEP])
        columns = [(name, batch[name]) for name in batch]
        for row in range(batch.rows):
            yield {name: column[row] for name, column in columns}
