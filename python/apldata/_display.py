"""How stores, batches and loaders show themselves. Nothing here raises: what cannot be shown is named."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ._core import Batch
from ._errors import Error
from ._sheet import LARGEST, are_images, sheet
from ._units import share, size
from .schema import Field, Schema, Split, plain

_IMAGES = 32  # on a contact sheet
_TEXT = 80  # characters of a value in a table


class _Store(Protocol):
    """What is shown of a `Store`."""

    closed: bool

    @property
    def path(self) -> str: ...

    def __len__(self) -> int: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def splits(self) -> dict[str, Split]: ...
    def get(self, ids: np.ndarray, /) -> Batch: ...
    def _splits(self) -> list[tuple[str, int, int]]: ...


# ----------------------------------------------------------------------------------------------- one line


def store_repr(store: _Store) -> str:
    """Path, number of records, splits, fields."""
    try:
        splits = ", ".join(f"{plain(name)}: {count:,}" for name, _, count in store._splits())
        fields = ", ".join(f"{plain(f.name)} {f.type}" for f in store.schema)
        return f"<apldata.Store {store.path!r}: {len(store):,} records ({splits}); {fields}>"
    except (Error, ValueError):
        return f"<apldata.Store {store.path!r}, closed>"


def _value(batch: Batch, name: str) -> Any:
    """What the batch has under a name; bfloat16, which NumPy may not know, as float32."""
    try:
        value = batch[name]
    except TypeError:
        bits = np.asarray(batch.column(name).bits()).astype(np.uint32)
        return (bits << 16).view(np.float32)
    is_bfloat16 = isinstance(value, np.ndarray) and value.dtype.name == "bfloat16"
    return value.astype(np.float32) if is_bfloat16 else value


def _shown(batch: Batch, name: str) -> str:
    try:
        value = batch[name]
    except TypeError:
        value = batch.column(name)  # bfloat16
    if isinstance(value, list):
        return f"{len(value)} values"
    try:
        return f"{value.dtype}{list(value.shape)}"
    except Exception:  # an object of somebody else's
        return type(value).__name__


def batch_repr(batch: Batch) -> str:
    """Rows, position, fields with dtypes and shapes."""
    fields = ", ".join(f"{plain(name)} {_shown(batch, name)}" for name in batch)
    where = f"epoch {batch.epoch}, position {batch.position}"
    return f"<apldata.Batch of {batch.rows}, {where}: {fields or 'no fields'}>"


# -------------------------------------------------------------------------------------------------- HTML


def _cell(tag: str, text: str, right: bool) -> str:
    align = "right;white-space:nowrap" if right else "left"
    style = f"text-align:{align};padding:2px 12px 2px 0"
    return f'<{tag} style="{style}">{html.escape(text)}</{tag}>'


def _table(head: Sequence[str], rows: Iterable[Iterable[Any]], right: Sequence[str] = ()) -> str:
    """Columns named in `right` have numbers; a column without any value is left out."""
    cells = [[str(cell) for cell in row] for row in rows]
    kept = [i for i in range(len(head)) if any(row[i] for row in cells)]

    def line(tag: str, row: Sequence[str]) -> str:
        return f"<tr>{''.join(_cell(tag, row[i], head[i] in right) for i in kept)}</tr>"

    body = line("th", head) + "".join(line("td", row) for row in cells)
    table = f'<table style="margin:6px 0;border-collapse:collapse">{body}</table>'
    return f'<div style="overflow-x:auto">{table}</div>'


def _captions(batch: Batch) -> list[str]:
    """Names of the rows' classes; numbers where classes have no names; an empty list without classes."""
    classes = {f.name: f.classes for f in batch._store.schema if f.classes}
    name = next((n for n in (*classes, "label") if n in batch), None)
    labels = None if name is None else batch[name]
    if not isinstance(labels, np.ndarray) or labels.ndim != 1 or labels.dtype.kind not in "ui":
        return []
    names = classes.get(name) or ()
    return [names[i] if 0 <= i < len(names) else str(i) for i in labels[:_IMAGES].tolist()]


