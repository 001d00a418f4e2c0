"""Stores that were exported, and perhaps edited since: the splits that a column of theirs names."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._arguments import shown
from .._errors import InvalidError
from ..schema import listed
from ._features import classes_lost, split_column, split_lost, split_name, splits_told
from ._names import rank
from ._told import Chunk, Part, Wishes


def _of_split(chunks: Iterator[Chunk], column: str, split: str) -> Iterator[Chunk]:
    """The rows whose column names that split, without the column."""
    for chunk in chunks:
        rows = [row for row, name in enumerate(chunk.pop(column)) if name == split]
        if rows:
            yield {name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
                   for name, values in chunk.items()}  # fmt: skip


def _counted(chunks: Iterator[Chunk], column: str, source: str) -> Counter[str]:
    """How many records each split has, in the order in which they come."""
    found: Counter[str] = Counter()
    first = 0
    for chunk in chunks:
        names = list(chunk[column])
        for row, name in enumerate(names):
            if not isinstance(name, str):
                what = "a missing value" if name is None else f"{shown(name)}, which is no text"
                raise InvalidError(
                    f"{source}: row {first + row:,}, column {column}: {what}: the column names the split of "
                    "each record"
                )
        found.update(names)
        first += len(names)
    return found


def _in_order(seen: Counter[str], told: dict[str, int]) -> dict[str, int]:
    """The splits of the store in its order, empty ones too, then what else there is: train first."""
    own = [name for name, records in told.items() if name in seen or records == 0]
    more = sorted((name for name in seen if name not in told), key=rank)
    return {name: seen[name] for name in [*own, *more]}


def split_up(open: Callable[[Wishes], Part], schema: Any, wishes: Wishes, source: str) -> list[Part]:
    """The splits that the schema tells of; one where it tells none. Each is read in a pass of its own.

    Args:
        open: makes a part of all records, of what is asked of it.
        source: what errors call it.
    """
    part = open(wishes)
    column, one = split_column(schema), split_name(schema.metadata)
    part.notes = [*part.notes, *_lost(schema, wishes, part.split)]
    if column is None or not part.again:
        part.split = one or part.split
        return [part]
    seen = _counted(open(Wishes({}, frozenset([column]))).chunks(), column, source)
    columns = None if wishes.columns is None else wishes.columns | {column}
    more = dataclasses.replace(wishes, columns=columns)
    told = {name: one for name, one in part.told.items() if name != column}

    def reading(split: str) -> Callable[[], Iterator[Chunk]]:
        return lambda: _of_split(open(more).chunks(), column, split)

    found = _in_order(seen, splits_told(schema.metadata))
    return [
        Part(
            split,
            reading(split) if rows else lambda: iter(()),
            told,
            rows,
            outside=part.outside,
            notes=part.notes,
        )
        for split, rows in found.items()
    ]


def _lost(schema: Any, wishes: Wishes, split: str) -> list[str]:
    """What the metadata tells of columns that are not there."""
    notes = []
    if column := split_lost(schema):
        notes.append(
            f"its metadata says that the column {column} names the splits of records, and there is none: all "
            f"are in the split {split!r}"
        )
    classes, others = classes_lost(schema)
    if classes and others and wishes.columns is None:
        notes.append(
            f"its metadata names the classes of {listed(classes)}, and there is no such column: if "
            f"{listed(others)} has these, name them by classes={{...}}"
        )
    return notes
