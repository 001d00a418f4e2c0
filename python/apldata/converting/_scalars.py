"""Values of Arrow, one by one, as Python has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._errors import InvalidError
from ._plain import clock


def _inside(type: Any) -> Iterator[Any]:
    """The types that a type is made of."""
    if isinstance(type, pa.BaseExtensionType):
        yield type.storage_type
    elif pa.types.is_dictionary(type) or hasattr(type, "run_end_type"):
        yield type.value_type
    else:
        yield from (type.field(at).type for at in range(type.num_fields))


def _has_fine_clocks(type: Any) -> bool:
    """Has it times of day in nanoseconds, which Python's own do not have?"""
    return type == pa.time64("ns") or any(map(_has_fine_clocks, _inside(type)))


def check_members(column: str, type: Any) -> None:
    """Refuses a struct with two members of one name, of which a dict, and text of JSON, would keep one."""
    if pa.types.is_struct(type):
        names = [type.field(at).name for at in range(type.num_fields)]
        for name in names:
            if names.count(name) > 1:
                raise InvalidError(f"column {column}: a struct has two members called {name!r}: rename one")
    for one in _inside(type):
        check_members(column, one)


def values_of(array: Any) -> list[Any]:
    """The values of an array: times of day in nanoseconds as text, all others as pyarrow gives them."""
    if _has_fine_clocks(array.type):
        return list(map(_value, array))
    values: list[Any] = array.to_pylist()
    return values


def _value(scalar: Any) -> Any:
    if not scalar.is_valid:
        return None
    type = scalar.type
    if type == pa.time64("ns"):
        return clock(scalar.value)
    if pa.types.is_struct(type):
        return {type.field(at).name: _value(scalar[at]) for at in range(type.num_fields)}
    if pa.types.is_map(type):
        return [(_value(pair[0]), _value(pair[1])) for pair in scalar.values]
    if isinstance(scalar, (pa.ListScalar, pa.FixedSizeListScalar)) or hasattr(scalar, "values"):
        return list(map(_value, scalar.values))
    return _value(scalar.value) if isinstance(getattr(scalar, "value", None), pa.Scalar) else scalar.as_py()
