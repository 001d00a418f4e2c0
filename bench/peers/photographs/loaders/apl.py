"""APL: JPEG files in their indexed form; crop, flip and normalising are the library's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from common import BATCH, MEAN, SEED, SHORT, SIDE, STD, Batches, Job

import apldata
from apldata import CenterCrop, Normalize, RandomFlip, RandomResizedCrop, Resize

VERSION = f"apldata {apldata.__version__}"
STORE = "indexed"


def prepare(folder: Path, files: list[str]) -> None:
    if not (folder / STORE).exists():
        apldata.ingest(str(folder / "images"), str(folder / STORE))


def transforms(job: Job) -> list[Any]:
    normalize = Normalize(MEAN.tolist(), STD.tolist())
    if job.work == "centre":
        return [Resize(SHORT), CenterCrop(SIDE), normalize]
    return [RandomResizedCrop(SIDE), *([RandomFlip()] if job.flips.any() else []), normalize]


def loader(folder: Path, job: Job, threads: int) -> apldata.Loader:
    """Files have the numbers of their records, as both are in the order of names."""
    return apldata.Loader(
        str(folder),
        split="train",
        batch_size=BATCH,
        seed=SEED,
        threads=threads,
        transforms=transforms(job),
        fields=["image"],
        first_epoch=job.epoch,
    )


def batches(folder: Path, job: Job) -> Batches:
    """Made by the caller's thread, so that nothing of the next epoch is made ahead and counted."""
    for batch in loader(folder, job, threads=0):
        yield batch["image"], batch.ids


def endless(folder: Path, job: Job) -> Batches:
    """Made ahead by as many threads as the job says, epoch after epoch."""
    endless = loader(folder, job, job.threads)
    while True:
        for batch in endless:
            yield batch["image"], batch.ids


def epoch(job: Job) -> Batches:
    return batches(job.folder / STORE, job)


def ahead(job: Job) -> Batches:
    return endless(job.folder / STORE, job)
