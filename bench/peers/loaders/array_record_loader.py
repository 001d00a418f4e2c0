"""ArrayRecord without Grain: the reader's batched `read` with a permutation, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from array_record.python.array_record_module import ArrayRecordReader
from common import Batches, Job, finished, from_bytes, shuffled
from loaders.grain_loader import FILE


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    reader = ArrayRecordReader(str(path / FILE))
    rng = np.random.default_rng(1)
    while True:
        yield epoch(reader, job, rng)


def epoch(reader: ArrayRecordReader, job: Job, rng: np.random.Generator) -> Batches:
    for ids in shuffled(reader.num_records(), rng):
        images, labels = from_bytes(reader.read(ids.tolist()))
        yield finished(images, job, rng), labels
