"""Files that pyarrow reads: Parquet, and Arrow's own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import brief
from .._errors import NotFoundError, SourceError, UnsupportedError
from ._classes import OneNaming, Renumbering, one_naming
from ._partitions import Partitions, is_partition
from ._told import Chunk, Part, Source, Wishes, rows_of, train_first

SPLITS = ("train", "training", "val", "valid", "validation", "dev", "eval", "test", "testing", "extra")
_WORDS = re.compile(r"[^a-z]+")
_INSTALL = "Parquet and Arrow files are read by the package pyarrow: pip install pyarrow"


def kind_of(path: Path) -> str | None:
    """What a file or directory is: "parquet", "arrow", "saved" (by Hugging Face's library), or None."""
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            return "saved"
        return "parquet" if any(path.rglob("*.parquet")) else None
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        return None
    if head[:4] == b"PAR1":
        return "parquet"
    return "arrow" if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff" else None


def _listed(paths: list[Path]) -> list[Path]:
    """The files, those of directories sorted by name."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"{path}: is not there")
        inside = sorted(one for one in path.rglob("*.parquet") if one.is_file()) if path.is_dir() else [path]
        if not inside:
            raise SourceError(f"{path}: holds no Parquet files")
        found += inside
    return found


def _split_of(path: Path, root: Path) -> str | None:
    """The split that the name of a file, or of the folder that it is in, tells."""
    below = path.relative_to(root) if path != root and path.is_relative_to(root) else Path(path.name)
    for part in reversed(below.parts):
        if is_partition(part):
            continue
        words = [word for word in _WORDS.split(part.lower()) if word in SPLITS]
        if words:
            return words[0]
    return None


def _by_split(roots: dict[Path, Path], partitions: Partitions) -> dict[str, list[Path]]:
    """The files of each split: if the names of all tell one; else all are of "train"."""
    files, folders = list(roots), partitions.splits()
    if folders:
        names = sorted(set(folders.values()), key=lambda name: (name != "train", name))
        return {name: [file for file in files if folders[file] == name] for name in names}
    told = [_split_of(file, root) for file, root in roots.items()]
    if not all(told):
        return {"train": files}
    return {split: [file for file, one in zip(files, told, strict=True) if one == split]
            for split in SPLITS if split in told}  # fmt: skip


# ----------------------------------------------------------------------------------------------- batches


def _opened(path: Path) -> tuple[Any, Any]:
    """A file: how it is read, and its schema."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]

    try:
        kind = kind_of(path)
        if kind == "parquet":
            file = pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
            return file, file.schema_arrow
        if kind == "arrow":
            mapped = pa.memory_map(str(path))
            with path.open("rb") as opened:
                whole = opened.read(6) == b"ARROW1"
            reader = pa.ipc.open_file(mapped) if whole else pa.ipc.open_stream(mapped)
            return reader, reader.schema
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path}: {brief(str(error), 300)}") from None
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path}: cannot be read")
    raise SourceError(f"{path}: is neither a Parquet nor an Arrow file")


def _batches(file: Any, wishes: Wishes) -> Iterator[Any]:
    from ._tables import rows_at_once

    if hasattr(file, "iter_batches"):
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        columns = [name for name in file.schema_arrow.names if wishes.wants_of(name)]
        with file:
            yield from file.iter_batches(rows_at_once(size, file.metadata.num_rows), columns=columns)
        return
    whole = hasattr(file, "num_record_batches")
    for batch in (file.get_batch(i) for i in range(file.num_record_batches)) if whole else file:
        step = rows_at_once(batch.nbytes, batch.num_rows)
        for first in range(0, batch.num_rows, step):
            yield batch.slice(first, step)


def _read(
    files: list[Path],
    schema: Any,
    wishes: Wishes,
    naming: OneNaming | None = None,
    partitions: Partitions | None = None,
) -> Iterator[Chunk]:
    from .._errors import prefixed
    from ._tables import chunks

    for path in files:
        with prefixed(f"{path.name}: " if len(files) > 1 else ""):
            file, own = _opened(path)
            if not own.equals(schema):
                raise SourceError(_difference(own, schema))
            batches = _batches(file, wishes)
            if partitions is not None:
                batches = (partitions.beside(batch, path, wishes) for batch in batches)
            read = chunks(batches, wishes)
            renumber = naming.renumber[str(path)] if naming else {}
            yield from _renumbered(read, renumber) if renumber else read


def _renumbered(chunks: Iterator[Chunk], renumber: Mapping[str, Renumbering]) -> Iterator[Chunk]:
    """With the numbers of classes that all files have."""
    first = 0
    for chunk in chunks:
        more = {name: one.apply(chunk[name], first) for name, one in renumber.items() if name in chunk}
        first += rows_of(chunk)
        yield chunk | more


