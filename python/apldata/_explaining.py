"""Why a loop waits, where functions in Python stand between the reader and the loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

_LITTLE = 0.02  # waiting for a smaller part of the time is not worth a word, as in reader/watch/explain.c


class Clock:
    """Seconds spent in something, again and again."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._before = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - begin

    def since(self, recent: bool) -> float:
        """Seconds in all, or since this was last asked."""
        seconds = self.seconds - (self._before if recent else 0.0)
        self._before = self.seconds
        return seconds


class Ages:
    """The clocks of a pass: the loop's waits since its first batch, and the functions."""

    def __init__(self) -> None:
        self.waits, self.functions = Clock(), Clock()
        self._first: float | None = None
        self._last = 0.0

    def begin(self) -> None:
        """The first batch is there."""
        if self._first is None:
            self._first, self.waits = time.perf_counter(), Clock()

    def explain(self, recent: bool) -> str | None:
        """What there is to say of the functions, if it is they that the loop waits for."""
        now = time.perf_counter()
        if self._first is None:
            return None
        elapsed = now - (max(self._first, self._last) if recent else self._first)
        self._last = now
        waited, working = self.waits.since(recent), self.functions.since(recent)
        if elapsed <= 0 or waited < elapsed * _LITTLE or working < elapsed / 2:
            return None
        return (
            f"training waits for functions in Python: {100 * waited / elapsed:.1f} % of its time, in which "
            "they run one batch after another, on one thread. Transforms of apldata.transforms run in C, on "
            "all threads.\n"
            f"functions {working:.2f} of {elapsed:.2f} s; the loop waited {waited:.2f} s"
        )
