"""Rows of varying length as one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ._arguments import shown


class RaggedArray(Sequence[Any]):
    """The rows of a field of varying length as one array: row i is ``values[offsets[i]:offsets[i + 1]]``. As
    a sequence it has an array for each row, which shares the memory of `values`.

    Attributes:
        values: those of all rows, one after another.
        offsets: int64[rows + 1].
    """

    __slots__ = ("offsets", "values")

    def __init__(self, values: Any, offsets: Any) -> None:
        self.values, self.offsets = values, offsets

    @property
    def lengths(self) -> Any:
        """The length of each row: int64[rows]."""
        return self.offsets[1:] - self.offsets[:-1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        i = range(len(self))[row]
        return self.values[int(self.offsets[i]) : int(self.offsets[i + 1])]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        return f"RaggedArray({len(self)} rows, values={shown(self.values)})"
