"""What users give as the values of records, as the library takes it: bytes of a field's dtype and shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arguments import shown, wrong_type, wrong_value
from ._arrays import numpy_dtype
from ._errors import Error, InvalidError, InvalidTypeError, prefixed
from ._given import array_of, of_names_and_numbers, refuse_nulls
from ._indexes import check_paired
from ._waiting import Values
from .kinds import Boxes
from .schema import Field


def _kept(given: np.ndarray, array: np.ndarray) -> bool:
    """Is `array`, converted from `given`, the same? Floats may be rounded, but not to infinity."""
    if given.dtype.kind in "fV" and array.dtype.kind in "fV":  # bfloat16 is of the kind "V"
        return np.array_equal(np.isinf(given), np.isinf(array))
    if given.dtype.kind in "iu" and array.dtype.kind in "fV":  # NumPy would compare them as float64
        large = (given > 2**53) | (given < -(2**53) if given.dtype.kind == "i" else False)
        exact = array.dtype == np.float64 or np.array_equal(array, given)
        return exact and _same(array[large], given[large])
    return np.array_equal(array, given)


def _same(floats: np.ndarray, numbers: np.ndarray) -> bool:
    """By Python's whole numbers, which have no bounds."""
    return [int(one) for one in floats.ravel()] == numbers.ravel().tolist()


def _check_bytes(field: Field, count: int) -> int:
    """The bytes of a value, if they are not too many for one."""
    if count > _core.APL_MAX_VALUE:
        raise InvalidError(
            f"field {field.name}: a value of {count:,} bytes; one has at most {_core.APL_MAX_VALUE:,} "
            f"({_core.APL_MAX_VALUE >> 20} MiB)"
        )
    return count


def _utf8(field: Field, value: str | bytes) -> bytes:
    try:
        if isinstance(value, str):
            return value.encode("utf-8")
        value.decode("utf-8")
        return value
    except UnicodeDecodeError as error:
        raise InvalidError(
            f"field {field.name}: bytes that are not UTF-8: {error.object[error.start]:#04x} at {error.start}"
        ) from None
    except UnicodeEncodeError as error:
        lone = ord(error.object[error.start])
        raise InvalidError(
            f"field {field.name}: a lone surrogate, \\u{lone:x}, which UTF-8 does not have"
        ) from None


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """An array that can be taken as a buffer, which Python's buffers cannot do with bfloat16."""
    return array.reshape(-1).view(np.uint8) if array.dtype.kind == "V" else array


def _rows(columns: Mapping[str, Any]) -> int:
    """How many they have, all of them."""
    for name, column in columns.items():
        unordered = isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__getitem__")
        if unordered or not hasattr(column, "__len__"):
            raise wrong_type(f"field {name}", "an array, or a sequence, with a row for each record", column)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InvalidError(f"fields of different lengths: {told}")
    return max(lengths.values(), default=0)


def _refused(field: Field, given: np.ndarray) -> str:
    what = "values" if given.shape else f"{shown(given.item())},"
    return f"field {field.name}: {what} of dtype {given.dtype}, which {field.dtype} cannot hold"


_SMALL = 4096  # bytes of a value: a copy of such a column is small too


