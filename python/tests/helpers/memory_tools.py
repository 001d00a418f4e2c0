"""Does what runs again and again keep memory, threads or files?"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def resources() -> set[tuple[str, ...]]:
    """The threads and open files of this process, each by name: counts also change when an old one ends."""
    gc.collect()
    found = {("thread", task) for task in os.listdir("/proc/self/task")}
    found |= {("Python thread", str(id(thread))) for thread in threading.enumerate()}
    for file in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the folder just listed
            found.add(("file", file, os.readlink(f"/proc/self/fd/{file}")))
    return found


def check_memory(run: Callable[[int], None]) -> None:
    """`run`: reads that many epochs, of 50 batches of 240 kB."""
    run(6)
    gc.collect()
    before, others = resident(), resources()
    run(40)  # 2,000 batches
    gc.collect()
    assert resident() - before < 24 << 20
    left = resources() - others
    assert {what for what in left if what[0] != "thread"} == set()  # the framework's own threads come and go
