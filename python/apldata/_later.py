"""Collations of fields that steps in Python change, such as boxes: they are made after these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arrays import numpy_dtype
from ._errors import InvalidError
from ._foreign import Wrapped
from ._ragged import RaggedArray
from ._records import row_told
from .collation import Collation, Collations, Pad, Ragged
from .schema import Field


class Separate:
    """Makes lists, with an array for each row, of fields that C has collated: steps in Python, and functions
    before them, get their values as if there were no collation."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields = list(fields)

    def __call__(self, batch: Any) -> None:
        for field in self._fields:
            values, name = batch[field.name], field.name
            if not isinstance(values, RaggedArray):
                axis, lengths = field.shape.index(-1), batch[f"{name}_lengths"].tolist()
                values = [_cut(row, length, axis) for row, length in zip(values, lengths, strict=True)]
            batch[name] = list(values)

    def __repr__(self) -> str:
        return f"the values of {', '.join(field.name for field in self._fields)}"


class Collated:
    """Makes of such lists what the collation of a field asks for."""

    def __init__(self, field: Field, how: Collation) -> None:
        self._field, self._how = field, how

    def __call__(self, batch: Any) -> None:
        name, how = self._field.name, self._how
        values = [self._array(value) for value in batch[name]]
        if isinstance(how, Pad):
            self._pad(batch, values, how)
        else:
            offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
            batch[name] = RaggedArray(np.concatenate(values) if values else self._none(), offsets)

    def _array(self, value: Any) -> np.ndarray:
        try:
            array = np.asarray(value)
        except TypeError:  # a tensor of bfloat16
            raise InvalidError(
                f"collate: {self._field.name} has become bfloat16 in a step in Python, of which NumPy makes "
                "no array: leave that to a function over batches"
            ) from None
        if array.ndim != len(self._field.shape):
            raise InvalidError(
                f"collate: {self._field.name} is {self._field.type}, and a step in Python has made values of "
                f"{array.ndim} dimensions of it"
            )
        return array

    def _none(self) -> np.ndarray:
        """Of no rows."""
        return np.empty([max(side, 0) for side in self._field.shape], numpy_dtype(self._field.dtype))

    def _pad(self, batch: Any, values: list[np.ndarray], how: Pad) -> None:
        name, axis = self._field.name, self._field.shape.index(-1)
        if how.length is not None:
            values = [self._fitted(value, how, axis, batch, row) for row, value in enumerate(values)]
        lengths = np.array([value.shape[axis] for value in values], np.int64)
        longest = how.length or int(lengths.max(initial=0))
        first = values[0] if values else self._none()
        shape = [longest if at == axis else side for at, side in enumerate(first.shape)]
        made = np.full((len(values), *shape), how.fill, first.dtype)
        for row, value in zip(made, values, strict=True):
            _cut(row, value.shape[axis], axis)[...] = value
        batch[name], batch[f"{name}_lengths"] = made, lengths
        batch[f"{name}_mask"] = np.arange(longest) < lengths[:, None]

    def _fitted(self, value: np.ndarray, how: Pad, axis: int, batch: Any, row: int) -> np.ndarray:
        """At most as long as asked for."""
        longest = how.length or 0
        if value.shape[axis] > longest and not how.truncate:
            told, records = row_told(batch, row)
            raise InvalidError(
                f"{told}: field {self._field.name} is {value.shape[axis]} long, and is to be padded "
                f"to {longest}: truncate it, or pad to more",
                **records,
            )
        return _cut(value, longest, axis)

    def __repr__(self) -> str:
        return f"the collation of {self._field.name}"


def _cut(value: np.ndarray, length: int, axis: int) -> np.ndarray:
    cut: np.ndarray = value[(slice(None),) * axis + (slice(length),)]
    return cut


def collated_later(functions: list[Any], collations: Collations) -> list[Any]:
    """The functions of a loader, with what makes lists of the fields that its steps in Python change, before
    all, and what collates each of them after the last that does. The collations are told of these.

    Raises:
        InvalidError: there are steps in Python that must not come before a collation.
    """
    last: dict[str, int] = {}
    for at, step in enumerate(functions):
        for name in step.changed if isinstance(step, Wrapped) else ():
            if name in collations.by_name:
                _check_separable(name, collations.by_name[name], step)
                last[name] = at
    collations.later = frozenset(last)
    if not last:
        return functions
    made: list[Any] = [Separate(collations.fields[name] for name in last)]
    for at, function in enumerate(functions):
        made.append(function)
        now = [name for name, place in last.items() if place == at]
        made += [Collated(collations.fields[name], collations.by_name[name]) for name in now]
    return made


def _check_separable(name: str, how: Collation, step: Wrapped) -> None:
    if not isinstance(how, (Pad, Ragged)):
        raise InvalidError(
            f"collate: {step!r} runs in Python, and changes {name} of each record by itself: collate it by "
            f"Pad() or Ragged(), not {how!r}, or leave it out of fields"
        )
