"""From batches to tuples of tensors."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from .._arguments import some_names, wrong_value
from .._arrays import row_offsets, texts
from .._core import Batch, View
from .._errors import InvalidError
from .._ragged import RaggedArray
from ..schema import Schema
from ._order import Padded

_GIVEN = ("input", "target")  # marks of the fields that are given unless others are asked for
_INTEGERS = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}


def names_given(schema: Schema, fields: Iterable[str] | None) -> list[str]:
    """The fields of a tuple, in its order: those asked for, or all inputs and targets."""
    if fields is not None:
        return [fields] if isinstance(fields, str) else some_names("fields", fields) or []
    return [field.name for field in schema if field.mark in _GIVEN]


def device_of(device: Any) -> torch.device:
    """The device that is meant; None: "cuda" if there is one, else "cpu"."""
    try:
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        return torch.device(device)
    except (RuntimeError, TypeError):
        raise wrong_value("device", "a device of torch's, such as 'cuda' or 'cpu', or None", device) from None


@cache
def tuple_type(names: tuple[str, ...]) -> Any:
    """A type of tuples whose members are known by the names of the fields too: by _0, _1, ... where
    a name is not fit for that. The tuples can be pickled."""
    make: Any = namedtuple  # type checkers want the names written out
    made = make("Tensors", names, rename=True)
    made.__module__, made._names = __name__, names
    made.__new__ = _new
    made.__reduce__ = lambda self: (_remake, (names, tuple(self)))
    return made


def _new(cls: Any, *values: Any, **named: Any) -> Any:
    """Also of one list of all values, by which others rebuild what they take for a plain tuple."""
    if len(values) == 1 != len(cls._fields) and isinstance(values[0], (list, tuple)):
        values = tuple(values[0])
    if named:
        values += tuple(named[name] for name in cls._fields[len(values) :])
    return cls._make(values)


def _remake(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return tuple_type(names)._make(values)


def map_tensors(function: Callable[[torch.Tensor], Any], tree: Any) -> Any:
    """The same tree of tuples, lists and mappings, with `function` applied to each tensor in it; all else
    stays as it is."""
    if isinstance(tree, torch.Tensor):
        return function(tree)
    if isinstance(tree, Mapping):
        return {key: map_tensors(function, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_make"):
        return tree._make(map_tensors(function, value) for value in tree)
    if isinstance(tree, (tuple, list)):
        return type(tree)(map_tensors(function, value) for value in tree)
    return tree


def from_array(array: np.ndarray) -> torch.Tensor:
    """A tensor in the memory of the array, which it keeps; torch takes bfloat16 under another name only."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _from_value(value: Any) -> Any:
    if isinstance(value, np.ndarray) and (value.dtype.kind in "biufc" or value.dtype.name == "bfloat16"):
        return from_array(value)
    if isinstance(value, RaggedArray):
        return _nested(from_array(value.values), value.offsets)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [from_array(array) for array in value]
    return value


def _nested(values: torch.Tensor, offsets: np.ndarray) -> torch.Tensor:
    """A nested tensor of jagged layout, in the memory of the values."""
    longest = int(np.diff(offsets).max(initial=0))
    return torch.nested.nested_tensor_from_jagged(
        values, torch.from_numpy(offsets), min_seqlen=0, max_seqlen=max(longest, 1)
    )


def _from_view(view: View, lend: Callable[[View], torch.Tensor]) -> Any:
    if view.offsets is None:
        return lend(view)
    if view.ragged:
        return _nested(lend(view), row_offsets(view))
    if view.dtype == "utf8":
        return texts(view)
    pairs = list(pairwise(np.asarray(view.offsets).tolist()))
    flat, shapes = lend(view), np.asarray(view.shapes).tolist()
    return [flat[a:b].view(shape) for (a, b), shape in zip(pairs, shapes, strict=True)]


def lend(view: View) -> torch.Tensor:
    """A tensor in the view's memory. Given a capsule, torch need not ask what it is of."""
    tensor: torch.Tensor = from_dlpack(view.__dlpack__())
    return tensor


