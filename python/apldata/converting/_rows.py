"""Sources that give one row after another: datasets by number, iterables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from .._errors import Error, InvalidError, InvalidTypeError, SourceError
from ._cells import names_of, row_of, twice
from ._told import Chunk, size_of

PIECE = 16 << 20  # bytes of rows that become a chunk
_MOST = 1024  # rows of one
_END = object()


class Rows:
    """The rows of a dataset, by number, as cells under their names.

    Args:
        get: a row by its number.
        names: of a row's values, where rows do not name them; None: by the first row.
        whole: columns of dicts of which no columns are made.
    """

    def __init__(self, get: Callable[[int], Any], names: list[str] | None, whole: frozenset[str]) -> None:
        self._get, self._names, self._whole = get, names, whole

    def row(self, row: int) -> dict[str, Any]:
        return self.named(self._get(row))

    def named(self, row: Any) -> dict[str, Any]:
        if self._names is None:
            self._names = names_of(row)
        return row_of(row, self._names, self._whole)


def together(chunks: Iterable[Chunk]) -> Chunk:
    """The columns of several, of the same rows."""
    found: Chunk = {}
    for chunk in chunks:
        if both := found.keys() & chunk.keys():
            raise InvalidError(twice(min(both)))
        found.update(chunk)
    return found


def _columns(rows: list[dict[str, Any]]) -> Chunk:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _check_names(number: int, row: dict[str, Any], first: dict[str, Any]) -> None:
    if row.keys() == first.keys():
        return
    missing = [name for name in first if name not in row]
    more = [name for name in row if name not in first]
    told = [f"lacks {', '.join(map(str, missing))}"] if missing else []
    told += [f"has {', '.join(map(str, more))} too"] if more else []
    raise InvalidTypeError(f"row {number:,}: {'; '.join(told)}: all rows have the columns of the first")


def spread(row: dict[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """With None for each member of a struct that is missing as a whole, as other rows have `columns`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        gone = value is None and name not in columns
        inside = [one for one in columns if gone and one.startswith(f"{name}.")]
        whole = inside and not any(one in row for one in inside)
        found.update(dict.fromkeys(inside) if whole else {name: value})
    return found


def _spread_all(rows: list[dict[str, Any]], row: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the same columns, with those of a later row, where that has structs that these all lack."""
    found = [spread(one, row) for one in rows]
    return found if all(one.keys() == row.keys() for one in found) else rows


def chunks(rows: Iterable[dict[str, Any]]) -> Iterator[Chunk]:
    """Rows of the same columns, gathered."""
    gathered: list[dict[str, Any]] = []
    first: dict[str, Any] | None = None
    size = 0
    for number, row in enumerate(rows):
        first = row if first is None else first
        if row.keys() != first.keys():
            row = spread(row, first)
            first, *gathered = _spread_all([first, *gathered], row)
            _check_names(number, row, first)
        gathered.append(row)
        size += sum(map(size_of, row.values()))
        if len(gathered) == _MOST or size >= PIECE:
            yield _columns(gathered)
            gathered, size = [], 0
    if gathered:
        yield _columns(gathered)


def row_error(row: int, error: BaseException) -> SourceError:
    """What a dataset raised for a row."""
    told = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}".rstrip(": ")
    return SourceError(f"row {row:,}: {' '.join(told.split())}")


def numbered(rows: Iterable[Any], make: Callable[[Any], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of an iterable as cells; what it raises is told with the row's number."""
    iterator, number = iter(rows), 0
    while True:
        try:
            given = next(iterator, _END)
            if given is _END:
                return
            row = make(given)
        except SourceError:
            raise
        except Exception as error:
            raise row_error(number, error) from error
        yield row
        number += 1