def _flat_texts(field: Field, value: Any, depth: int) -> tuple[list[bytes], tuple[int, ...]]:
    """The texts of lists in lists, `depth` of them, and how many each has."""
    if (depth == 0) != isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise wrong_type(f"field {field.name}", "str, or bytes of UTF-8, in a list", value)
    if depth == 0:
        text = _utf8(field, value)
        if b"\0" in text:
            raise InvalidError(f"field {field.name}: a text of a list has a NUL in it")
        return [text], ()
    parts = [_flat_texts(field, one, depth - 1) for one in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise InvalidError(f"field {field.name}: its lists of texts have different lengths")
    below = shapes.pop() if shapes else tuple(max(size, 0) for size in field.shape[-depth:-1])
    return [text for texts, _ in parts for text in texts], (len(parts), *below)


def _padded(field: Field, value: Any) -> tuple[bytes, tuple[int, ...]]:
    """A list of texts as stores have it: each with as many bytes as the longest."""
    texts, shape = _flat_texts(field, value, len(field.shape) - 1)
    width = max(map(len, texts), default=0)
    _check_bytes(field, len(texts) * width)
    return b"".join(text.ljust(width, b"\0") for text in texts), (*shape, width)


class Encoder:
    """Takes values of the fields of a new store, and refuses those that a field cannot hold.

    Attributes:
        varying: values of a field may differ in shape, so that records are taken one by one.
    """

    def __init__(self, fields: Sequence[Field]) -> None:
        self.varying = any(-1 in f.shape or f.dtype == "utf8" for f in fields)
        self._fields = fields
        self._numbers = [{name: i for i, name in enumerate(f.classes or ())} for f in fields]
        self._forms = [f.kind.form if isinstance(f.kind, Boxes) else "xyxy" for f in fields]
        self._dtypes = [None if f.dtype == "utf8" else numpy_dtype(f.dtype) for f in fields]

    def _in_order(self, values: Mapping[str, Any]) -> list[Any]:
        missing = [f.name for f in self._fields if f.name not in values]
        unknown = [name for name in values if all(f.name != name for f in self._fields)]
        if missing or unknown:
            told = [f"missing are {', '.join(missing)}"] if missing else []
            told += [f"no field is {', '.join(unknown)}"] if unknown else []
            raise InvalidTypeError(f"a record has a value for each field: {'; '.join(told)}")
        return [values[f.name] for f in self._fields]

    def record(self, values: Mapping[str, Any]) -> Values:
        """One record."""
        return [self._value(i, value) for i, value in enumerate(self._in_order(values))]

    def columns(self, values: Mapping[str, Any]) -> tuple[list[Any], int]:
        """Of many records, the values of each field as they were given, and how many records these are."""
        columns = self._in_order(values)
        check_paired(values)
        for at, column in enumerate(columns):
            if hasattr(column, "iloc") or hasattr(column, "null_count"):  # of pandas, polars or Arrow
                refuse_nulls(self._fields[at].name, column)
                columns[at] = np.asarray(column)
        return columns, _rows({f.name: column for f, column in zip(self._fields, columns, strict=True)})

    def one_by_one(self, columns: list[Any], rows: int, called: Sequence[int]) -> list[Values]:
        """Of many records, each; errors call them by the numbers `called`."""
        ready = {
            i: self._taken(i, one, rows, called) for i, one in enumerate(columns) if self._at_once(i, one)
        }
        return [self._row(columns, ready, row, called[row]) for row in range(rows)]

    def _row(self, columns: list[Any], ready: Mapping[int, list[Any]], row: int, called: int) -> Values:
        with prefixed(f"row {called}: "):
            return [
                ready[i][row] if i in ready else self._value(i, column[row])
                for i, column in enumerate(columns)
            ]

    def _at_once(self, index: int, column: Any) -> bool:
        """Is a column sooner converted as one, and with the same result as value by value?"""
        field, dtype = self._fields[index], self._dtypes[index]
        if dtype is None or -1 in field.shape or math.prod(field.shape) * dtype.itemsize > _SMALL:
            return False
        if type(column) is np.ndarray:
            return column.dtype.kind in "biuf"
        return bool(field.classes) and isinstance(column, list) and all(type(one) is str for one in column)

    def _taken(self, index: int, column: Any, rows: int, called: Sequence[int]) -> list[Any]:
        """The values of a column, of one shape."""
        array = self._column(index, column, rows, called)
        shape = array.shape[1:]
        return [(one, shape) for one in _bytes_of(array).reshape(rows, -1)]

    def arrays(self, columns: list[Any], rows: int, called: Sequence[int]) -> list[np.ndarray]:
        """Of many records whose values are of fixed shapes, an array of each field, with a row for each."""
        return [
            _bytes_of(self._column(i, column, rows, called)).reshape(rows, -1)
            for i, column in enumerate(columns)
        ]

    def _column(self, index: int, column: Any, rows: int, called: Sequence[int]) -> np.ndarray:
        """A field's values of all rows; where they are refused, the first row that is tells why, unless it is
        only together that NumPy makes other numbers of them."""
        try:
            return self._array(index, column, rows)
        except Error:
            found = []
            for row in range(rows):
                with prefixed(f"row {called[row]}: "):
                    found.append(self._array(index, column[row], None))
            if len({one.shape for one in found}) != 1:
                raise
            return np.stack(found)

    def _array(self, index: int, value: Any, rows: int | None) -> np.ndarray:
        """The value, or `rows` of them, as a contiguous array of the field's dtype, if it is one without
        loss."""
        field = self._fields[index]
        value = of_names_and_numbers(value) if field.classes else value
        given = array_of(field.name, field.type, value, numpy_dtype(field.dtype), self._forms[index])
        if given.shape == (0,) and rows is None and field.shape[:1] == (-1,):  # an empty list
            given = given.reshape([max(size, 0) for size in field.shape])
        if field.classes and given.dtype.kind in "UTO":
            given = self._class_numbers(index, given)
        array = self._converted(index, given)
        expected = field.shape if rows is None else (rows, *field.shape)
        if array.ndim != len(expected) or any(
            e not in (-1, n) for e, n in zip(expected, array.shape, strict=True)
        ):
            raise InvalidError(
                f"field {field.name}: a value of shape {array.shape}, where {expected} is needed"
            )
        if field.classes and array.size and not 0 <= array.min() <= array.max() < len(field.classes):
            wrong = array.min() if array.min() < 0 else array.max()
            raise wrong_value(
                f"field {field.name}", f"a class from 0 to {len(field.classes) - 1}", wrong.item()
            )
        if field.layout == "HWC":
            return np.ascontiguousarray(np.moveaxis(array, -1, -3))
        return array

    def _class_numbers(self, index: int, given: np.ndarray) -> np.ndarray:
        """The numbers of classes that are given by their names."""
        numbers, found = self._numbers[index], []
        for name in given.ravel().tolist():
            number = numbers.get(name) if isinstance(name, str) else name
            if number is None:
                known = ", ".join(map(shown, list(numbers)[:12])) + ", ..." * (len(numbers) > 12)
                wanted = f"a class ({known}), or the number of one"
                raise wrong_value(f"field {self._fields[index].name}", wanted, name)
            found.append(number)
        return np.asarray(found).reshape(given.shape)

    def _converted(self, index: int, given: np.ndarray) -> np.ndarray:
        """In the field's dtype and contiguous, if nothing is lost by that."""
        field, dtype = self._fields[index], self._dtypes[index]
        if given.dtype == dtype and given.flags.c_contiguous:
            return given
        if given.dtype.kind not in "biufVO":
            raise InvalidTypeError(_refused(field, given))
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                array = given.astype(dtype, order="C", copy=False)
            kept = given.dtype == dtype or _kept(given, array)
        except OverflowError:
            kept = False
        except (TypeError, ValueError):
            raise InvalidTypeError(_refused(field, given)) from None
        if not kept:
            raise InvalidError(_refused(field, given))
        return array

    def _value(self, index: int, value: Any) -> tuple[Any, tuple[int, ...] | None]:
        field = self._fields[index]
        if self._dtypes[index] is None:
            if len(field.shape) > 1:
                return _padded(field, value)
            if not isinstance(value, (str, bytes)):
                raise wrong_type(f"field {field.name}", "str, or bytes of UTF-8", value)
            text = _utf8(field, value)
            return text, (_check_bytes(field, len(text)),)
        if field.media is not None and isinstance(value, (bytes, bytearray, memoryview)):
            return value, (_check_bytes(field, memoryview(value).nbytes),)
        array = self._array(index, value, None)
        _check_bytes(field, array.nbytes)
        return _bytes_of(array), array.shape
