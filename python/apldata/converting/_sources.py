"""What kind of source it is, and how it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np

from .._arguments import text, wrong_type
from .._errors import InvalidError, InvalidTypeError
from ..schema import listed
from ._cells import flat
from ._dicts import (
    SPLITS,
    are_columns,
    check_iterators,
    is_of,
    open_columns,
    refuse_splits,
    table_for,
    table_of,
)
from ._files import are_files, open_files, open_split
from ._members import names_of_cursor
from ._rows import Rows, chunks, numbered
from ._told import Chunk, Part, Source, Told, Wishes, train_first
from ._workers import Workers

_WANTED = (
    "a Parquet or Arrow file, a list of such files, a table, a data frame, a dict of arrays, a dataset, or "
    "an iterable of rows; or a dict of such, one for each split"
)


def _refuse_batches(source: Any) -> None:
    """What gives batches would make a record of each."""
    if any(base.__module__ == "apldata._loader" for base in type(source).__mro__):
        raise InvalidTypeError(
            "source: a loader gives batches, not records: `apldata extract` copies records of a store"
        )
    loads = any(base.__name__ == "DataLoader" for base in type(source).__mro__) and is_of(source, "torch")
    if loads and getattr(source, "batch_sampler", None) is not None:
        raise InvalidTypeError(
            "source: a DataLoader gives batches, not records: give its dataset (loader.dataset)"
        )


# --------------------------------------------------------------------------------------------------- rows


class _Folder:
    """The rows of torchvision's ImageFolder (any DatasetFolder without transforms): its files, unread."""

    def __init__(self, dataset: Any) -> None:
        self._samples, self._root = dataset.samples, os.fspath(dataset.root)

    def __call__(self, row: int) -> dict[str, Any]:
        from ._images import File

        place, label = self._samples[row]
        return {"image": File(None, place, os.path.relpath(place, self._root)), "label": label}


class _Subset:
    """The rows of a part of a dataset."""

    def __init__(self, get: Callable[[int], Any], indices: Sequence[int]) -> None:
        self._get, self._indices = get, indices

    def __call__(self, row: int) -> Any:
        return self._get(int(self._indices[row]))


def _leaves(dataset: Any) -> Iterator[Any]:
    """The datasets that parts and concatenations of torch's are made of."""
    kind = type(dataset).__name__
    if kind == "Subset" and hasattr(dataset, "dataset"):
        yield from _leaves(dataset.dataset)
    elif kind in ("ConcatDataset", "ChainDataset") and is_of(dataset, "torch"):
        for one in dataset.datasets:
            yield from _leaves(one)
    else:
        yield dataset


