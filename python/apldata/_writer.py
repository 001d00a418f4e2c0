"""Making stores of one's own data."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _core
from ._arguments import (
    flag,
    function,
    names_checked,
    optional_text,
    path_of,
    text,
    threads_of,
    together,
    whole,
    wrong_value,
)
from ._declared import MARKS, declared
from ._encoder import Encoder
from ._errors import Error, ExistsError, InvalidError, advising
from ._unsaved import Unsaved
from ._waiting import Values, Waiting
from ._warning import warn
from .schema import ORIGINS, UNCLEAR, Field, is_printable

_PIECE = 1 << 24  # bytes: so much is appended at once, so that Ctrl-C is heard between


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

    The kind of a field says what it is, such as ``Field("boxes", "f32", (-1, 4), kind=Boxes("xywh"))``: see
    `apldata.kinds`. `tv_tensors.BoundingBoxes` of torchvision are stored in the form that it says, else as
    XYXY.

    Args:
        path: the directory of the store, created if necessary.
        schema: the fields: a list of `Field`, or a mapping from names to `Field`, dtype, or (dtype, shape). A
            dtype is the store's name ("u8" is one byte) or NumPy's type; a shape may hold -1 for "varies";
            ``str`` is text. A mapping marks "label" as target, and all else as input; use `Field` to say
            otherwise. ``Field("image", "u8", (3, 640, 3), layout="HWC")`` turns images whose channels
            come last. ``Field("photo", "u8", media="image/jpeg")`` keeps files as they are: values
            are ``bytes``.
        split: the split that records belong to until `begin()` names another.
        threads: that encode; None: one per core; 0: none, the caller does the work.
        replace: replace an existing store.
        shuffle: a seed: store the records of each split in a keyed random order.
        codec, level, block_records: see ``apl_writer_options`` in ``apl.h``; None and 0: chosen by size.
        progress: called with (records, raw_bytes, stored_bytes) while the store is read back.
        keep_files: store JPEGs as they came. By default, values of fields of the media type "image/jpeg" are
            stored without loss in an indexed form, so that readers decode only the parts under a crop, and
            are restored byte for byte when read.

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
        self._encoder = Encoder(self.fields)
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
            self._core.add_field(f.name, f.dtype, MARKS[f.mark], f.stored_shape)
            if f.layout_unclear:
                warn(f"field {f.name}: {UNCLEAR.format(f.type)}")
            if f.media is not None:
                self._core.set_media(f.name, f.media)
            if f.media == "image/jpeg" and not keep_files:
                self._core.set_indexed(f.name)
            if f.classes:
                self._core.set_classes(f.name, f.classes)
            if f.kind is not None:
                self._core.set_kind(f.name, str(f.kind), ORIGINS.index(f.kind_origin or "declared") + 1)
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
            self._warn_alike(split)
        self._split, self._members = split, self._members + 1
        if split in self._waiting:
            for values, rows in self._waiting.pop(split).take():
                self._append(values, rows)

    def _warn_alike(self, split: str) -> None:
        """A name that was mistyped makes a split of few records."""
        for other in self._ended:
            if other.strip().casefold() == split.strip().casefold():
                warn(f"{other!r} and {split!r} are two splits, as names that differ by case or blanks are")

    def _check_begun(self, split: str) -> None:
        """Refuses to go back to a split that is over."""
        if split in self._ended:
            raise InvalidError(
                f"split {split!r} ended when {self._split!r} began: a split is written in one go: sort the "
                "records by split first, or give split= with each, append(split=...), instead of begin()"
            )

    # ---------------------------------------------------------------------------------------- records

    def append(self, record: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """Appends one record: a value for each field, by name or in a dict. Values that the field's dtype
        cannot hold are refused. In a field with classes their names may stand for their numbers:
        ``label="cat"``.

        ``split="val"`` beside the values (unless a field has the name "split") puts the record into that
        split, in any order of splits: records of splits other than the current one wait in a temporary file
        in the store's directory until `begin()` or the commit. The store is the same as if they had come
        split by split."""
        values = together("record", record, values)
        split = self._split_of(values)
        self._put(split, self._encoder.record(values), 1)

    def _split_of(self, values: dict[str, Any]) -> str | None:
        """The split that was named beside the values, taken from them; None: that which is being written."""
        if "split" not in values or any(field.name == "split" for field in self.fields):
            return None
        split = text("split", values.pop("split"))
        if not (is_printable(split) and 0 < len(split.encode(errors="replace")) <= _core.APL_MAX_NAME):
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

    def extend(self, records: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """Appends many records: for each field, by name or in a dict, an array of shape (rows, ...), or a
        sequence, also of names of classes. It appends all or none: if a value is refused, the error names its
        row and field, and the writer is unchanged. Series of pandas with different indexes are refused, as
        pandas would not pair their rows in order. ``split="val"`` beside the values works as for
        `append()`."""
        self._extend(together("records", records, values))

    def _extend(self, values: dict[str, Any], called: Sequence[int] | None = None) -> None:
        """`called`: the numbers by which errors call the rows."""
        split = self._split_of(values)
        columns, rows = self._encoder.columns(values)
        if rows == 0:
            return
        called = range(rows) if called is None else called
        if self._encoder.varying:
            for record in self._encoder.one_by_one(columns, rows, called):
                self._put(split, record, 1)
            return
        arrays = self._encoder.arrays(columns, rows, called)
        step = max(1, _PIECE * rows // max(1, sum(array.nbytes for array in arrays)))
        for first in range(0, rows, step):
            pieces: list[Any] = [(array[first : first + step], None) for array in arrays]
            self._put(split, pieces, len(pieces[0][0]))

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
