"""Columns of Arrow as those of a source: their types, and their values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._errors import InvalidError
from ._cells import twice
from ._images import File, file_of
from ._scalars import check_members, values_of
from ._times import Unit
from ._told import Chunk, Column, Told, Wishes

_NUMBERS = {pa.int8(): "i8", pa.int16(): "i16", pa.int32(): "i32", pa.int64(): "i64", pa.uint8(): "u8",
            pa.uint16(): "u16", pa.uint32(): "u32", pa.uint64(): "u64", pa.float16(): "f16",
            pa.float32(): "f32", pa.float64(): "f64", pa.bool_(): "bool"}  # fmt: skip


def _is_any(type: Any, *kinds: str) -> bool:
    """Is it of one of these kinds, such as "string", as far as this pyarrow has them?"""
    return any(getattr(pa.types, f"is_{kind}", lambda _: False)(type) for kind in kinds)


def is_text(type: Any) -> bool:
    return _is_any(type, "string", "large_string", "string_view")


def _is_binary(type: Any) -> bool:
    return _is_any(type, "binary", "large_binary", "fixed_size_binary", "binary_view")


def _is_list(type: Any) -> bool:
    return _is_any(type, "list", "large_list", "list_view", "large_list_view")


def _is_fixed_list(type: Any) -> bool:
    return _is_any(type, "fixed_size_list")


def _is_file(type: Any) -> bool:
    """The layout of files in the datasets of Hugging Face: a struct of bytes and path, of which one may have
    the type null, as in all rows."""
    if not pa.types.is_struct(type):
        return False
    members = {type.field(i).name: type.field(i).type for i in range(type.num_fields)}
    if members.keys() != {"bytes", "path"} or all(map(pa.types.is_null, members.values())):
        return False
    return all(
        pa.types.is_null(members[name]) or is_kind(members[name])
        for name, is_kind in (("bytes", _is_binary), ("path", is_text))
    )


def _is_dense(type: Any) -> bool:
    """Arrow's own extension for arrays of one shape."""
    return getattr(type, "extension_name", "") == "arrow.fixed_shape_tensor"


def _axes(type: Any) -> list[int]:
    """The dimensions of such arrays in the order that they are meant to have."""
    return list(type.permutation or range(len(type.shape)))


# --------------------------------------------------------------------------------------------------- types


def _of_time(type: Any) -> Told | None:
    if pa.types.is_date32(type):
        return Told("i32", (), time=Unit("M8[D]"))
    if pa.types.is_date64(type):
        return Told("i64", (), time=Unit("M8[ms]"))
    if pa.types.is_timestamp(type):
        return Told("i64", (), time=Unit(f"M8[{type.unit}]", zone=bool(type.tz)))
    if pa.types.is_time(type):
        dtype = "i32" if pa.types.is_time32(type) else "i64"
        return Told(dtype, (), time=Unit(f"m8[{type.unit}]", clock=True))
    return Told("i64", (), time=Unit(f"m8[{type.unit}]")) if pa.types.is_duration(type) else None


def _of_lists(type: Any) -> Told:
    """Lists, also of lists: the dimensions of arrays."""
    shape: list[int] = []
    while _is_list(type) or _is_fixed_list(type):
        shape.append(type.list_size if _is_fixed_list(type) else -1)
        type = type.value_type
    dtype = _NUMBERS.get(type)
    return Told(dtype, tuple(shape)) if dtype else Told(refused=f"lists of {type}")


def _told(type: Any) -> Told:
    if type in _NUMBERS:
        return Told(_NUMBERS[type], ())
    if is_text(type):
        return Told("utf8", (-1,))
    if _is_binary(type) or _is_file(type):
        return Told(is_file=True)
    if _is_dense(type):
        return Told(_NUMBERS.get(type.value_type), tuple(type.shape[axis] for axis in _axes(type)))
    if _is_list(type) or _is_fixed_list(type):
        return _of_lists(type)
    return _of_time(type) or Told(refused=str(type), shape=() if pa.types.is_decimal(type) else None)


def _plain(type: Any) -> Any:
    """The type that the values are of, whatever an extension makes of them, and however they are encoded."""
    if isinstance(type, pa.BaseExtensionType) and not _is_dense(type):
        return _plain(type.storage_type)
    if pa.types.is_dictionary(type):
        return _plain(type.value_type)
    return type


