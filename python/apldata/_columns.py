"""What frameworks ask of a batch: which of its fields still lie in its own memory, and which have one
shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arguments import names
from ._arrays import numpy_dtype
from ._core import Batch, View
from ._errors import InvalidError
from ._store import Store
from .transforms import Transform


def lent_view(batch: Batch, name: str) -> View | None:
    """The view of a field that lies in the batch, with rows of one shape; None: of text, of varying shape, or
    a function has put something else in its place."""
    try:
        view = batch.column(name)
    except KeyError:
        return None
    if view.offsets is not None:
        return None
    value, own = batch[name], np.asarray(view.bits())
    same = (
        isinstance(value, np.ndarray)
        and value.ctypes.data == own.ctypes.data
        and (value.shape, value.strides) == (own.shape, own.strides)
        and value.dtype == numpy_dtype(view.dtype)
    )
    return view if same else None


def has_functions(transforms: Iterable[Any]) -> bool:
    """Are there functions over batches among the transforms?"""
    return any(not isinstance(transform, Transform) for transform in transforms)


def whole_targets(store: Store) -> list[str]:
    """Targets that are one whole number."""
    return [
        f.name
        for f in store.schema
        if f.mark == "target" and not f.shape and f.dtype[0] in "iu" and f.dtype != "utf8"
    ]


def check_holds(what: str, values: np.ndarray, to: Any, bounds: tuple[int, int], advice: str) -> None:
    """Frameworks cut whole numbers that the type `to`, of these `bounds`, cannot hold.

    Raises:
        InvalidError: there are such; its message begins with `what` they are, and ends with the `advice`.
    """
    low, high = bounds
    own = np.iinfo(values.dtype)
    if not values.size or (low <= own.min and own.max <= high):
        return
    for extreme in (int(values.min()), int(values.max())):
        if not low <= extreme <= high:
            raise InvalidError(f"{what}: {extreme} does not fit {to}: {advice}")


def check_exact(what: str, values: np.ndarray, to: np.dtype, advice: str) -> np.ndarray:
    """Whole numbers as the type `to` of floats or bools, which would round some.

    Raises:
        InvalidError: it cannot hold all of them exactly; its message is as that of `check_holds()`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        made = values.astype(to)
    back = (made.real if to.kind == "c" else made).astype(np.float64)
    lost = back != values
    large = (values > 2**53) | (values < -(2**53)) if values.dtype.itemsize == 8 else np.zeros_like(lost)
    for at in zip(*np.nonzero(large), strict=True):  # NumPy compares them as floats, rounded alike
        lost[at] = not np.isfinite(back[at]) or int(back[at]) != int(values[at])
    if lost.any():
        raise InvalidError(f"{what}: {values[lost][0]} does not fit {to} exactly: {advice}")
    return made


def varying(store: Store) -> list[str]:
    """Fields that are text, or of varying shape."""
    return [field.name for field in store.schema if field.dtype == "utf8" or -1 in field.shape]


def fixed_fields(
    store: Store, fields: Iterable[str] | None, framework: str, collated: Iterable[str] = ()
) -> list[str]:
    """The fields that have one dtype and shape in all records, or are `collated` to have; of `fields`, if
    those are named.

    Raises:
        InvalidError: a field that is named has not, or no field has.
    """
    made = set(collated)
    uneven = [name for name in varying(store) if name not in made]
    if fields is None:
        even = [name for name in store.schema.names if name not in uneven]
        if not even:
            raise InvalidError(
                f"{store.path}: {framework} holds arrays, and all fields are text or of varying shape"
            )
        return even
    found = [fields] if isinstance(fields, str) else names("fields", fields) or []
    for name in found:
        if name in uneven:
            raise InvalidError(
                f"{store.path}: field {name} is {store.schema[name].type}, of which {framework} can make no "
                "array: collate it, leave it out of fields, or put an array in its place by a function among "
                "the transforms"
            )
    return found
