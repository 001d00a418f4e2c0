"""What collations mean for the order of a loader, and for rows that are put together anew."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .. import _core
from .._errors import InvalidError
from ..collation import EdgeIndex, Edges, Nodes, Pack, Pad, Windows

_ROWS = {_core.APL_COLLATE_PACK: "Pack", _core.APL_COLLATE_WINDOWS: "Windows"}


def order_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a reader's options, what its order depends on: buckets sort records by the lengths of their field,
    and rows may be no records."""
    kept = [
        {**one, "length": 0, "truncate": 0} if one.get("bucket") else one
        for one in options["collations"]
        if one.get("bucket") or one["how"] in _ROWS
    ]
    return {"fields": [one["field"] for one in kept], "collations": kept, "parts": ()}


def has_buckets(options: Mapping[str, Any]) -> bool:
    """Does the order depend on the number of rows of a step?"""
    return any(one.get("bucket") for one in options["collations"])


def refuse_rows(options: Mapping[str, Any]) -> None:
    """Refuses samplers where rows are no records."""
    for one in options["collations"]:
        if one["how"] in _ROWS:
            raise InvalidError(
                f"sampler: rows of {_ROWS[one['how']]}() are no records, and no samples of loader.dataset "
                "stand for them: iterate the loader itself"
            )


class Padded:
    """Which columns of batches are padded to the longest value of the batch, and with what.

    Args:
        collate: of the loader.
        schema: of its store.
    """

    def __init__(self, collate: Mapping[str, Any] | None, schema: Any) -> None:
        given = dict(collate or {})
        self._fields = {
            name: (schema[name].shape.index(-1) + 1, how.fill)
            for name, how in given.items()
            if isinstance(how, Pad) and how.length is None
        }
        graphs = [name for name, how in given.items() if isinstance(how, (Nodes, Edges, EdgeIndex))]
        rows = [name for name, how in given.items() if isinstance(how, (Pack, Windows))]
        self._joined = [*graphs, *rows]

    def check_rows(self) -> None:
        """Refuses to take single rows of a batch that is one graph."""
        self._refuse_rows("ask for whole batches of loader.batch_sampler, or iterate the loader")

    def check_samples(self) -> None:
        """Refuses to make samples of such a batch, which a collate_fn gets."""
        name = self._joined[0] if self._joined else ""
        self._refuse_rows(f"a collate_fn gets whole arrays by the names of fields, such as samples[{name!r}]")

    def _refuse_rows(self, advice: str) -> None:
        if self._joined:
            raise InvalidError(
                f"collate: field {self._joined[0]} is joined across the records of a batch, so that a batch "
                f"has no single samples: {advice}"
            )

    def _padded(self, names: Sequence[str], columns: Sequence[Any]) -> dict[int, tuple[int, Any, int]]:
        """By the place of each padded column, and of each mask: along which dimension, with what, and to
        which length."""
        found: dict[int, tuple[int, Any, int]] = {}
        for name, (axis, fill) in self._fields.items():
            if name in names and isinstance(columns[names.index(name)], torch.Tensor):
                lengths = columns[names.index(f"{name}_lengths")]
                longest = int(lengths.max()) if len(lengths) else 0
                found[names.index(name)] = axis, fill, longest
                found[names.index(f"{name}_mask")] = 1, False, longest
        return found

    def taken(self, table: Any, rows: list[int]) -> list[Any]:
        """These rows of all columns, copied, and no longer than their longest."""
        self.check_rows()
        columns = [_taken(column, rows) for column in table]
        for at, (axis, _, longest) in self._padded(table._names, columns).items():
            columns[at] = columns[at].narrow(axis, 0, longest).contiguous()
        return columns

    def joined(self, tables: list[Any], order: list[int]) -> list[Any]:
        """The rows of several tables, one after another, in that order."""
        names = tables[0]._names
        wide = [list(table) for table in tables]
        padded = [self._padded(names, columns) for columns in wide]
        for at in padded[0]:
            longest = max(ends[at][2] for ends in padded)
            for columns in wide:
                axis, fill, _ = padded[0][at]
                columns[at] = _widened(columns[at], axis, longest, fill)
        return [_taken(_concatenated(list(column)), order) for column in zip(*wide, strict=True)]


def _widened(column: torch.Tensor, axis: int, length: int, fill: Any) -> torch.Tensor:
    """Padded along a dimension."""
    shape = list(column.shape)
    shape[axis] = length - shape[axis]
    return torch.cat([column, column.new_full(shape, fill)], axis) if shape[axis] > 0 else column


def _is_jagged(column: Any) -> bool:
    return isinstance(column, torch.Tensor) and column.is_nested


def _taken(column: Any, rows: list[int]) -> Any:
    if _is_jagged(column):
        values = list(column.unbind())
        return jagged([values[row] for row in rows], column.values()[:0])
    if isinstance(column, torch.Tensor):
        return column[rows]
    return [column[row] for row in rows]


def _concatenated(columns: list[Any]) -> Any:
    if _is_jagged(columns[0]):
        return jagged([value for column in columns for value in column.unbind()], columns[0].values()[:0])
    if isinstance(columns[0], torch.Tensor):
        return torch.cat(columns)
    return [value for column in columns for value in column]


def jagged(values: list[torch.Tensor], none: torch.Tensor) -> torch.Tensor:
    """A nested tensor of jagged layout of these rows; `none`: the values of no rows."""
    ends = torch.tensor([0, *map(len, values)]).cumsum(0)
    longest = max([1, *map(len, values)])
    return torch.nested.nested_tensor_from_jagged(
        torch.cat([none, *values]), ends, min_seqlen=0, max_seqlen=longest
    )
