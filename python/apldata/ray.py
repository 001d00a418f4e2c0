"""Stores and sets for Ray: `read()` makes a `ray.data.Dataset` of one, and a `Sink` writes one.

    import apldata.ray

    dataset = apldata.ray.read("db", split="train", fields=["image", "label"])
    dataset.map_batches(work).write_datasink(apldata.ray.Sink("done", schema))

All nodes of the cluster need the directory under the same path.
"""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasink, Datasource, ReadTask

from ._arguments import absolute, flag, names, optional_text, some_names, text, whole
from ._declared import declared
from ._errors import ExistsError, InvalidError, NotFoundError
from ._given import refuse_nulls
from ._store import Store
from ._writer import Writer
from .joining import join
from .schema import Field

__all__ = ["Sink", "Source", "read"]

_PIECE = 64 << 20  # bytes of a Ray block, of which a task yields several

# ---------------------------------------------------------------------------------------------------- reading


def _column(values: Any) -> np.ndarray:
    """What Ray takes for a column: rows of varying shape as objects."""
    if isinstance(values, np.ndarray):
        return values
    column = np.empty(len(values), object)
    for row, value in enumerate(values):
        column[row] = value
    return column


def _read(
    path: str, content: str, pin: str | None, ids: np.ndarray, fields: list[str] | None, rows: int
) -> Iterator[Any]:
    """The records as Ray's blocks."""
    with Store(path, expected_content=content, expected_digest=pin) as store:
        for first in range(0, len(ids), rows):
            batch = store.get(ids[first : first + rows], fields, threads=1)
            yield BlockAccessor.batch_to_block({name: _column(batch[name]) for name in batch})


def _starts(store: Store, split: str | None) -> np.ndarray:
    """Where blocks of the store begin, as places among the ids of the split, of which the first is 0; of a
    split that is not the source's, every place will do."""
    step, splits = store.info["block_records"], {m.split for m in store.members}
    if split is not None and split not in splits:
        return np.arange(len(store.split_ids(split)))
    ranges = [(s.first or 0, s.records) for s in store.splits.values() if s.name in splits]
    if not store.info["shuffled"]:
        ranges = [(m.first, m.records) for m in store.members]
    starts = np.concatenate([np.arange(first, first + count, step) for first, count in ranges])
    if split is None:
        return np.sort(starts)
    ids = store.split_ids(split)
    places = np.sort(starts[(starts >= ids[0]) & (starts <= ids[-1])] - ids[0]) if len(ids) else starts[:0]
    return places.astype(np.int64)


class Source(Datasource):
    """The records of a store or a set, for ``ray.data.read_datasource()``; `read()` is shorter. A read task
    reads consecutive blocks, and decodes only the fields that are asked for."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        split: str | None = None,
        fields: Iterable[str] | None = None,
        expected_digest: bytes | str | None = None,
    ) -> None:
        super().__init__()
        self._path, self._split = absolute("path", path), optional_text("split", split)
        self._fields = some_names("fields", names("fields", fields))
        with Store(self._path, expected_digest=expected_digest) as store:
            self._pin = store.expected_digest
            for name in self._fields or ():
                if name not in store.schema.names:
                    raise NotFoundError(f"{store.path}: there is no field {name!r}")
            self._content, self._input = store.content_digest, store.path
            everything = np.arange(len(store), dtype=np.uint64)
            self._ids = everything if self._split is None else store.split_ids(self._split).copy()
            self._places = _starts(store, self._split)
            wanted = [f for f in store.schema if self._fields is None or f.name in self._fields]
            self._row_bytes = sum(f.raw_bytes for f in wanted) / max(1, len(store))

    def get_name(self) -> str:
        return "apldata"

    def estimate_inmemory_data_size(self) -> int:
        return int(self._row_bytes * len(self._ids))

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        """At most `parallelism` tasks, with about equally many records."""
        total = len(self._ids)
        even = np.linspace(0, total, max(1, min(parallelism, total)) + 1)[1:-1]
        at = np.searchsorted(self._places, even)
        inner = self._places[at[at < len(self._places)]]
        cuts = np.unique(np.concatenate([[0], inner, [total]])).astype(np.int64)
        return [self._task(int(a), int(b), per_task_row_limit) for a, b in pairwise(cuts)]

    def _task(self, first: int, end: int, limit: int | None) -> ReadTask:
        rows = max(1, int(_PIECE / max(1.0, self._row_bytes)))
        size = int(self._row_bytes * (end - first))
        metadata = BlockMetadata(
            num_rows=end - first, size_bytes=size, input_files=[self._input], exec_stats=None
        )
        work = partial(_read, self._path, self._content, self._pin, self._ids[first:end], self._fields, rows)
        return ReadTask(work, metadata, per_task_row_limit=limit)


def read(
    path: str | os.PathLike[str],
    split: str | None = None,
    fields: Iterable[str] | None = None,
    expected_digest: bytes | str | None = None,
    **options: Any,
) -> ray.data.Dataset:
    """The records of a store or a set as a `ray.data.Dataset`: a row for each, in the order of ids within a
    task, and a column for each field.

    Args:
        path: the store; or a set, or its list.
        split: the split to read; None: all.
        fields: the fields to decode; None: all.
        expected_digest: as for a `Store`; each task compares what it reads.
        options: of ``ray.data.read_datasource()``, such as `override_num_blocks` or `concurrency`.
    """
    return ray.data.read_datasource(Source(path, split, fields, expected_digest), **options)


# ---------------------------------------------------------------------------------------------------- writing


def _is_of_floats(column: Any) -> bool:
    """Are the values of a column, or of its lists, floats? Ray itself may have made nulls of NaN."""
    if not hasattr(column, "type"):  # of pandas
        return bool(getattr(column.dtype, "kind", "O") == "f")
    kind = column.type
    while hasattr(kind, "value_type"):
        kind = kind.value_type
    return str(kind) in ("halffloat", "float", "double")


def _refuse_nulls(name: str, column: Any) -> None:
    """For these, Ray makes floats of whole numbers, and rounds them."""
    if hasattr(getattr(column, "dtype", None), "pyarrow_dtype"):  # of pandas, over Arrow's
        column = column.array.__arrow_array__()
    if not _is_of_floats(column):
        refuse_nulls(name, column)


def _columns(block: Any, fields: list[Field]) -> dict[str, Any]:
    """The columns of one of Ray's blocks that are fields."""
    accessor = BlockAccessor.for_block(block)
    known = set(accessor.column_names())
    missing = [f.name for f in fields if f.name not in known]
    if missing:
        raise InvalidError(f"the dataset has no column {missing[0]!r}, which the schema has")
    for f in fields:
        _refuse_nulls(f.name, block[f.name])
    columns: dict[str, Any] = accessor.to_numpy([f.name for f in fields])
    return columns


