"""Rows become records."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._arguments import brief, wrong_type
from .._errors import InvalidError, InvalidTypeError, SourceError, advising, prefixed
from .._warning import warn
from .._writer import Writer
from ..ingesting import IngestWarning
from ..schema import listed
from ._beside import Values
from ._cells import has_gaps
from ._classes import Renumbering
from ._making import Json, Maker, Wrong, Wrongs
from ._rows import spread
from ._times import Refusal
from ._told import Chunk, Column, Part, Told, rows_of, uneven

_SECONDS = 0.1  # between two reports
_ADVICE = "types and shapes are those of the first rows, unless types={...} gives others"


class Rules:
    """What is done with rows that lack a value, or whose file is bad.

    Args:
        missing: None: they are refused; "skip": left out; a mapping: what takes the place of the value.
        skip_bad: up to this many bad ones are left out.
    """

    def __init__(self, missing: str | Mapping[str, Any] | None, skip_bad: int) -> None:
        if missing not in (None, "skip") and not isinstance(missing, Mapping):
            raise wrong_type("missing", "None, 'skip', or a mapping from names of fields to values", missing)
        self.skip, self.skip_bad = missing == "skip", skip_bad
        self.fill: Mapping[str, Any] = missing if isinstance(missing, Mapping) else {}


def _missing(values: Column, classes: bool, whole: bool, nan: bool) -> Sequence[int]:
    """Places where there is no value, also within a list, unless values are kept `whole`; among classes, -1
    means no value, and among floats NaN may."""
    if isinstance(values, np.ndarray):
        if nan and values.dtype.kind == "f":
            return np.flatnonzero(np.isnan(values)).tolist()
        if values.dtype.kind in "mM":
            return np.flatnonzero(np.isnat(values).reshape(len(values), -1).any(1)).tolist()
        return np.flatnonzero(values == -1).tolist() if classes and values.dtype.kind == "i" else []
    gone = [row for row, value in enumerate(values) if value is None or (not whole and has_gaps(value))]
    return gone or ([row for row, value in enumerate(values) if _is_no_class(value)] if classes else [])


def _is_missing(values: Column) -> bool:
    """Has none of the rows a value?"""
    return isinstance(values, list) and all(value is None for value in values)


def _is_no_class(value: Any) -> bool:
    return isinstance(value, (int, np.ndarray)) and np.ndim(value) == 0 and value == -1


def _without(values: Column, rows: Sequence[int], fill: Any) -> Column:
    """With `fill` in the place of those rows."""
    values = list(values)
    for row in rows:
        values[row] = fill
    return values


def _of_other_size(column: str, own: tuple[int, ...], image: str, of: tuple[int, ...]) -> str:
    return (
        f"column {column}: a mask of {own[1]} x {own[0]} pixels, and its image, of column {image}, has "
        f"{of[1]} x {of[0]}: a mask is as large as its image"
    )


def _kept(values: Column, left: Sequence[int]) -> Column:
    return (
        values[np.asarray(left, np.intp)] if isinstance(values, np.ndarray) else [values[row] for row in left]
    )


class Appender:
    """Appends the rows of parts, one part after another.

    Args:
        renumber: of splits, by column, which numbers of classes change.
        columns: those of the first rows, if all are wanted; None: those that are wanted have been chosen.
        report: called with records, their bytes, and the bytes written, a few times a second.
    """

    def __init__(
        self,
        writer: Writer,
        makers: list[Maker],
        rules: Rules,
        renumber: Mapping[str, Mapping[str, Renumbering]],
        columns: Iterable[str] | None,
        report: Callable[[int, int, int], None],
    ) -> None:
        self._writer, self._makers, self._rules, self._report = writer, makers, rules, report
        self._renumber, self._columns = renumber, None if columns is None else list(columns)
        names = [maker.field.name for maker in makers]
        for name in rules.fill:
            if name not in names:
                raise InvalidError(f"missing: there is no field {name!r}: there are {listed(names)}")
        self._first: str | None = None  # split
        self._nan_is_missing: set[str] = set()  # columns of the part
        self.records, self.raw_bytes, self._bad, self._next = 0, 0, 0, 0.0

    def take(self, part: Part, chunks: Iterator[Chunk]) -> None:
        """Appends its rows, and tells of progress."""
        row, self._first = 0, self._first or part.split
        with prefixed(f"{part.split}, " if part.split else ""):
            self._nan_is_missing = {name for name, told in part.told.items() if told.nan_is_missing}
            for maker in self._makers:
                maker.accept(part.told.get(maker.column, Told()))
            for chunk in map(self._spread, chunks):
                self._check_columns(chunk)
                self._append(part.split, chunk, row)
                row += rows_of(chunk)
                self._tell()

    def _spread(self, chunk: Chunk) -> Chunk:
        """With the members of structs that all its rows lack."""
        wanted = [maker.column for maker in self._makers]
        gone = [name for name in chunk if name not in wanted and _is_missing(chunk[name])]
        if not gone:
            return chunk
        names = spread({name: None if name in gone else name for name in chunk}, wanted)
        return {name: chunk[name] if name in chunk else [None] * rows_of(chunk) for name in names}

    def _check_columns(self, chunk: Chunk) -> None:
        """Refuses columns that no field was made of, whose values would be lost."""
        wanted = self._columns
        first = next((name for name in chunk if name not in (wanted or ())), None)
        if wanted is None or first is None:
            return
        raise InvalidError(
            f"column {first}: {self._first} has none of that name, and all splits have the same columns: "
            f"fields={brief(repr(self._columns), 200)} leaves it out"
        )

    def _tell(self) -> None:
        if time.monotonic() >= self._next:
            self.records, self.raw_bytes, stored = self._writer._progress_now()
            self._report(self.records, self.raw_bytes, stored)
            self._next = time.monotonic() + _SECONDS

    def _append(self, split: str, chunk: Chunk, first: int) -> None:
        rows = rows_of(chunk)
        wrong: Wrongs = {}
        values: Values = {}
        for maker in self._makers:
            values.update(self._made(maker, split, chunk, first, wrong))
        self._check_masks(wrong)
        left = [row for row in range(rows) if row not in wrong]
        for row in sorted(wrong):
            self._leave_out(split, first + row, wrong[row], values, row)
        self._tell_warned(split, first, wrong, values)
        if wrong:
            values = {name: _kept(column, left) for name, column in values.items()}
        if left:
            try:
                self._writer._extend(values, [first + row for row in left])
            except InvalidError as error:
                with advising(InvalidError, self._advice(error)):
                    raise
        self.records, self.raw_bytes, _ = self._writer._progress_now()

    def _advice(self, error: InvalidError) -> str:
        """What to do about a value that the writer refuses."""
        if "inhomogeneous" not in str(error.__cause__):
            return _ADVICE
        fields = (maker.field.name for maker in self._makers)
        return uneven(next((name for name in fields if f"field {name} must" in str(error)), "..."))

    def _check_masks(self, wrong: Wrongs) -> None:
        """Each mask is as large as its record's first image, as far as that is known."""
        image = next((maker for maker in self._makers if any(maker.sizes) and not maker.masks), None)
        if image is None:
            return
        for maker in self._makers:
            for row, (own, of) in enumerate(zip(maker.sizes, image.sizes, strict=False)):
                if maker.masks and own and of and own != of:
                    why = _of_other_size(maker.column, own, image.column, of)
                    wrong.setdefault(row, Wrong(why, bad=True))

    def _made(self, maker: Maker, split: str, chunk: Chunk, first: int, wrong: Wrongs) -> Values:
        if maker.column not in chunk:
            raise InvalidError(
                f"row {first:,}: there is no column {maker.column!r}: fields=[...] without it leaves it out"
            )
        column, name = chunk[maker.column], maker.field.name
        if (renumbering := self._renumber[split].get(maker.column)) is not None:
            column = renumbering.apply(column, first)
        asked = self._rules.skip or name in self._rules.fill
        nan = asked and maker.column in self._nan_is_missing
        gone = _missing(column, bool(maker.field.classes), isinstance(maker, Json), nan)
        if gone and name in self._rules.fill:
            column = _without(column, gone, maker.fill(self._rules.fill[name]))
        own: Wrongs = {} if name in self._rules.fill else dict.fromkeys(gone, Wrong("a missing value"))
        try:
            made = maker.make(column, own)
        except Refusal as refusal:
            row = first + refusal.row
            raise InvalidTypeError(f"row {row:,}, column {maker.column}: {refusal}") from None
        for row, why in own.items():
            told = dataclasses.replace(why, why=f"column {maker.column}: {why.why}")
            wrong.setdefault(row, told)
        return made

    def _tell_warned(self, split: str, first: int, wrong: Wrongs, values: Values) -> None:
        """Names the files that are kept though their library warns of them."""
        for maker in self._makers:
            for row, why in maker.warned.items():
                if row not in wrong:
                    place = _place(split, first + row, values, row)
                    warn(f"kept with a warning: {place}, column {maker.column}: {why}", IngestWarning)

    def _leave_out(self, split: str, number: int, wrong: Wrong, values: Values, row: int) -> None:
        """A row that is wrong: refuses it, or lists it among what was left out."""
        allowed = self._bad < self._rules.skip_bad if wrong.bad else self._rules.skip
        if not allowed and wrong.bad:
            more = (
                f" (and more than the {self._rules.skip_bad} bad rows to skip)"
                if self._rules.skip_bad
                else ""
            )
            raise SourceError(f"row {number:,}, {wrong.why}{more}")
        if not allowed:
            raise InvalidError(f"row {number:,}, {wrong.why}: {wrong.helps}")
        self._bad += wrong.bad
        self._writer._skipped(_place(split, number, values, row), wrong.why)


def _place(split: str, number: int, values: Values, row: int) -> str:
    """Where a row comes from: the path of its file, or its number in the split."""
    path = values.get("path", [""] * (row + 1))[row]
    return path if isinstance(path, str) and path else f"{split}, row {number:,}"
