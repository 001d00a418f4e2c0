"""What a writer holds that is in no store yet. It is not lost without a word."""

from __future__ import annotations

import os
import warnings


class Unsaved:
    """Counts the records that were appended to a writer, and knows whether they are to be missed."""

    def __init__(self, path: str) -> None:
        self.path, self.records = path, 0
        self.settled = False  # committed or discarded; or an error has told that they are gone
        self._pid = os.getpid()

    def tell(self) -> None:
        """The writer is closed, or gone. In a child process, that is no concern of the parent's writer."""
        lost, self.settled = self.records and not self.settled, True
        if lost and os.getpid() == self._pid:
            records = "1 record was" if self.records == 1 else f"{self.records:,} records were"
            warnings.warn(
                f"{self.path}: {records} not committed and no store was made: call commit() before close(), "
                "or use `with Writer(...)`; discard() says that this is meant",
                UserWarning,
                stacklevel=3,
            )
