"""What a process and its children use: processor time and memory, from /proc."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import TracebackType

TICK = os.sysconf("SC_CLK_TCK")


def tree() -> list[int]:
    """This process and all below it."""
    found, todo = [], [os.getpid()]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue  # it ended while we looked
    return found


def cpu_seconds() -> float:
    """User and system time of this process, of its living descendants and of those that it has waited for."""
    total = time.process_time()
    for pid in tree():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        own, waited_for = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
        total += (waited_for + (own if pid != os.getpid() else 0)) / TICK
    return total


def machine_seconds() -> float:
    """Processor time that all processes of the machine have used, and what its host took from it."""
    user, nice, system, _idle, _wait, irq, softirq, stolen = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + stolen) / TICK


def memory() -> dict[str, int]:
    """Bytes of the process tree: `rss` counts shared pages once for each process, `pss` once in all."""
    sums = {"Rss": 0, "Pss": 0, "Pss_Anon": 0}
    for pid in tree():
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(":")
            if name in sums:
                sums[name] += int(value.split()[0]) * 1024
    return {"rss": sums["Rss"], "pss": sums["Pss"], "anon": sums["Pss_Anon"]}


class Sampler:
    """Looks at the memory from a thread of its own in the `with` block; `peak` has the greatest values."""

    def __init__(self, interval: float = 0.02) -> None:
        self.interval = interval
        self.peak = memory()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.wait(self.interval):
            self.take()

    def take(self) -> None:
        """Looks once more."""
        self.peak = {name: max(value, self.peak[name]) for name, value in memory().items()}

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None
    ) -> None:
        self.take()
        self._stop.set()
        self._thread.join()
