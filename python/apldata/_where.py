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
        if field.dtype == "utf8" and not all(isinstance(one, (str, bytes)) for one in wanted):
            raise wrong_type(field.name, "text, or a function", condition)
        return np.fromiter((isinstance(v, (str, bytes)) and v in wanted for v in values), np.bool_)
    if values.ndim != 1:
        raise wrong_type(field.name, "a function, as the field has no single values", condition)
    _check_numbers(field, wanted)
    if values.dtype.kind in "iu":
        whole = _whole_numbers(wanted, np.iinfo(values.dtype))
        if wanted and not len(whole):
            raise wrong_value(field.name, f"a number that {field.dtype} can hold", wanted[0])
        return np.isin(values, whole)
    if values.dtype.kind == "f":  # as values == 0.1 has it
        wanted = [values.dtype.type(one) if _is_real(one) else one for one in wanted]
    return np.isin(values, wanted)


def _check_numbers(field: Field, wanted: list[Any]) -> None:
    """Nothing else is equal to a number."""
    named = ", a class by its name" if field.classes else ""
    for one in wanted:
        if not isinstance(one, (int, float, np.generic)) or isinstance(one, (np.flexible, np.object_)):
            raise wrong_type(field.name, f"a number{named}, a list of such, or a function", one)


def _whole_numbers(wanted: list[Any], limits: Any) -> np.ndarray:
    """Those of the numbers that the type has. Beside others, NumPy would round them to float64."""
    whole = [int(one) for one in wanted if _is_whole(one) or (_is_real(one) and float(one).is_integer())]
    return np.array([one for one in whole if limits.min <= one <= limits.max], limits.dtype)


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


def _is_real(value: Any) -> bool:
    return isinstance(value, (float, np.floating))


def _value(field: Field, value: Any) -> Any:
    """A class by its name is its number."""
    if field.classes and _is_whole(value) and not 0 <= value < len(field.classes):
        raise wrong_value(field.name, f"a class from 0 to {len(field.classes) - 1}, or its name", value)
    if not (field.classes and isinstance(value, str)):
        return value
    if value not in field.classes:
        raise wrong_value(field.name, f"one of {', '.join(field.classes)}", value)
    return field.classes.index(value)
