"""apldata.export: a store becomes a Parquet file, in the layout of Hugging Face's image datasets."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ._arguments import choice, flag, names, names_checked, path_of, text
from ._errors import ExistsError, UnsupportedError, prefixed, storage_error
from ._reading import arrays_of
from ._store import Store
from .schema import Field, plain

_PIECE = 16 << 20  # bytes of records that become a row group
_ARROW = {"u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32", "i32": "int32",
          "u64": "uint64", "i64": "int64", "f16": "float16", "bf16": "float32", "f32": "float32",
          "f64": "float64", "bool": "bool_", "utf8": "string"}  # fmt: skip


def _load() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
        import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise UnsupportedError(
            "Parquet files are written by the package pyarrow: pip install pyarrow"
        ) from None
    return pa, pq


def _check_text(name: str, values: Any, ids: np.ndarray) -> None:
    """Refuses text with bytes that are not UTF-8, which come as lone surrogates; ids: of the records."""
    for number, value in zip(ids, values, strict=True):
        text = value if isinstance(value, str) else "".join(np.ravel(value).tolist())
        if text.isascii():
            continue
        try:
            text.encode()
        except UnicodeEncodeError as error:
            byte = ord(text[error.start]) & 0xFF
            raise UnsupportedError(
                f"record {number}, field {plain(name)}: text with the byte {byte:#04x}, which is not UTF-8, "
                "as older versions stored it: `apldata extract --fields` makes a store of the other fields, "
                "and docs/DATA.md shows how to make one with its text repaired"
            ) from None


class _Column:
    """How one field is written.

    Args:
        paths: the field that has the names of its files, if it keeps some; None: none.
        shaped: is there a field of the shapes of its files? If nothing is said, JPEG files get one.
    """

    def __init__(self, pa: Any, field: Field, paths: str | None, shaped: bool) -> None:
        self._pa, self.field, self.paths, self._shaped = pa, field, paths, shaped
        self.type = self._type()

    @property
    def kind(self) -> str | None:
        """What Hugging Face's library calls files of its media type."""
        kind = (self.field.media or "").partition("/")[0]
        return {"image": "Image", "audio": "Audio"}.get(kind)

    def _type(self) -> Any:
        pa, field = self._pa, self.field
        if self.kind:
            return pa.struct({"bytes": pa.binary(), "path": pa.string()})
        if field.media:
            return pa.binary()
        found = pa.int64() if field.classes else getattr(pa, _ARROW[field.dtype])()
        for size in reversed(field.shape[:-1] if field.dtype == "utf8" else field.shape):
            found = pa.list_(found) if size < 0 or len(field.shape) > 1 else pa.list_(found, size)
        return found

    def feature(self) -> dict[str, Any] | None:
        """What Hugging Face's library is told of it; None: the type says it all."""
        if self.kind:
            return {"_type": self.kind}
        if self.field.classes:
            return {"_type": "ClassLabel", "names": list(self.field.classes)}
        return None

    def told(self) -> dict[str, Any]:
        """What `convert()` is told of it, to make the same field again."""
        f = self.field
        return {"name": f.name, "dtype": f.dtype, "shape": list(f.shape), "mark": f.mark, "media": f.media,
                "kind": None if f.kind is None else str(f.kind),
                "classes": list(f.classes) if f.classes else None, "shaped": self._shaped}  # fmt: skip

    def array(self, batch: dict[str, Any], ids: np.ndarray) -> Any:
        """Of the records `ids`."""
        values, pa = batch[self.field.name], self._pa
        for name in (self.paths, self.field.name if self.field.dtype == "utf8" else None):
            if name is not None:
                _check_text(name, batch[name], ids)
        if self.kind:
            names = batch[self.paths] if self.paths else [None] * len(values)
            files = [{"bytes": bytes(value), "path": name} for value, name in zip(values, names, strict=True)]
            return pa.array(files, self.type)
        if self.field.media:
            return pa.array([bytes(value) for value in values], self.type)
        if self.field.dtype == "bf16":
            values = [np.asarray(value, np.float32) for value in values]
        if isinstance(values, np.ndarray) and values.ndim == 1:
            return pa.array(values).cast(self.type)
        rows = [value if isinstance(value, str) else np.asarray(value).tolist() for value in values]
        return pa.array(rows, self.type)


def _columns(pa: Any, fields: list[Field]) -> list[_Column]:
    """Those of the file. The names of image files go with the files, and their shapes are found again."""
    files = [field for field in fields if field.media and field.media.startswith(("image/", "audio/"))]
    paths = next(
        (f.name for f in fields if len(files) == 1 and (f.name, f.dtype, f.mark) == ("path", "utf8", "name")),
        None,
    )
    shapes = {f"{field.name}_shape" for field in files if field.media == "image/jpeg"}
    left_out = {paths} | {f.name for f in fields if f.name in shapes and (f.mark, f.dtype) == ("name", "u32")}
    present = {f.name for f in fields}
    return [
        _Column(pa, f, paths if f in files else None, f"{f.name}_shape" in present)
        for f in fields
        if f.name not in left_out and f.mark != "position"
    ]


