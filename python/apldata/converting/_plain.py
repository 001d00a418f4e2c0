"""Values of any library as text of JSON, whole."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import os
import sys
import uuid
from collections.abc import Iterator, Set
from typing import Any

import numpy as np

from .._arguments import shown
from ._cells import LISTS, is_missing
from ._images import DecodedImage, File
from ._members import members_of
from ._times import is_time

_AS_TEXT = (datetime.time, decimal.Decimal, fractions.Fraction, uuid.UUID)
_SECOND = 10**9
_TEXT = "give text of it, such as str(...)"


class NotJson(TypeError):
    """A value of a kind that JSON does not have.

    Attributes:
        value: it.
        helps: what to give instead.
    """

    def __init__(self, value: Any) -> None:
        super().__init__(f"it has no {getattr(value, 'dtype', type(value).__name__)}")
        self.value, self.helps = value, _instead(value)


def _instead(value: Any) -> str:
    if isinstance(value, Set):
        return "sorted(...) makes a list of it"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "give text, such as .decode() or .hex() of it"
    if isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c":
        return "give its .real and .imag"
    if isinstance(value, Iterator):
        return "list(...) makes a list of it"
    kind: Any = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        return "give what it holds, such as by vars(...)"
    return "leave it out" if isinstance(value, (DecodedImage, File)) else _TEXT


def clock(nanoseconds: int) -> str:
    """A time of day as `str()` has those of Python, which have no nanoseconds."""
    seconds, rest = divmod(nanoseconds, _SECOND)
    plain = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if rest % 1000:
        return f"{plain}.{rest:09}"
    return f"{plain}.{rest // 1000:06}" if rest else plain


def _duration(value: Any) -> str:
    """A length of time, of whatever library, as a number of its unit."""
    if hasattr(value, "to_timedelta64"):  # of pandas
        value = value.to_timedelta64()
    return str(value if isinstance(value, (np.ndarray, np.generic)) else np.timedelta64(value))


def _is_period(value: Any) -> bool:
    """Is it a span of time of pandas?"""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.Period)


def _elements(value: Any) -> Any:
    """Those of an array or a tensor, as Python has them; of types of NumPy's that it lacks, as floats.

    Raises:
        ValueError: a float would be another number.
    """
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):
        return value.tolist()
    if dtype.kind == "c":
        raise NotJson(value)
    if dtype == np.longdouble or (dtype.kind == "V" and dtype.type is not np.void):  # such as bfloat16
        plain = np.asarray(value, np.float64)
        if not np.array_equal(plain.astype(dtype), value, equal_nan=True):
            raise ValueError(f"it has no {dtype}, which .astype(float) rounds")
        value = plain
    return value.tolist()


def _plain(value: Any) -> Any:
    """What JSON has for a value that is none of its own: of arrays and tensors all elements."""
    if is_missing(value) or (isinstance(value, np.generic) and is_time(value) and np.isnat(value)):
        return None
    if isinstance(value, np.ndarray) and is_time(value) and value.ndim:
        return list(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if is_time(value) or isinstance(value, _AS_TEXT) or _is_period(value):
        return str(value)
    if isinstance(value, LISTS):
        return _checked(list(value))
    if hasattr(value, "tolist"):
        return _checked(_elements(value))
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, File) and value.data is None:
        return value.name
    if (members := members_of(value)) is not None:
        return _checked(members)
    raise NotJson(value)


def _checked(value: Any) -> Any:
    """A value, if none of its dicts has keys of which JSON makes the same text.

    Raises:
        ValueError: one has.
    """
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            texts = [key if isinstance(key, str) else json.dumps(key) for key in value]
            if len(set(texts)) < len(texts):
                both = next(text for text in texts if texts.count(text) > 1)
                raise ValueError(f"two of its keys would be {both!r}")
        _checked(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            _checked(one)
    return value


def json_of(value: Any) -> str:
    """A value as text of JSON.

    Raises:
        ValueError, TypeError: it holds something that JSON does not have, such as bytes, sets or NaN.
    """
    return json.dumps(_checked(value), ensure_ascii=False, allow_nan=False, default=_plain)


def why_not(value: Any, error: Exception) -> str:
    """Why there is no such text."""
    told = "it has no NaN and no infinity" if "Out of range" in str(error) else str(error)
    return f"JSON cannot tell {shown(value)}: {told}"


def helps_with(name: str, value: Any, error: Exception) -> str:
    """What to do about that, where the values of the field `name` were to be such text."""
    if not isinstance(error, NotJson):
        return "missing='skip' leaves such rows out"
    if error.value is value and error.helps == _TEXT:
        return f"types={{{name!r}: 'utf8'}} makes text of it, as str() does"
    return error.helps
