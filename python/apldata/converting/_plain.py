"""Values of any library as text of JSON, whole."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import uuid
from typing import Any

import numpy as np

from .._arguments import shown
from ._cells import is_missing
from ._images import File
from ._members import members_of
from ._times import is_time

_AS_TEXT = (datetime.time, decimal.Decimal, uuid.UUID)
_SECOND = 10**9


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
    if is_time(value) or isinstance(value, _AS_TEXT):
        return str(value)
    if hasattr(value, "tolist"):
        return _checked(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, File) and value.data is None:
        return value.name
    if (members := members_of(value)) is not None:
        return _checked(members)
    raise TypeError(f"it has no {type(value).__name__}")


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