def _members(type: Any) -> list[tuple[str, Any]]:
    """Of a struct, or of a list of structs, the members as types of their own; none of any other type."""
    if pa.types.is_struct(type) and not _is_file(type):
        return [(type.field(i).name, type.field(i).type) for i in range(type.num_fields)]
    if _is_list(type) and pa.types.is_struct(type.value_type) and not _is_file(type.value_type):
        inside = type.value_type
        return [(inside.field(i).name, pa.list_(inside.field(i).type)) for i in range(inside.num_fields)]
    return []


def _types(name: str, type: Any, whole: frozenset[str]) -> Iterator[tuple[str, Told]]:
    categories = pa.types.is_dictionary(type) and is_text(type.value_type)
    plain = _plain(type)
    members = [] if name in whole else _members(plain)
    for inside, of in members:
        yield from _types(f"{name}.{inside}", of, whole)
    if not members:
        yield name, Told("utf8", (-1,), codes=True) if categories else _told(plain)


def told_of(schema: Any, wishes: Wishes) -> dict[str, Told]:
    """What a schema says of its columns; members of structs are columns of their own, called a.b."""
    found: dict[str, Told] = {}
    for field in schema:
        for name, told in _types(field.name, field.type, wishes.whole):
            if name in found and wishes.wants(name):
                raise InvalidError(twice(name))
            found[name] = told
    return found


# -------------------------------------------------------------------------------------------------- values


def _times(array: Any) -> Column:
    """Times as NumPy has them; in a list, None where one is missing."""
    unit, missing = str(_of_time(array.type).time.code), array.null_count  # type: ignore[union-attr]
    numbers = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    numbers = (numbers.fill_null(0) if missing else numbers).to_numpy(zero_copy_only=False)
    times: np.ndarray = numbers.astype(np.int64, copy=False).view(unit)
    if not missing:
        return times
    return [None if gone else time for gone, time in zip(array.is_null().to_pylist(), times, strict=True)]


def _bounds(array: Any) -> tuple[Any, list[int]]:
    """The values of lists, one after another, and where each list begins, and the last ends."""
    if _is_fixed_list(array.type):
        size, count = array.type.list_size, len(array)
        return array.values.slice(array.offset * size, count * size), [i * size for i in range(count + 1)]
    if not _is_any(array.type, "list", "large_list"):  # views, which pyarrow may cast to empty lists
        sizes = np.where(array.is_valid().to_numpy(zero_copy_only=False), array.sizes.to_numpy(), 0)
        return array.flatten(), [0, *np.cumsum(sizes).tolist()]
    offsets = array.offsets.to_numpy()
    if not len(array):
        return array.values.slice(0, 0), [0]
    return array.values.slice(offsets[0], offsets[-1] - offsets[0]), (offsets - offsets[0]).tolist()


def _arrays(array: Any) -> list[np.ndarray | None]:
    """Lists, also of lists, as arrays; None: it is missing, or something in it is."""
    values, bounds = _bounds(array)
    if _is_list(values.type) or _is_fixed_list(values.type):
        inside, none = _arrays(values), _none_of(values.type)
        found = [_stacked(inside[a:b], none) for a, b in itertools.pairwise(bounds)]
    else:
        holes = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
        zero = False if pa.types.is_boolean(values.type) else 0
        flat = (values if holes is None else values.fill_null(zero)).to_numpy(zero_copy_only=False)
        found = [None if holes is not None and holes[a:b].any() else flat[a:b]
                 for a, b in itertools.pairwise(bounds)]  # fmt: skip
    missing = array.is_null().to_pylist() if array.null_count else [False] * len(array)
    return [None if gone else one for gone, one in zip(missing, found, strict=True)]


def _none_of(type: Any) -> np.ndarray:
    """No lists of that type, as an array: the lengths that it does not tell are 0."""
    shape = [0]
    while _is_list(type) or _is_fixed_list(type):
        shape.append(type.list_size if _is_fixed_list(type) else 0)
        type = type.value_type
    return np.zeros(shape, type.to_pandas_dtype())


def _stacked(arrays: list[Any], none: np.ndarray) -> Any:
    """Arrays of one shape as one; of several, a list, which no field takes. Of no arrays, `none`."""
    if not arrays:
        return none
    if any(array is None for array in arrays):
        return None
    shapes = {array.shape if isinstance(array, np.ndarray) else None for array in arrays}
    if len(shapes) == 1 and None not in shapes:
        return np.stack(arrays)
    return [array if isinstance(array, list) else array.tolist() for array in arrays]