def _decoded(file: Any) -> np.ndarray:
    """A thumbnail of an image file, by Pillow; a grey square if it cannot be decoded."""
    from PIL import Image  # type: ignore[import-not-found, unused-ignore]

    try:
        with Image.open(io.BytesIO(np.asarray(file, np.uint8).tobytes())) as image:
            image.draft("RGB", (LARGEST, LARGEST))  # decodes no more of a JPEG file than is needed
            image.thumbnail((LARGEST, LARGEST))
            return np.asarray(image.convert("RGB"))
    except Exception:  # of whatever kind Pillow's decoders raise
        return np.full((LARGEST, LARGEST, 3), 128, np.uint8)


def _files(batch: Batch) -> Sequence[Any]:
    """The values of the first field of image files that the batch has."""
    for field in batch._store.schema:
        if (field.media or "").startswith("image/") and field.name in batch:
            value = _value(batch, field.name)
            return [value[row] for row in range(min(batch.rows, _IMAGES))]
    return []


def _sheet_of_files(batch: Batch) -> str:
    files = _files(batch)
    if not files:
        return ""
    try:
        import PIL  # noqa: F401
    except ImportError:
        return _told("images are files: they are shown if Pillow is installed")
    return sheet([_decoded(file) for file in files], _captions(batch))


def _sheet_of(batch: Batch) -> str:
    for name in batch:
        value = _value(batch, name)
        if batch.rows and are_images(value):
            return sheet([np.asarray(image) for image in value[:_IMAGES]], _captions(batch))
    return _sheet_of_files(batch)


def _first(batch: Batch, name: str) -> str:
    """What the first row has, if that is a number, a text or a few of them."""
    try:
        value = _value(batch, name)[0]
        text = value if isinstance(value, str) else str(value) if np.size(value) <= 8 else ""
    except Exception:  # no rows, or an object of somebody else's
        return ""
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "\u2026"


def _fields_of(batch: Batch) -> str:
    rows = [(plain(name), _shown(batch, name), _first(batch, name)) for name in batch]
    return _table(("field", "values", "first"), rows) if rows else ""


def _told(text: str) -> str:
    return f'<div style="overflow-wrap:anywhere">{html.escape(text)}</div>'


def batch_html(batch: Batch) -> str:
    """One line, a table of its fields, and a sheet of its first images."""
    try:
        return _told(batch_repr(batch)) + _fields_of(batch) + _sheet_of(batch)
    except (Error, TypeError, ValueError) as error:
        return _told(batch_repr(batch)) + _told(str(error))


def _samples(store: _Store) -> str:
    """Images from all over the first split."""
    _, first, count = store._splits()[0]
    ids = np.unique(np.linspace(first, first + max(count, 1) - 1, _IMAGES).astype(np.uint64))
    return _sheet_of(store.get(ids)) if count else ""


def _type(field: Field) -> str:
    """As commands show it, "*" for any number: "f32[*,4]", "utf8", of lists "utf8[*]"."""
    if field.dtype == "utf8":  # without the bytes of a text
        field = replace(field, shape=field.shape[:-1])
    return str(field.type).replace("-1", "*")


def store_html(store: _Store) -> str:
    """Its fields and splits as tables, and a sheet of images from all over the first split."""
    if store.closed:
        return _told(store_repr(store))
    try:
        raw, stored = store.info["raw_bytes"], store.info["file_bytes"]
        sizes = f"{size(raw)}, stored in {size(stored)} ({share(stored, raw)})"
        title = f"{store.path}: {len(store):,} records, {sizes}"
        fields = _table(
            ("field", "type", "kind", "role", "classes", "codec", "stored"),
            (
                (
                    f.name,
                    _type(f),
                    f.kind or "",
                    f.mark,
                    len(f.classes or ()) or "",
                    f.codec,
                    size(f.stored_bytes),
                )
                for f in store.schema
            ),
            right=("classes", "stored"),
        )
        splits = _table(
            ("split", "records", "part of"),
            ((s.name, f"{s.records:,}", s.parent or "") for s in store.splits.values()),
            right=("records",),
        )
        return _told(title) + fields + splits + _samples(store)
    except (Error, ValueError) as error:
        return _told(store_repr(store)) + _told(str(error))
