"""Making stores of one's own data."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arguments import (
    flag,
    function,
    names_checked,
    optional_text,
    path_of,
    shown,
    text,
    threads_of,
    whole,
    wrong_type,
    wrong_value,
)
from ._arrays import numpy_dtype
from ._declared import MARKS, declared
from ._errors import Error, ExistsError, InvalidError, InvalidTypeError, advising, prefixed
from ._given import array_of
from ._unsaved import Unsaved
from ._waiting import Values, Waiting
from .schema import Field

_PIECE = 1 << 24  # bytes: so much is appended at once, so that Ctrl-C is heard between


def _kept(given: np.ndarray, array: np.ndarray) -> bool:
    """Is `array`, converted from `given`, the same? Floats may be rounded, but not to infinity."""
    if given.dtype.kind in "fV" and array.dtype.kind in "fV":  # bfloat16 is of the kind "V"
        return np.array_equal(np.isinf(given), np.isinf(array))
    return np.array_equal(array, given)


def _check_bytes(field: Field, count: int) -> int:
    """The bytes of a value, if they are not too many for one."""
    if count > _core.APL_MAX_VALUE:
        raise InvalidError(
            f"field {field.name}: a value of {count:,} bytes; one has at most {_core.APL_MAX_VALUE:,} "
            f"({_core.APL_MAX_VALUE >> 20} MiB)"
        )
    return count


def _utf8(field: Field, value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidError(
            f"field {field.name}: a lone surrogate, \\u{ord(value[error.start]):x}, which UTF-8 does not have"
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


class Writer:
    """Writes a store: all of it, or nothing.

        label = Field("label", "u8", mark="target", classes=("cat", "dog"))
        with apldata.Writer("mine", {"image": ("u8", (3, 32, 32)), "label": label}) as w:
            for image, name in [(np.zeros((3, 32, 32)), "cat"), (np.ones((3, 32, 32)), "dog")]:
                w.append(image=image, label=name)                           # split "train"
            w.begin("test")
            w.extend(image=np.zeros((10, 3, 32, 32)), label=[0] * 10)       # many at once

    At the end of the `with` block, the store is committed: the rest is written, every record is read back and
    compared, and the store appears in one step. An exception in the block leaves nothing behind. Without
    `with`, call `commit()`; a writer that is closed or freed with records that were neither committed nor
    discarded warns that they are lost.

    Args:
        path: the directory of the store, created if necessary.
        schema: the fields: a list of `Field`, or a mapping from names to `Field`, dtype, or (dtype, shape). A
            dtype is the store's name ("u8" is one byte) or NumPy's type; a shape may hold -1 for "varies";
            ``str`` is text. A mapping marks "label" as target, and all else as input; use `Field` to say
            otherwise. ``Field("photo", "u8", media="image/jpeg")`` keeps files as they are: values
            are ``bytes``.
        split: the split that records belong to until `begin()` names another.
        threads: that encode; None: one per core; 0: none, the caller does the work.
        replace: replace an existing store.
        shuffle: a seed: store the records of each split in a keyed random order.
        codec, level, block_records: see ``apl_writer_options`` in ``apl.h``; None and 0: chosen by size.
        progress: called with (records, raw_bytes, stored_bytes) while the store is read back.
        keep_files: store JPEGs as they came. By default those of fields of the media type "image/jpeg" are
            stored without loss in a form of which readers decode only the parts under a crop, and restored to
            the byte when asked for.

    Raises:
        ExistsError: there is a store already, and `replace` is False.
        BusyError: another writer, in this or another process, is writing it.
        NoSpaceError, StorageError, InvalidError.
    """

    @names_checked()
    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Mapping[str, Any] | Iterable[Field],
        *,
        split: str = "train",
        threads: int | None = None,
        replace: bool = False,
        shuffle: int | None = None,
        codec: str | None = None,
        level: int = 0,
        block_records: int = 0,
        source: str = "",
        progress: Callable[[int, int, int], object] | None = None,
        keep_files: bool = False,
    ) -> None:
        self.fields = declared(schema)
        self._first_split, self._members = text("split", split), 0
        self._over = False  # committed, discarded or closed
        self._ended: set[str] = set()  # splits that others have followed
        self._waiting: dict[str, Waiting] = {}  # records of splits whose turn has not come
        self._split: str | None = None
        self._progress, source = function("progress", progress), text("source", source)
        self._numbers = [{name: i for i, name in enumerate(f.classes or ())} for f in self.fields]
        self._dtypes = [None if f.dtype == "utf8" else numpy_dtype(f.dtype) for f in self.fields]
        with advising(ExistsError, "replace=True puts another in its place"):
            self._core = _core.Writer(
                path_of("path", path),
                threads=threads_of(threads),
                replace=bool(flag("replace", replace)),
                shuffle_seed=None if shuffle is None else whole("shuffle", shuffle),
                codec=optional_text("codec", codec),
                level=whole("level", level, -128, 22),
                block_records=whole("block_records", block_records, 0, _core.APL_MAX_BLOCK),
                tool=f"apldata {_core.version()} (Python)",
            )
        self._unsaved = Unsaved(os.fsdecode(path))
        weakref.finalize(self, self._unsaved.tell)
        try:
            self._describe(source, bool(flag("keep_files", keep_files)))
        except BaseException:
            self._core.close()
            raise

    def _describe(self, source: str, keep_files: bool) -> None:
        for f in self.fields:
            self._core.add_field(f.name, f.dtype, MARKS[f.mark], f.shape)
            if f.media is not None:
                self._core.set_media(f.name, f.media)
            if f.media == "image/jpeg" and not keep_files:
                self._core.set_indexed(f.name)
            if f.classes:
                self._core.set_classes(f.name, f.classes)
        if source:
            self._core.set_source(source)

    def begin(self, split: str, member: str | None = None) -> None:
        """Records appended from now on belong to `split`, and to a new member of it, by default of the same
        name. All members of a split must be begun one after another.

        Raises:
            InvalidError: another split has been begun since. Nothing is lost: the writer stays at its current
                split.
        """
        split = text("split", split)
        self._check_begun(split)
        self._core.begin_member(optional_text("member", member) or split, split, self._members)
        if self._split not in (None, split):
            self._ended.add(str(self._split))
        self._split, self._members = split, self._members + 1
        if split in self._waiting:
            for values, rows in self._waiting.pop(split).take():
                self._append(values, rows)

    def _check_begun(self, split: str) -> None:
        """Refuses to go back to a split that is over."""
        if split in self._ended:
            raise InvalidError(
                f"split {split!r} ended when {self._split!r} began: a split is written in one go: sort the "
                "records by split first, or give split= with each, append(split=...), instead of begin()"
            )

    # ----------------------------------------------------------------------------------------- values

    def _array(self, index: int, value: Any, rows: int | None) -> np.ndarray:
        """The value, or `rows` of them, as a contiguous array of the field's dtype, if it is one without
        loss."""
        field = self.fields[index]
        given = array_of(field.name, field.type, value)
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
        return array

    def _class_numbers(self, index: int, given: np.ndarray) -> np.ndarray:
        """The numbers of classes that are given by their names."""
        numbers, found = self._numbers[index], []
        for name in given.ravel().tolist():
            number = numbers.get(name) if isinstance(name, str) else name
            if number is None:
                known = ", ".join(map(shown, list(numbers)[:12])) + ", ..." * (len(numbers) > 12)
                wanted = f"a class ({known}), or the number of one"
                raise wrong_value(f"field {self.fields[index].name}", wanted, name)
            found.append(number)
        return np.asarray(found).reshape(given.shape)

    def _converted(self, index: int, given: np.ndarray) -> np.ndarray:
        """In the field's dtype and contiguous, if nothing is lost by that."""
        field, dtype = self.fields[index], self._dtypes[index]
        what = "values" if given.shape else f"{shown(given.item())},"
        refused = f"field {field.name}: {what} of dtype {given.dtype}, which {field.dtype} cannot hold"
        if given.dtype.kind not in "biufVO":
            raise InvalidTypeError(refused)
        try:
            with np.errstate(invalid="ignore", over="ignore"):
                array = given.astype(dtype, order="C", copy=False)
            kept = given.dtype == dtype or _kept(given, array)
        except OverflowError:
            kept = False
        except (TypeError, ValueError):
            raise InvalidTypeError(refused) from None
        if not kept:
            raise InvalidError(refused)
        return array

    def _value(self, index: int, value: Any) -> tuple[Any, tuple[int, ...] | None]:
        field = self.fields[index]
        if self._dtypes[index] is None:
            if not isinstance(value, (str, bytes)):
                raise wrong_type(f"field {field.name}", "str, or bytes of UTF-8", value)
            text = value if isinstance(value, bytes) else _utf8(field, value)
            return text, (_check_bytes(field, len(text)),)
        if field.media is not None and isinstance(value, (bytes, bytearray, memoryview)):
            return value, (_check_bytes(field, memoryview(value).nbytes),)
        array = self._array(index, value, None)
        _check_bytes(field, array.nbytes)
        return _bytes_of(array), array.shape

    def _named(self, values: Mapping[str, Any]) -> list[Any]:
        missing = [f.name for f in self.fields if f.name not in values]
        unknown = [name for name in values if all(f.name != name for f in self.fields)]
        if missing or unknown:
            told = [f"missing are {', '.join(missing)}"] if missing else []
            told += [f"no field is {', '.join(unknown)}"] if unknown else []
            raise InvalidTypeError(f"a record has a value for each field: {'; '.join(told)}")
        return [values[f.name] for f in self.fields]

    def append(self, /, **values: Any) -> None:
        """Appends one record: a value for each field. Values that the field's dtype cannot hold are
        refused. In a field with classes their names may stand for their numbers: ``label="cat"``.

        ``split="val"`` beside the values (unless a field has the name "split") puts the record into that
        split, in any order of splits: records of others than that which is being written wait in a temporary
        file in the store's directory until `begin()` or the commit. The store is the same as if they had come
        split by split."""
        split = self._split_of(values)
        self._put(split, [self._value(i, value) for i, value in enumerate(self._named(values))], 1)

    def _split_of(self, values: dict[str, Any]) -> str | None:
        """The split that was named beside the values, taken from them; None: that which is being written."""
        if "split" not in values or any(field.name == "split" for field in self.fields):
            return None
        split = text("split", values.pop("split"))
        if not (split.isprintable() and 0 < len(split.encode(errors="replace")) <= _core.APL_MAX_NAME):
            raise wrong_value(
                "split", f"a name of 1 to {_core.APL_MAX_NAME} bytes that can be printed", split
            )
        self._check_begun(split)
        return split

    def _put(self, split: str | None, values: Values, rows: int) -> None:
        """Appends to the split that is being written, or has records of another wait."""
        if split is None or split == (self._split or self._first_split):
            if self._members == 0:
                self.begin(self._first_split)
            self._append(values, rows)
        else:
            self._check_open()
            if split not in self._waiting:
                self._waiting[split] = Waiting(self._unsaved.path, split)
            self._waiting[split].add(values, rows)
        self._unsaved.records += rows

    def _check_open(self) -> None:
        if self._over:
            raise InvalidError("the writer is closed")

    def _append(self, values: Values, rows: int) -> None:
        try:
            self._core.append(values, rows)
        except InvalidError:  # a value was refused, or another thread is in a call
            raise
        except Error:
            self._unsaved.settled = True  # nothing more can be written, and the error says why
            raise

    def extend(self, /, **values: Any) -> None:
        """Appends many records: for each field an array of shape (rows, ...), or a sequence; also of names of
        classes. All of them, or none: a value that is refused, of which the error tells row and field, leaves
        the writer as it was. ``split="val"`` beside the values, as for `append()`."""
        self._extend(values)

    def _extend(self, values: dict[str, Any], called: Sequence[int] | None = None) -> None:
        """`called`: the numbers by which errors call the rows."""
        split = self._split_of(values)
        columns = [np.asarray(one) if hasattr(one, "iloc") else one for one in self._named(values)]
        rows = _rows({f.name: column for f, column in zip(self.fields, columns, strict=True)})
        if rows == 0:
            return
        called = range(rows) if called is None else called
        if any(-1 in f.shape or f.dtype == "utf8" for f in self.fields):
            for record in [self._row(columns, row, called[row]) for row in range(rows)]:
                self._put(split, record, 1)
            return
        arrays = [_bytes_of(self._column(i, column, rows, called)).reshape(rows, -1)
                  for i, column in enumerate(columns)]  # fmt: skip
        step = max(1, _PIECE * rows // max(1, sum(array.nbytes for array in arrays)))
        for first in range(0, rows, step):
            pieces: list[Any] = [(array[first : first + step], None) for array in arrays]
            self._put(split, pieces, len(pieces[0][0]))

    def _row(self, columns: list[Any], row: int, called: int) -> Values:
        """The values of a record among several."""
        with prefixed(f"row {called}: "):
            return [self._value(i, column[row]) for i, column in enumerate(columns)]

    def _column(self, index: int, column: Any, rows: int, called: Sequence[int]) -> np.ndarray:
        """A field's values of all rows; where they are refused, the first row that is tells why."""
        try:
            return self._array(index, column, rows)
        except Error:
            for row in range(rows):
                with prefixed(f"row {called[row]}: "):
                    self._array(index, column[row], None)
            raise

    def _skipped(self, path: str, why: str) -> None:
        """Lists something of the source that was left out."""
        self._core.skipped(path.replace("\0", "?"), why.replace("\0", "?"))

    def _progress_now(self) -> tuple[int, int, int]:
        """Records, their bytes, and the bytes that have been written."""
        return self._core.progress()

    # ----------------------------------------------------------------------------------------- ending

    def commit(self) -> None:
        """Reads everything back and compares it, and puts the store in its place. After that, or after any
        error, only `close()` is left to do."""
        try:
            for split in list(self._waiting):
                self.begin(split)
            self._core.commit(self._progress)
        finally:
            self._unsaved.settled = True  # or the error tells
        self._over = True
        self._core.close()

    def discard(self) -> None:
        """Stops writing, and drops all that was appended."""
        self._over = self._unsaved.settled = True
        self._end()

    def close(self) -> None:
        """Stops writing. Uncommitted records are lost, with a warning, unless `discard()` was called or an
        error stopped the writer."""
        self._over = True
        self._end()
        self._unsaved.tell()

    def _end(self) -> None:
        self._core.close()
        while self._waiting:
            self._waiting.popitem()[1].close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is None and not self._over:
                self.commit()
        finally:
            self.discard()

    def __repr__(self) -> str:
        return f"<apldata.Writer of {', '.join(f'{f.name}: {f.type}' for f in self.fields)}>"
