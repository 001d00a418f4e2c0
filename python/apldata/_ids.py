"""Which records are meant: by their numbers, a slice of them, or a mask."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeGuard

import numpy as np

from ._arguments import U64, whole, wrong_type, wrong_value
from ._errors import InvalidError

Ids = int | slice | Iterable[int] | np.ndarray
_BOOLS = (bool, np.bool_)
_WANTED = "integers in one row, a slice, or a mask of bools"


def _range_of(ids: slice, records: int) -> tuple[int, int, int]:
    try:
        return ids.indices(records)
    except (TypeError, ValueError):
        raise wrong_type("ids", "a slice of integers, with a step that is not 0", ids) from None


def _array(ids: Any) -> np.ndarray:
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__") or getattr(ids, "ndim", 1) == 0:
        raise wrong_type("ids", _WANTED, ids)
    values = ids if isinstance(ids, np.ndarray) else list(ids)
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise wrong_value("ids", _WANTED, ids) from None
    if given.dtype.kind == "f" and isinstance(values, list):  # as NumPy makes of int64 beside uint64
        given = np.asarray([whole(f"ids[{at}]", i, -U64) for at, i in enumerate(values)])
    mixed = given.dtype.kind in "iu" and isinstance(values, list) and any(type(i) in _BOOLS for i in values)
    if given.size and (given.dtype.kind not in "iub" or given.ndim != 1 or mixed):
        raise wrong_type("ids", _WANTED, ids)
    return given


def is_one(ids: Any) -> TypeGuard[int]:
    """Is it a single number: an int, or an array or tensor that has no dimensions? A bool is none: bools are masks."""
    if isinstance(ids, (int, np.integer)):
        return not isinstance(ids, bool)
    return getattr(ids, "ndim", None) == 0 and hasattr(ids, "__index__") and "int" in str(ids.dtype)


def as_ids(ids: Any) -> np.ndarray:
    """What a function says that the ids of a batch are: uint64[n], read-only, a copy."""
    try:
        given = _array(ids)
    except InvalidError:
        given = np.array([-1])
    if given.size and (given.dtype.kind == "b" or (given < 0).any()):
        raise wrong_value("batch.ids", "ids of records, in one row", ids)
    made = given.astype(np.uint64)
    made.setflags(write=False)
    return made


def mask_of(ids: Any) -> np.ndarray | None:
    """`ids` as a mask, bool[n]; None: it is not a mask."""
    if isinstance(ids, (slice, str, bytes)) or not hasattr(ids, "__len__"):
        return None
    given = _array(ids)
    return given if given.dtype.kind == "b" else None


def marked(mask: np.ndarray, records: int, whose: str) -> np.ndarray:
    """The numbers that a mask has True for: int64[n]."""
    if len(mask) != records:
        raise InvalidError(
            f"ids: a mask of {len(mask):,} bools, where one for each of the {records:,} records of {whose} "
            "is needed"
        )
    return np.flatnonzero(mask)


def numbers(
    ids: Ids, records: int, whose: str, missing: Callable[[int], Exception], from_end: bool = True
) -> np.ndarray:
    """As uint64[n], below `records`; negative ones count `from_end`, or are not there. `missing` makes the
    error for a number that is not there; `whose` they are is told where a mask does not fit."""
    if isinstance(ids, slice):
        return np.arange(*_range_of(ids, records), dtype=np.uint64)
    given = _array(ids)
    if given.size == 0:
        return np.zeros(0, np.uint64)
    if given.dtype.kind == "b":
        return marked(given, records, whose).astype(np.uint64)
    least = -records if from_end else 0
    wrong = (given < least) | (given >= records) if given.dtype.kind == "i" else given >= records
    if wrong.any():
        raise missing(int(given[wrong][0]))
    if given.dtype.kind == "i" and (given < 0).any():
        given = given.astype(np.int64)
        given = np.where(given < 0, given + records, given)
    return np.ascontiguousarray(given, np.uint64)
