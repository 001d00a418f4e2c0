"""From the extension's views to what users hold: NumPy arrays, lists of them, lists of str."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._core import View

_DTYPES = {
    "u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8",
    "f16": "f2", "f32": "f4", "f64": "f8", "bool": "?",
}  # fmt: skip
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
    return np.dtype(ml_dtypes.bfloat16)


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype for a store's dtype, such as ``uint8`` for ``"u8"``."""
    return bfloat16() if name == "bf16" else np.dtype(_DTYPES[name])


def store_dtype(dtype: Any) -> str:
    """The store's name for a dtype: ``"u8"`` for ``np.uint8``, ``"utf8"`` for ``str``; such names stand for
    themselves."""
    if dtype in (str, "utf8", "str"):
        return "utf8"
    if isinstance(dtype, str) and dtype in (*_DTYPES, "bf16"):
        return dtype  # also "u8", which is a byte here, and 8 bytes to NumPy
    name = _NAMES.get(np.dtype(dtype).newbyteorder("="))
    if name is None and np.dtype(dtype).name == "bfloat16":
        return "bf16"
    if name is None:
        raise TypeError(f"a store has no dtype for {dtype!r}; it has {', '.join(_DTYPES)}, bf16 and utf8")
    return name


def _flat(view: View) -> np.ndarray:
    return np.asarray(view.bits()).view(bfloat16()) if view.dtype == "bf16" else np.asarray(view)


def as_array(view: View) -> np.ndarray | list[str] | list[np.ndarray]:
    """What ``batch[name]`` is: an array of the shape (rows, ...); for a field of varying shape, a list with
    one for each row."""
    offsets = view.offsets
    if offsets is None:
        return _flat(view)
    bounds, flat = np.asarray(offsets).tolist(), _flat(view)
    if view.dtype == "utf8":
        text = flat.tobytes()
        return [text[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(bounds)]
    shapes = np.asarray(view.shapes).tolist()
    return [flat[a:b].reshape(shape) for (a, b), shape in zip(pairwise(bounds), shapes, strict=True)]
