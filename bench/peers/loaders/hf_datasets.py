"""Hugging Face datasets: an Arrow table with the pixels as bytes, indexed a batch at a time.

Its own array features are an order of magnitude slower, and give int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import BATCH, SHAPE, Batches, Job, Split, finished
from datasets import Dataset, Features, Value, disable_progress_bars, load_from_disk


def write(split: Split, path: Path) -> None:
    disable_progress_bars()
    columns = {"image": [image.tobytes() for image in split.images], "label": split.labels.tolist()}
    features = Features({"image": Value("binary"), "label": Value("uint8")})
    Dataset.from_dict(columns, features=features).save_to_disk(str(path))


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    data = load_from_disk(str(path)).with_format("arrow")
    rng = np.random.default_rng(1)
    seed = 0
    while True:
        yield epoch(data.shuffle(seed=seed, keep_in_memory=True, load_from_cache_file=False), job, rng)
        seed += 1


def epoch(data: Dataset, job: Job, rng: np.random.Generator) -> Batches:
    for table in data.iter(BATCH):
        rows = b"".join(table["image"].to_pylist())
        images = np.frombuffer(rows, np.uint8).reshape(-1, *SHAPE)
        yield finished(images, job, rng), table["label"].to_numpy()
