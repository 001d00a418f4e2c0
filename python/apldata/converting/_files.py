"""Files that pyarrow reads: Parquet, and Arrow's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .._arguments import brief
from .._errors import InvalidError, NotFoundError, SourceError, UnsupportedError, prefixed
from ..schema import listed
from ._alike import of_files
from ._classes import OneNaming, Renumbering, one_naming
from ._dictionaries import with_dictionaries
from ._exports import split_up
from ._features import split_column
from ._names import by_split, left_in, tables_in
from ._partitions import Partitions
from ._told import Chunk, Part, Source, Told, Wishes, rows_of, train_first

_INSTALL = "Parquet and Arrow files are read by the package pyarrow: pip install pyarrow"


def kind_of(path: Path) -> str | None:
    """What a file or directory is: "parquet", "arrow", a directory of "tables" or one "saved" by Hugging
    Face's library, or None."""
    if path.is_dir():
        if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
            return "saved"
        return "tables" if any(tables_in(path)) else None
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError:
        return None
    if head[:4] == b"PAR1":
        return "parquet"
    return "arrow" if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff" else None


def _listed(paths: list[Path]) -> list[Path]:
    """The files, those of directories sorted by name; each once."""
    found: list[Path] = []
    known: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"{path}: is not there")
        inside = sorted(tables_in(path)) if path.is_dir() else [path]
        if not inside:
            left = "".join(f"; {note}" for note in left_in(path))
            raise SourceError(f"{path}: holds no Parquet or Arrow files{left}")
        for file in inside:
            first = known.setdefault(os.path.realpath(file), file)
            if first is not file:
                as_it_is = f", as it is {first}" if first != file else ""
                raise InvalidError(f"{file}: is given twice{as_it_is}")
        found += inside
    return found


# ----------------------------------------------------------------------------------------------- batches


def _opened(path: Path) -> tuple[Any, Any]:
    """A file: how it is read, and its schema."""
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ._streams import check_whole
    from ._valid import DAMAGED

    try:
        kind = kind_of(path)
        if kind == "parquet":
            file = pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
            return file, file.schema_arrow
        if kind == "arrow":
            mapped = pa.memory_map(str(path))
            with path.open("rb") as opened:
                whole = opened.read(6) == b"ARROW1"
            if not whole:
                check_whole(path)
            reader = pa.ipc.open_file(mapped) if whole else pa.ipc.open_stream(mapped)
            return reader, reader.schema
    except DAMAGED as error:
        raise SourceError(f"{path}: {brief(str(error), 300)}") from None
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path}: cannot be read")
    raise SourceError(f"{path}: is neither a Parquet nor an Arrow file")


def _has_dictionaries(type: Any) -> bool:
    """Has it a dictionary within? Arrow cannot read such from several row groups at once."""
    inside = [type.field(at).type for at in range(type.num_fields)]
    return any(hasattr(one, "index_type") or _has_dictionaries(one) for one in inside)


def _batches(file: Any, wishes: Wishes) -> Iterator[Any]:
    from ._tables import rows_at_once, sliced
    from ._valid import checked

    if hasattr(file, "iter_batches"):
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        columns = [name for name in file.schema_arrow.names if wishes.wants_of(name)]
        step = rows_at_once(size, file.metadata.num_rows)
        apart = any(map(_has_dictionaries, file.schema_arrow.types))
        with file:
            for some in [[group] for group in range(len(groups))] if apart else [None]:
                yield from map(checked, file.iter_batches(step, row_groups=some, columns=columns))
        return
    whole = hasattr(file, "num_record_batches")
    yield from sliced(map(file.get_batch, range(file.num_record_batches)) if whole else file)


def _read(
    files: list[Path],
    wishes: Wishes,
    naming: OneNaming,
    partitions: Partitions,
) -> Iterator[Chunk]:
    from ._tables import chunks

    for path in files:
        with prefixed(f"{path.name}: " if len(files) > 1 else ""):
            file, _ = _opened(path)
            read = chunks(
                (partitions.beside(batch, path, wishes) for batch in _batches(file, wishes)), wishes
            )
            renumber = naming.renumber[str(path)]
            yield from _renumbered(read, renumber) if renumber else read


def _renumbered(chunks: Iterator[Chunk], renumber: Mapping[str, Renumbering]) -> Iterator[Chunk]:
    """With the numbers of classes that all files have."""
    first = 0
    for chunk in chunks:
        more = {name: one.apply(chunk[name], first) for name, one in renumber.items() if name in chunk}
        first += rows_of(chunk)
        yield chunk | more


class _Seen(NamedTuple):
    """What a file says before its rows are read: its schema, and how many rows it has; 0: not known."""

    schema: Any
    rows: int


