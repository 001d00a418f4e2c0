"""Tokens, graphs and ingest beside their bars: data.py [--tokens N] [--photos FOLDER] [--mnist FOLDER]

Needs apldata, NumPy, and for graphs torch_geometric with PyTorch; what is missing is skipped, and said. CPU
time, user and system, of all threads; the least of interleaved rounds. `aplingest` must be in PATH.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import apldata
from apldata import EdgeIndex, Loader, Nodes, Pack, Windows, Writer

ROUNDS = 5
LENGTH, ROWS = 1024, 64  # of packed rows and windows
NODES, EDGES, GRAPHS = 20, 40, 10_000


def row(what: str, ratio: float, bar: str, note: str = "") -> None:
    print(f"| {what} | {ratio:.2f} | {bar} | {note} |", flush=True)


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def least(**works: Callable[[], object]) -> dict[str, tuple[float, float]]:
    """CPU and wall seconds of each, which take turns."""
    best = {name: (float("inf"), float("inf")) for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            cpu, wall = time.process_time() + children(), time.perf_counter()
            work()
            cpu, wall = time.process_time() + children() - cpu, time.perf_counter() - wall
            best[name] = min(best[name][0], cpu), min(best[name][1], wall)
    return best


def run(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def epoch(loader: Loader) -> None:
    for batch in loader:
        batch.release()


# ------------------------------------------------------------------------------------------------ tokens


def make_tokens(path: Path, count: int) -> None:
    """Zipf's law, in documents of some 600 tokens that 50256 ends."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, 50257) ** 1.05
    tokens = rng.choice(50256, size=count, p=weights / weights.sum()).astype(np.uint16)
    ends = np.cumsum(np.maximum(1, rng.lognormal(6.2, 1.0, size=count // 200).astype(np.int64)))
    tokens[ends[ends < count]] = 50256
    tokens.tofile(path)


def tokens(scratch: Path, count: int) -> None:
    source = scratch / "tokens.bin"
    make_tokens(source, count)
    run("aplingest", "-q", "--tokens", "u16", "--document-end", "50256", source, scratch / "tokens.db")
    mapped = np.memmap(source, np.uint16, "r")
    memory, copy = np.fromfile(source, np.uint16), np.empty(count, np.uint16)
    wide, wide_copy = np.zeros(10 * count, np.uint8), np.empty(10 * count, np.uint8)
    rng = np.random.default_rng(1)

    def collated(how: Pack | Windows) -> Loader:
        return Loader(scratch / "tokens.db", batch_size=ROWS, seed=1, threads=1, collate={"tokens": how})

    packed, alone = collated(Pack(LENGTH)), collated(Pack(LENGTH, segments=False))
    cut = collated(Windows(LENGTH + 1, stride=LENGTH, join=True))

    def get_batch() -> None:
        for _ in range(count // (ROWS * LENGTH)):
            starts = rng.integers(0, count - LENGTH, ROWS)
            np.stack([mapped[s : s + LENGTH + 1].astype(np.int64) for s in starts])

    best = least(
        packed=lambda: epoch(packed),
        alone=lambda: epoch(alone),
        windows=lambda: epoch(cut),
        memcpy=lambda: np.copyto(copy, memory),
        memcpy_all=lambda: np.copyto(wide_copy, wide),
        get_batch=get_batch,
    )
    cpu = {name: times[0] for name, times in best.items()}
    rate = f"{count / cpu['packed'] / 1e6:.0f} M tokens/s"
    row("packed rows, rate of memcpy of the tokens", cpu["memcpy"] / cpu["packed"], "≥ 0.5", rate)
    row(
        "the same, of memcpy of all that is written: tokens, segments, positions",
        cpu["memcpy_all"] / cpu["packed"],
        "≥ 0.5",
    )
    row("packed rows without segments, rate of memcpy of the tokens", cpu["memcpy"] / cpu["alone"], "≥ 0.5")
    row("packed rows, rate of get_batch from a memory map", cpu["get_batch"] / cpu["packed"], "≥ 5")
    row(
        "windows, rate of get_batch",
        cpu["get_batch"] / cpu["windows"],
        "≥ 5",
        f"{count / cpu['windows'] / 1e6:.0f} M tokens/s",
    )


# ------------------------------------------------------------------------------------------------ graphs


def graphs(scratch: Path) -> None:
    try:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.loader import DataLoader
    except ImportError as error:
        print(f"graphs: skipped ({error})")
        return
    rng = np.random.default_rng(2)
    data = []
    fields = {"x": ("f32", (-1, 3)), "edge_index": ("i64", (2, -1)), "y": "f32"}
    with Writer(scratch / "graphs.db", fields) as writer:
        for y in range(GRAPHS):
            x, edges = rng.random((NODES, 3), np.float32), rng.integers(0, NODES, (2, EDGES))
            writer.append(x=x, edge_index=edges, y=y)
            data.append(Data(x=torch.from_numpy(x), edge_index=torch.from_numpy(edges), y=float(y)))
    theirs = DataLoader(data, batch_size=256, shuffle=True)
    ours = Loader(
        scratch / "graphs.db",
        batch_size=256,
        seed=1,
        threads=1,
        collate={"x": Nodes(), "edge_index": EdgeIndex()},
    )
    best = least(ours=lambda: epoch(ours), theirs=lambda: [None for _ in theirs])
    row(
        "graphs of 20 nodes, rate of PyTorch Geometric's DataLoader",
        best["theirs"][0] / best["ours"][0],
        "≥ 20",
    )


# ------------------------------------------------------------------------------------------------ ingest


def ingest(scratch: Path, mnist: Path | None, photos: Path | None) -> None:
    def make(*arguments: str | Path) -> Callable[[], None]:
        return lambda: run("aplingest", "-q", "--force", *arguments, scratch / "made.db")

    if mnist:
        files = sorted(mnist.glob("*-ubyte.gz"))
        best = least(apl=make(mnist), gzip=lambda: run("gzip", "-dc", *files))
        row("MNIST's files, wall time of gzip -dc", best["apl"][1] / best["gzip"][1], "≤ 0.5")
        row("the same, CPU time", best["apl"][0] / best["gzip"][0], "-")
    if photos:
        files = sorted(p for p in photos.rglob("*") if p.is_file())
        listed = scratch / "files"
        listed.write_text("\0".join(map(str, files)))
        sums = f"xargs -0 sha256sum <'{listed}'"
        best = least(
            kept=make("--keep-files", "--no-check", photos),
            sha256=lambda: run("sh", "-c", sums),
            indexed=make(photos),
        )
        row(
            "photographs, --keep-files --no-check, wall time of sha256sum",
            best["kept"][1] / best["sha256"][1],
            "≤ 1.2",
        )
        row("photographs, indexed, CPU ms each", 1000 * best["indexed"][0] / len(files), "≤ 5")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=100_000_000, help="how many (100,000,000); 0: none")
    parser.add_argument("--photos", type=Path, help="a folder of JPEG files by class")
    parser.add_argument("--mnist", type=Path, help="a folder with MNIST's four files")
    parser.add_argument("--scratch", type=Path, help="for stores (a temporary folder)")
    o = parser.parse_args()
    scratch = Path(tempfile.mkdtemp(dir=o.scratch))
    print(f"apldata {apldata.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| what | ratio | bar | |\n|---|---:|---:|---|")
    try:
        if o.tokens:
            tokens(scratch, o.tokens)
        graphs(scratch)
        ingest(scratch, o.mnist, o.photos)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
