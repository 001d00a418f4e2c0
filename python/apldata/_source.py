"""Where a loader's batches come from: a reader, and functions in Python over what it hands out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._ahead import END
from ._arguments import shown
from ._errors import CancelledError, InvalidError
from ._explaining import Ages

Function = Callable[[Any], Any]


def named(function: Any) -> str:
    """What to call a user's function in a message: its name, and where it is written."""
    function = getattr(function, "__wrapped__", function)
    name, code = getattr(function, "__qualname__", None), getattr(function, "__code__", None)
    if name is None:
        return shown(function)
    return name if code is None else f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a user's function. A StopIteration of its own must not end the loop that asked for a batch: as
    in generators (PEP 479), it becomes a RuntimeError."""
    try:
        return function(*arguments)
    except StopIteration as stop:
        raise RuntimeError(f"{named(function)} raised StopIteration") from stop


def apply(functions: Iterable[Function], item: Any) -> Any:
    """What functions over batches make of a batch, one after another; None means that it was changed in
    place."""
    for function in functions:
        result = call(function, item)
        item = item if result is None else result
        if isinstance(item, _core.Batch):
            _check_rows(function, item)
    return item


def _rows(value: Any) -> int:
    """How many an array or a list has; -1: it has none."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else -1
    return len(value) if hasattr(value, "__len__") and not isinstance(value, (str, bytes)) else -1


def _check_rows(function: Function, batch: _core.Batch) -> None:
    """Tells a batch how many rows a function has left. Refuses fields that have come to have different
    numbers of them: images would go with the labels of others."""
    rows = {name: batch.rows if value is None else _rows(value) for name, value in batch._held().items()}
    left = set(rows.values()) or {len(batch.ids)}
    if -1 not in left and len(left) == 1:
        batch._set_rows(left.pop())
        return
    told = ", ".join(f"{name} {'none' if count < 0 else count}" for name, count in rows.items())
    raise InvalidError(
        f"{named(function)} has left fields with different numbers of rows: {told}; it may change the rows "
        "of all fields, or of none"
    )


class Source:
    """The batches of a reader, and what functions make of them. It knows no loader, so that the thread that
    works ahead does not keep a forgotten one alive."""

    def __init__(self, reader: _core.Reader, timeout: float, functions: list[Function]) -> None:
        self._reader, self._timeout, self._functions = reader, timeout, functions
        self._stopped = False
        self.running: Function | None = None  # the function that is being called
        self.ages = Ages()

    def next(self) -> Any:
        """The next batch; None at the end of the epoch."""
        return self._reader.next(self._timeout)

    def state(self) -> bytes:
        """Of the reader after the last batch that `next()` has given."""
        return self._reader.state()

    def forget(self) -> None:
        """The epoch is over, or given up."""

    def stop(self) -> None:
        """No more functions are to be called."""
        self._stopped = True

    def produce(self) -> Any:
        """The next batch, with the functions applied, and the state after it; `END` at the end of the
        epoch."""
        item = self.next()
        if item is None:
            return END
        state = self._reader.state()
        for function in self._functions:
            item = self._apply(function, item)
        return item, state

    def _apply(self, function: Function, item: Any) -> Any:
        if self._stopped:
            raise CancelledError("the loader was closed meanwhile")
        self.running = function
        try:
            with self.ages.functions.running():
                return apply([function], item)
        finally:
            self.running = None
