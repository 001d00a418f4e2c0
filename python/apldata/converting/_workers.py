"""Rows that take long to make are made by several processes, and come in order all the same."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from .._errors import SourceError
from ._rows import Rows, row_error

_AHEAD = 2  # pieces of work that each process has
_PIECE = 16  # rows


def _made(rows: Rows, first: int, last: int) -> tuple[list[Any], tuple[SourceError, str] | None]:
    """Rows, up to the first that cannot be made; and why."""
    made: list[Any] = []
    for row in range(first, last):
        try:
            made.append(rows.row(row))
        except Exception as error:
            return made, (row_error(row, error), traceback.format_exc())
    return made, None


def _work(rows: Rows, pipe: Connection, others: Sequence[Connection]) -> None:
    """What a process does: makes the rows that it is told, until there is nobody to tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    for other in others:
        other.close()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_made(rows, *pipe.recv()))


class Workers:
    """Makes rows in processes.

    Args:
        rows: makes a row by its number.
        count: of rows.
        workers: of processes.
    """

    def __init__(self, rows: Rows, count: int, workers: int) -> None:
        method = multiprocessing.get_start_method(allow_none=True) or "fork"
        context: Any = multiprocessing.get_context(method)
        self._processes: list[Any] = []
        self._pipes: list[Connection] = []
        self._starts = range(0, count, _PIECE)
        self._count = count
        try:
            for _ in range(min(workers, max(1, len(self._starts)))):
                ours, theirs = context.Pipe()
                self._pipes.append(ours)
                others = list(self._pipes) if method == "fork" else []
                process = context.Process(target=_work, args=(rows, theirs, others), daemon=True)
                process.start()
                theirs.close()
                self._processes.append(process)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Any]:
        workers, sent = len(self._pipes), 0
        for piece, first in enumerate(self._starts):
            while sent < min(len(self._starts), piece + workers * _AHEAD):
                self._send(sent)
                sent += 1
            made, error = self._receive(piece, first)
            yield from made
            if error is not None:
                error[0].add_note(error[1].rstrip())
                raise error[0]

    def _send(self, piece: int) -> None:
        first = self._starts[piece]
        with suppress(OSError):  # it has died: receiving what it made before tells
            self._pipes[piece % len(self._pipes)].send((first, min(first + _PIECE, self._count)))

    def _receive(self, piece: int, first: int) -> tuple[list[Any], tuple[SourceError, str] | None]:
        worker = piece % len(self._pipes)
        try:
            self._pipes[worker].poll(None)  # Ctrl-C interrupts it; recv() not where handlers restart calls
            made: tuple[list[Any], tuple[SourceError, str] | None] = self._pipes[worker].recv()
            return made
        except (EOFError, OSError):
            process = self._processes[worker]
            process.join(1)
            how = process.exitcode
            told = f"signal {-how}" if how is not None and how < 0 else f"exit status {how}"
            last = min(first + _PIECE, self._count) - 1
            raise SourceError(
                f"rows {first:,} to {last:,}: the worker process that was making them died ({told}): out of "
                "memory?"
            ) from None

    def close(self) -> None:
        """Ends the processes, whatever they are at."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(1)
            if process.is_alive():
                process.kill()
                process.join()
        self._pipes, self._processes = [], []
