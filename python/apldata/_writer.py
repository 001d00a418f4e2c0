"""Making stores of one's own data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import numpy_dtype, store_dtype
from .schema import Field

_PIECE = 1 << 24  # bytes: so much is appended at once, so that Ctrl-C is heard between
_MARKS = {"input": 1, "target": 2, "name": 3}


def _field(name: str, spec: Any) -> Field:
    """A `Field`, from one, or from a dtype, or from (dtype, shape)."""
    if isinstance(spec, Field):
        return spec
    dtype, shape = spec if isinstance(spec, tuple) else (spec, ())
    dtype = store_dtype(dtype)
    return Field(
        name, dtype, (-1,) if dtype == "utf8" else tuple(shape), "target" if name == "label" else "input"
    )


def _fields(schema: Mapping[str, Any] | Iterable[Field]) -> list[Field]:
    if isinstance(schema, Mapping):
        return [_field(name, spec) for name, spec in schema.items()]
    return list(schema)


def _kept(given: np.ndarray, array: np.ndarray) -> bool:
    """Is `array`, converted from `given`, the same? Floats may be rounded, but not to infinity."""
    if given.dtype.kind in "fV" and array.dtype.kind in "fV":  # bfloat16 is of the kind "V"
        return np.array_equal(np.isinf(given), np.isinf(array))
    return np.array_equal(array, given)


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """An array that can be taken as a buffer, which Python's buffers cannot do with bfloat16."""
    return array.reshape(-1).view(np.uint8) if array.dtype.kind == "V" else array


