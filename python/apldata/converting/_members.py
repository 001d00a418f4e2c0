"""Rows, and values within them, whose members have names, as dicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .._errors import InvalidTypeError
from ._images import DecodedImage, File

_Members = Callable[[Any], dict[Any, Any]]
_WITHOUT = (bool, int, float, str, bytes, list, tuple, type(None), np.ndarray, File, DecodedImage)


def _attributes(names: Iterable[str]) -> _Members:
    known = tuple(names)
    return lambda value: {name: getattr(value, name) for name in known}


def _dumped(value: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = value.model_dump()
    return found


@lru_cache(256)
def _members_of(kind: Any) -> _Members | None:
    """What gets the members of objects of a class; None: they have none."""
    if kind in _WITHOUT:
        return None
    if issubclass(kind, dict):
        return lambda value: value
    if issubclass(kind, Mapping):
        return dict
    if dataclasses.is_dataclass(kind):
        return _attributes(field.name for field in dataclasses.fields(kind))
    if hasattr(kind, "__attrs_attrs__"):
        return _attributes(one.name for one in kind.__attrs_attrs__)
    if hasattr(kind, "model_fields") and hasattr(kind, "model_dump"):
        return _dumped
    return _attributes(kind.__struct_fields__) if hasattr(kind, "__struct_fields__") else None


def members_of(value: Any) -> dict[Any, Any] | None:
    """The members of a mapping, or of an object of a dataclass or of the like: of attrs, pydantic or msgspec;
    None: it has none."""
    kind: Any = type(value)
    members = _members_of(kind)
    return None if members is None else members(value)


def named_values(row: Any) -> dict[Any, Any] | None:
    """As `members_of()`, of a row, which may also be a named tuple, a record of NumPy, or another object with
    `keys()`, such as `sqlite3.Row`; None: its values have no names."""
    if type(row) in _WITHOUT:
        return None
    if hasattr(row, "_asdict"):
        found: dict[Any, Any] = row._asdict()
        if len(found) < len(fields := list(getattr(row, "_fields", found))):  # of a query
            _check_once(fields)
        return found
    if isinstance(row, np.void) and row.dtype.names:
        return {name: row[name] for name in row.dtype.names}
    members = members_of(row)
    return _by_keys(row) if members is None else members


def _by_keys(row: Any) -> dict[Any, Any] | None:
    """Of what has keys, all of them texts, and a value for each."""
    kind = type(row)
    if not hasattr(kind, "keys") or not hasattr(kind, "__getitem__") or getattr(row, "ndim", 1) > 1:
        return None
    if hasattr(kind, "items"):
        pairs = list(row.items())
        looked_up = [name for name, _ in pairs]
    else:
        names = list(row.keys())
        pairs = [(name, row[name]) for name in names]
        looked_up = [str(name).lower() for name in names]  # as sqlite3.Row does
    if not pairs or not all(isinstance(name, str) for name, _ in pairs):
        return None
    _check_once(looked_up)
    return dict(pairs)


def _check_once(names: list[str]) -> None:
    """Refuses a name that two columns have."""
    if len(set(names)) < len(names):
        name = next(name for at, name in enumerate(names) if name in names[:at])
        raise InvalidTypeError(f"two columns are called {name!r}: rename one, such as by AS in a query")


def is_cursor(source: Any) -> bool:
    """Is it a cursor of a database, by Python's DB-API, that has run a query?"""
    return hasattr(source, "fetchone") and isinstance(getattr(source, "description", None), (tuple, list))


def names_of_cursor(source: Any) -> list[str] | None:
    """What the columns of its query are called; None: it is no cursor."""
    if not is_cursor(source):
        return None
    found = [str(column[0]) for column in source.description]
    _check_once(found)
    return found
