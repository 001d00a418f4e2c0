"""LitData: its chunks of raw bytes, streamed from disk."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# `optimize` empties the folder `data` of the temporary directory unless it is told where its caches are.
CACHE = tempfile.mkdtemp(prefix="litdata-")
os.environ["DATA_OPTIMIZER_CACHE_FOLDER"] = f"{CACHE}/chunks"
os.environ["DATA_OPTIMIZER_DATA_CACHE_FOLDER"] = f"{CACHE}/data"

import litdata  # noqa: E402
import numpy as np  # noqa: E402
from common import BATCH, Batches, Job, Split, finished, from_bytes, to_bytes  # noqa: E402


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    rows = list(to_bytes(split))
    litdata.optimize(
        fn=Row(rows), inputs=list(range(len(rows))), output_dir=str(path), chunk_bytes="64MB", num_workers=1
    )


class Row:
    """The record of an index."""

    def __init__(self, rows: list[bytes]) -> None:
        self.rows = rows

    def __call__(self, index: int) -> bytes:
        return self.rows[index]


class Collate:
    """Arrays of a list of records."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng: np.random.Generator | None = None

    def __call__(self, rows: list[bytes]) -> tuple[Any, Any]:
        self.rng = self.rng or np.random.default_rng()
        images, labels = from_bytes(rows)
        return finished(images, self.job, self.rng), labels


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants raw-W, with W workers."""
    data = litdata.StreamingDataset(str(path), shuffle=True, drop_last=False, seed=1)
    workers = int(job.variant.split("-")[1])
    loader = litdata.StreamingDataLoader(data, batch_size=BATCH, num_workers=workers, collate_fn=Collate(job))
    return itertools.repeat(loader)
