"""Dates, times of day and durations, which are stored as whole numbers: those of a column in one unit."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._arguments import shown

_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "D": "days",
          "h": "hours", "m": "minutes", "M": "months", "Y": "years", "W": "weeks", "ps": "picoseconds",
          "fs": "femtoseconds", "as": "attoseconds", "generic": "durations without a unit"}  # fmt: skip
_CALENDAR = ("Y", "M")  # of which no two are equally long


class Refusal(Exception):
    """A value that a column does not take.

    Args:
        row: its place in the chunk.
    """

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row


@dataclasses.dataclass(frozen=True)
class Unit:
    """What the numbers of a column of times count.

    Attributes:
        code: NumPy's name of the type: "M8[us]" counts microseconds since 1970, "m8[s]" is a duration in
            seconds.
        zone: the times are of a known zone, and stored as UTC.
        clock: they count since midnight.
    """

    code: str
    zone: bool = False
    clock: bool = False

    @property
    def plural(self) -> str:
        unit, step = np.datetime_data(np.dtype(self.code))
        return f"{'' if step == 1 else f'{step} '}{_UNITS.get(unit, unit)}"

    def __str__(self) -> str:
        if self.clock:
            return f"{self.plural} since midnight"
        return self.plural + (" since 1970-01-01" if self.code[0] == "M" else "") + ", UTC" * self.zone

    def is_like(self, other: Unit) -> bool:
        """Do both count the same kind of time, if in other units?"""
        return (self.code[0], self.zone, self.clock) == (other.code[0], other.zone, other.clock)

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Values of NumPy's types for times, along the first dimension those of rows, as numbers.

        Raises:
            Refusal: one is another kind of time, or no whole number of the unit.
        """
        dtype = np.dtype(self.code)
        if values.dtype == dtype:
            return values.astype(np.int64)
        if not _convertible(values.dtype, dtype):
            raise Refusal(0, f"{Unit(values.dtype.str[1:])}, where the first rows hold {self}")
        with np.errstate(over="ignore"):
            made = values.astype(dtype)
            differ = np.argwhere(made.astype(values.dtype) != values)
        if len(differ):
            one = values[tuple(differ[0])]
            raise Refusal(int(differ[0][0]), f"{one} is not a whole number of {self.plural}, {_ADVICE}")
        return made.astype(np.int64)

    def number(self, row: int, value: Any) -> Any:
        """A value of a row, as a number.

        Raises:
            Refusal: as for `numbers`, or it is no time.
        """
        alike = self._is_of_zone(value) and self._is_of_clock(value)
        if alike and _PYTHON.get(type(value)) == self.code:
            return _counted(value)
        try:
            array = _as_numpy(value)
        except OverflowError:
            raise Refusal(row, f"{shown(value)}: 64 bits do not hold its microseconds") from None
        if array is None or not self._is_of_clock(value):
            raise Refusal(row, f"{shown(value)} ({type(value).__name__}), where the first rows hold {self}")
        if not self._is_of_zone(value):
            known = "a known zone" if self.zone else "no zone"
            raise Refusal(row, f"{shown(value)}, where the first rows hold times of {known}")
        try:
            return self.numbers(array[None])[0]
        except Refusal as refusal:
            raise Refusal(row, str(refusal)) from None

    def _is_of_zone(self, value: Any) -> bool:
        has = isinstance(value, (datetime.datetime, datetime.time))
        return not has or (value.tzinfo is not None) == self.zone

    def _is_of_clock(self, value: Any) -> bool:
        return (
            self.clock if isinstance(value, datetime.time) else not self.clock or type(value) not in _PYTHON
        )


_ADVICE = "the unit of the first rows: give the column one unit, such as by astype()"
_PYTHON = {datetime.date: "M8[D]", datetime.datetime: "M8[us]", datetime.timedelta: "m8[us]",
           datetime.time: "m8[us]"}  # fmt: skip
_EPOCH, _EPOCH_UTC = datetime.datetime(1970, 1, 1), datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def _convertible(one: np.dtype, to: np.dtype) -> bool:
    """Is there a number of the unit `to` for the unit of `one`, at least for some values?"""
    units = [np.datetime_data(dtype)[0] for dtype in (one, to)]
    calendar = [unit in _CALENDAR for unit in units]
    return one.kind == to.kind and "generic" not in units and (one.kind == "M" or calendar[0] == calendar[1])


def _counted(value: Any) -> int:
    """Days, or microseconds, of a time of Python's."""
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(_EPOCH, value.replace(tzinfo=None)) - _EPOCH
    if isinstance(value, datetime.timedelta):
        return value // _MICROSECOND
    if isinstance(value, datetime.datetime):
        return (value - (_EPOCH_UTC if value.tzinfo else _EPOCH)) // _MICROSECOND
    days: int = (value - _EPOCH.date()).days
    return days


def _as_numpy(value: Any) -> np.ndarray | None:
    """A time, whatever library it is of; None: it is no time."""
    for name in ("to_datetime64", "to_timedelta64"):  # of pandas
        if hasattr(value, name):
            return np.asarray(getattr(value, name)())
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value) if value.dtype.kind in "mM" else None
    code = _code_of(value)
    return None if code is None else np.asarray(_counted(value), object).astype(np.int64).view(code)


def _code_of(value: Any) -> str | None:
    """The unit of a time of Python's; None: it is none."""
    kind = next((kind for kind in (datetime.datetime, *_PYTHON) if isinstance(value, kind)), None)
    return None if kind is None else _PYTHON[kind]


def is_time(value: Any) -> bool:
    return isinstance(value, (datetime.date, datetime.timedelta, datetime.time)) or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "mM"
    )


def _code_of_pandas(values: Iterable[Any]) -> str:
    """Of Timestamps or Timedeltas, each of which has a unit of its own: microseconds, as Python's times
    have; nanoseconds, if one has that unit."""
    kinds = {array.dtype for one in values if one is not None and (array := _as_numpy(one)) is not None}
    unit = "ns" if any(np.datetime_data(kind)[0] == "ns" for kind in kinds) else "us"
    return f"{min(kinds).kind}8[{unit}]"


def unit_of(values: Iterable[Any]) -> Unit | None:
    """The unit of the first value that is there; None: it is no time."""
    first = (
        values if isinstance(values, np.ndarray) else next((one for one in values if one is not None), None)
    )
    code = _code_of(first)
    if code is not None and hasattr(first, "to_numpy"):
        code = _code_of_pandas(values)
    if code is None:
        array = _as_numpy(first)
        if array is None:
            return None
        code = array.dtype.str[1:]
    zone = isinstance(first, datetime.datetime) and first.tzinfo is not None
    return Unit(code, zone, isinstance(first, datetime.time))
