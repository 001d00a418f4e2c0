"""Dicts of columns: lists, arrays, tensors, and columns of pandas, polars and Arrow."""

from __future__ import annotations

import array
import sys
from collections import deque
from collections.abc import Iterator, KeysView, Mapping, Sequence, Set, ValuesView
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np

from .._arguments import brief, wrong_type
from .._errors import InvalidError, InvalidTypeError
from .._indexes import check_paired
from ._cells import cell, why_no_array
from ._images import as_said
from ._members import is_cursor, named_values
from ._rows import PIECE, row_error, together
from ._told import Chunk, Column, Part, Told, Wishes

SPLITS = {"train", "test", "val", "valid", "validation", "dev", "eval"}
_BUFFERS = (array.array, bytearray, memoryview)
_VIEWS = (deque, KeysView, ValuesView)  # of which there are no slices
_PLAIN = (list, tuple, range, Set, *_VIEWS, *_BUFFERS)
_WANTED = "an array of one value per record"


def is_of(value: Any, package: str) -> bool:
    """Is it of a class of that package, or of one derived from such?"""
    return any(base.__module__.partition(".")[0] == package for base in type(value).__mro__)


def _is_pandas(value: Any) -> bool:
    """Is it one column of pandas: a Series, an Index, or one of its arrays?"""
    return is_of(value, "pandas") and getattr(value, "ndim", 0) == 1


def _is_array(value: Any) -> bool:
    """Is it an array of another library, such as JAX, HDF5 or Zarr, of which NumPy makes its own?"""
    known = hasattr(value, "__array__") and hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0
    return known and not is_of(value, "polars")


# --------------------------------------------------------------------------------------- columns or splits


def _is_row(value: Any) -> bool:
    """Has it values of its own, rather than being one?"""
    return isinstance(value, (tuple, Mapping)) or named_values(value) is not None


def _holds(value: Any, splits: bool) -> str:
    """What a member of a dict holds, by its own elements: the "values" of a column, or "rows"; "more": it may
    be any source. `splits`: the dict's names are those of splits."""
    if isinstance(value, (np.ndarray, *_BUFFERS)) or hasattr(value, "detach"):
        return "more" if getattr(getattr(value, "dtype", None), "names", None) else "values"
    if _is_array(value) and not splits:
        return "values"
    if _is_pandas(value) or (table_for(value) is not None and not splits):
        return "values"
    if is_cursor(value):
        return "rows"
    if isinstance(value, (str, bytes)) or not isinstance(value, (*_PLAIN, *(() if splits else (Sequence,)))):
        return "more"
    elements: Any = value
    try:
        return "rows" if any(map(_is_row, islice(elements, 1))) else "values"
    except Exception:  # of a class of the caller's; reading it will tell
        return "more"


def are_columns(members: Mapping[Any, Any]) -> bool:
    """Are they columns, rather than splits? Lists of tuples and dicts are columns beside others, and the rows
    of splits where there are no others."""
    splits = members.keys() <= SPLITS
    held = {_holds(value, splits) for value in members.values()}
    return held <= {"values"} if splits else "values" in held and "more" not in held


