"""Records of splits whose turn has not come: they wait in a file without a name, beside the store."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator
from typing import Any

from ._errors import StorageError, storage_error

Values = list[tuple[Any, tuple[int, ...] | None]]  # of each field, its bytes, and its shape if that varies


class Waiting:
    """The records of one split, in their order.

    Args:
        path: the store's directory.
    """

    def __init__(self, path: str, split: str) -> None:
        self._path, self._split, self._size = path, split, 0
        try:
            # It has no name, or loses it at once: nothing is left behind.
            self._file = tempfile.TemporaryFile(dir=path, prefix=".apldata-", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> StorageError:
        return storage_error(f"{self._path}: cannot keep records of split {self._split!r}", error)

    def add(self, values: Values, rows: int) -> None:
        """Keeps `rows` records; all of them or none."""
        kept = [(memoryview(given).tobytes(), shape) for given, shape in values]
        data = pickle.dumps((kept, rows), pickle.HIGHEST_PROTOCOL)
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file.fileno(), left) :]
        except OSError as error:
            self._file.seek(self._size)
            self._file.truncate()
            raise self._failed(error) from None
        self._size += len(data)

    def take(self) -> Iterator[tuple[Values, int]]:
        """All of them, as they were added; once."""
        self._file.seek(0)
        with os.fdopen(os.dup(self._file.fileno()), "rb") as file:
            while file.tell() < self._size:
                yield pickle.load(file)
        self.close()

    def close(self) -> None:
        self._file.close()
