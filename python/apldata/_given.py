"""What users give as values, as plain NumPy arrays; what would lose something on the way is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arguments import wrong_value
from ._corners import in_form
from ._errors import InvalidError, InvalidTypeError


def _masked(name: str, value: Any) -> None:
    """Refuses what stands for no value."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        count = int(np.ma.getmaskarray(value).sum())
        raise InvalidError(
            f"field {name}: {count} masked values, and a store has no mask: put values in their place, "
            "array.filled(0), and write the mask as a field of its own"
        )


def _nulls(column: Any) -> int:
    """How many there are in a column of polars, of Arrow, or of a type of pandas that has them."""
    if hasattr(column, "null_count") and hasattr(column, "chunks"):
        return sum(map(_nulls, column.chunks))
    if hasattr(column, "null_count"):
        count = int(column.null_count() if callable(column.null_count) else column.null_count)
        inside = None if count else _inside(column)
        return count if inside is None else _nulls(inside)
    has_them = hasattr(column, "isna") and not isinstance(getattr(column, "dtype", None), np.dtype)
    return int(column.isna().sum()) if has_them else 0


def _inside(column: Any) -> Any:
    """The values of lists, one after another; None: it has none."""
    if hasattr(column, "explode"):  # of polars, where an empty list would become a null
        kind = type(column.dtype).__name__
        lists = column.filter(column.list.len() > 0) if kind == "List" else column
        return lists.explode() if kind in ("Array", "List") else None
    has_lists = hasattr(column.type, "value_type") and hasattr(column, "flatten")  # of Arrow
    return column.flatten() if has_lists else None


def refuse_nulls(name: str, column: Any) -> None:
    """NumPy would make NaN of them."""
    if count := _nulls(column):
        raise InvalidError(
            f"field {name}: {count} nulls, and a store has none: put values in their place, such as by "
            "fill_null(0), or leave these rows out"
        )


def _of_tensor(name: str, tensor: Any, form: str) -> np.ndarray:
    """The values of a tensor of torch's, which may require grad, be of bfloat16, or lie on a device."""
    try:
        plain = in_form(tensor.detach(), form).cpu()
        if str(plain.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            plain = plain.float()  # exactly; NumPy has no such type
        return np.asarray(plain.resolve_conj().resolve_neg())
    except (TypeError, RuntimeError) as error:
        told = str(error).split("\n")[0]
        raise InvalidTypeError(f"field {name}: NumPy can make no array of the tensor: {told}") from None


_AS_THEY_ARE = (np.ndarray, bool, int, float, str)


def _plain(name: str, value: Any, form: str) -> Any:
    """A value, or a list of some, with arrays of NumPy for those of others."""
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, np.ma.MaskedArray):
        _masked(name, value)
        return np.asarray(value)
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return _of_tensor(name, value, form)
    if isinstance(value, (list, tuple)) and any(
        isinstance(one, (np.ma.MaskedArray, list, tuple)) or hasattr(one, "detach") for one in value
    ):
        return [_plain(name, one, form) for one in value]
    refuse_nulls(name, value)
    return value


def _is_whole(value: Any) -> bool:
    """Is it a whole number, of whatever size, and of Python or NumPy?"""
    return isinstance(value, int) or np.asarray(value).dtype.kind in "iu"


def _check_rounded(name: str, plain: Any, array: np.ndarray, dtype: np.dtype) -> None:
    """Refuses whole numbers of a list that differ in `array`, made of it, as a `dtype`: beside floats NumPy
    makes floats of them."""
    if not isinstance(plain, (list, tuple)) or array.dtype != np.float64:
        return
    with np.errstate(invalid="ignore", over="ignore"):
        made = array.astype(dtype).astype(np.float64)
        changed = made != array if dtype.kind not in "biu" else False  # which the type's own check tells
        suspect = (array == np.rint(array)) & ((np.abs(array) >= 2**53) | changed)
    if not suspect.any():
        return
    for exact, one in zip(np.asarray(plain, object)[suspect], made[suspect].tolist(), strict=True):
        if _is_whole(exact) and int(exact) != one:
            raise InvalidError(f"field {name}: {exact}, beside floats, would become a float that differs")


def _whole(plain: Any, array: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    """A list of whole numbers as an array of such a `dtype`, where NumPy makes floats of those beyond i64
    beside others; None: it is none, or one does not fit."""
    if not isinstance(plain, (list, tuple)) or dtype.kind not in "iu" or array.dtype != np.float64:
        return None
    exact = np.asarray(plain, object)
    if not all(map(_is_whole, exact.flat)):
        return None
    try:
        return np.array([int(one) for one in exact.flat], dtype).reshape(exact.shape)
    except OverflowError:
        return None


def array_of(name: str, wanted: str, value: Any, dtype: np.dtype, form: str = "xyxy") -> np.ndarray:
    """A value for the field `name`, which is `wanted`, as an array, which is to become one of `dtype`;
    `form`: of boxes that know theirs."""
    plain = _plain(name, value, form)
    try:
        array = np.asarray(plain)
    except ValueError as error:
        lists = ", its lists of equal lengths" if "inhomogeneous" in str(error) else ""
        raise wrong_value(f"field {name}", f"an array of {wanted}{lists}", value) from error
    if (whole := _whole(plain, array, dtype)) is not None:
        return whole
    _check_rounded(name, plain, array, dtype)
    return array


def of_names_and_numbers(value: Any) -> Any:
    """A list of names and numbers of classes that keeps both; NumPy would make names of all."""
    if not isinstance(value, (list, tuple)):
        return value
    kinds = set(map(type, value))
    if len(kinds) == 1 or not any(issubclass(kind, str) for kind in kinds) or any(map(np.ndim, value)):
        return value
    made = np.empty(len(value), object)
    for at, one in enumerate(value):
        made[at] = one.item() if hasattr(one, "dtype") else one
    return made
