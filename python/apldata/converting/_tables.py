"""Tables of Arrow, in memory or as streams of batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._arguments import brief
from .._errors import InvalidError, InvalidTypeError, SourceError
from ._arrow import chunk_of, classes_of, told_of
from ._exports import split_up
from ._features import fields_of, told_of_fields, told_of_metadata
from ._rows import PIECE
from ._told import Chunk, Part, Told, Wishes
from ._valid import DAMAGED, checked

_FEW = {"batch_size": 1024, "batch_readahead": 1, "fragment_readahead": 1}  # held in memory at once


def rows_at_once(bytes: int, rows: int) -> int:
    """How many rows of a table of that size make a chunk."""
    return max(1, min(4096, PIECE * rows // max(1, bytes)))


def told_of_schema(schema: Any, wishes: Wishes) -> dict[str, Told]:
    """What a schema and its metadata say."""
    names = [name for name in schema.names if schema.names.count(name) > 1]
    if names:
        raise InvalidError(f"two columns have the name {names[0]!r}")
    told = told_of(schema, wishes)
    for name, more in (told_of_metadata(schema.metadata) | told_of_fields(schema)).items():
        if name in told:
            told[name] = more.over(told[name])
    return told


def wishes_of(schema: Any, wishes: Wishes) -> Wishes:
    """With the fields of an exported store that are called like indexes of pandas."""
    fields = fields_of(schema)
    return dataclasses.replace(wishes, fields=fields) if fields else wishes


def chunks(batches: Iterable[Any], wishes: Wishes) -> Iterator[Chunk]:
    """The batches of records, as chunks. What Arrow cannot read is an error of the source."""
    iterator = iter(batches)
    while True:
        try:
            batch = next(iterator, None)
        except DAMAGED as error:
            raise SourceError(brief(str(error), 300)) from None
        if batch is None:
            return
        if batch.num_rows:
            try:
                yield chunk_of(batch, wishes)
            except DAMAGED as error:
                raise SourceError(brief(str(error), 300)) from None


def pieces(table: Any) -> Iterator[Any]:
    """A table as batches of records, none too large."""
    yield from table.to_batches(max_chunksize=rows_at_once(table.nbytes, table.num_rows))


def sliced(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches that have been checked, none too large."""
    for batch in map(checked, batches):
        step = rows_at_once(batch.nbytes, batch.num_rows)
        for first in range(0, batch.num_rows, step):
            yield batch.slice(first, step)


def _exported(read: Callable[[Any], Any], source: Any) -> Any:
    """What `read` makes of the stream of Arrow that something exports."""
    try:
        return read(source)
    except pa.ArrowException as error:
        column = _unreadable(source)
        told = column if column else f"pyarrow cannot read it: {brief(str(error), 200)}"
        raise InvalidTypeError(told) from None


def _unreadable(frame: Any) -> str | None:
    """The column of a frame of polars that pyarrow has no type for."""
    for column in frame.get_columns() if hasattr(frame, "get_columns") else ():
        try:
            pa.chunked_array(column)
        except pa.ArrowException:
            return f"column {column.name}: pyarrow has no type for {column.dtype}: cast it, or leave it out"
    return None


def _without_objects(frame: Any, wishes: Wishes) -> Any:
    """A frame of polars without its columns of Python's objects, of which Arrow would get addresses.

    Raises:
        InvalidTypeError: one of these is wanted.
    """
    schema = getattr(frame, "schema", {}) if hasattr(frame, "get_columns") else {}
    objects = [name for name, dtype in schema.items() if "Object" in str(dtype)]
    for name in filter(wishes.wants_of, objects):
        raise InvalidTypeError(
            f"column {name}: Python's objects, polars' type {schema[name]}: give rows, frame.to_dicts(), or "
            "leave it out, fields=[...]"
        )
    return frame.drop(objects) if objects else frame


def _unknown(told: Mapping[str, Told], wishes: Wishes) -> list[str]:
    """Of columns of dictionaries in a stream, whose texts come with its batches."""
    return [
        f"column {name}: stored as text, as a stream does not tell all texts of its dictionary beforehand: "
        f"classes={{{name!r}: [...]}} makes classes of them"
        for name, one in told.items()
        if one.codes and not one.classes and wishes.wants(name) and name not in wishes.classes
    ]


def _reading(source: Any) -> tuple[Any, Callable[[], Iterable[Any]], int | None, bool]:
    """Schema, batches, how many rows, and whether there are batches again."""
    if hasattr(source, "to_batches") and hasattr(source, "schema"):  # a Dataset of pyarrow
        return source.schema, lambda: sliced(source.to_batches(**_FEW)), None, True
    if hasattr(source, "__arrow_c_stream__"):
        reader = _exported(pa.RecordBatchReader.from_stream, source)
        return reader.schema, lambda: sliced(reader), None, False
    name = type(source).__name__
    raise InvalidError(f"cannot read a {name} of pyarrow: give a Table, a RecordBatch or a RecordBatchReader")


def open_table(split: str, source: Any, wishes: Wishes) -> Part:
    """A table, a reader of record batches, or whatever exports a stream of Arrow."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    in_memory = hasattr(source, "__len__") and hasattr(source, "__arrow_c_stream__")
    if in_memory and not isinstance(source, pa.Table):
        source = _exported(pa.table, _without_objects(source, wishes))  # of polars, without a copy
    if not isinstance(source, pa.Table):
        schema, batches, rows, again = _reading(source)
        wishes = wishes_of(schema, wishes)
        told = told_of_schema(schema, wishes)
        return Part(split, lambda: chunks(batches(), wishes), told, rows, again, notes=_unknown(told, wishes))
    return _of_table(split, checked(source).unify_dictionaries(), wishes)


def _of_table(split: str, table: Any, wishes: Wishes) -> Part:
    wishes = wishes_of(table.schema, wishes)
    told = told_of_schema(table.schema, wishes)
    for name, classes in classes_of(table).items():
        told[name] = Told(classes=classes).over(told[name])
    return Part(split, lambda: chunks(pieces(table), wishes), told, table.num_rows)


class TableColumns:
    """Columns of a table, or of a frame of polars, that are read one by one.

    Attributes:
        told: what their types say.
    """

    def __init__(self, source: Any, wishes: Wishes) -> None:
        table = source
        if not isinstance(source, pa.Table):
            table = _exported(pa.table, _without_objects(source, wishes))
        self._table, self._wishes = checked(table).unify_dictionaries(), wishes
        self.told = _of_table("", self._table, wishes).told

    def rows(self, name: str, first: int, count: int) -> Chunk:
        """Some rows of a column, which are several columns if it is one of structs."""
        if name not in self._table.column_names:  # Python's objects, which nobody wants
            return {}
        piece = self._table.select([name]).slice(first, count).combine_chunks()
        return chunk_of(piece.to_batches()[0], self._wishes)


def open_tables(source: Any, wishes: Wishes) -> list[Part]:
    """A table of an exported store, by its splits; any other as one."""
    schema = getattr(source, "schema", None)
    if not isinstance(schema, pa.Schema):
        return [open_table("train", source, wishes)]
    name = type(source).__name__
    return split_up(lambda more: open_table("train", source, more), schema, wishes, name)
