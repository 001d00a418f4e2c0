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
    wanted: Any = [_value(field, one) for one in _listed(condition)]
    if isinstance(values, list):  # of varying shape: text, or arrays
        return _met_by_texts(field, values, condition, wanted)
    if values.ndim != 1:
        raise wrong_type(field.name, _NO_VALUES, condition)
    _check_numbers(field, wanted)
    if values.dtype.kind in "iub":
        whole = _whole_numbers(wanted, values.dtype)
        if wanted and not len(whole):
            raise wrong_value(field.name, f"a number that {field.dtype} can hold", wanted[0])
        return np.isin(values, whole)
    if values.dtype.kind == "f":  # as values == 0.1 has it
        wanted = [values.dtype.type(one) if _is_real(one) else one for one in wanted]
    return np.isin(values, wanted)


_NO_VALUES = "a function, as the field has no single values"


def _listed(condition: Any) -> list[Any]:
    """The values that are accepted: of a list, or the only one, which may be an array without dimensions."""
    if isinstance(condition, np.ndarray):
        return list(np.atleast_1d(condition))
    several = isinstance(condition, (list, tuple, set, frozenset, range))
    return list(condition) if several else [condition]


def _met_by_texts(field: Field, values: list[Any], condition: Any, wanted: list[Any]) -> np.ndarray:
    """Text is met by text, and a file by its bytes; arrays of varying shape only by functions."""
    is_text = field.dtype == "utf8" and len(field.shape) == 1
    if is_text and not all(isinstance(one, str) for one in wanted):
        raise wrong_type(field.name, "text, or a function", condition)
    if not is_text and not (
        all(isinstance(one, bytes) for one in wanted) and all(isinstance(one, bytes) for one in values)
    ):
        raise wrong_type(field.name, _NO_VALUES, condition)
    return np.fromiter((one in wanted for one in values), np.bool_)


def _check_numbers(field: Field, wanted: list[Any]) -> None:
    """Nothing else is equal to a number. Bools are for fields of bools: elsewhere they come of a mask."""
    named = ", a class by its name" if field.classes else ""
    for one in wanted:
        number = isinstance(one, (int, float, np.generic)) and not isinstance(one, (np.flexible, np.object_))
        if not number or (_is_bool(one) and field.dtype != "bool"):
            raise wrong_type(field.name, f"a number{named}, a list of such, or a function", one)


def _whole_numbers(wanted: list[Any], dtype: Any) -> np.ndarray:
    """Those of the numbers that the type has. Beside others, NumPy would round them to float64."""
    least, most = (0, 1) if dtype == np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    exact = [one for one in wanted if _is_whole(one) or _is_bool(one)]
    whole = [int(one) for one in exact + [one for one in wanted if _is_real(one) and float(one).is_integer()]]
    return np.array([one for one in whole if least <= one <= most], dtype)


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not _is_bool(value)


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