class Sink(Datasink[str | None]):
    """Writes a `ray.data.Dataset` as a set, for ``dataset.write_datasink()``: each write task makes a shard,
    and at the end the list is sealed. A task that is retried makes the same shard again. If writing fails,
    nothing is left behind.

    Args:
        path: the directory of the set, created if necessary.
        schema: the fields, as a `Writer` takes them; columns without a field are left out. Nulls are refused,
            but for those of floats, which are NaN.
        split: the split that the records belong to.
        shard_records: the fewest records of a shard, except for the last; None: as Ray bundles them.
        replace: replace a set that exists. Once the new list is sealed, the old list's shards that a `Sink`
            made are removed.
        options: of the `Writer`, such as `codec`.

    Raises:
        ExistsError: there is a set, and `replace` is False.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Mapping[str, Any] | Iterable[Field],
        *,
        split: str = "train",
        shard_records: int | None = None,
        replace: bool = False,
        **options: Any,
    ) -> None:
        self._path, self._fields = absolute("path", path), list(declared(schema))
        self._split, self._replace = text("split", split), bool(flag("replace", replace))
        self._shard_records = None if shard_records is None else whole("shard_records", shard_records, 1)
        self._options, self._made = options, not os.path.exists(self._path)
        old = os.path.join(self._path, "set.apl")
        if os.path.exists(old) and not self._replace:
            raise ExistsError(f"{self._path}: is a set already; replace=True puts another in its place")
        # A set that is replaced stays whole until the new list is sealed.
        self._prefix = f"shard-{Store(old).content_digest[:8]}-" if os.path.exists(old) else "shard-"

    def _there(self, pattern: str) -> list[str]:
        there = os.listdir(self._path) if os.path.isdir(self._path) else []
        return sorted(name for name in there if re.fullmatch(pattern, name))

    def _own(self) -> list[str]:
        """The directories of this job."""
        return self._there(re.escape(self._prefix) + r"\d{6,}")

    def get_name(self) -> str:
        return "apldata"

    @property
    def min_rows_per_write(self) -> int | None:
        return self._shard_records

    def on_write_start(self, schema: Any = None) -> None:
        os.makedirs(self._path, exist_ok=True)

    def write(self, blocks: Iterable[Any], ctx: Any) -> str | None:
        """One shard, on a worker; its name, or None if there are no records."""
        name = f"{self._prefix}{ctx.task_idx:06d}"
        filled = (block for block in blocks if BlockAccessor.for_block(block).num_rows() > 0)
        first = next(filled, None)
        if first is None:
            return None
        os.makedirs(self._path, exist_ok=True)
        shard = os.path.join(self._path, name)
        with Writer(shard, self._fields, split=self._split, replace=True, **self._options) as writer:
            writer.extend(**_columns(first, self._fields))
            for block in filled:
                writer.extend(**_columns(block, self._fields))
        return name

    def on_write_complete(self, write_result: Any) -> None:
        shards = sorted(name for name in write_result.write_returns if name is not None)
        if not shards:
            raise InvalidError(f"{self._path}: the dataset has no records, and a set needs some")
        join([os.path.join(self._path, name) for name in shards], self._path, replace=self._replace)
        made = self._there(r"shard-([0-9a-f]{8}-)?\d{6,}") if self._replace else self._own()
        self._remove([name for name in made if name not in shards])

    def on_write_failed(self, error: Exception) -> None:
        self._remove(self._own())
        if self._made and os.path.isdir(self._path) and not os.listdir(self._path):
            os.rmdir(self._path)

    def _remove(self, shards: Iterable[str]) -> None:
        for name in shards:
            shutil.rmtree(os.path.join(self._path, name), ignore_errors=True)