def _difference(own: Any, first: Any) -> str:
    for field in first:
        if field.name not in own.names:
            return f"has no column {field.name}, as the first file does"
        if not own.field(field.name).type.equals(field.type):
            return f"column {field.name} is {own.field(field.name).type}, and {field.type} in the first file"
    return "has columns that the first file has not"


def _of_split(chunks: Iterator[Chunk], column: str, split: str) -> Iterator[Chunk]:
    """The rows whose column names that split, without the column."""
    for chunk in chunks:
        rows = [row for row, name in enumerate(chunk.pop(column)) if name == split]
        if rows:
            yield {name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
                   for name, values in chunk.items()}  # fmt: skip


def _exported(part: Part, files: list[Path], schema: Any, column: str, wishes: Wishes) -> list[Part]:
    """The splits of an exported store, which a column names; each is read in a pass of its own."""
    if column not in schema.names:
        raise SourceError(f"{files[0]}: has no column {column!r}, which its metadata names")
    seen: dict[str, int] = {}
    for chunk in _read(files, schema, Wishes({}, frozenset([column]))):
        for name in chunk[column]:
            seen[str(name)] = seen.get(str(name), 0) + 1
    more = Wishes(wishes.casts, None if wishes.columns is None else wishes.columns | {column})
    told = {name: one for name, one in part.told.items() if name != column}

    def reading(split: str) -> Callable[[], Iterator[Chunk]]:
        return lambda: _of_split(_read(files, schema, more), column, split)

    return [Part(split, reading(split), told, rows, outside=False) for split, rows in seen.items()]


def _part(split: str, files: list[Path], wishes: Wishes, partitions: Partitions) -> Part:
    from ._features import told_of_metadata
    from ._tables import told_of_schema

    first, schema = _opened(files[0])
    told = {str(files[0]): told_of_schema(schema, wishes)}
    rows = 0
    for path in files:
        file, own = (first, schema) if path == files[0] else _opened(path)
        rows += file.metadata.num_rows if hasattr(file, "metadata") and hasattr(file, "iter_batches") else 0
        same = own.metadata == schema.metadata
        told[str(path)] = told[str(files[0])] if same else told_of_metadata(own.metadata)
    naming = one_naming(told, str(files[0]), wishes)
    return Part(
        split,
        lambda: _read(files, schema, wishes, naming, partitions),
        naming.told | partitions.told(),
        rows or None,
        outside=False,
        notes=naming.notes,
    )


def open_files(source: Any, wishes: Wishes) -> Source:
    """Paths of files, of directories of Parquet files, or of one saved dataset."""
    try:
        import_module("pyarrow")
    except ImportError:
        raise UnsupportedError(_INSTALL) from None
    paths = [Path(os.fsdecode(one)) for one in (source if isinstance(source, (list, tuple)) else [source])]
    name = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    if len(paths) == 1 and kind_of(paths[0]) == "saved":
        return _saved(paths[0], wishes)
    files = _listed(paths)
    roots = {file: next((root for root in paths if file.is_relative_to(root)), file) for file in files}
    partitions = Partitions(roots, _opened(files[0])[1].names)
    groups = _by_split(roots, partitions)
    parts = [_part(split, some, wishes, partitions) for split, some in groups.items()]
    if len(files) == 1:
        from ._features import split_column, split_name

        schema = _opened(files[0])[1]
        column, one = split_column(schema.metadata), split_name(schema.metadata)
        if column is not None:
            parts = _exported(parts[0], files, schema, column, wishes)
        elif one is not None:
            parts[0].split = one
    size = sum(file.stat().st_size for file in files)
    return Source("parquet" if kind_of(files[0]) == "parquet" else "arrow", name, parts, size)


def _saved(path: Path, wishes: Wishes) -> Source:
    """What `save_to_disk()` of Hugging Face's library wrote."""
    try:
        import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise UnsupportedError(
            f"{path}: a saved dataset is read by the package datasets: pip install datasets"
        ) from None
    from ._huggingface import open_dataset

    try:
        loaded = datasets.load_from_disk(str(path))
    except Exception as error:  # of many kinds
        raise SourceError(f"{path}: {brief(str(error), 300)}") from None
    splits = dict(loaded) if isinstance(loaded, dict) else {"train": loaded}
    parts = [
        part
        for split, dataset in splits.items()
        if (part := open_dataset(split, dataset, wishes)) is not None
    ]
    return Source("huggingface", str(path), train_first(parts))
