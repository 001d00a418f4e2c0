"""Columns of pandas and xarray, whose rows have labels, by which these libraries pair them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._errors import InvalidError


class _Labelled(NamedTuple):
    """A column whose rows have labels.

    Attributes:
        column: what errors call it.
        library: pandas or xarray.
        along: which labels they are.
        labels: an Index of pandas.
    """

    column: str
    library: str
    along: Any
    labels: Any


def _labelled(name: str, column: Any) -> _Labelled | None:
    """None: its rows have no labels."""
    pandas, xarray = sys.modules.get("pandas"), sys.modules.get("xarray")
    if pandas is not None and isinstance(column, pandas.Series):
        return _Labelled(name, "pandas", None, column.index)
    if xarray is None or not isinstance(column, xarray.DataArray) or not column.dims:
        return None
    labels = column.indexes.get(column.dims[0])
    return None if labels is None else _Labelled(name, "xarray", column.dims[0], labels)


def check_paired(columns: Mapping[str, Any]) -> None:
    """Refuses columns of the same labels in another order, or of other labels: their library would not pair
    them by their places.

    Raises:
        InvalidError: some are such.
    """
    first: dict[tuple[str, Any], _Labelled] = {}
    for name, column in columns.items():
        one = _labelled(name, column)
        if one is None:
            continue
        known = first.setdefault((one.library, one.along), one)
        if known is not one and not known.labels.equals(one.labels):
            raise InvalidError(_refusal(known, one))


def _refusal(one: _Labelled, other: _Labelled) -> str:
    pair, drop = (
        ("pandas.DataFrame(columns) pairs", ".reset_index(drop=True)")
        if one.library == "pandas"
        else ("xarray.Dataset(columns) pairs", f".drop_vars({str(one.along)!r})")
    )
    return (
        f"columns {one.column} and {other.column} have different indexes, by which {one.library} would pair "
        f"their rows: {pair} them so; {drop} of each pairs them in order"
    )
