"""Columns that the names of folders hold, as Hive and Spark lay tables out: label=cat/part-0.parquet."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from .._arguments import shown
from .._errors import SourceError
from ._told import Told, Wishes

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_DIGITS = re.compile(r"-?[0-9]{1,18}")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")  # leading zeros tell that it is no number, as in tables
Values = dict[str, str | None]


def is_partition(folder: str) -> bool:
    """Does the name of a folder hold a column?"""
    name, equals, _ = folder.partition("=")
    return bool(name and equals)


def _shared(folders: list[Path]) -> Path:
    """The deepest folder that all of these are in."""
    absolute = [folder.absolute() for folder in folders]
    return Path(os.path.commonpath(absolute)) if absolute else Path()


def _values_of(file: Path, root: Path) -> Values:
    """What the folders of a file below `root` tell."""
    found: Values = {}
    for folder in filter(is_partition, file.absolute().relative_to(root.absolute()).parts[:-1]):
        name, _, value = folder.partition("=")
        found[unquote(name)] = None if value == _MISSING else unquote(value)
    return found


def _agree(value: Any, told: str | None) -> bool:
    """Is a value of a column what the name of a folder tells?"""
    if value is None or told is None or isinstance(value, str):
        return bool(value == told)
    return str(value).lower() == told.lower() or (bool(_DIGITS.fullmatch(told)) and bool(value == int(told)))


class Partitions:
    """The columns of the folders that files are in, and their values.

    Args:
        roots: of each file, the folder that it was found in, or itself; of those that were given by
            themselves, folders that all of them share tell nothing.
        own: columns that the files have themselves; where folders tell these too, both agree.
    """

    def __init__(self, roots: Mapping[Path, Path], own: Iterable[str]) -> None:
        shared = _shared([file.parent for file, root in roots.items() if root == file])
        self._of = {file: _values_of(file, shared if root == file else root) for file, root in roots.items()}
        first = next(iter(self._of.values()))
        for file, values in self._of.items():
            for name in first.keys() ^ values.keys():
                lacks, has = ("lies", "does not") if name in values else ("does not lie", "does")
                raise SourceError(f"{file}: {lacks} in a folder {name}=..., and the first file {has}")
        self._names = [name for name in first if name not in set(own)]
        self._both = [name for name in first if name in set(own)]

    def splits(self) -> dict[Path, str]:
        """Of each file, the split that a folder split=... tells; nothing where there are none."""
        found = {file: split for file, values in self._of.items() if (split := values.get("split"))}
        if "split" not in self._names or len(found) < len(self._of):
            return {}
        self._names.remove("split")
        return found

    def told(self, wishes: Wishes) -> dict[str, Told]:
        """What these columns are: whole numbers, or classes by the sorted names."""
        return {name: self._told(name, wishes) for name in self._names}

    def _all(self, name: str) -> set[str]:
        return {value for values in self._of.values() if (value := values[name]) is not None}

    def _told(self, name: str, wishes: Wishes) -> Told:
        if self._are_numbers(name, wishes):
            small = all(-(2**31) <= int(value) < 2**31 for value in self._all(name))
            return Told("i32" if small else "i64", ())
        return Told("utf8", (-1,), classes=tuple(sorted(self._all(name))), codes=True)

    def _is_whole(self, name: str) -> bool:
        return all(_WHOLE.fullmatch(value) for value in self._all(name))

    def _are_numbers(self, name: str, wishes: Wishes) -> bool:
        """Are its values numbers, or asked for as such?"""
        asked = wishes.casts.get(name, "utf8") not in ("utf8", "bool")
        return self._is_whole(name) or (asked and all(map(_DIGITS.fullmatch, self._all(name))))

    def beside(self, batch: Any, file: Path, wishes: Wishes) -> Any:
        """A batch of a file's records, with the columns that are wanted."""
        import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

        for name in filter(wishes.wants, self._both):
            self._check_agrees(batch, file, name)
        names = [name for name in self._names if wishes.wants(name)]
        if not names:
            return batch
        added = []
        for name in names:
            value, is_number = self._of[file][name], self._are_numbers(name, wishes)
            type = pa.int64() if is_number else pa.string()
            plain = int(value) if value is not None and is_number else value
            added.append(pa.repeat(pa.scalar(plain, type), batch.num_rows))
        return pa.RecordBatch.from_arrays([*batch.columns, *added], [*batch.schema.names, *names])

    def _check_agrees(self, batch: Any, file: Path, name: str) -> None:
        """A column that the file has too has the value that its folder tells."""
        told, column = self._of[file][name], batch.column(name)
        for one in column.unique().to_pylist():
            if not _agree(one, told):
                raise SourceError(
                    f"column {name} holds {shown(one)}, and the file lies in a folder {name}={told}: rename "
                    "one, or leave both out by fields=[...]"
                )
