"""The server that a loader with share="node" starts: it is told on standard input what to serve."""

from __future__ import annotations

import os
import pickle
import sys

from . import _core


def _say(answer: str) -> None:
    """To whoever waits for this process, once."""
    sys.stdout.write(answer)
    sys.stdout.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)


def main() -> int:
    store, options, path, ranks, idle_ms = pickle.load(sys.stdin.buffer)
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