def held(batch: Any, name: str) -> Any:
    """What a batch has of a field, as arrays; as tensors if it is bfloat16 and NumPy does not know that."""
    try:
        return batch[name]
    except TypeError:  # then no function has put another value there
        return _from_view(batch.column(name), lend)


def to_int64(whole: torch.Tensor) -> torch.Tensor:
    """Integers as int64: a copy, unless they are that."""
    return whole.to(torch.int64)


def check_int64(made: torch.Tensor, unsigned: bool, name: str) -> torch.Tensor:
    """`made`, integers of a field as int64: `unsigned` ones of 64 bits that it cannot hold have become
    negative.

    Raises:
        InvalidError: there are such.
    """
    flat = made.values() if made.is_nested else made
    if unsigned and flat.numel() and int(flat.min()) < 0:
        raise InvalidError(
            f"field {name}: {int(flat[flat < 0][0]) + 2**64} does not fit int64, which whole-number targets "
            "become: leave the field out of `fields`, or mark it as an input, which stays u64"
        )
    return made


def _small_int64(view: View, name: str) -> torch.Tensor | None:
    """A small column of integers, which is a copy, as int64: NumPy takes a third of the time of torch. None:
    it is no such column."""
    if view.lent or view.offsets is not None or view.dtype not in _INTEGERS:
        return None
    made = torch.from_numpy(np.asarray(view).astype(np.int64, copy=False))
    return check_int64(made, view.dtype == "u64", name)


def whole_numbers(value: Any) -> bool:
    """Is it a tensor of integers?"""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool:
        return False
    return not (value.is_floating_point() or value.is_complex())


class Converter:
    """Makes tuples of tensors of batches. Integer targets become int64, which losses of torch want: a copy,
    unless they are that already; those that it cannot hold are refused. All else is not copied: the tensors
    lie in the batch, and keep it.

    Args:
        schema: of the store.
        fields: names of the fields in the tuple; None: all inputs and targets.
        changed: may functions have put other values into the batches? What they put in beside the fields
            comes after these.
        parts: names of the arrays that collations add to batches, which come after the fields.
        padded: what collations pad in batches.
        lend: makes a tensor of a view that is to stay; `copy`: one of int64 of a tensor of integers.
    """

    def __init__(
        self,
        schema: Schema,
        fields: Sequence[str] | None,
        changed: bool,
        lend: Callable[[View], torch.Tensor] = lend,
        copy: Callable[[torch.Tensor], torch.Tensor] = to_int64,
        *,
        parts: tuple[str, ...] = (),
        padded: Padded | None = None,
    ) -> None:
        self.padded = padded or Padded(None, schema)
        self.names = tuple(names_given(schema, fields))
        self._all = (*self.names, *parts)
        self._targets = {field.name for field in schema if field.mark == "target"}
        self._changed, self._lend, self._copy = changed, lend, copy
        self._type = tuple_type(self._all)

    def _found(self, batch: Batch, name: str) -> Any:
        if self._changed:
            return _from_value(held(batch, name))
        view = batch.column(name)
        copied = name in self._targets and view.dtype in _INTEGERS
        return _from_view(view, lend if copied else self._lend)

    def _value(self, batch: Batch, name: str) -> Any:
        if name not in self._targets:
            return self._found(batch, name)
        if not self._changed and self._copy is to_int64:
            small = _small_int64(batch.column(name), name)
            if small is not None:
                return small
        value = self._found(batch, name)
        if isinstance(value, list):
            return [self._whole(one, name) for one in value]
        return self._whole(value, name)

    def _whole(self, value: Any, name: str) -> Any:
        """Integers as int64; all else as it is."""
        if not whole_numbers(value):
            return value
        return check_int64(self._copy(value), value.dtype == torch.uint64, name)

    def __call__(self, batch: Batch) -> Any:
        """The tuple, with a member for each field: a tensor of the shape (rows, ...); a list for text, or a
        varying shape."""
        if not self._changed:
            return self._type._make([self._value(batch, name) for name in self._all])
        names = (*self._all, *(name for name in batch if name not in self._all))
        return tuple_type(names)._make([self._value(batch, name) for name in names])
