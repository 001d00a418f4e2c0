"""APL's PyTorch DataLoader."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import torch
from common import BATCH, Batches, Job
from loaders.apl_loader import ingest as ingest
from loaders.apl_loader import transforms

from apldata.torch import DataLoader


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    torch.set_num_threads(job.threads)
    loader = DataLoader(
        str(path.parent / "db"),
        split="train",
        batch_size=BATCH,
        shuffle=True,
        num_workers=job.threads,
        transforms=transforms(job),
    )
    return itertools.repeat(loader)
