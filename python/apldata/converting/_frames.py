"""Data frames of pandas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._errors import InvalidError
from ._cells import cell
from ._times import Unit
from ._told import Chunk, Column, Part, Told

_ROWS = 1024


def _values(series: Any) -> Column:
    """Some rows of a column; in a list, None stands for what is missing."""
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


def open_frame(split: str, frame: Any) -> Part:
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

    def read() -> Iterator[Chunk]:
        for first in range(0, len(frame), _ROWS):
            piece = frame.iloc[first : first + _ROWS]
            yield {name: _values(piece.iloc[:, at]) for at, name in enumerate(names)}

    told = {name: said for at, name in enumerate(names) if (said := _told(frame.iloc[:, at])) is not None}
    return Part(split, read, told, len(frame))