def _column(array: Any) -> Column:
    type = array.type
    if _is_dense(type):
        rows = array.storage if array.null_count else None
        if rows is None:
            dense: np.ndarray = array.to_numpy_ndarray()
            return dense
        axes = _axes(type)
        return [None if one is None else one.reshape(type.shape).transpose(axes) for one in _arrays(rows)]
    if _is_file(type):
        return [
            None if one is None or one == {"bytes": None, "path": None} else _file(one)
            for one in array.to_pylist()
        ]
    if (_is_list(type) or _is_fixed_list(type)) and not _of_lists(type).refused:
        found = _arrays(array)
        fixed = -1 not in (_of_lists(type).shape or ()) and all(one is not None for one in found) and found
        return np.stack(found) if fixed else found  # type: ignore[arg-type]
    if _of_time(type) is not None:
        return _times(array)
    if array.null_count or type not in _NUMBERS:
        return values_of(array)
    numbers: np.ndarray = array.to_numpy(zero_copy_only=False)
    return numbers


def _file(given: dict[str, Any]) -> File:
    return file_of(given["bytes"], given["path"])


def _without_extension(array: Any) -> Any:
    type = array.type
    if isinstance(type, pa.BaseExtensionType) and not _is_dense(type):
        return _without_extension(array.storage)
    return _without_extension(_decoded(array)) if pa.types.is_dictionary(type) else array


def _decoded(array: Any) -> Any:
    """What a dictionary's numbers stand for."""
    values = array.dictionary
    if _is_any(values.type, "string_view", "binary_view"):  # of which Arrow can take none
        values = values.cast(pa.large_string() if is_text(values.type) else pa.large_binary())
    return values.take(array.indices)


def _inside(array: Any, at: int) -> Any:
    """A member of structs, or of lists of structs."""
    if pa.types.is_struct(array.type):
        return array.flatten()[at]
    values, bounds = _bounds(array)
    missing = array.is_null() if array.null_count else None
    return pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), values.flatten()[at], mask=missing)


def _columns(name: str, array: Any, wishes: Wishes) -> Iterator[tuple[str, Column]]:
    array = _without_extension(array)
    members = [] if name in wishes.whole else _members(array.type)
    for at, (inside, _) in enumerate(members):
        yield from _columns(f"{name}.{inside}", _inside(array, at), wishes)
    if not members and wishes.wants(name):
        check_members(name, array.type)
        yield name, _column(_cast(array, wishes.casts.get(name)))


def _spelled(array: Any) -> Any:
    """Floats or booleans as text, which is Python's, as of rows: 1.0 and True, where Arrow has 1 and true."""
    values, missing = array.to_numpy(zero_copy_only=False), array.is_null().to_pylist()
    return pa.array(
        [None if gone else str(one) for one, gone in zip(values, missing, strict=True)], pa.string()
    )


def _cast(array: Any, dtype: str | None) -> Any:
    """Numbers and times as what is asked for, which may round."""
    if dtype == "utf8" and (pa.types.is_floating(array.type) or pa.types.is_boolean(array.type)):
        return _spelled(array)
    if dtype == "utf8" and not is_text(array.type) and not _is_binary(array.type):
        return array.cast(pa.string())
    if pa.types.is_decimal(array.type) and dtype in _BY_NAME:
        return array.cast(pa.float64() if dtype[0] == "f" else _BY_NAME[dtype])
    return array


_BY_NAME = {name: type for type, name in _NUMBERS.items()}


def chunk_of(batch: Any, wishes: Wishes) -> Chunk:
    """The columns of a batch of records, those that are wanted."""
    found: Chunk = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        found.update(_columns(name, array, wishes))
    return found


def classes_of(table: Any) -> dict[str, tuple[str, ...]]:
    """The texts that columns of dictionaries have, in their order; the dictionaries of a column are one."""
    return {
        field.name: tuple(table.column(at).chunk(0).dictionary.to_pylist())
        for at, field in enumerate(table.schema)
        if pa.types.is_dictionary(field.type)
        and is_text(field.type.value_type)
        and table.column(at).num_chunks
    }