class Writer:
    """Writes a store: all of it, or nothing.

        schema = {"image": ("u8", (3, 32, 32)), "label": Field("label", "u8", mark="target", classes=("cat",
        "dog"))} with apldata.Writer("db", schema) as w:
            for image, label in samples:
                w.append(image=image, label=label)      # split "train"
            w.begin("test")
            w.extend(image=images, label=labels)        # many at once

    At the end of the `with` block the store is committed: what is left is written, every record is read back
    and compared, and the store is put in its place in one step. An exception in the block leaves nothing
    behind.

    Args:
        path: the directory of the store, made if need be.
        schema: the fields: `Field` s, or a mapping from names to `Field`, dtype, or (dtype, shape). A dtype
            is the store's name ("u8" is one byte) or NumPy's type; a shape may hold -1 for "varies"; ``str``
            is text. A mapping marks "label" as target, and all else as input; use `Field` to say otherwise.
        split: the split that records belong to until `begin()` names another.
        threads: that encode; 0: one per core.
        replace: replace a store that exists.
        shuffle: a seed: store the records of each split in a keyed random order.
        codec, level, block_records: see ``apl_writer_options`` in ``apl.h``; None and 0: chosen by size.
        progress: called with (records, raw_bytes, stored_bytes) while the store is read back.

    Raises:
        ExistsError: there is a store already, and `replace` is False.
        BusyError: another process is writing it.
        NoSpaceError, IOError, InvalidError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Mapping[str, Any] | Iterable[Field],
        *,
        split: str = "train",
        threads: int = 0,
        replace: bool = False,
        shuffle: int | None = None,
        codec: str | None = None,
        level: int = 0,
        block_records: int = 0,
        source: str = "",
        progress: Callable[[int, int, int], object] | None = None,
    ) -> None:
        self.fields = _fields(schema)
        self._first_split, self._members = split, 0
        self._progress = progress
        self._dtypes = [None if f.dtype == "utf8" else numpy_dtype(store_dtype(f.dtype)) for f in self.fields]
        self._core = _core.Writer(
            path,
            threads=threads,
            replace=replace,
            shuffle_seed=shuffle,
            codec=codec,
            level=level,
            block_records=block_records,
            tool=f"apldata {_core.version()} (Python)",
        )
        try:
            self._describe(source)
        except BaseException:
            self._core.close()
            raise

    def _describe(self, source: str) -> None:
        for f in self.fields:
            if f.mark not in _MARKS:
                raise ValueError(f"field {f.name}: the mark is 'input', 'target' or 'name', not {f.mark!r}")
            self._core.add_field(f.name, store_dtype(f.dtype), _MARKS[f.mark], f.shape)
            if f.classes:
                self._core.set_classes(f.name, f.classes)
        if source:
            self._core.set_source(source)

    def begin(self, split: str, member: str | None = None) -> None:
        """The records from now on belong to `split`, and to a new member of it, by default called as the
        split is. All members of a split must be begun one after another."""
        self._core.begin_member(member or split, split, self._members)
        self._members += 1

    # ----------------------------------------------------------------------------------------- values

    def _array(self, index: int, value: Any, rows: int | None) -> np.ndarray:
        """The value, or `rows` of them, as a contiguous array of the field's dtype, if it is one without
        loss."""
        field, dtype = self.fields[index], self._dtypes[index]
        given = np.asarray(value)
        if given.dtype.kind == "c":
            raise TypeError(f"field {field.name}: a store has no complex numbers")
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                array = given.astype(dtype, order="C", copy=False)
            kept = given.dtype == dtype or _kept(given, array)
        except OverflowError:
            kept = False
        if not kept:
            raise ValueError(f"field {field.name}: {given.dtype} values that are none of {field.dtype}")
        expected = field.shape if rows is None else (rows, *field.shape)
        if array.ndim != len(expected) or any(
            e not in (-1, n) for e, n in zip(expected, array.shape, strict=True)
        ):
            raise ValueError(
                f"field {field.name}: a value of shape {array.shape}, where {expected} is needed"
            )
        return array

    def _value(self, index: int, value: Any) -> tuple[Any, tuple[int, ...] | None]:
        field = self.fields[index]
        if self._dtypes[index] is None:
            if not isinstance(value, (str, bytes)):
                raise TypeError(
                    f"field {field.name}: {type(value).__name__} where str or UTF-8 bytes are needed"
                )
            text = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
            return text, (len(text),)
        array = self._array(index, value, None)
        return _bytes_of(array), array.shape

    def _named(self, values: Mapping[str, Any]) -> list[Any]:
        missing = [f.name for f in self.fields if f.name not in values]
        unknown = [name for name in values if all(f.name != name for f in self.fields)]
        if missing or unknown:
            raise TypeError(f"missing fields: {missing}; fields that are none: {unknown}")
        if self._members == 0:
            self.begin(self._first_split)
        return [values[f.name] for f in self.fields]

    def append(self, **values: Any) -> None:
        """Appends one record: a value for each field. Values that the field's dtype cannot hold are
        refused."""
        self._core.append([self._value(i, value) for i, value in enumerate(self._named(values))])

    def extend(self, **values: Any) -> None:
        """Appends many records: for each field an array of shape (rows, ...), or a sequence."""
        columns = self._named(values)
        lengths = {len(column) for column in columns}
        if len(lengths) != 1:
            raise ValueError(f"fields of different lengths: {sorted(lengths)}")
        rows = lengths.pop()
        if any(-1 in f.shape or f.dtype == "utf8" for f in self.fields):
            for row in range(rows):
                self._core.append([self._value(i, column[row]) for i, column in enumerate(columns)])
            return
        if rows == 0:
            return
        arrays = [
            _bytes_of(self._array(i, column, rows)).reshape(rows, -1) for i, column in enumerate(columns)
        ]
        step = max(1, _PIECE * rows // max(1, sum(array.nbytes for array in arrays)))
        for first in range(0, rows, step):
            pieces = [(array[first : first + step], None) for array in arrays]
            self._core.append(pieces, len(pieces[0][0]))

    # ----------------------------------------------------------------------------------------- ending

    def commit(self) -> None:
        """Puts the store in its place. After that, or after any error, only `close()` is left to do."""
        self._core.commit(self._progress)
        self._core.close()

    def close(self) -> None:
        """Ends writing; what was not committed vanishes without a trace."""
        self._core.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<apldata.Writer of {', '.join(f'{f.name}: {f.type}' for f in self.fields)}>"
