"""apldata.convert: what Python holds or can read becomes a store."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from .. import _core
from .._arguments import flag, function, names, names_checked, path_of, text, threads_of, whole
from .._errors import InvalidError, prefixed
from .._progress import Bar, Progress
from .._warning import warn
from .._writer import Writer
from ..ingesting import IngestSummary, IngestWarning
from ..schema import listed
from ._alike import of_splits
from ._appending import Appender, Rules
from ._choosing import Asked, Classes, Fields, Types, are_lists, asked, check_names, choose, not_of_lists
from ._classes import OneNaming, one_naming
from ._making import Maker
from ._series import check_series, gap
from ._sources import Opener, split_named
from ._told import Chunk, Column, Part, Source, Told, Wishes, rows_of, size_of

_FIRST_ROWS, _FIRST_BYTES = 256, 32 << 20  # what types are found from


# ------------------------------------------------------------------------------------------- the first rows


def _first(chunks: Iterator[Chunk]) -> list[Chunk]:
    """Chunks enough to find types from."""
    taken: list[Chunk] = []
    rows = size = 0
    while rows < _FIRST_ROWS and size < _FIRST_BYTES:
        chunk = next(chunks, None)
        if chunk is None:
            break
        taken.append(chunk)
        rows += rows_of(chunk)
        size += sum(size_of(value) for column in chunk.values() for value in column)
    return taken


def _joined(chunks: list[Chunk]) -> Chunk:
    """Their first rows, as one."""
    if len(chunks) == 1:
        return {name: column[:_FIRST_ROWS] for name, column in chunks[0].items()}
    return {name: [value for chunk in chunks for value in chunk[name]][:_FIRST_ROWS] for name in chunks[0]}


def _chosen_parts(source: Source, split: str | Iterable[str] | None) -> list[Part]:
    """The splits that are wanted; a source without splits has one, of the name that is asked for."""
    if split is None:
        return source.parts
    split = split_named(split)
    if isinstance(split, str) and len(source.parts) == 1:
        source.parts[0].split = text("split", split)
        return source.parts
    several = map(split_named, split) if isinstance(split, (list, tuple)) else split
    wanted = [text("split", split)] if isinstance(split, str) else names("split", several) or []
    known = {part.split: part for part in source.parts}
    for name in wanted:
        if name not in known:
            raise InvalidError(f"split: the source has no split {name!r}: it has {listed(known)}")
    return [known[name] for name in wanted]


def _texts(name: str, column: str, values: Column) -> Iterator[str]:
    """The values of some rows of a column of text, for the field `name`."""
    for value in values:
        if are_lists([value]):
            raise InvalidError(not_of_lists(name))
        if value is not None and not isinstance(value, str):
            raise InvalidError(
                f"classes: column {column} is not text: name the classes of its numbers in their order"
            )
        if value is not None:
            yield value


def _forget_classes(part: Part, column: str) -> None:
    """Of a column whose values are the names of its classes: names that no value has get no number."""
    told = part.told.get(column, Told())
    if told.codes:
        part.told = {**part.told, column: dataclasses.replace(told, classes=None)}


def _find_classes(wanted: Asked, parts: list[Part]) -> None:
    """Reads the source once, for the names of classes that nobody has told: those of all splits, sorted."""
    columns = wanted.fields or {}
    for part in parts:
        for column, told in part.told.items():
            if (
                told.codes
                and not told.classes
                and part.again
                and (wanted.fields is None or column in columns)
            ):
                name = wanted.field(column)
                if name not in wanted.types:
                    wanted.classes.setdefault(name, None)
    open_ones = [name for name, given in wanted.classes.items() if given is None]
    for name in open_ones:
        column = next((old for old, new in columns.items() if new == name), name)
        if all(part.told.get(column, Told()).classes for part in parts):
            continue
        seen: set[str] = set()
        for part in parts:
            if not part.again:
                raise InvalidError(
                    f"classes: the source can be read only once: name them, classes={{{name!r}: [...]}}"
                )
            for chunk in part.chunks():
                if column not in chunk:
                    raise InvalidError(f"classes: there is no column {column!r}: there are {listed(chunk)}")
                seen.update(_texts(name, column, chunk[column]))
        wanted.classes[name] = tuple(sorted(seen))
        for part in parts:
            _forget_classes(part, column)


# ---------------------------------------------------------------------------------------------- converting

_SPLIT_NOTE = (
    "column split: stored as a field; all records are in the split {!r}. If it names their splits, give each "
    "as a source of its own: convert({{'train': ..., 'test': ...}}, ...)"
)


def _is_text(maker: Maker) -> bool:
    return maker.field.dtype == "utf8" or maker.field.classes is not None


class _Conversion:
    """One call of convert()."""

    def __init__(self, source: Source, parts: list[Part], wanted: Asked, rules: Rules, tell: Any) -> None:
        self._source, self._parts, self._wanted, self._rules, self._tell = source, parts, wanted, rules, tell
        self._expected = (
            sum(part.rows or 0 for part in parts) if all(p.rows is not None for p in parts) else 0
        )

    def run(self, db: str, options: dict[str, Any], pool: ThreadPoolExecutor) -> tuple[int, int]:
        """Records, and their bytes."""
        begun = None
        for at, part in enumerate(self._parts):
            chunks = part.chunks()
            with prefixed(f"{part.split}, "):
                first = _first(chunks)
            if first:
                begun = at, chunks, first
                break
        if begun is None:
            raise InvalidError("there are no rows")
        at, chunks, first = begun
        naming = self._naming(self._parts[at])
        told = of_splits(naming.told, (part.told for part in self._parts))
        makers = self._makers(self._parts[at], told, first, pool)
        fields = [maker.field for maker in makers] + [field for maker in makers for field in maker.beside]
        with Writer(db, fields, source=self._source.format, progress=self._checking, **options) as writer:
            columns = None if self._wanted.fields is not None else first[0]
            appender = Appender(writer, makers, self._rules, naming.renumber, columns, self._reading)
            for number, part in enumerate(self._parts):
                writer.begin(part.split)
                if number < at:
                    continue
                given = chunks if number == at else part.chunks()
                appender.take(part, _chained(first if number == at else [], given))
            if appender.records == 0:
                raise InvalidError("no row is left: all have been left out")
        self._tell_notes([note for maker in makers for note in maker.notes()])
        return appender.records, appender.raw_bytes

    def _naming(self, part: Part) -> OneNaming:
        """The classes of all splits, of which `part` is the first with records."""
        told = {one.split: one.told for one in self._parts}
        naming = one_naming(told, part.split, _wishes(self._wanted))
        self._tell_notes(list(dict.fromkeys(note for one in self._parts for note in one.notes)))
        self._tell_notes(naming.notes)
        return naming

    def _makers(
        self, part: Part, told: Mapping[str, Told], first: list[Chunk], pool: ThreadPoolExecutor
    ) -> list[Maker]:
        columns = check_names(self._wanted, first[0])
        makers, notes = choose(self._wanted, told, _joined(first), columns, pool, part.outside)
        if len(self._parts) == 1 and any(maker.column == "split" and _is_text(maker) for maker in makers):
            notes.append(_SPLIT_NOTE.format(part.split))
        self._tell_notes(notes)
        return makers

    def _tell_notes(self, notes: list[str]) -> None:
        for note in notes:
            warn(f"{self._source.name}: {note}", IngestWarning)

    def _reading(self, records: int, raw_bytes: int, stored: int) -> None:
        self._report("reading", records, raw_bytes, stored)

    def _checking(self, records: int, raw_bytes: int, stored: int) -> None:
        self._report("checking", records, raw_bytes, stored)

    def _report(self, phase: str, records: int, raw_bytes: int, stored: int) -> None:
        if self._tell is not None:
            self._tell(Progress(phase, records, 0, self._source.bytes, raw_bytes, stored, self._expected))


def _chained(first: list[Chunk], rest: Iterator[Chunk]) -> Iterator[Chunk]:
    while first:
        yield first.pop(0)
    yield from rest


def _wishes(wanted: Asked) -> Wishes:
    old = {new: old for old, new in (wanted.fields or {}).items()}
    casts = {
        old.get(name, name): spec.dtype
        for name, spec in wanted.types.items()
        if not isinstance(spec, str) and spec.dtype is not None
    }
    classes = {name: spec.classes for name, spec in wanted.types.items() if isinstance(spec, Told)}
    named = {old.get(name, name): given for name, given in (classes | wanted.classes).items() if given}
    whole = frozenset(old.get(name, name) for name, spec in wanted.types.items() if spec == "json")
    return Wishes(casts, None if wanted.fields is None else frozenset(wanted.fields), named, whole)


def _names(fields: Fields) -> list[str] | None:
    """Those of the values of rows that have none: what is chosen, in its order."""
    return None if fields is None or isinstance(fields, Mapping) else names("fields", fields)


@names_checked()
def convert(
    source: Any,
    db: str | os.PathLike[str],
    *,
    split: str | Iterable[str] | None = None,
    fields: Fields = None,
    types: Types = None,
    classes: Classes = None,
    missing: str | Mapping[str, Any] | None = None,
    keep_bytes: bool | None = None,
    skip_bad: int = 0,
    check: bool = True,
    allow_warnings: bool = False,
    keep_files: bool = False,
    partial: bool = False,
    workers: int = 0,
    progress: bool | Callable[[Progress], object] = False,
    replace: bool = False,
    shuffle: int | None = None,
    threads: int | None = None,
    codec: str | None = None,
    level: int = 0,
    block_records: int = 0,
    force: bool = False,
) -> IngestSummary:
    """Makes a store of what Python holds or can read. The source is streamed: memory does not grow with it.

    Args:
        source: a Parquet or Arrow file, a list of such, or a directory of such or of a saved dataset
            of Hugging Face, whose names give splits, such as ``train-00000-of-00002.parquet`` (files whose
            names give none are of "train"), and columns,
            such as ``label=cat/part-0.parquet``; a table of
            pyarrow, a data frame of pandas or polars, or anything that exports Arrow streams; a ``Dataset``
            or ``IterableDataset`` of Hugging Face; a dict of columns of equal lengths, which may be arrays,
            lists and columns of pandas, polars or Arrow, or a structured array of NumPy; a dataset of torch,
            or anything that has ``__getitem__`` and ``__len__``, or can be iterated over: a row is a dict, an
            object with named members, a tuple or a single value. An ImageFolder
            of torchvision without transforms gives its files as they are. Or a dict of such sources, paths
            among them, by the names of splits: "train" becomes the first split, which loaders read unless
            told otherwise, and the others follow in the order of the dict.
        db: the directory of the store, which is created.
        split: the split that the records belong to, "train" by default; for a source with several splits,
            which ones to take, in that order.
        fields: the columns that become fields: a list; or a dict, from the names of columns to those of
            fields. If rows are tuples, a list names each of their values, in order.
        types: types of fields, if those inferred from the first rows would be wrong: a dtype ("f32"), dtype
            and shape (("u8", (-1, -1, -1))), or an `apldata.Field`; "file": its texts are paths of files to
            keep; "mask": images, or paths of such, whose pixels are class numbers to keep; "json": its values
            as text, dicts and structs whole.
        classes: the names of the classes of fields: ``{"label": ["cat", "dog"]}``; or a list of text fields
            whose values are names of classes: ``["label"]``, for which the source is read twice, unless it
            tells them, as categories do.
        missing: what to do if a value is missing (None): None refuses the row, "skip" leaves it out, and a
            dict from fields to values substitutes these.
        keep_bytes: None keeps JPEG files, and re-encodes other images among them as JPEGs of quality 100; if
            most are not JPEGs, all are decoded, and their pixels stored without loss. True keeps all files as
            they are; False decodes all images. Kinds that aplingest does not read need Pillow.
        skip_bad: how many rows with a bad file, such as an image that cannot be decoded, to leave out; the
            store lists them, and the next one is an error.
        check: decode each JPEG image once to check it.
        allow_warnings: keep images that their library only warns of, as `ingest()` does, each with a warning.
        keep_files: store JPEGs as they came, without an index for crops: see `Writer`.
        partial: accept a series of files such as ``train-00000-of-00003.parquet`` of which some are missing.
            A file that is given alone, by its name, needs no others.
        workers: processes that make the rows of a dataset with ``__getitem__``, if that is slow. The order of
            the rows stays the same.
        progress: True shows a bar on stderr; a function is called with a `Progress`.
        replace: replace an existing store. `force` is another name for it.
        shuffle, threads, codec, level, block_records: as for `Writer`.

    Types and shapes are inferred from the first 256 rows. A later row that differs is refused, with its
    number and column. Nothing is rounded, except floats for which you choose a narrower type. All splits have
    the same columns, or those of `fields`.
    Dates, times and durations become whole numbers, all of a column in the unit of its first rows.

    Classes that come as numbers are matched by their names: where splits or files name theirs differently,
    they are numbered together, the names of the first in its order, then what each of the others adds; or as
    `classes` has them, if it has them all.

    A store does not know the format of bounding boxes. Those of torchvision, `tv_tensors.BoundingBoxes`, are
    stored as XYXY, which loaders take by default. All others are stored as they are, such as COCO's, of
    which loaders must be told: ``box_format="XYWH"``.

    Returns:
        A summary of what was done.

    Raises:
        InvalidError: a value cannot be stored, or an argument is invalid.
        SourceError: the source is damaged, or raised an exception.
        IncompleteError: some of a series of files are missing.
        ExistsError, BusyError, NoSpaceError, StorageError: as for `Writer`.

    Warns:
        IngestWarning: notes, such as how many images were re-encoded.
    """
    keep = None if keep_bytes is None else bool(flag("keep_bytes", keep_bytes))
    wanted = asked(
        fields, types, classes, keep, bool(flag("check", check)), bool(flag("allow_warnings", allow_warnings))
    )
    rules = Rules(missing, whole("skip_bad", skip_bad))
    replace = bool(flag("replace", replace)) or bool(flag("force", force))
    options = {"replace": replace, "shuffle": shuffle, "threads": threads,
               "codec": codec, "level": level, "block_records": block_records,
               "keep_files": bool(flag("keep_files", keep_files))}  # fmt: skip
    partial = bool(flag("partial", partial))
    path, workers = path_of("db", db), whole("workers", workers, 0, 1024)
    threads_of(threads)
    began = time.monotonic()
    with ExitStack() as stack:
        tell = _teller(progress, stack)
        opened = Opener(_names(fields), _wishes(wanted), workers, stack).open(source)
        stack.callback(opened.close)
        if not partial and (opened.looked_for or len(opened.files) > 1):
            check_series(opened.files)
            if lacking := gap(opened.files):
                warn(f"{opened.name}: {lacking}", IngestWarning)
        pool = stack.enter_context(ThreadPoolExecutor(threads or _core.cores(), "apldata-convert"))
        with prefixed(f"{opened.name}: "):
            parts = _chosen_parts(opened, split)
            _find_classes(wanted, parts)
        conversion = _Conversion(opened, parts, wanted, rules, tell)
        with prefixed(f"{opened.name}: "):
            records, raw_bytes = conversion.run(path, options, pool)
        file_bytes = os.path.getsize(os.path.join(path, "data.mdb"))
        if tell is not None:
            tell(Progress("done", records, 0, opened.bytes, raw_bytes, file_bytes, records))
    return IngestSummary(
        path, opened.format, records, raw_bytes, opened.bytes, file_bytes, "", time.monotonic() - began
    )


def _teller(progress: bool | Callable[[Progress], object], stack: ExitStack) -> Any:
    if callable(progress):
        return function("progress", progress)
    return stack.enter_context(Bar()) if flag("progress", progress) else None
