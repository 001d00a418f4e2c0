"""Data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._errors import InvalidError
from ._cells import cell
from ._times import Unit
from ._told import Chunk, Column, Part, Told, Wishes

_ROWS = 1024


def _values(series: Any) -> Column:
    """Some rows of a column; in a list, None stands for what is missing."""
    series = series.sparse.to_dense() if hasattr(series, "sparse") else series
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        series = series.astype(object)
    elif isinstance(dtype, np.dtype) and dtype.kind in "biufm":
        array: np.ndarray = series.to_numpy()
        return (
            [cell(value) for value in array] if array.dtype.kind == "m" and np.isnat(array).any() else array
        )
    elif getattr(dtype, "kind", "O") == "M":
        plain = series.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(dtype, "tz", None) else series
        array = plain.to_numpy()
        return (
            [None if np.isnat(value) else np.asarray(value) for value in array]
            if np.isnat(array).any()
            else array
        )
    elif (
        not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") in "biuf" and not series.isna().any()
    ):
        return np.asarray(series.to_numpy(dtype=getattr(dtype, "numpy_dtype", None)))
    missing = series.isna().to_numpy()  # also NaN among objects
    return [None if gone else cell(value) for gone, value in zip(missing, series.tolist(), strict=True)]


def _told(series: Any) -> Told | None:
    if getattr(series.dtype, "tz", None) is not None:
        return Told(time=Unit(f"M8[{series.dt.unit}]", zone=True))
    categories = getattr(series.dtype, "categories", None)
    if categories is None or not len(categories) or not all(isinstance(one, str) for one in categories):
        return None
    return Told(classes=tuple(categories))


def _is_arrows(dtype: Any) -> bool:
    """Does Arrow tell its values, and which are missing, more exactly than a list of them would?"""
    has = hasattr(dtype, "pyarrow_dtype") or (hasattr(dtype, "numpy_dtype") and hasattr(dtype, "na_value"))
    return has and find_spec("pyarrow") is not None


class _Table:
    """Columns of a frame that are read as those of Arrow's tables; there is at least one.

    Attributes:
        told: what their types say.
    """

    def __init__(self, columns: Mapping[str, Any], wishes: Wishes) -> None:
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

        from ._tables import open_table

        table = pa.table({name: pa.array(series) for name, series in columns.items()})
        self._table, self._wishes = table.unify_dictionaries(), wishes
        self.told = open_table("", self._table, wishes).told

    def rows(self, name: str, first: int, count: int) -> Chunk:
        """Some rows of a column, which are several columns if it is one of structs."""
        from ._arrow import chunk_of

        piece = self._table.select([name]).slice(first, count).combine_chunks()
        return chunk_of(piece.to_batches()[0], self._wishes)


def open_frame(split: str, frame: Any, wishes: Wishes) -> Part:
    """A DataFrame: its index, if that has a name, and its columns."""
    if not hasattr(frame, "columns"):
        frame = frame.to_frame(frame.name or "value")
    index = [name for name in frame.index.names if name is not None]
    names = [str(name) for name in [*index, *frame.columns]]
    for name in names:
        if names.count(name) > 1:
            raise InvalidError(f"two columns have the name {name!r}")
    if index:
        frame = frame.reset_index(index)

    arrows = {name: frame.iloc[:, at] for at, name in enumerate(names) if _is_arrows(frame.dtypes.iloc[at])}
    table = _Table(arrows, wishes) if arrows else None

    def read() -> Iterator[Chunk]:
        for first in range(0, len(frame), _ROWS):
            piece, chunk = frame.iloc[first : first + _ROWS], {}
            for at, name in enumerate(names):
                if table and name in arrows:
                    chunk.update(table.rows(name, first, _ROWS))
                else:
                    chunk[name] = _values(piece.iloc[:, at])
            yield chunk

    told = {name: said for at, name in enumerate(names) if (said := _told(frame.iloc[:, at])) is not None}
    return Part(split, read, {**told, **table.told} if table else told, len(frame))
