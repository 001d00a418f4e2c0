"""Values of later rows that the type of the first, which nobody has asked for, would change."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import shown
from ._times import Refusal

_NUMBERS = {"i": "int", "u": "int", "f": "float"}


def _kind(value: Any) -> str:
    """That of a number, an array or a list, as NumPy has it; "O": another, which the writer refuses."""
    if type(value) in (bool, int, float):
        return {bool: "b", int: "i", float: "f"}[type(value)]
    try:
        return np.asarray(value).dtype.kind
    except (ValueError, OverflowError):  # lists of different lengths
        return "O"


def _has_bools(value: Any) -> bool:
    """Is it a boolean, or an array or a list in which there are such?"""
    if isinstance(value, list):
        kinds = set(map(type, value))
        return bool in kinds or (not kinds <= {int, float} and any(map(_has_bools, value)))
    return isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_


def _minus_zeros(value: Any) -> np.ndarray:
    """The places of those in a float, or an array of such."""
    if not isinstance(value, float) and getattr(getattr(value, "dtype", None), "kind", "") != "f":
        return np.empty((0, 1), np.intp)
    return np.argwhere((np.asarray(value) == 0) & np.signbit(value))


def check_kind(value: Any, row: int | None, dtype: str) -> None:
    """Refuses booleans among numbers, numbers among booleans, and a minus zero, whose sign is lost, among
    whole ones.

    Args:
        row: the one that the value is of; None: it is an array of those of many.
        dtype: that of the first rows; not text.
    """
    if dtype == "bool":
        if type(value) is not bool and (kind := _NUMBERS.get(_kind(value))) and np.size(value):
            raise Refusal(row or 0, f"{shown(value)} ({kind}), where the first rows hold bool")
        return
    if _has_bools(value) and np.size(value):
        raise Refusal(row or 0, f"{shown(value)} (bool), where the first rows hold {dtype}")
    if dtype[0] in "iu" and len(places := _minus_zeros(value)):
        place = int(places[0][0]) if row is None else row
        raise Refusal(place, f"-0.0, where the first rows hold {dtype}, which has no minus zero")
