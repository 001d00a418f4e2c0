"""What is compared, on what, by which figures."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Trial = dict[str, Any]  # the line that `paper` prints
CORES = len(os.sched_getaffinity(0))
AHEAD = max(1, CORES - 1)  # threads that load ahead: APL's default
BATCH = 128


@dataclass(frozen=True)
class Loader:
    """A way of loading: its title, and what `paper` is told."""

    title: str
    words: tuple[str, ...]


def _loader(title: str, name: str, *words: str, ahead: int = 0) -> Loader:
    return Loader(title, ("--loader", name, "--ahead", str(ahead), *words))


READERS = ("--readers", str(CORES))
LOADERS = {
    "plain": _loader("plain read", "plain"),
    "burst": _loader("burst buffer", "burst"),
    "lmdb": _loader("LMDB, optimised I/O", "lmdb", *READERS),
    "burst-ahead": _loader("burst buffer, loading ahead", "burst", ahead=AHEAD),
    "lmdb-ahead": _loader("LMDB, loading ahead", "lmdb", ahead=AHEAD),
    "apl": _loader("APL", "apl", ahead=AHEAD),
}
OWN = "apl"


@dataclass(frozen=True)
class Network:
    """By the number of its convolutions."""

    title: str
    blocks: int


NETWORKS = {
    "deep": Network("three convolutions: compute-bound", 3),
    "light": Network("one dense layer: demand-limited", 0),
}


@dataclass(frozen=True)
class Metric:
    """One of the paper's five: of a trial, in the unit in which it is told."""

    title: str
    of: Callable[[Trial], float]
    form: str  # of a figure
    more_is_better: bool = True


def training(trial: Trial) -> float:
    """Seconds from the first batch that was asked for to the end of the last step."""
    return float(trial["waited"]) + float(trial["computed"])


METRICS = {
    "rounds": Metric("rounds", lambda t: float(t["steps"]), "{:,.0f}"),
    "throughput": Metric("samples/s", lambda t: float(t["images"]) / training(t), "{:,.0f}"),
    "memory": Metric("memory, MB", lambda t: (t["peak"] + t["staged"]) / 1e6, "{:,.0f}", False),
    "inference": Metric("inference, s", lambda t: float(t["inference"]), "{:.3g}", False),
    "utilisation": Metric("utilisation, %", lambda t: 100 * t["computed"] / training(t), "{:.1f}"),
}


@dataclass(frozen=True)
class Overlap:
    """A loader whose loading overlaps with training, or does not; of what is steady, as in a long run."""

    title: str
    words: tuple[str, ...]


# A window that does not cover the split: each epoch decodes again, so that all batches take as long.
OVERLAPS = {
    "plain": Overlap("files", ("--loader", "plain")),
    "lmdb": Overlap("LMDB", ("--loader", "lmdb")),
    "apl": Overlap("APL, window of 5,000", ("--loader", "apl", "--window", "5000")),
}
OVERLAP_BLOCKS = (0, 1)  # convolutions
OVERLAP_AHEAD = (0, 1, 2)  # threads that load
