"""The library's errors as exceptions. All can be pickled, and carry what the library reported."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from typing import Any


class Error(Exception):
    """A call of the library failed.

    ``str(error)`` is one line that names file, place and cause.

    Attributes:
        status: the library's number for the kind of failure (``apl_status`` of ``apl.h``).
        errno: the error number of the system call that failed, or None.
        records: the ids of the records that it concerns, as a ``range``; None if it concerns none in
            particular.
    """

    status = 0

    def __init__(self, message: str, errno: int = 0, first: int = 0, count: int = 0) -> None:
        super().__init__(message)
        self.errno: int | None = errno or None
        self.records: range | None = range(first, first + count) if count else None

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        records = self.records or range(0)
        return type(self), (str(self), self.errno or 0, records.start, len(records))

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidError(Error, ValueError):
    """An argument is wrong, or the call came at the wrong time."""

    status = 2


class InvalidTypeError(InvalidError, TypeError):
    """An argument has the wrong type."""


class NoMemoryError(Error, MemoryError):
    """Out of memory."""

    status = 3


class StorageError(Error, OSError):
    """The system could not open, read or write; ``errno`` says why."""

    status = 4


class NoSpaceError(StorageError):
    """The file system is full, or a quota is."""

    status = 5


class ExistsError(Error, FileExistsError):
    """There is a store already, and replacing it was not asked for."""

    status = 6


class NotFoundError(Error, LookupError):
    """No such store, record, field, split or member."""

    status = 7


class NoRecordError(NotFoundError, IndexError):
    """There is no record with that id."""


class NoFieldError(NotFoundError, KeyError):
    """There is no field of that name."""


class BusyError(Error):
    """Another writer is at work on this store, in this or another process."""

    status = 8


class CorruptError(Error):
    """Stored bytes are not what was written; ``records`` says which records they belong to."""

    status = 9


class VersionError(Error):
    """The store has a format that this version does not know."""

    status = 10


class SourceError(Error):
    """The source of an ingest is damaged, or not what it should be."""

    status = 11


class IncompleteError(SourceError):
    """The source of an ingest ends early, or lacks members or rows."""

    status = 12


class CancelledError(Error):
    """The operation was cancelled."""

    status = 13


class UnsupportedError(Error):
    """Understood, but not available in this build or on this machine."""

    status = 14


class MismatchError(Error):
    """The store, or a state, is not the one that was expected."""

    status = 15


class TimedOutError(Error, builtins.TimeoutError):
    """The time limit has passed."""

    status = 16


class LentError(Error):
    """Too many batches are still held, and the memory budget allows no more."""

    status = 17


class ForkedError(Error):
    """The loader belongs to the parent process: make one in the child."""

    status = 18


class ReentrantError(Error):
    """Called from the loader's own callback."""

    status = 19


# The names that they had, which hid Python's own.
IOError = StorageError
TimeoutError = TimedOutError


def _told(error: Error, message: str) -> Error:
    """The error with another message."""
    make_again, (_, *rest) = error.__reduce__()
    again: Error = make_again(message, *rest)
    for note in getattr(error, "__notes__", ()):
        again.add_note(note)
    return again


@contextmanager
def advising(kind: type[Error], advice: str) -> Iterator[None]:
    """Errors of that kind end with what the caller can do."""
    try:
        yield
    except kind as error:
        raise _told(error, f"{error}; {advice}") from error.__cause__


@contextmanager
def prefixed(where: str) -> Iterator[None]:
    """Errors begin with the place that they are about."""
    try:
        yield
    except Error as error:
        raise _told(error, f"{where}{error}") from error.__cause__


_KINDS = {
    kind.status: kind
    for kind in (
        InvalidError,
        NoMemoryError,
        StorageError,
        NoSpaceError,
        ExistsError,
        NotFoundError,
        BusyError,
        CorruptError,
        VersionError,
        SourceError,
        IncompleteError,
        CancelledError,
        UnsupportedError,
        MismatchError,
        TimedOutError,
        LentError,
        ForkedError,
        ReentrantError,
    )
}


for _kind in (Error, *_KINDS.values(), InvalidTypeError, NoRecordError, NoFieldError):
    _kind.__module__ = "apldata"  # where users find them


def storage_error(where: str, error: OSError) -> StorageError:
    """The exception for a failure of the system."""
    kind = NoSpaceError if error.errno in (ENOSPC, EDQUOT) else StorageError
    return kind(f"{where}: {error.strerror}", error.errno or 0)


def make(status: int, message: str, errno: int = 0, first: int = 0, count: int = 0) -> Error:
    """The exception for a failure of the library; called by the extensions."""
    return _KINDS.get(status, Error)(message, errno, first, count)
