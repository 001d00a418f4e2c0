"""One reader at work for a loader: where it stands, and the iterators over its epochs."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from . import _core
from ._ahead import END, Ahead
from ._errors import ForkedError, LentError, StorageError, TimeoutError
from ._interrupts import interrupt_later
from ._source import Source, named

_CLOSE_WAIT = 0.5  # seconds for which closing waits for a function that is being called


class Pass:
    """A reader, and what was handed out of it last.

    Args:
        source: gives its batches.
        depth: batches that the functions of the source may be ahead of the loop; 0: it has none.
        finished: the reader stands at the end of an epoch that an iteration has gone through.
    """

    def __init__(
        self, reader: _core.Reader, source: Source, depth: int, timeout: float, finished: bool
    ) -> None:
        self.reader, self.source = reader, source
        self._depth, self.timeout = depth, timeout
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._ahead: Ahead | None = None
        self._closed = False
        self._state: bytes | None = None  # after the last batch that the caller has; None: the source knows
        self._iterator: weakref.ref[Epoch] | None = None
        self.begun = finished  # has anything of the current epoch been asked for?
        self.finished = finished  # has an iterator told that the epoch is over?
        self.loaded = finished  # by a state, and no iteration has begun since
        self.failure: StorageError | None = None  # which the last batch was, if it was one
        self._made = True

    # ------------------------------------------------------------------------------------------ batches

    @property
    def straight(self) -> bool:
        """Are batches those of the reader, so that after the first an iterator may take them there?"""
        return not self._depth and type(self.source) is Source

    def take(self) -> Any:
        """The next batch, or what functions have made of it; None: the epoch is over."""
        item = self._take_ahead() if self._depth else self.source.next()
        self.begun = True
        if item is None:  # else it stays as it is: another thread may have been told of the end meanwhile
            self.finished = True
        return item

    def _take_ahead(self) -> Any:
        if os.getpid() != self._pid:
            raise ForkedError("the loader belongs to the parent process: make one here")
        with self._lock:  # so that the state is that after the last one taken
            if self._ahead is None:
                self._state = self.reader.state()
                self._ahead = Ahead(self.source.produce, self._depth)
                if self._closed:  # meanwhile, by a thread that has not seen this one
                    self._ahead.stop()
            self.begun = True  # also if a function raises
            with self.source.ages.waits.running():
                if not self._ahead.wait(self.timeout, lambda: self.source.running is not None):
                    raise self._timed_out()
            self.source.ages.begin()
            try:
                taken = self._ahead.take()
            except (LentError, TimeoutError):  # of the reader: may be tried again
                self.end_ahead()
                raise
            item, self._state = (None, None) if taken is END else taken
        return item

    def _timed_out(self) -> TimeoutError:
        function = self.source.running
        stuck = "" if function is None else f": {named(function)} has not returned"
        return TimeoutError(f"waited {self.timeout:g} s for a batch{stuck}")

    def end_ahead(self) -> None:
        """Ends the thread that works ahead. The function that it is in is waited for, as long as a batch may
        take: two must not run at a time."""
        if self._ahead is not None:
            self._ahead.stop()
            if not self._ahead.join(self.timeout or None):
                raise self._timed_out()
            self._ahead = None

    # ------------------------------------------------------------------------------------------- epochs

    def next_epoch(self) -> None:
        """Goes to the next epoch, giving up what is left of this one."""
        self.end_ahead()
        self.source.forget()
        self.reader.next_epoch()
        self.begun = self.finished = self.loaded = False
        self._state = None

    @property
    def epoch(self) -> int:
        """That is handed out, or will be next if nothing has been since the start or a state."""
        return self.reader.epoch + self.loaded

    def state(self) -> bytes:
        return self._state or self.source.state()

    def belongs_to(self, iterator: Epoch) -> None:
        """From now on the epoch is this iterator's."""
        self._iterator = weakref.ref(iterator)

    @property
    def in_use(self) -> bool:
        """May an iterator still ask for batches of the epoch?"""
        iterator = None if self._iterator is None else self._iterator()
        return iterator is not None and not iterator.over

    def explain(self, recent: bool) -> str:
        """What keeps the loop from going faster."""
        what, words = self.reader.explain(recent)
        functions = self.source.ages.explain(recent)
        if functions is None:
            return words
        return f"{functions}\nthe reader: {words}" if what != _core.APL_BOTTLENECK_TRAINING else functions

    # ------------------------------------------------------------------------------------------- ending

    def cancel(self) -> None:
        self.reader.cancel()

    def close(self) -> None:
        """Ends within a second. A function that does not return by then is left to itself, with the batch
        that it has."""
        self._closed = True
        self.reader.cancel()
        self.source.stop()
        ahead = self._ahead
        if ahead is not None:
            ahead.stop()
            ahead.join(_CLOSE_WAIT)
        self.source.forget()
        self.reader.close()

    _made = False  # Ctrl-C may come while it is made; its reader is freed by itself then

    def __del__(self) -> None:
        try:
            if self._made:
                self.close()
        except KeyboardInterrupt:
            interrupt_later()


class Owner(Protocol):
    """What an iterator needs of its loader."""

    def _begin(self, iterator: Epoch) -> Pass: ...

    def _take(self, of: Pass) -> Any: ...

    def _conversion(self) -> Callable[[Any], Any] | None: ...

    def _note(self, of: Pass, error: BaseException) -> None: ...

    def __len__(self) -> int: ...


class Epoch(_core.Iterator):
    """The iterator over one epoch of a loader: that which is next when its first batch is asked for."""

    def __init__(self, loader: Owner) -> None:
        self._loader = loader
        self._pass: Pass | None = None
        self.over = False

    @property
    def begun(self) -> bool:
        return self.over or self._pass is not None

    def begin(self, of: Pass) -> None:
        """The epoch is that which the pass hands out."""
        self._pass = of
        of.belongs_to(self)

    def _step(self) -> Any:
        """The next batch, by way of the loader: the first one, and all those that Python has a part in."""
        if self.over:
            raise StopIteration
        try:
            of = self._pass or self._loader._begin(self)
            item = self._loader._take(of)
        except StopIteration:
            self._finish()
            raise
        if of.straight:
            self._read_from(of.reader, of.timeout, self._loader._conversion())
        return item

    def _end(self) -> NoReturn:
        """The reader's epoch is over."""
        if self._pass is not None:  # no other thread has been told
            self._pass.finished = True
        self._finish()
        raise StopIteration

    def _failed(self, error: BaseException) -> None:
        """The reader has no batch."""
        if self._pass is not None:
            self._loader._note(self._pass, error)

    def _finish(self) -> None:
        self.over, self._pass = True, None
        self._stop()

    def __len__(self) -> int:
        return len(self._loader)
