"""Grain over an ArrayRecord file, shuffled in full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grain
import numpy as np
from array_record.python.array_record_module import ArrayRecordWriter
from common import BATCH, Batches, Job, Split, finished, from_bytes, to_bytes

FILE = "rows.array_record"


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    writer = ArrayRecordWriter(str(path / FILE), "group_size:1,zstd:3")
    for row in to_bytes(split):
        writer.write(row)
    writer.close()


class Finish(grain.transforms.RandomMap):
    """Records to arrays, a whole batch at a time."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def random_map(self, element: list[bytes], rng: np.random.Generator) -> Any:
        images, labels = from_bytes(element)
        return finished(images, self.job, rng), labels


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants `threads`, and `processes`: worker processes."""
    source = grain.sources.ArrayRecordDataSource([str(path / FILE)])
    seed = 0
    while True:
        seed += 1
        yield epoch(source, job, seed)


def epoch(source: Any, job: Job, seed: int) -> Any:
    data = grain.MapDataset.source(source).seed(seed).shuffle()
    processes = job.variant == "processes"
    threads = 1 if processes else job.threads
    batches = data.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * BATCH))
    batches = batches.batch(BATCH, drop_remainder=False, batch_fn=list).random_map(Finish(job))
    if processes:
        batches = batches.mp_prefetch(grain.MultiprocessingOptions(num_workers=job.threads))
    return batches
