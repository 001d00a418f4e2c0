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
from ._times import is_time

_AS_TEXT = (datetime.time, decimal.Decimal, uuid.UUID)


def _plain(value: Any) -> Any:
    """What JSON has for a value that is none of its own: of arrays and tensors all elements."""
    if is_missing(value) or (isinstance(value, np.generic) and is_time(value) and np.isnat(value)):
        return None
    if isinstance(value, np.ndarray) and is_time(value) and value.ndim:
        return list(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if is_time(value) or isinstance(value, _AS_TEXT):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, File) and value.data is None:
        return value.name
    raise TypeError(f"it has no {type(value).__name__}")


def json_of(value: Any) -> str:
    """A value as text of JSON.

    Raises:
        ValueError, TypeError: it holds something that JSON does not have, such as bytes, sets or NaN.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def why_not(value: Any, error: Exception) -> str:
    """Why there is no such text."""
    told = "it has no NaN and no infinity" if "Out of range" in str(error) else str(error)
    return f"JSON cannot tell {shown(value)}: {told}"
