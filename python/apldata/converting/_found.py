"""The type of a column, found from its first rows."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._arguments import shown
from .._arrays import store_dtype
from .._errors import InvalidTypeError
from ._images import DecodedImage, File, Header
from ._told import Column, Told

UNEVEN = "lists of lists of different lengths"
_PYTHON = {bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes", File: "file",
           DecodedImage: "image", Header: "image", list: "list"}  # fmt: skip

_TIMES = (datetime.datetime, datetime.date, datetime.timedelta, datetime.time)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of {value.dtype}"
    if isinstance(value, _TIMES):  # also of classes derived from these, such as those of pandas
        return next(kind.__name__ for kind in _TIMES if isinstance(value, kind))
    return _PYTHON.get(type(value)) or type(value).__name__


def _of_dtype(dtype: np.dtype) -> Told:
    """What NumPy's dtype is in a store."""
    if dtype.kind in "mM":
        return Told("i64")
    try:
        return Told(store_dtype(dtype))
    except InvalidTypeError:
        return Told(refused=str(dtype))


def _shape(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The one that all have; -1 where they differ; None: they differ in the number of dimensions."""
    first, *others = set(shapes)
    if any(len(other) != len(first) for other in others):
        return None
    return tuple(size if all(other[at] == size for other in others) else -1 for at, size in enumerate(first))


def _of_arrays(arrays: list[np.ndarray]) -> Told:
    dtypes = {array.dtype for array in arrays if array.size} or {arrays[0].dtype}
    if len(dtypes) > 1:
        return Told(refused=f"arrays of {' and '.join(sorted(map(str, dtypes)))}")
    shape = _shape(array.shape for array in arrays)
    if shape is None:
        dims = sorted({array.ndim for array in arrays})
        return Told(refused=f"arrays of {' and '.join(map(str, dims))} dimensions")
    if 0 in shape:
        return Told(refused="empty arrays")
    told = _of_dtype(dtypes.pop())
    return Told(told.dtype, shape, refused=told.refused)


def _array(value: list[Any]) -> np.ndarray | None:
    """None: lists in it are not alike."""
    try:
        return np.asarray(value)
    except (ValueError, OverflowError):
        return None


def _of_lists(values: list[Any], rows: list[int]) -> Told:
    """`rows`: those that the values are of."""
    arrays: list[np.ndarray] = []
    for row, value in zip(rows, values, strict=True):
        array = _array(value)
        if array is None:
            return Told(refused=f"{UNEVEN}, in row {row}")
        arrays.append(array)
    kinds = {array.dtype.kind for array in arrays if array.size}
    if kinds & set("USO"):
        return Told(refused=f"lists of {_kind(_first_inside(values))}")
    if kinds == {"i", "f"}:
        arrays = [array.astype(np.float64) for array in arrays]
    return _of_arrays(arrays)


def _first_inside(values: Any) -> Any:
    while isinstance(values, list) and values:
        values = next((one for one in values if not isinstance(one, list) or one), values[0])
    return values


def _of_images(values: list[Any]) -> Told:
    """Images: u8[H,W] of grey ones of one size, else [C,H,W]; of 8 bits, if those of 16 are among such."""
    dtypes = {value.dtype for value in values}
    if dtypes == {np.dtype(np.uint8), np.dtype(np.uint16)}:
        dtypes = {np.dtype(np.uint8)}
    if len(dtypes) > 1:
        return Told(refused=f"images of {' and '.join(sorted(map(str, dtypes)))}")
    shapes = {value.shape for value in values}
    if len(shapes) > 1:
        shapes = {shape if len(shape) == 3 else (1, *shape) for shape in shapes}
    told, shape = _of_dtype(dtypes.pop()), _shape(shapes)
    if shape and -1 in shape[1:] and shape[0] in (2, 4):  # alpha, and not bands, of which loaders drop none
        shape = (-1, *shape[1:])
    return Told(told.dtype, shape, refused=told.refused)


def _of_numbers(values: list[Any], kinds: set[str]) -> Told:
    if kinds == {"bool"}:
        return Told("bool", ())
    if "float" in kinds:
        return Told("f64", ())
    return Told("u64" if max(values) > np.iinfo(np.int64).max else "i64", ())


_SINGLE = {"str": Told("utf8", (-1,)), "bytes": Told(is_file=True), "file": Told(is_file=True),
           datetime.date.__name__: Told("i32", ()),
           datetime.datetime.__name__: Told("i64", ()),
           datetime.timedelta.__name__: Told("i64", ()),
           datetime.time.__name__: Told("i64", ()),
           decimal.Decimal.__name__: Told(refused="decimal numbers", shape=())}  # fmt: skip


def found(values: Column) -> Told:
    """What the values of the first rows are; `refused` if nothing that a field can hold."""
    if isinstance(values, np.ndarray) and values.dtype.kind not in "USO":
        told = _of_dtype(values.dtype)
        return Told(told.dtype, values.shape[1:], refused=told.refused)
    rows = [row for row, value in enumerate(values) if value is not None]
    values = [values[row] for row in rows]
    if not values:
        return Told(refused="nothing but missing values")
    kinds = set(map(_kind, values))
    if kinds <= {"int", "float"} or kinds == {"bool"}:
        return _of_numbers(values, kinds)
    if kinds == {"image"}:
        return _of_images(values)
    if kinds <= {"file", "image", "bytes"}:
        return Told(is_file=True)
    if kinds == {"list"}:
        return _of_lists(values, rows)
    if all(isinstance(value, np.ndarray) for value in values):
        return _of_arrays(values)
    if len(kinds) == 1:
        return _SINGLE.get(kind := kinds.pop(), Told(refused=kind))
    return Told(refused=f"{' and '.join(sorted(kinds))}, such as {shown(values[0])}")