def _all_seen(files: Iterable[Path]) -> dict[Path, _Seen]:
    """Of each file; those with one schema share it."""
    found: dict[Path, _Seen] = {}
    last: Any = None
    for path in files:
        file, schema = _opened(path)
        last = last if last is not None and last.equals(schema, check_metadata=True) else schema
        found[path] = _Seen(last, file.metadata.num_rows if hasattr(file, "iter_batches") else 0)
    return found


def _part(split: str, files: Mapping[Path, _Seen], wishes: Wishes, partitions: Partitions) -> Part:
    from ._tables import told_of_schema, wishes_of

    first, *_ = files.values()
    wishes = wishes_of(first.schema, wishes)
    told: dict[str, dict[str, Told]] = {}
    last: Any = None
    for path, one in files.items():
        if one.schema is not last:
            with prefixed(f"{path}: "):
                last, of_schema = one.schema, told_of_schema(one.schema, wishes)
        told[str(path)] = of_schema
    paths = list(files)
    naming = one_naming(told, str(paths[0]), wishes)
    told[str(paths[0])] = naming.told
    schemas = {path: one.schema for path, one in files.items()}
    types = of_files(told, {str(path): schema for path, schema in schemas.items()}, wishes)
    types, notes = with_dictionaries(types, schemas, wishes)
    return Part(
        split,
        lambda: _read(paths, wishes, naming, partitions),
        types | partitions.told(wishes),
        sum(one.rows for one in files.values()) or None,
        outside=False,
        notes=[*naming.notes, *notes],
    )


def _of_one_export(files: Mapping[Path, _Seen]) -> Any:
    """The schema of one file, or of several with an exported store's column of splits; None: of others."""
    schemas = [one.schema for one in files.values()]
    if len(schemas) > 1:
        column = split_column(schemas[0])
        if column is None or any(split_column(schema) != column for schema in schemas[1:]):
            return None
    return schemas[0]


def are_files(source: Any) -> bool:
    """A path, or a list of such, of which the first is a file or directory that can be read here?"""
    if isinstance(source, (str, os.PathLike)):
        return True
    if not isinstance(source, (list, tuple)) or not all(
        isinstance(one, (str, os.PathLike)) for one in source
    ):
        return False
    return bool(source) and os.path.exists(source[0]) and kind_of(Path(source[0])) is not None


def open_split(split: str, source: Any, wishes: Wishes) -> Source:
    """As `open_files()`, of one split: the names of files that are given as such tell nothing."""
    paths = source if isinstance(source, (list, tuple)) else [source]
    found = open_files(source, wishes, split if all(map(os.path.isfile, paths)) else None, one=True)
    if len(found.parts) > 1:
        names = listed(part.split for part in found.parts)
        raise InvalidError(f"{found.name}: has the splits {names}, and is given as one, {split!r}")
    found.parts[0].split = split
    return found


def open_files(source: Any, wishes: Wishes, split: str | None = None, one: bool = False) -> Source:
    """Paths of files, of directories of such, or of one saved dataset; all are of `split` if that is
    given.

    Args:
        one: the caller says of which split they are, whatever their names tell.
    """
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
    seen = _all_seen(files)
    partitions = Partitions(roots, seen[files[0]].schema.names)
    groups, notes = ({split: files}, []) if split else by_split(roots, partitions)
    if split is None and (schema := _of_one_export(seen)) is not None:
        unnamed = next(iter(groups)) if len(groups) == 1 else "train"
        parts = split_up(lambda more: _part(unnamed, seen, more, partitions), schema, wishes, name)
        if [part.split for part in parts] != [unnamed]:
            one = True  # it is not names that have told the splits
    else:
        parts = [
            _part(group, {file: seen[file] for file in some}, wishes, partitions)
            for group, some in groups.items()
        ]
    parts[0].notes = [*([] if one else notes), *parts[0].notes]
    for folder in filter(Path.is_dir, paths):
        parts[0].notes = [*parts[0].notes, *left_in(folder)]
    size = sum(file.stat().st_size for file in files)
    format, looked_for = (
        "parquet" if kind_of(files[0]) == "parquet" else "arrow",
        any(map(Path.is_dir, paths)),
    )
    return Source(format, name, parts, size, files, looked_for)


def _saved(path: Path, wishes: Wishes) -> Source:
    """What `save_to_disk()` of Hugging Face's library wrote."""
    try:
        import_module("datasets")
    except ImportError:
        raise UnsupportedError(
            f"{path}: a saved dataset is read by the package datasets: pip install datasets"
        ) from None
    from ._huggingface import load_saved, open_dataset
    from ._streams import check_saved

    check_saved(path)
    try:
        splits = load_saved(path)
    except Exception as error:  # of many kinds
        raise SourceError(f"{path}: {brief(str(error), 300)}") from None
    parts = [
        part
        for split, dataset in splits.items()
        if (part := open_dataset(split, dataset, wishes)) is not None
    ]
    return Source("huggingface", str(path), train_first(parts))
