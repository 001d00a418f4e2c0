"""From the extension's views to what users hold: NumPy arrays, lists of them, lists of str."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arguments import wrong_type
from ._ragged import RaggedArray

if TYPE_CHECKING:
    from ._core import View

_DTYPES = {
    "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8",
    "f16": "f2", "f32": "f4", "f64": "f8", "bool": "?",
}  # fmt: skip
_KNOWN = ", ".join((*_DTYPES, "bf16"))
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}


def bfloat16() -> np.dtype:
    """The dtype that the package ml_dtypes (which JAX and TensorFlow bring along) adds to NumPy."""
    try:
        import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise TypeError(
            "NumPy has no bfloat16 without the package ml_dtypes: install that, or take "
            "batch.column(name) to a framework by DLPack"
        ) from None
    found: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return found


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype for a store's dtype, such as ``uint8`` for ``"u8"``."""
    if name == "bf16":
        return bfloat16()
    if not isinstance(name, str) or name not in _DTYPES:
        raise wrong_type("a dtype", f"one of {_KNOWN}", name)
    return np.dtype(_DTYPES[name])


def store_dtype(dtype: Any, what: str = "a dtype") -> str:
    """The store's name for a dtype: ``"u8"`` for ``np.uint8``, ``"utf8"`` for ``str``; such names stand for
    themselves."""
    if dtype in (str, "utf8", "str"):
        return "utf8"
    if isinstance(dtype, str) and dtype in (*_DTYPES, "bf16"):
        return dtype  # also "u8", which is a byte here, and 8 bytes to NumPy
    try:
        known = None if dtype is None else np.dtype(dtype)  # None would be float64 to NumPy
    except (TypeError, ValueError, SyntaxError):
        known = None
    name = None if known is None else _NAMES.get(known.newbyteorder("="))
    if name is None and known is not None and known.name == "bfloat16":
        return "bf16"
    if name is None:
        raise wrong_type(what, f"one of {_KNOWN}, NumPy's for these, or str", dtype)
    return name


def _flat(view: View) -> np.ndarray:
    return np.asarray(view.bits()).view(bfloat16()) if view.dtype == "bf16" else np.asarray(view)


_PIECE = np.dtype(
    [("id", "u8"), ("offset", "u8"), ("copy", "u4"), ("row", "u4"), ("start", "u4"), ("length", "u4")]
)  # as apl_piece is


def as_pieces(bytes_: np.ndarray) -> np.ndarray:
    """What ``batch.pieces`` is."""
    return bytes_.view(_PIECE)


def row_offsets(view: View) -> np.ndarray:
    """Where the rows of a ragged view begin and end, along its first dimension: int64[rows + 1]."""
    return np.asarray(view.offsets).astype(np.int64) // math.prod(view.shape[1:])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _listed(data: bytes, shape: Sequence[int]) -> Any:
    """The texts of a list, of which each has shape[-1] bytes, as lists of the other dimensions."""
    *above, width = shape
    if not above:
        return _text(data.rstrip(b"\0"))
    each = len(data) // above[0] if above[0] else 0
    return [_listed(data[i * each : (i + 1) * each], [*above[1:], width]) for i in range(above[0])]


def texts(view: View) -> list[Any]:
    """The rows of a column of text: of each a str, or a list of them."""
    bounds, data = np.asarray(view.offsets).tolist(), _flat(view).tobytes()
    rows, shapes = [data[a:b] for a, b in pairwise(bounds)], np.asarray(view.shapes)
    if shapes.shape[1] == 1:
        return [_text(row) for row in rows]
    return [_listed(row, shape) for row, shape in zip(rows, shapes.tolist(), strict=True)]


def as_array(view: View) -> np.ndarray | list[str] | list[np.ndarray] | RaggedArray:
    """What ``batch[name]`` is: an array of the shape (rows, ...); for a field of varying shape, a list with
    one for each row, or, where that was asked for, a `RaggedArray`."""
    offsets = view.offsets
    if offsets is None:
        return _flat(view)
    if view.ragged:
        return RaggedArray(_flat(view), row_offsets(view))
    if view.dtype == "utf8":
        return texts(view)
    bounds, flat = np.asarray(offsets).tolist(), _flat(view)
    shapes = np.asarray(view.shapes).tolist()
    return [flat[a:b].reshape(shape) for (a, b), shape in zip(pairwise(bounds), shapes, strict=True)]
