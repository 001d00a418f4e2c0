"""APL: JPEG files in their indexed form; crop, flip and normalising are the library's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from common import BATCH, MEAN, SEED, SHORT, SIDE, STD, Batches, Job

import apldata
from apldata import CenterCrop, Normalize, RandomFlip, RandomResizedCrop, Resize

VERSION = f"apldata {apldata.__version__}"
STORE = "indexed"
_loaders: dict[Any, apldata.Loader] = {}


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


def kept(folder: Path, job: Job) -> apldata.Loader:
    """One for all rounds, as a training script has it for all epochs. Its batches are made by the caller's
    thread, so that nothing of the next epoch is made ahead and counted."""
    of = (folder, job.work, bool(job.flips.any()))
    if of not in _loaders:
        _loaders[of] = loader(folder, job, threads=0)
    _loaders[of].set_epoch(job.epoch)
    return _loaders[of]


def batches(folder: Path, job: Job) -> Batches:
    for batch in kept(folder, job):
        yield batch["image"], batch.ids


def endless(folder: Path, job: Job) -> Batches:
    """Made ahead by as many threads as the job says, epoch after epoch."""
    endless = loader(folder, job, job.threads)
    while True:
        for batch in endless:
            yield batch["image"], batch.ids


def ready(job: Job) -> None:
    kept(job.folder / STORE, job)


def epoch(job: Job) -> Batches:
    return batches(job.folder / STORE, job)


def ahead(job: Job) -> Batches:
    return endless(job.folder / STORE, job)
