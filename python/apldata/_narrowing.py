"""What JAX would round, cut or make infinite: without its 64-bit mode, numbers of 64 bits become ones of
32."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from ._arguments import wrong_type
from ._columns import check_exact, check_holds
from ._errors import InvalidError
from ._store import Store
from ._warning import warn
from .schema import listed


def _rounds() -> bool:
    """Does f64 become f32?"""
    return bool(jax.dtypes.canonicalize_dtype(np.float64) != np.float64)


def warn_of_rounding(store: Store, fields: Iterable[str] | None) -> None:
    wanted = store.schema.names if fields is None else list(fields)
    rounded = [f.name for f in store.schema if f.name in wanted and f.dtype == "f64"]
    if rounded and _rounds():
        warn(
            f"{store.path}: JAX rounds f64 to f32 (fields: {listed(rounded)}): "
            "set jax_enable_x64 to keep them",
        )


def _check_finite(what: str, values: np.ndarray, advice: str) -> None:
    """JAX makes infinite what f32 cannot hold."""
    if not _rounds():
        return
    for part in (values.real, values.imag) if values.dtype.kind == "c" else (values,):
        with np.errstate(over="ignore"):
            lost = np.isfinite(part) & np.isinf(part.astype(np.float32))
        if lost.any():
            raise InvalidError(f"{what}: {part[lost][0]} does not fit float32: {advice}")


def check_range(what: str, value: Any, otherwise: str) -> None:
    """JAX wraps whole numbers that do not fit, and makes floats infinite.

    Args:
        what: the value is, for the message.
        value: that JAX gets: anything that it takes.
        otherwise: what to do instead of setting jax_enable_x64.

    Raises:
        InvalidError: its 32 bits cannot hold some numbers.
    """
    if not isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        return  # an array of JAX's own, or what JAX refuses
    values, advice = np.asarray(value), f"set jax_enable_x64, or {otherwise}"
    if values.dtype.kind in "fc" and values.dtype.itemsize > 4:
        _check_finite(what, values, advice)
    becomes = jax.dtypes.canonicalize_dtype(values.dtype) if values.dtype.kind in "iu" else values.dtype
    if becomes != values.dtype:
        bounds = jax.numpy.iinfo(becomes)
        check_holds(what, values, becomes, (bounds.min, bounds.max), advice)


def label_dtype_of(dtype: Any) -> np.dtype:
    """The type that `label_dtype` names."""
    wanted = "a dtype of NumPy's or JAX's for numbers, or None"
    try:
        found: np.dtype = np.dtype(dtype)
    except TypeError:
        raise wrong_type("label_dtype", wanted, dtype) from None
    if found != np.bool_ and not jax.numpy.issubdtype(found, np.number):
        raise wrong_type("label_dtype", wanted, dtype)
    return found


def relabelled(name: str, labels: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Whole-number targets in the type that they are to have.

    Raises:
        InvalidError: it cannot hold all of them, or JAX can't.
    """
    becomes = jax.dtypes.canonicalize_dtype(dtype)
    advice = "choose another label_dtype" if becomes == dtype else "set jax_enable_x64"
    advice = f"{advice}, or leave the field out of `fields`"
    if jax.numpy.issubdtype(becomes, np.integer):
        bounds = jax.numpy.iinfo(becomes)
        check_holds(f"field {name}", labels, becomes, (bounds.min, bounds.max), advice)
        return labels.astype(becomes)
    return check_exact(f"field {name}", labels, becomes, advice)
