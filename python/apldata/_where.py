"""Conditions on the values of a field."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import wrong_type, wrong_value
from .schema import Field


def meets(field: Field, values: Any, condition: Any) -> np.ndarray:
    """Which of the values, an array or a list of n, meet the condition of `Store.where()`: bool[n]."""
    if callable(condition):
        found = np.asarray(condition(values))
        if found.dtype != np.bool_ or found.shape != (len(values),):
            raise wrong_type(field.name, f"a function that returns bool[{len(values)}]", found)
        return found
    several = isinstance(condition, (list, tuple, set, frozenset, range, np.ndarray))
    wanted: Any = [_value(field, one) for one in (condition if several else [condition])]
    if isinstance(values, list):  # of varying shape: text, or arrays
        return np.fromiter((isinstance(v, (str, bytes)) and v in wanted for v in values), np.bool_)
    if values.ndim != 1:
        raise wrong_type(field.name, "a function, as the field has no single values", condition)
    if values.dtype.kind in "iu":  # beside a number that does not fit, NumPy may make float64 of all
        limits = np.iinfo(values.dtype)
        wanted = [one for one in wanted if not _is_whole(one) or limits.min <= one <= limits.max]
        if all(map(_is_whole, wanted)):
            wanted = np.array(wanted, values.dtype)
    return np.isin(values, wanted)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


def _value(field: Field, value: Any) -> Any:
    """A class by its name is its number."""
    if field.classes and _is_whole(value) and not 0 <= value < len(field.classes):
        raise wrong_value(field.name, f"a class from 0 to {len(field.classes) - 1}, or its name", value)
    if not (field.classes and isinstance(value, str)):
        return value
    if value not in field.classes:
        raise wrong_value(field.name, f"one of {', '.join(field.classes)}", value)
    return field.classes.index(value)
