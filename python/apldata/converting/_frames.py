"""Data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._arguments import wrong_type
from .._errors import InvalidError
from ._cells import cell
from ._rows import together
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
    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "f":
        return Told(nan_is_missing=True)
    categories = getattr(series.dtype, "categories", None)
    if categories is None or not len(categories) or not all(isinstance(one, str) for one in categories):
        return None
    return Told(classes=tuple(categories), codes=True)


def _is_arrows(dtype: Any) -> bool:
    """Does Arrow tell its values, and which are missing, more exactly than a list of them would?"""
    has = hasattr(dtype, "pyarrow_dtype") or (hasattr(dtype, "numpy_dtype") and hasattr(dtype, "na_value"))
    return has and find_spec("pyarrow") is not None


class SeriesColumns:
    """Columns of pandas. Those that Arrow tells more exactly are read as columns of its tables.

    Attributes:
        told: what their types say.
    """

    def __init__(self, columns: Mapping[str, Any], wishes: Wishes) -> None:
        self._columns = columns
        self.told = {name: said for name, series in columns.items() if (said := _told(series)) is not None}
        arrows = {name: series for name, series in columns.items() if _is_arrows(series.dtype)}
        self._arrows = arrows.keys()
        if arrows:
            import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

            from ._tables import TableColumns

            table = pa.table({name: pa.array(series) for name, series in arrows.items()})
            self._table = TableColumns(table, wishes)
            self.told |= self._table.told

    def rows(self, name: str, first: int, count: int) -> Chunk:
        """Some rows of a column, which are several columns if it is one of structs."""
        if name in self._arrows:
            return self._table.rows(name, first, count)
        return {name: _values(self._columns[name].iloc[first : first + count])}


def series_of(column: Any) -> Any:
    """A column of pandas, such as an Index or a Categorical, as a Series."""
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if isinstance(column, pandas.Series):
        return column
    if isinstance(column, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        return pandas.Series(column)
    raise wrong_type("source", "a DataFrame, a Series or an Index of pandas", column)


def _frame_of(source: Any) -> Any:
    """What pandas has, as a data frame."""
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if isinstance(source, pandas.DataFrame):
        return source
    if isinstance(source, pandas.MultiIndex):
        return source.to_frame(index=False, allow_duplicates=True)
    series = series_of(source)
    return series.to_frame("value" if series.name is None or series.name == "" else series.name)


def open_frame(split: str, source: Any, wishes: Wishes) -> Part:
    """A DataFrame: its index, if that has a name, and its columns."""
    frame = _frame_of(source)
    index = [name for name in frame.index.names if name is not None]
    names = [str(name) for name in [*index, *frame.columns]]
    for name in names:
        if names.count(name) > 1:
            raise InvalidError(f"two columns have the name {name!r}")
    if index:
        frame = frame.reset_index(index)
    columns = SeriesColumns({name: frame.iloc[:, at] for at, name in enumerate(names)}, wishes)

    def read() -> Iterator[Chunk]:
        for first in range(0, len(frame), _ROWS):
            yield together(columns.rows(name, first, _ROWS) for name in names)

    return Part(split, read, columns.told, len(frame))
