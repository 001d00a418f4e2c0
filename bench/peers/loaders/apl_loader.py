"""APL's own loader, for NumPy; crop, flip and scaling are the library's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import BATCH, PAD, Batches, Job

import apldata
from apldata import Normalize, RandomCrop, RandomFlip, ToFloat32


def ingest(archive: Path, folder: Path) -> None:
    apldata.ingest(str(archive), str(folder / "db"), partial=True)  # a sample has fewer rows than it should


def transforms(job: Job) -> list[Any]:
    return [RandomCrop(32, padding=PAD), RandomFlip(), Normalize(), ToFloat32()] if job.augmented else []


def arrays(loader: Any) -> Iterator[Batches]:
    """An epoch after the other, of NumPy views of the library's memory."""
    while True:
        yield ((batch["image"], batch["label"]) for batch in loader)


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    store = str(path.parent / "db")
    return arrays(
        apldata.Loader(
            store, split="train", batch_size=BATCH, seed=1, threads=job.threads, transforms=transforms(job)
        )
    )
