"""Running Python functions over batches ahead of the loop that uses them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ._errors import CancelledError

END = object()


class Ahead:
    """A thread that calls `produce` again and again, up to `depth` results ahead of `take()`.

    An exception of `produce`, and `END` if it returns that, is the last result. The thread is a daemon, so
    that a forgotten one cannot keep the process alive; `stop()` joins it.
    """

    def __init__(self, produce: Callable[[], Any], depth: int) -> None:
        self._produce, self._depth, self._pid = produce, depth, os.getpid()
        self._results: deque[tuple[Any, BaseException | None]] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="apldata-ahead", daemon=True)
        self._thread.start()

    def _put(self, result: Any, error: BaseException | None) -> bool:
        """False: nobody wants more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or len(self._results) < self._depth)
            self._results.append((result, error))
            self._changed.notify_all()
            return not self._stopping and error is None and result is not END

    def _call(self) -> tuple[Any, BaseException | None]:
        try:
            return self._produce(), None
        except BaseException as raised:  # it belongs to whoever takes the results
            return None, raised

    def _run(self) -> None:
        while self._put(*self._call()):  # keeps no result, which may be a batch that is lent
            pass

    def take(self) -> Any:
        """The next result, waiting for it; `END` and exceptions come again with each call."""
        with self._changed:
            self._changed.wait_for(lambda: self._results or self._stopping)
            if self._stopping:
                raise CancelledError("the loader was closed or started anew meanwhile")
            result, error = self._results[0]
            if error is not None:
                raise error
            if result is not END:
                self._results.popleft()
                self._changed.notify_all()
            return result

    def stop(self) -> None:
        """Ends the thread, and drops what it has made."""
        if os.getpid() != self._pid:  # a child process has no such thread, and its lock may be held for ever
            return
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._results.clear()
