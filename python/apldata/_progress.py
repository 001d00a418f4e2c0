"""Progress on stderr: tqdm's bars, or a line that is redrawn; where that is no terminal, the end only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from ._units import size


class Progress(NamedTuple):
    """How far the work has come."""

    phase: str
    """``"reading"``, ``"checking"`` or ``"done"``."""
    records: int
    """In this phase."""
    source_bytes: int
    """Read so far, as they lie in the source."""
    source_size: int
    """0 where it is not known."""
    raw_bytes: int
    """Of the records."""
    stored_bytes: int
    """Written so far."""
    expected: int = 0
    """Records there will be; 0 where it is not known."""


class _Display(Protocol):
    def __call__(self, p: Progress, part: float) -> None: ...

    def close(self) -> None: ...


class _Quiet:
    """Shows nothing."""

    def __call__(self, p: Progress, part: float) -> None:
        pass

    def close(self) -> None:
        pass


class _Line:
    """One line, drawn again and again."""

    def __call__(self, p: Progress, part: float) -> None:
        percent = f"{100 * part:3.0f}%  " if part >= 0 else ""
        print(f"\r{p.phase:8}  {percent}{p.records:,} records\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


class _Tqdm:
    """A bar of tqdm's for each phase."""

    def __init__(self, bar: Callable[..., object]) -> None:
        self._make, self._phase = bar, ""
        self._bar: Any = None

    def __call__(self, p: Progress, part: float) -> None:
        if p.phase != self._phase:
            self.close()
            self._phase = p.phase
            self._bar = self._make(
                desc=p.phase, unit=" records", unit_scale=True, leave=False, dynamic_ncols=True
            )
        if part > 0:
            self._bar.total = round(p.records / part)
        self._bar.update(p.records - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _display() -> _Display:
    """What stderr can show."""
    notebook = "ipykernel" in sys.modules
    if not (notebook or sys.stderr.isatty()):
        return _Quiet()
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return _Quiet() if notebook else _Line()
    return _Tqdm(tqdm)


class Bar:
    """Shows the progress of an ingest while the `with` block lasts; call it with each Progress."""

    def __enter__(self) -> Self:
        self._display, self._records, self._began = _display(), 0, time.monotonic()
        return self

    def __call__(self, p: Progress) -> None:
        if p.phase == "done":
            self._display.close()
            self._display = _Quiet()
            self._tell_end(p)
            return
        part = -1.0
        if p.phase == "reading":
            self._records = p.records
            part = p.source_bytes / p.source_size if p.source_size else -1.0
            if p.expected:
                part = p.records / p.expected
        elif self._records:
            part = p.records / self._records
        self._display(p, min(part, 1.0))

    def _tell_end(self, p: Progress) -> None:
        seconds = time.monotonic() - self._began
        sizes = f"{size(p.raw_bytes)} -> {size(p.stored_bytes)}"
        print(f"{p.records:,} records, {sizes}, {seconds:.1f} s", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.close()
