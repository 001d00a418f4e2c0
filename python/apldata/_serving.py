"""The server that a loader with share="node" starts: it is told on standard input what to serve."""

from __future__ import annotations

import os
import pickle
import select
import sys
import threading
from contextlib import suppress

from . import _core
from ._sockets import remove_dead


def _give_away(*streams: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(null, stream)
    os.close(null)


def _say(answer: str) -> None:
    """To whoever waits for this process, once. If that was killed meanwhile, other ranks may yet come."""
    with suppress(BrokenPipeError):
        sys.stdout.write(answer)
        sys.stdout.flush()
    _give_away(0, 1)


def _watch(starter: int) -> None:
    """Gives standard error away once the starter is gone: this process lives on for a while, and whoever
    reads that pipe to its end would wait."""
    with suppress(OSError):  # a kernel without it
        select.select([os.pidfd_open(starter)], [], [])
    _give_away(2)


def main() -> int:
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    try:
        store, options, path, ranks, idle_ms = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):  # the starter was killed before it had said all
        return 1
    said = False

    def ready() -> None:
        nonlocal said
        said = True
        _say("ready")

    try:
        _core.serve(store, options, path, ranks, idle_ms, ready)
    except Exception as error:
        if said:
            raise
        _say(str(error))
        return 1
    finally:
        remove_dead(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