class _Export:
    """One call of export().

    Args:
        splits: those that are written; several get a column that names each record's.
    """

    def __init__(self, store: Store, splits: list[str]) -> None:
        self._pa, self._pq = _load()
        self._store, self._splits = store, splits
        self._columns = _columns(self._pa, list(store.schema))
        taken = [column.field.name for column in self._columns]
        self._split = next(name for name in ("split", "apldata_split", "apldata_split_") if name not in taken)
        self._fields = list(store.schema.names)

    def _schema(self) -> Any:
        pa, several = self._pa, len(self._splits) > 1
        fields = [
            pa.field(column.field.name, column.type, metadata=_told(column.told()))
            for column in self._columns
        ]
        told = {
            "fields": [column.told() for column in self._columns],
            "split": self._split if several else None,
            "name": self._splits[0],
            "splits": {split: len(self._store.split_ids(split)) for split in self._splits},
        }
        split = pa.field(self._split, pa.string(), metadata=_told({"is_split": True}))
        schema = pa.schema([*fields, split] if several else fields)
        metadata = _told(told)
        features = {column.field.name: feature for column in self._columns if (feature := column.feature())}
        if features:
            features = self._all_features(schema, features)
            metadata[b"huggingface"] = json.dumps({"info": {"features": features}}).encode()
        return schema.with_metadata(metadata)

    def _all_features(self, schema: Any, known: dict[str, Any]) -> dict[str, Any]:
        """Hugging Face's library wants to be told of all columns, or of none."""
        return {field.name: known.get(field.name) or self._feature(field.type) for field in schema}

    def _feature(self, type: Any) -> dict[str, Any]:
        types = self._pa.types
        if types.is_list(type) or types.is_fixed_size_list(type):
            length = {"length": type.list_size} if types.is_fixed_size_list(type) else {}
            return {"_type": "Sequence", "feature": self._feature(type.value_type), **length}
        names = {"halffloat": "float16", "float": "float32", "double": "float64"}
        return {"_type": "Value", "dtype": names.get(str(type), str(type))}

    def _batches(self) -> Iterator[tuple[str, np.ndarray, dict[str, Any]]]:
        """Of each the split, the ids, and the columns."""
        size = sum(field.raw_bytes for field in self._store.schema)
        rows = max(1, min(4096, _PIECE * len(self._store) // max(1, size)))
        for split in self._splits:
            ids = self._store.split_ids(split)
            for first in range(0, len(ids), rows):
                some = ids[first : first + rows]
                yield split, some, arrays_of(self._store, some, self._fields, None)

    def write(self, file: Any) -> int:
        schema, records = self._schema(), 0
        with self._pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=False) as out:
            for split, ids, batch in self._batches():
                with prefixed(f"{self._store.path}: "):
                    arrays = [column.array(batch, ids) for column in self._columns]
                if len(self._splits) > 1:
                    arrays.append(self._pa.array([split] * len(arrays[0]), self._pa.string()))
                out.write_table(self._pa.Table.from_arrays(arrays, schema=schema))
                records += len(arrays[0])
        return records


def _told(what: dict[str, Any]) -> dict[bytes, bytes]:
    """As metadata of a schema; that of columns stays when they are renamed."""
    return {b"apldata": json.dumps(what).encode()}


@names_checked()
def export(
    store: Store | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    format: str = "parquet",
    split: str | Iterable[str] | None = None,
    replace: bool = False,
) -> int:
    """Writes the records of a store into a Parquet file. `apldata export` writes the other formats.

    Files of images and audio become structs of bytes and path, as in Hugging Face's datasets; names of
    classes and types are in the metadata. `convert()` of the file gives a store with the same content digest.

    Args:
        split: one split, or several; None: all splits of the source. If there are several, the column "split"
            names each record's.
        replace: replace an existing file.

    Returns:
        How many records were written.

    Raises:
        ExistsError: the file exists, and `replace` is False.
        UnsupportedError: a text is not UTF-8, as older versions stored it.
    """
    choice("format", format, {"parquet": 0})
    opened = store if isinstance(store, Store) else Store(store)
    target, replace = path_of("path", path), bool(flag("replace", replace))
    own = [name for name, _, _ in opened._splits()]
    wanted = (
        own if split is None else [text("split", split)] if isinstance(split, str) else names("split", split)
    )
    if os.path.lexists(target) and not replace:
        raise ExistsError(f"{target}: is there already; replace=True puts another in its place")
    return _written(_Export(opened, list(wanted or own)), target)


def _written(export: _Export, target: str) -> int:
    """Writes beside the file, and puts it in its place when it is whole."""
    folder = os.path.dirname(target) or "."
    try:
        number, beside = tempfile.mkstemp(dir=folder, prefix=".apldata-")
    except OSError as error:
        raise storage_error(target, error) from None
    try:
        with os.fdopen(number, "wb") as file:
            records = export.write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, target)
    except OSError as error:
        raise storage_error(target, error) from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(beside)
    return records


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
