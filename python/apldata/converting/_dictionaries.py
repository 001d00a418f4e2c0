"""The classes of columns that files keep by dictionaries: those of the dictionaries, in their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .._arguments import brief
from .._errors import SourceError
from ._features import split_column
from ._told import Told, Wishes

_ROWS = 1 << 16  # that are read at once
_TYPES = (None, "u8", "u16", "u32")  # that classes may be asked for in


class _Dictionary:
    """What the dictionaries of a column have in common.

    Attributes:
        names: the texts of the longest, which begins as all others do; None: there is none such, or not yet.
        differ: there is none such, or where one was looked for, none was stored.
    """

    def __init__(self) -> None:
        self.names: Any = None
        self.differ = False

    def take(self, names: Any) -> None:
        """One more of them; None: none is stored."""
        if names is None:
            self.differ = True
        elif self.names is None:
            self.names = names
        else:
            short, long = sorted((self.names, names), key=len)
            self.differ |= not _begins(long, short)
            self.names = long

    @property
    def empty(self) -> bool:
        """Have there been no rows?"""
        return self.names is None and not self.differ

    def classes(self) -> tuple[str, ...] | None:
        """The names of classes; None: there are none, or the texts are no such names."""
        names = None if self.differ or self.names is None else self.names.to_pylist()
        return tuple(names) if names and all(names) and len(set(names)) == len(names) else None


def _begins(long: Any, short: Any) -> bool:
    """Does one array of texts, which may be of different types of Arrow, begin as the other does?"""
    first = long.slice(0, len(short))
    return bool(first.equals(short) if first.type == short.type else first.to_pylist() == short.to_pylist())


# ------------------------------------------------------------------------------------------------- reading


def _of_parquet(path: Path, columns: list[str]) -> Iterator[tuple[str, Any]]:
    """Where a row group has no dictionary page, pyarrow makes a dictionary of the texts as they come."""
    import pyarrow.parquet as pq  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False) as file:
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            stored = {
                one.path_in_schema: one.has_dictionary_page
                for one in map(group.column, range(group.num_columns))
            }
            for batch in file.iter_batches(_ROWS, row_groups=[number], columns=columns):
                for name in columns:
                    yield name, batch.column(name).dictionary if stored.get(name) else None


def _of_arrow(path: Path, columns: list[str]) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

    from ._valid import checked

    with pa.memory_map(str(path)) as mapped:
        whole = mapped.read(6) == b"ARROW1"
        mapped.seek(0)
        open = pa.ipc.open_file if whole else pa.ipc.open_stream
        names = open(mapped).schema.names
        mapped.seek(0)
        included = [names.index(name) for name in columns]
        reader = open(mapped, options=pa.ipc.IpcReadOptions(included_fields=included))
        batches = map(reader.get_batch, range(reader.num_record_batches)) if whole else reader
        for batch in map(checked, batches):
            for name in columns if batch.num_rows else ():
                yield name, batch.column(name).dictionary


def _dictionaries(path: Path, columns: list[str]) -> Iterator[tuple[str, Any]]:
    """Those of some columns of a file, by their columns; None: some texts have none."""
    from ._valid import DAMAGED

    try:
        with path.open("rb") as opened:
            is_parquet = opened.read(4) == b"PAR1"
        yield from (_of_parquet if is_parquet else _of_arrow)(path, columns)
    except DAMAGED as error:
        raise SourceError(f"{path}: {brief(str(error), 300)}") from None


# ------------------------------------------------------------------------------------------------- classes


def _looked_for(told: Mapping[str, Told], schemas: Iterable[Any], wishes: Wishes) -> list[str]:
    """The columns whose classes the dictionaries of the files are to tell."""
    first = next(iter(schemas))
    splits = split_column(first)
    return [
        name
        for name, one in told.items()
        if one.codes
        and not one.classes
        and name in first.names
        and name != splits
        and wishes.wants(name)
        and name not in wishes.classes
        and name not in wishes.whole
        and wishes.casts.get(name) in _TYPES
    ]


def with_dictionaries(
    told: Mapping[str, Told], schemas: Mapping[Path, Any], wishes: Wishes
) -> tuple[dict[str, Told], list[str]]:
    """What files say of their columns, with the classes that their dictionaries tell, and notes about those
    that do not agree.

    Raises:
        SourceError: a file cannot be read.
    """
    found = {name: _Dictionary() for name in _looked_for(told, schemas.values(), wishes)}
    for path, schema in schemas.items():
        inside = [name for name in found if hasattr(schema.field(name).type, "index_type")]
        for name in found.keys() - set(inside):  # text
            found[name].differ = True
        inside = [name for name in inside if not found[name].differ]
        for name, names in _dictionaries(path, inside) if inside else ():
            found[name].take(names)
            if all(found[one].differ for one in inside):
                break
    of = {
        name: dataclasses.replace(told[name], classes=one.classes(), codes=not one.empty)
        for name, one in found.items()
    }
    notes = [
        f"column {name}: the dictionaries of its files, row groups or batches differ, or are not stored: "
        f"classes are numbered in the order of their sorted names: classes={{{name!r}: [...]}} gives another"
        for name, one in found.items()
        if one.differ
    ]
    return {**told, **of}, notes