def _still_labels(dataset: Any, names: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The columns of which a function of the caller's, which makes the rows, has left the numbers of classes,
    as the first row tells."""
    with suppress(Exception):  # reading the rows will tell
        first = {name: np.asarray(value) for name, value in flat(dataset[0], frozenset()).items()}
        numbers = {name: int(one) for name, one in first.items() if one.ndim == 0 and one.dtype.kind in "iu"}
        return {name: of for name, of in names.items() if -1 <= numbers.get(name, -2) < len(of)}
    return {}


def _is_column(dataset: Any) -> bool:
    """Is it one column of a dataset of Hugging Face?"""
    return is_of(dataset, "datasets") and isinstance(getattr(dataset, "column_name", None), str)


def _own_class_names(dataset: Any, name: str) -> dict[str, tuple[str, ...]]:
    """Of one dataset, by column; `name`: what the one value of a row is called."""
    if _is_column(dataset):
        from ._huggingface import told_of_rows

        return {column: of.classes for column, of in told_of_rows(name, dataset).items() if of.classes}
    if is_of(dataset, "datasets") and isinstance(getattr(dataset, "features", None), Mapping):
        from ._features import told_of_features

        told = told_of_features(dataset.features.to_dict())
        found = {column: of.classes for column, of in told.items() if of.classes}
        if getattr(dataset, "format", {}).get("type") == "custom":
            return _still_labels(dataset, found)
        return found
    names = getattr(dataset, "classes", None)
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        return {}
    return {"label": tuple(names)} if len(set(names)) == len(names) else {}


def _getter(dataset: Any) -> Callable[[int], Any]:
    """What makes a row of a dataset."""
    if type(dataset).__name__ == "Subset" and is_of(dataset, "torch"):
        return _Subset(_getter(dataset.dataset), dataset.indices)
    files = is_of(dataset, "torchvision") and hasattr(dataset, "samples") and hasattr(dataset, "root")
    plain = getattr(dataset, "transform", None) is None and getattr(dataset, "target_transform", None) is None
    if files and plain and hasattr(dataset, "class_to_idx") and hasattr(dataset, "extensions"):
        return _Folder(dataset)
    get: Callable[[int], Any] = dataset.__getitem__
    return get


def _is_iterable(dataset: Any) -> bool:
    """Is it one of torch's that can only be iterated over, whatever else its class has inherited?"""
    return any(kind.__name__ == "IterableDataset" for kind in type(dataset).__mro__)


def _class_names(dataset: Any, names: list[str] | None, wishes: Wishes) -> Mapping[str, Told]:
    """Those that datasets of torchvision's kind tell, or of Hugging Face that torch's hold: concatenated ones
    tell the same. `names`: of the values of rows that have none."""
    name = names[0] if names and len(names) == 1 else "value"
    if _is_column(dataset):
        from ._huggingface import told_of_rows

        return told_of_rows(name, dataset)
    each = [_own_class_names(leaf, name) for leaf in _leaves(dataset)]
    found = {}
    for column in dict.fromkeys(column for names in each for column in names):
        of_all = list(dict.fromkeys(names.get(column) for names in each))
        if len(of_all) == 1:
            found[column] = Told(classes=of_all[0])
        elif wishes.wants(column) and column not in wishes.classes:
            told = " and ".join(listed(names) if names else "none" for names in of_all[:2])
            raise InvalidError(
                f"source: its datasets name the classes of column {column} differently, {told}: number them "
                f"alike, or, where they are, name them, classes={{{column!r}: [...]}}"
            )
    return found


def _dataset(
    split: str,
    dataset: Any,
    named: Callable[[Callable[[int], Any]], Rows],
    told: Mapping[str, Told],
    workers: int,
    stack: ExitStack,
) -> Part:
    rows, count = named(_getter(dataset)), len(dataset)

    def read() -> Iterator[Chunk]:
        if workers == 0:
            return chunks(numbered(range(count), rows.row))
        made = Workers(rows, count, workers)
        stack.callback(made.close)
        return chunks(made)

    return Part(split, read, told, count)


def _iterable(split: str, rows: Iterable[Any], named: Rows, told: Mapping[str, Told]) -> Part:
    again = iter(rows) is not rows
    return Part(split, lambda: chunks(numbered(rows, named.named)), told, again=again)


# ------------------------------------------------------------------------------------------------ opening


def split_named(split: Any) -> Any:
    """A split's name, where an object of Hugging Face's library stands for it: datasets.Split.TRAIN."""
    return str(split) if is_of(split, "datasets") else split


def _refuse_columns(source: Any) -> None:
    """A column alone of polars or Arrow, but for one of structs, has no name to give the field."""
    if str(getattr(source, "type", getattr(source, "dtype", ""))).lower().startswith("struct"):
        return
    if (table := table_for(source)) is not None:
        kind = type(source).__name__
        raise InvalidTypeError(
            f"source: a {kind} is one column: give a table, {table}({{'name': column}}), for each split"
        )


class Opener:
    """Opens sources.

    Args:
        names: of the values of rows that do not name them.
        wishes: what is asked of them.
        workers: processes that make rows.
        stack: ends what reading begins.
    """

    def __init__(self, names: list[str] | None, wishes: Wishes, workers: int, stack: ExitStack) -> None:
        self._names, self._wishes, self._workers, self._stack = names, wishes, workers, stack

    def open(self, source: Any) -> Source:
        if are_files(source) or self._are_paths(source):
            return open_files(source, self._wishes)
        if isinstance(source, Mapping) and not source.keys() <= SPLITS:
            source = table_of(source)
        if isinstance(source, Mapping):
            if not are_columns(source) or (source and all(map(are_files, source.values()))):
                return self._splits(check_iterators(source))
            refuse_splits(source)
        _refuse_columns(source)
        name = type(source).__name__
        if is_of(source, "pyarrow"):
            from ._tables import open_tables

            return Source("pyarrow", name, open_tables(source, self._wishes))
        format, part = self._one("train", source)
        return Source(format, name, [part])

    def _are_paths(self, source: Any) -> bool:
        return (
            isinstance(source, (list, tuple))
            and bool(source)
            and all(isinstance(one, (str, os.PathLike)) and os.path.exists(one) for one in source)
        )

    def _splits(self, sources: Mapping[str, Any]) -> Source:
        parts, formats, all_of = [], set(), Source("", "", [])
        for given, source in sources.items():
            split = split_named(given)
            if are_files(source):
                opened = open_split(text("a split", split), source, self._wishes)
                format, part = opened.format, opened.parts[0]
                all_of.bytes += opened.bytes
                all_of.files += opened.files
                all_of.looked_for |= opened.looked_for
            else:
                format, part = self._one(text("a split", split), source)
            formats.add(format)
            parts.append(part)
        first = next(iter(sources.values()))
        all_of.name = os.fsdecode(first) if isinstance(first, (str, os.PathLike)) else type(first).__name__
        all_of.format, all_of.parts = "+".join(sorted(formats))[:30], train_first(parts)
        return all_of

    def _one(self, split: str, source: Any) -> tuple[str, Part]:
        """A source without splits: what it is, and how it is read."""
        source = list(source.unbind()) if getattr(source, "is_nested", False) else table_of(source)
        if isinstance(source, Mapping):
            return "arrays", open_columns(split, source, self._wishes)
        if getattr(source, "ndim", 1) == 0:
            raise wrong_type("source", _WANTED, source)
        if isinstance(source, np.ndarray) and source.dtype.names:
            columns = {name: source[name] for name in source.dtype.names}
            return "arrays", open_columns(split, columns, self._wishes)
        _refuse_batches(source)
        _refuse_columns(source)
        known = self._known(split, source)
        if known is not None:
            return known
        if isinstance(source, (str, bytes, np.generic)) or not (
            hasattr(source, "__iter__") or hasattr(source, "__getitem__")
        ):
            raise wrong_type("source", _WANTED, source)
        if hasattr(source, "__len__") and hasattr(source, "__getitem__") and not _is_iterable(source):
            kind = "torch" if "torch" in sys.modules and is_of(source, "torch") else "rows"
            told = _class_names(source, self._names, self._wishes)
            return kind, _dataset(split, source, self._rows, told, self._workers, self._stack)
        if self._workers:
            raise InvalidError(
                "workers need a dataset with __getitem__ and __len__; this one can only be iterated over"
            )
        told = _class_names(source, self._names, self._wishes)
        named = Rows(lambda row: row, names_of_cursor(source) or self._names, self._wishes.whole)
        return "rows", _iterable(split, source, named, told)

    def _rows(self, get: Callable[[int], Any]) -> Rows:
        return Rows(get, self._names, self._wishes.whole)

    def _known(self, split: str, source: Any) -> tuple[str, Part] | None:
        """Of a library whose tables are read as such."""
        if is_of(source, "datasets"):
            from ._huggingface import open_dataset

            part = open_dataset(split, source, self._wishes)
            return None if part is None else ("huggingface", part)
        if is_of(source, "pandas"):
            from ._frames import open_frame

            return "pandas", open_frame(split, source, self._wishes)
        if is_of(source, "pyarrow") or hasattr(source, "__arrow_c_stream__"):
            from ._tables import open_table

            return type(source).__module__.partition(".")[0], open_table(split, source, self._wishes)
        if is_of(source, "polars"):
            raise wrong_type("source", "a DataFrame of polars, such as by .collect()", source)
        return None
