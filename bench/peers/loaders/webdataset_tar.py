"""WebDataset: tar shards with a member for the pixels and one for the label; shuffled through a buffer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import webdataset as wds
from common import BATCH, SHAPE, Batches, Job, Split, finished

SHARDS = 8
BUFFER = 10_000


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    with wds.ShardWriter(str(path / "%03d.tar"), maxcount=-(-len(split.labels) // SHARDS), verbose=0) as sink:
        for i, (image, label) in enumerate(zip(split.images, split.labels, strict=True)):
            sink.write({"__key__": f"{i:06}", "bin": image.tobytes(), "cls": str(label)})


class Finish:
    """Arrays of a list of samples, each (pixels, class) as bytes."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng: np.random.Generator | None = None

    def __call__(self, samples: list[tuple[bytes, bytes]]) -> tuple[Any, Any]:
        self.rng = self.rng or np.random.default_rng()
        images = np.frombuffer(b"".join(pixels for pixels, _ in samples), np.uint8).reshape(-1, *SHAPE)
        return finished(images, self.job, self.rng), np.array([int(label) for _, label in samples], np.uint8)


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    shards = sorted(map(str, path.glob("*.tar")))
    data = wds.WebDataset(shards, shardshuffle=len(shards), empty_check=False).shuffle(BUFFER)
    data = data.to_tuple("bin", "cls").batched(BATCH, collation_fn=Finish(job), partial=True)
    loader = wds.WebLoader(data, batch_size=None, num_workers=job.threads, persistent_workers=True)
    while True:
        yield loader
