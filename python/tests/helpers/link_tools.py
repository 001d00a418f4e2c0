"""A link to a network namespace that delays packets, loses some and overtakes others: to TCP, and all above
it, a real one. A process of its own carries the packets between two TUN devices, so no module of the kernel
is needed, as netem is, but root and /dev/net/tun are."""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_TUNSETIFF, _TUN_WITHOUT_HEADER = 0x400454CA, 0x1001
_MTU = 8000  # so that Python can carry them
_QUEUED_S = 0.2  # what a sender has ahead of the link before packets are dropped


class Link:
    """The far side has an address of its own, and `within` runs commands there.

    Attributes:
        host: the address of the far side.
        within: a command before a command.
    """

    def __init__(self, host: str, namespace: str, carrier: subprocess.Popen[str]) -> None:
        self.host, self.within = host, ("ip", "netns", "exec", namespace)
        self._carrier = carrier

    def tell(self, **changes: float) -> None:
        """Changes what the link does: delay_s, bits_per_s, loss and overtaking (of packets), down (1: nothing
        passes)."""
        assert self._carrier.stdin
        self._carrier.stdin.write(" ".join(f"{name}={value}" for name, value in changes.items()) + "\n")
        self._carrier.stdin.flush()


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)


@contextmanager
def linked() -> Iterator[Link]:
    """A namespace at the end of a link of 1 Gbit/s, 10 ms long; a test without the means is skipped."""
    if os.geteuid() or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("no root, or no /dev/net/tun")
    name, net = f"apl{os.getpid()}", f"198.18.{os.getpid() % 251}"
    try:
        _run("ip", "netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no network namespaces")
    near, far = f"{name}n", f"{name}f"
    carrier = subprocess.Popen(
        [sys.executable, __file__, near, far], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert carrier.stdout and carrier.stdout.readline() == "ready\n"
        _run("ip", "link", "set", far, "netns", name)
        within = ("ip", "-n", name)
        _run("ip", "addr", "add", f"{net}.1", "peer", f"{net}.2", "dev", near)
        _run(*within, "addr", "add", f"{net}.2", "peer", f"{net}.1", "dev", far)
        _run("ip", "link", "set", near, "mtu", str(_MTU), "up")
        _run(*within, "link", "set", far, "mtu", str(_MTU), "up")
        _run(*within, "link", "set", "lo", "up")
        yield Link(f"{net}.2", name, carrier)
    finally:
        carrier.kill()
        carrier.communicate()
        _run("ip", "netns", "delete", name)


# ------------------------------------------------------------------------------ the process that carries them


class _Way:
    """One direction."""

    def __init__(self, source: int, sink: int) -> None:
        self.source, self.sink, self.free_at = source, sink, 0.0


class _Carrier:
    def __init__(self, near: int, far: int) -> None:
        self._ways = {way.source: way for way in (_Way(near, far), _Way(far, near))}
        self._said = {"delay_s": 0.01, "bits_per_s": 1e9, "loss": 0.0, "overtaking": 0.0, "down": 0.0}
        self._due: list[tuple[float, int, int, bytes]] = []
        self._count, self._draw = 0, random.Random(1)

    def run(self) -> None:
        """Until the end of the input."""
        said = sys.stdin.fileno()
        os.set_blocking(said, False)
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            ready, _, _ = select.select([said, *self._ways], [], [], wait)
            if said in ready:
                text = os.read(said, 4096).decode()
                if not text:
                    return
                self._said.update((name, float(value)) for name, value in map(_pair, text.split()))
            for source in ready:
                if source != said:
                    self._take(self._ways[source])
            self._give()

    def _take(self, way: _Way) -> None:
        for _ in range(64):
            try:
                packet = os.read(way.source, 65536)
            except BlockingIOError:
                return
            now, said = time.monotonic(), self._said
            way.free_at = max(way.free_at, now) + 8 * len(packet) / said["bits_per_s"]
            full = way.free_at - now > _QUEUED_S
            if full or said["down"] or self._draw.random() < said["loss"]:
                continue
            ahead = self._draw.random() < said["overtaking"]
            due = way.free_at + (0 if ahead else said["delay_s"])
            self._count += 1
            heapq.heappush(self._due, (due, self._count, way.sink, packet))

    def _give(self) -> None:
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            _, _, sink, packet = heapq.heappop(self._due)
            try:
                os.write(sink, packet)
            except OSError:  # a device that is down yet, or full
                continue


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _tun(name: str) -> int:
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN_WITHOUT_HEADER))
    return fd


if __name__ == "__main__":
    carrier = _Carrier(_tun(sys.argv[1]), _tun(sys.argv[2]))
    print("ready", flush=True)
    carrier.run()
