"""The course of a loader: which reader is at work, and which iterator each epoch belongs to."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from . import _core, _trees
from ._errors import Error, ForkedError, InvalidError, LentError, StorageError
from ._launch import warn_if_alone
from ._node import Connection
from ._pass import Epoch, Pass
from ._source import Function, Source
from ._store import Store


class Course:
    """What a loader does from epoch to epoch; the part of it that iterators and states go through."""

    store: Store
    _options: dict[str, Any]  # of its readers, as the extension takes them
    _functions: list[Function]  # over batches
    _connection: Connection | None  # to the reader of a server
    _timeout: float
    _depth = 2  # batches that functions in Python may be ahead of the loop
    _lent_advice = "arrays lie in their batches: copy those you want to keep: array.copy()"

    def _set_out(self, first_epoch: int, by_itself: bool) -> None:
        """Opens the first reader. `by_itself`: the launcher says which rank it is."""
        self._by_itself = by_itself
        self._pid, self._starting = os.getpid(), threading.RLock()
        self._passes: weakref.WeakSet[Pass] = weakref.WeakSet()  # also those of iterators of before
        self._cancelled = self._closed = False
        self._waiting: weakref.ref[Epoch] | None = None  # the iterator whose epoch will be the loader's
        self._bound_for: int | None = None  # the epoch to begin at, while the reader is where other ranks are
        self._pass = self._opened(first_epoch=first_epoch, join=True)

    def _opened(self, finished: bool = False, join: bool = False, **where: Any) -> Pass:
        """A reader that begins there, and what belongs to it. With `join`, one that is shared may be where
        other ranks have gone."""
        there = True
        if self._connection is None:
            reader = _core.Reader(self.store, {**self._options, **where})
        else:
            reader, there = self._connection.open(self.store, self._options, where, join)
        self._bound_for = None if there else where["first_epoch"]
        depth = self._depth if self._functions else 0
        opened = Pass(reader, self._make_source(reader), depth, self._timeout, finished)
        self._passes.add(opened)
        if self._cancelled:  # meanwhile, too
            opened.cancel()
        return opened

    def _make_source(self, reader: _core.Reader) -> Source:
        """Gives the batches of a reader; for subclasses."""
        return Source(reader, self._timeout, self._functions)

    def _check_usable(self) -> None:
        if os.getpid() != self._pid:
            raise ForkedError("the loader belongs to the parent process: make one here")
        if self._closed:
            raise InvalidError("the loader is closed")

    def _reopen(self, finished: bool = False, **where: Any) -> None:
        self._check_usable()
        with self._starting:
            before, self._cancelled = self._pass, False
            if not before.in_use:
                before.end_ahead()
            if self._connection is not None:  # a rank has one client at a time
                before.close()
            self._pass = self._opened(finished, **where)
            if not before.in_use:
                before.close()
            self._waiting = None

    def _arrive(self) -> None:
        """Goes to where the loader begins, for which other ranks must come too."""
        if self._bound_for is not None and not self._closed:
            self._reopen(first_epoch=self._bound_for)

    def __iter__(self) -> Iterator[Any]:
        self._check_usable()  # in a child, the lock may be held for ever
        if self._by_itself and self._options["world"] < 2:
            self._by_itself = False  # told once
            warn_if_alone()
        iterator = Epoch(self)
        _trees.register()
        with self._starting:
            if self._pass.in_use:
                self._waiting = weakref.ref(iterator)
            elif self._pass.begun:
                self._pass.next_epoch()
        return iterator

    def __len__(self) -> int:
        return self._pass.reader.batches

    def _begin(self, iterator: Epoch) -> Pass:
        """Gives an iterator its epoch. Another that has not come to its end keeps its own, and its reader."""
        self._check_usable()
        with self._starting:
            self._arrive()
            if self._pass.in_use and self._connection is not None:
                if self._pass.failure:
                    raise copy(self._pass.failure)
                raise InvalidError(
                    "a loader that shares a reader has one iterator at a time: end the other first"
                )
            if self._pass.in_use:
                self._pass = self._opened(first_epoch=self._pass.epoch + 1)
            elif self._pass.begun:
                self._pass.next_epoch()
            iterator.begin(self._pass)
            return self._pass

    def _settled(self) -> Pass:
        """What the last iteration that was begun goes through: also if nothing has been asked of it yet."""
        if os.getpid() != self._pid:
            return self._pass
        with self._starting:
            self._arrive()
            waiting = None if self._waiting is None else self._waiting()
            self._waiting = None
            if waiting is not None and not waiting.begun:
                self._begin(waiting)
            return self._pass

    def _taken(self, of: Pass) -> Any:
        try:
            item = of.take()
        except Error as error:
            self._note(of, error)
            raise
        if item is None:
            raise StopIteration
        return item

    def _note(self, of: Pass, error: BaseException) -> None:
        """A batch has failed. Raises another error, where there is more to say."""
        if isinstance(error, LentError):
            raise LentError(f"{error}; {self._lent_advice}, or give a larger memory_budget") from None
        if isinstance(error, StorageError):
            of.failure = copy(error)  # without the frames, and what they hold

    def _take(self, of: Pass) -> Any:
        return self._convert(self._taken(of))

    def _conversion(self) -> Callable[[Any], Any] | None:
        """_convert(), where it does something."""
        return None if type(self)._convert is Course._convert else self._convert

    def _convert(self, batch: Any) -> Any:
        """What is handed out for a batch; for subclasses."""
        return batch

    def _cancel_readers(self) -> None:
        self._cancelled = True
        for one in list(self._passes):
            one.cancel()

    def _close_readers(self) -> None:
        self._cancel_readers()
        for one in list(self._passes):
            one.close()