def check_iterators(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members that are splits, unless some are columns. An iterator tells by its first row; it is given anew.

    Raises:
        InvalidError: either may be meant.
    """
    if members.keys() <= SPLITS:
        return dict(members)
    held = {name: _holds(value, False) for name, value in members.items()}
    found = dict(members)
    for name, value in members.items():
        if isinstance(value, Iterator) and "rows" not in held.values():
            first = list(islice(value, 1))
            found[name] = chain(first, value)
            held[name] = "rows" if any(map(_is_row, first)) else "an iterator"
    column = next((name for name, what in held.items() if what in ("values", "an iterator")), None)
    other = next((name for name, what in held.items() if what in ("more", "an iterator")), None)
    if column is not None and other is not None:
        several = f"{column} and {other}" if column != other else column
        raise InvalidError(
            f"source: {several} may be columns or splits: for columns, give each as a list of its values, "
            f"{{{other!r}: list(...)}}; for splits, each as a dict of its columns"
        )
    return found


def refuse_splits(columns: Mapping[str, Any]) -> None:
    """Where all columns are called like splits, either may be meant."""
    if columns and columns.keys() <= SPLITS and len(set(map(len, columns.values()))) == 1:
        names, one = " and ".join(columns), next(iter(columns))
        raise InvalidError(
            f"source: {names} may be splits or columns: for splits, give each a dict of its columns, "
            f"{{{one!r}: {{'image': ...}}}}; for columns, name their split, {{'train': {{{one!r}: ...}}}}"
        )


def table_for(column: Any) -> str | None:
    """What makes a table of columns such as this one, of Arrow or polars; None: another value."""
    if is_of(column, "pyarrow") and hasattr(column, "null_count"):
        return "pyarrow.table"
    return "polars.DataFrame" if is_of(column, "polars") and hasattr(column, "to_frame") else None


def table_of(source: Any) -> Any:
    """A dict of columns of Arrow, or of polars, as their table; anything else as it is."""
    if not isinstance(source, Mapping):
        return source
    tables = set(map(table_for, source.values()))
    if len(tables) != 1 or (table := tables.pop()) is None:
        return source
    module, _, make = table.partition(".")
    try:
        return getattr(sys.modules[module], make)(dict(source))
    except Exception as error:  # of many kinds: of lengths, of names
        why = brief(str(error), 200)
        raise InvalidError(f"source: {table} makes no table of its columns: {why}") from None


# ------------------------------------------------------------------------------------------------- reading


class _Columns(Protocol):
    """Columns of one kind."""

    @property
    def told(self) -> Mapping[str, Told]:
        """What their types say."""

    def rows(self, name: str, first: int, count: int) -> Chunk:
        """Some rows of a column, which are several columns if it is one of structs."""


class _Plain:
    """Lists, arrays and tensors."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = columns
        self.told: dict[str, Told] = {}
        for name, column in columns.items():
            if is_of(column, "datasets"):
                from ._huggingface import told_of_column

                self.told |= told_of_column(name, column)

    def rows(self, name: str, first: int, count: int) -> Chunk:
        column, last = self._columns[name], min(first + count, len(self._columns[name]))
        if isinstance(column, (list, tuple, range, np.ndarray)) or hasattr(column, "detach"):
            found = _values(column[first:last])
            return {name: as_said(found, column) if isinstance(found, np.ndarray) else found}
        try:
            given = column[first:last] if _is_array(column) else [column[row] for row in range(first, last)]
        except Exception as error:  # of many kinds: of libraries, or of a class of the caller's
            raise row_error(first, error) from error
        return {name: _values(np.asarray(given) if _is_array(column) else given)}


def _values(column: Any) -> Column:
    """Some rows of a column."""
    whole = cell(column)
    if isinstance(whole, np.ndarray) and whole.dtype.kind not in "USO" and not np.ma.isMaskedArray(column):
        return whole
    return [cell(value) for value in (whole if isinstance(whole, list) else column)]


def _readied(name: str, column: Any) -> Any:
    """A column of which rows can be taken.

    Raises:
        InvalidTypeError: it is none.
    """
    if isinstance(column, Set) and not isinstance(column, KeysView):
        raise wrong_type(f"column {name}", "a list, as a set has no order", column)
    if isinstance(column, _BUFFERS):
        return _of_buffer(name, column)
    if isinstance(column, _VIEWS):
        return list(column)
    if getattr(column, "is_nested", False):  # of torch
        return list(column.unbind())
    if hasattr(column, "detach") and (why := why_no_array(column)) is not None:
        raise InvalidTypeError(f"column {name}: {why}")
    has_rows = hasattr(column, "__len__") and hasattr(column, "__getitem__")
    if not has_rows or isinstance(column, (str, bytes, Mapping)) or getattr(column, "ndim", 1) == 0:
        raise wrong_type(f"column {name}", _WANTED, column)
    return column


def _of_buffer(name: str, column: Any) -> np.ndarray:
    """What holds numbers of one type, as an array of such."""
    try:
        return np.asarray(memoryview(column))
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
        raise InvalidTypeError(f"column {name}: NumPy cannot read it: {brief(str(error), 200)}") from None


def _by_kind(columns: Mapping[str, Any], wishes: Wishes) -> dict[str, _Columns]:
    """What reads each column."""
    kinds: dict[str | None, dict[str, Any]] = {}
    for name, column in columns.items():
        kinds.setdefault("pandas" if _is_pandas(column) else table_for(column), {})[name] = column
    found: dict[str, _Columns] = {}
    for kind, some in kinds.items():
        reader: _Columns = _Plain(some)
        if kind == "pandas":
            from ._frames import SeriesColumns, series_of

            reader = SeriesColumns({name: series_of(column) for name, column in some.items()}, wishes)
        elif kind is not None:
            from ._tables import TableColumns

            reader = TableColumns(table_of(some), wishes)
        found.update(dict.fromkeys(some, reader))
    return {name: found[name] for name in columns}


def _step(columns: Mapping[str, Any], rows: int) -> int:
    size = sum(getattr(column, "nbytes", 64 * rows) for column in columns.values())
    return max(1, min(4096, PIECE * rows // max(1, size)))


def _rows_of(columns: Mapping[str, Any]) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        splits = "; for splits, give each a dict of its columns" if SPLITS & lengths.keys() else ""
        told = ", ".join(f"{n} {c}" for n, c in lengths.items())
        raise InvalidError(f"columns of different lengths: {told}{splits}")
    return next(iter(lengths.values()), 0)


def open_columns(split: str, given: Mapping[str, Any], wishes: Wishes) -> Part:
    """A dict of columns, all of one length."""
    columns = {name: _readied(name, column) for name, column in given.items()}
    rows = _rows_of(columns)
    check_paired({name: column for name, column in columns.items() if wishes.wants_of(name)})
    readers = _by_kind(columns, wishes)

    def read() -> Iterator[Chunk]:
        step = _step(columns, rows)
        for first in range(0, rows, step):
            yield together(reader.rows(name, first, step) for name, reader in readers.items())

    told = {name: said for reader in set(readers.values()) for name, said in reader.told.items()}
    return Part(split, read, told, rows)
