"""The shape of a column of which the caller gives the type, so that values of any type may be in it."""

from __future__ import annotations

import numbers
from collections.abc import Collection
from typing import Any

import numpy as np

from ._told import Column

_Shape = tuple[int, ...]


def _is_number(value: Any) -> bool:
    """Is it one, or an array of one?"""
    return isinstance(value, numbers.Number) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    )


def _of_number(value: Any) -> _Shape | None:
    """That of a number, or of an array or lists of such; None: it is something else."""
    if isinstance(value, numbers.Number):
        return ()
    if not isinstance(value, (list, np.ndarray)):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):  # lists of different lengths
        return None
    if array.dtype.kind == "O" and not all(map(_is_number, array.flat)):
        return None
    return array.shape if array.dtype.kind in "biufcVO" else None


def _common(shapes: Collection[_Shape]) -> _Shape | None:
    """The one that all have, -1 where they differ; None: they differ in the number of dimensions, but for
    empty ones, which may have fewer."""
    first = max(shapes, key=lambda shape: (0 not in shape, len(shape)))
    if any(len(one) > len(first) or (len(one) < len(first) and 0 not in one) for one in shapes):
        return None
    return tuple(
        size if size and all(one[at] == size for one in shapes if at < len(one)) else -1
        for at, size in enumerate(first)
    )


def shape_of_numbers(values: Column) -> _Shape | None:
    """That of the values of rows, if they are numbers, or arrays of such, of whatever types, or all missing:
    then the type is that of a single number. None: they are something else, or have no shape together."""
    if isinstance(values, np.ndarray):
        return values.shape[1:]
    shapes = {_of_number(value) for value in values if value is not None} or {()}
    known = [shape for shape in shapes if shape is not None]
    return _common(known) if len(known) == len(shapes) else None
