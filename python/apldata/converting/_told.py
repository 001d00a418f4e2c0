"""What a source says of its columns before any row is read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..kinds import Kind
from ._times import Unit

Column = np.ndarray | list[Any]  # the values of some rows; in a list, None is a missing one
Chunk = dict[str, Column]  # some rows: of each column as many values


@dataclasses.dataclass(frozen=True)
class Told:
    """What a source says of a column; None is left to its first rows.

    Attributes:
        dtype: the store's name for its type.
        shape: of a value.
        classes: names of the values 0, 1, ...
        inside: names of the values 0, 1, ... in lists, for which a field has no place.
        mark: what the field is for.
        is_file: its values are files: bytes, or where they lie.
        media: the media type that its files must have.
        time: what numbers that stand for times count.
        refused: why a store cannot hold it.
        as_mask: the numbers of images are kept, by their palette or their levels of grey.
        layout: "HWC" or "CHW", of images.
        codes: its classes are given by their names, which may not all be known yet.
        shapeless: its files are of a store that had no field of their shapes.
        kind: what it is; kind_origin: who says so.
        nan_is_missing: NaN stands for what is missing, where the caller says what becomes of that.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    classes: tuple[str, ...] | None = None
    mark: str | None = None
    is_file: bool = False
    media: str | None = None
    time: Unit | None = None
    refused: str = ""
    codes: bool = False
    layout: str | None = None
    as_mask: bool = False
    inside: tuple[str, ...] | None = None
    shapeless: bool = False
    kind: Kind | None = None
    kind_origin: str | None = None
    nan_is_missing: bool = False

    def over(self, other: Told) -> Told:
        """What both say; where they differ, this one."""
        plain = Told()
        said = {
            f.name: value
            for f in dataclasses.fields(self)
            if (value := getattr(self, f.name)) != getattr(plain, f.name)
        }
        return dataclasses.replace(other, **said)


def said(one: Any) -> dict[str, Any]:
    """What fields and columns have alike."""
    return {
        name: getattr(one, name) for name in ("classes", "mark", "media", "layout", "kind", "kind_origin")
    }


def _is_index(column: str) -> bool:
    """Is it an index without a name, as pandas writes it to Parquet?"""
    return re.fullmatch(r"__index_level_\d+__", column) is not None


@dataclasses.dataclass(frozen=True)
class Wishes:
    """What is asked of a source.

    Attributes:
        casts: of columns, the dtypes that they are wanted in.
        columns: those that are wanted; None: all but indexes of pandas that have no names.
        classes: of columns, the names of their classes.
        whole: columns whose structs are values, of which no columns are made.
        fields: columns that a store was exported with, which are no indexes, whatever they are called.
    """

    casts: Mapping[str, str]
    columns: frozenset[str] | None = None
    classes: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    def wants(self, column: str) -> bool:
        """Is the column wanted, by its own name, or by that of a struct that it is in?"""
        if self.columns is None:
            return not _is_index(column) or column in self.fields
        return any(one == column or column.startswith(f"{one}.") for one in self.columns)

    def wants_of(self, column: str) -> bool:
        """Is the column, or a member of its structs, wanted?"""
        return self.wants(column) or any(one.startswith(f"{column}.") for one in self.columns or ())


@dataclasses.dataclass
class Part:
    """The records of one split of a source.

    Attributes:
        split: its name.
        chunks: begins to read them, from the first.
        told: what is said of its columns, which may be some of them.
        rows: how many there are; None: not known.
        again: `chunks` can be called more than once.
        outside: files that it names, and does not hold, may be read.
        notes: what the caller ought to know of it.
    """

    split: str
    chunks: Callable[[], Iterator[Chunk]]
    told: Mapping[str, Told] = dataclasses.field(default_factory=dict)
    rows: int | None = None
    again: bool = True
    outside: bool = True
    notes: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Source:
    """What is to become a store.

    Attributes:
        format: what it is, in a word, as the store records it.
        name: what errors call it.
        parts: its splits, each once.
        bytes: its size; 0: not known.
        files: those that it is read from.
        looked_for: they are not given by their names, but what a directory holds.
        close: ends what reading it began.
    """

    format: str
    name: str
    parts: list[Part]
    bytes: int = 0
    files: list[Path] = dataclasses.field(default_factory=list)
    looked_for: bool = False
    close: Callable[[], None] = lambda: None


def train_first(parts: list[Part]) -> list[Part]:
    """In their order but for "train": the first split is what loaders read if they are not told which."""
    return sorted(parts, key=lambda part: part.split != "train")


def rows_of(chunk: Chunk) -> int:
    return len(next(iter(chunk.values()), ()))


def uneven(name: str) -> str:
    """What to do about lists of lists of different lengths, which no array holds."""
    return (
        f"types={{{name!r}: 'json'}} keeps such lists as text, or flatten them, with their lengths in a "
        "field of their own"
    )


def size_of(value: Any) -> int:
    """Its bytes, near enough to tell how many values make a piece of work."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, (bytes, str)) else getattr(value, "nbytes", 8)
