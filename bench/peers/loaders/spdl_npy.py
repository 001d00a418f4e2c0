"""SPDL: a pipeline of threads that cuts batches out of a memory-mapped .npy file.

One pipeline runs on from epoch to epoch, as building one takes about 0.1 s.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import BATCH, Batches, Job, Split, finished, shuffled
from spdl.pipeline import PipelineBuilder


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    np.save(path / "images.npy", split.images)
    np.save(path / "labels.npy", split.labels)


def endless(count: int) -> Iterator[Any]:
    """The ids of all batches of all epochs."""
    rng = np.random.default_rng(1)
    while True:
        yield from shuffled(count, rng)


def pipeline(
    source: Iterator[Any], make: Callable[[Any], Any], threads: int, per_epoch: int
) -> Iterator[Batches]:
    """Runs `make` over the source in `threads` threads; a slice of the output for each epoch."""
    built = (
        PipelineBuilder()
        .add_source(source)
        .pipe(make, concurrency=threads)
        .add_sink(3)
        .build(num_threads=threads)
    )
    with built.auto_stop():
        output = iter(built)
        while True:
            yield itertools.islice(output, per_epoch)


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    images, labels = np.load(path / "images.npy", mmap_mode="r"), np.load(path / "labels.npy")
    images = np.asarray(images)  # without the subclass's bookkeeping; still the mapped pages
    rng = np.random.default_rng(2)

    def make(ids: Any) -> tuple[Any, Any]:
        return finished(images[ids], job, rng), labels[ids]

    return pipeline(endless(len(labels)), make, job.threads, -(-len(labels) // BATCH))
