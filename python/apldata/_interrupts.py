"""Ctrl-C while an object is freed. Python drops what `__del__` raises, the interrupt too, and a program would
go on as if nobody had asked it to stop. So the interrupt is sent once more, a moment later."""

from __future__ import annotations

import signal
import threading

_MOMENT = 0.01  # seconds, in which __del__ has returned


def interrupt_later() -> None:
    """Sends SIGINT to the main thread, where it was raised, when the caller has returned."""
    main = threading.main_thread().ident
    assert main is not None
    later = threading.Timer(_MOMENT, signal.pthread_kill, (main, signal.SIGINT))
    later.daemon = True
    later.start()
