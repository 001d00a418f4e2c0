"""Running Python functions over batches ahead of the loop that uses them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ._errors import CancelledError

END = object()
_SLICE = 0.1  # seconds between looks at whether a wait is over


class Ahead:
    """A thread that calls `produce` again and again, up to `depth` results ahead of `take()`.

    An exception of `produce`, and `END` if it returns that, is the last result. The thread is a daemon, so
    that a forgotten one cannot keep the process alive. One that is stuck in `produce` after `stop()` is left
    to itself: it holds what it uses, drops what it has made, and ends.
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
            if not self._stopping:
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

    def _ready(self) -> bool:
        return bool(self._results) or self._stopping

    def wait(self, timeout: float, late: Callable[[], bool]) -> bool:
        """Waits for a result, `timeout` seconds at least, and then for as long as `late()` is False; a
        timeout of 0 is for ever. False: none yet."""
        with self._changed:
            if self._changed.wait_for(self._ready, timeout or None):
                return True
            while not late():
                if self._changed.wait_for(self._ready, _SLICE):
                    return True
            return self._ready()

    def take(self) -> Any:
        """The next result, waiting for it; `END` and exceptions come again with each call."""
        with self._changed:
            self._changed.wait_for(self._ready)
            if self._stopping:
                raise CancelledError("the loader was closed or restarted meanwhile")
            result, error = self._results[0]
            if error is not None:
                raise error
            if result is not END:
                self._results.popleft()
                self._changed.notify_all()
            return result

    def stop(self) -> None:
        """Makes the thread end after what it is doing, and drops what it has made."""
        if os.getpid() != self._pid:  # a child process has no such thread, and its lock may be held for ever
            return
        with self._changed:
            self._stopping = True
            self._results.clear()
            self._changed.notify_all()

    def join(self, seconds: float | None = None) -> bool:
        """Waits for the end of a thread that has been stopped, for so long or for ever; False: it has not
        ended. For the thread itself it has."""
        if os.getpid() == self._pid and self._thread is not threading.current_thread():
            self._thread.join(seconds)
            return not self._thread.is_alive()
        return True
