"""Does what runs again and again keep memory, threads or files?"""

from __future__ import annotations

import gc
import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path


def resident() -> int:
    """Bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def check_memory(run: Callable[[int], None]) -> None:
    """`run`: reads that many epochs, of 50 batches of 240 kB."""
    run(6)
    gc.collect()
    before, others = resident(), (threading.active_count(), len(os.listdir("/proc/self/fd")))
    run(40)  # 2,000 batches
    gc.collect()
    assert resident() - before < 24 << 20
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) <= others
