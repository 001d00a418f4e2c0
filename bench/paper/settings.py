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
PROCESSES = max(2, AHEAD)
WINDOW = ("--window", "5000")
LOADERS = {
    "plain": _loader("plain read", "plain"),
    "burst": _loader("burst buffer", "burst"),
    "lmdb": _loader("LMDB of zstd values", "lmdb", *READERS),
    "lmdb-raw": _loader("LMDB of raw values", "lmdb-raw", *READERS),
    "burst-ahead": _loader("burst buffer, loading ahead", "burst", ahead=AHEAD),
    "lmdb-ahead": _loader("LMDB of zstd values, loading ahead", "lmdb", ahead=AHEAD),
    "lmdb-raw-ahead": _loader("LMDB of raw values, loading ahead", "lmdb-raw", ahead=AHEAD),
    "lmdb-raw-processes": _loader(
        f"LMDB of raw values, {PROCESSES} processes", "lmdb-raw", "--processes", ahead=PROCESSES
    ),
    "apl-window": _loader("APL, window of 5,000", "apl", *WINDOW, ahead=AHEAD),
    "apl": _loader("APL", "apl", ahead=AHEAD),
}
OWN = "apl"
BASELINES = [name for name in LOADERS if not name.startswith(OWN)]


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
    """Of a trial, in the tables' unit: one of the paper's five, in the first epoch or later, or CPU time."""

    title: str
    of: Callable[[Trial], float]
    form: str  # of a figure
    more_is_better: bool = True


def _seconds(trial: Trial, phase: str) -> float:
    """From opening the loader on, or from the end of the first epoch on."""
    return trial[phase]["waited"] + trial[phase]["computed"] + (trial["opened"] if phase == "cold" else 0)


def _rate(trial: Trial, phase: str) -> float:
    return trial[phase]["images"] / _seconds(trial, phase)


def _utilisation(trial: Trial, phase: str) -> float:
    return 100 * trial[phase]["computed"] / _seconds(trial, phase)


def _cpu(trial: Trial, phase: str) -> float:
    return 1e6 * trial[phase]["cpu"] / trial[phase]["all_images"]


METRICS = {
    "rounds": Metric("rounds", lambda t: float(t["rounds"]), "{:,.0f}"),
    "throughput-first": Metric("samples/s, first epoch", lambda t: _rate(t, "cold"), "{:,.0f}"),
    "throughput": Metric("samples/s, steady", lambda t: _rate(t, "steady"), "{:,.0f}"),
    "cpu-first": Metric("CPU µs a sample, first epoch", lambda t: _cpu(t, "cold"), "{:,.1f}", False),
    "cpu": Metric("CPU µs a sample, steady", lambda t: _cpu(t, "steady"), "{:,.1f}", False),
    "memory": Metric("memory, MB", lambda t: (t["peak"] + t["staged"]) / 1e6, "{:,.0f}", False),
    "inference": Metric("inference, s", lambda t: float(t["inference"]), "{:.3g}", False),
    "utilisation-first": Metric("utilisation, %, first epoch", lambda t: _utilisation(t, "cold"), "{:.1f}"),
    "utilisation": Metric("utilisation, %, steady", lambda t: _utilisation(t, "steady"), "{:.1f}"),
}


@dataclass(frozen=True)
class Overlap:
    """A loader whose loading overlaps with training, or does not; of what is steady, as in a long run."""

    title: str
    words: tuple[str, ...]


# A window that does not cover the split: each epoch decodes again, so that all batches take as long.
OVERLAPS = {
    "plain": Overlap("files", ("--loader", "plain")),
    "lmdb": Overlap("LMDB of zstd values", ("--loader", "lmdb")),
    "apl": Overlap("APL, window of 5,000", ("--loader", "apl", *WINDOW)),
}
OVERLAP_BLOCKS = (0, 1)  # convolutions
OVERLAP_AHEAD = (0, 1, 2)  # threads that load
