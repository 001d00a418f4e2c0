"""Columns that several files or splits have, and whose types are not the same in all."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .._arrays import numpy_dtype, store_dtype
from .._errors import SourceError
from ._told import Told, Wishes

_NO_VALUES = ("null", "lists of null")  # what Arrow calls columns, or lists, that have none
_LEAVES_OUT = "fields=[...] without it leaves it out"


# ----------------------------------------------------------------------------------------------- two types


def _lacks_values(one: Told, other: Told) -> bool:
    """Has the column `one` no values, but missing ones, or lists of none, as `other` may have?"""
    return one.refused == _NO_VALUES[0] or (
        one.refused == _NO_VALUES[1] and not other.refused and other.shape not in (None, ())
    )


def _is_number(told: Told, kinds: str) -> bool:
    return told.dtype not in (None, "utf8") and told.time is None and str(told.dtype)[0] in kinds


def _widest(one: Told, other: Told) -> str | None:
    """The smallest type of whole numbers that holds those of both."""
    if not _is_number(one, "iu") or not _is_number(other, "iu"):
        return None
    dtype = np.promote_types(numpy_dtype(str(one.dtype)), numpy_dtype(str(other.dtype)))
    return store_dtype(dtype) if dtype.kind in "iu" else None


def _kind(told: Told) -> tuple[Any, ...]:
    """What the values are, but for the units of times, which are converted."""
    time = told.time and (told.time.code[0], told.time.zone, told.time.clock)
    return None if time else told.dtype, told.shape, told.is_file, told.refused, time


def one_type(one: Told, other: Told) -> Told | None:
    """What holds the values of both, exactly, as `one`; None: nothing does unless it is asked for."""
    if _kind(one) == _kind(other) or _lacks_values(other, one):
        return one
    if _lacks_values(one, other):
        of = {
            name: getattr(other, name) for name in ("dtype", "shape", "is_file", "time", "refused", "codes")
        }
        return dataclasses.replace(one, **of)
    dtype = _widest(one, other) if one.shape == other.shape else None
    return dataclasses.replace(one, dtype=dtype) if dtype else None


# ---------------------------------------------------------------------------------------- of several sources


def of_splits(first: Mapping[str, Told], others: Iterable[Mapping[str, Told]]) -> dict[str, Told]:
    """What the first split tells of its columns, with types that hold what all splits have, as far as types
    tell; of other values, their rows do."""
    found = dict(first)
    for other in others:
        for column, told in other.items():
            if column in found and (both := one_type(found[column], told)) is not None:
                found[column] = both
    return found


def of_files(
    tolds: Mapping[str, Mapping[str, Told]], schemas: Mapping[str, Any], wishes: Wishes
) -> dict[str, Told]:
    """The types of the columns of several files, of which the first is first.

    Raises:
        SourceError: one has other columns, or one of a type that is not brought together with those before.
    """
    first, *others = tolds
    found = dict(tolds[first])
    last: Mapping[str, Told] = {}
    for path in others:
        if (told := tolds[path]) is last:
            continue
        last = told
        _check_names(path, list(filter(wishes.wants, told)), list(filter(wishes.wants, found)))
        for column in filter(wishes.wants, told):
            both = one_type(found[column], told[column])
            if both is None and not _is_asked(column, wishes):
                types = (_type_of(schemas[path], column), _type_of(schemas[first], column))
                raise SourceError(_difference(path, column, types, (told[column], found[column])))
            found[column] = both or found[column]
    return found


def _check_names(path: str, own: list[str], first: list[str]) -> None:
    lacks, more = [name for name in first if name not in own], [name for name in own if name not in first]
    if lacks:
        raise SourceError(f"{path}: has no column {lacks[0]}, as the first file does: {_LEAVES_OUT}")
    if more:
        raise SourceError(f"{path}: has a column {more[0]}, which the first file has not: {_LEAVES_OUT}")


def _is_asked(column: str, wishes: Wishes) -> bool:
    """Has the caller said what becomes of the column's values?"""
    return column in wishes.casts or column in wishes.whole


def _type_of(schema: Any, column: str) -> Any:
    """Arrow's, of a column or of the struct that it is a member of."""
    return next(field.type for field in schema if f"{column}.".startswith(f"{field.name}."))


def _difference(path: str, column: str, types: tuple[Any, Any], tolds: tuple[Told, Told]) -> str:
    helps = _LEAVES_OUT
    if dtype := _asked_for(*tolds):
        made = "text" if dtype in ("utf8", "json") else dtype
        helps = f"types={{{column!r}: {dtype!r}}} makes {made} of both, {helps}"
    return f"{path}: column {column} is {types[0]}, and {types[1]} in the first file: {helps}"


def _asked_for(one: Told, other: Told) -> str | None:
    """The type that the caller may ask for; None: none may do."""
    numbers = [_is_number(told, "iufb") for told in (one, other)]
    if all(numbers) and one.shape == other.shape:
        dtypes = [numpy_dtype(str(told.dtype)) for told in (one, other)]
        if {dtype.kind for dtype in dtypes} == {"i", "u"}:
            return "i64"  # no type holds all of both
        return store_dtype(np.promote_types(*dtypes))
    texts = [told.dtype == "utf8" and told.shape == (-1,) for told in (one, other)]
    if any(texts) and any(told.shape == () for told in (one, other)):
        return "utf8"
    return None if one.is_file or other.is_file else "json"
