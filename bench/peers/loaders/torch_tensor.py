"""No loader at all: everything in one PyTorch tensor, indexed by a permutation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import BATCH, BIAS, SCALE, Batches, Job, pad


def crops_of(images: Any) -> Any:
    """A view [2 n, 3, 9, 9, 32, 32] of all crops of all images, as they are and mirrored."""
    both = np.concatenate([pad(images), pad(images[:, :, :, ::-1])])
    return torch.from_numpy(both).unfold(2, 32, 1).unfold(3, 32, 1).permute(0, 2, 3, 1, 4, 5)


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)
    stored = np.load(path / "images.npy")
    labels = torch.from_numpy(np.load(path / "labels.npy"))
    images = crops_of(stored) if job.augmented else torch.from_numpy(stored)
    while True:
        yield epoch(images, labels, job)


def epoch(images: Any, labels: Any, job: Job) -> Batches:
    scale, bias = torch.from_numpy(SCALE), torch.from_numpy(BIAS)
    for ids in torch.randperm(len(labels)).split(BATCH):
        if not job.augmented:
            yield images[ids], labels[ids]
            continue
        y, x = torch.randint(0, images.shape[1], (2, len(ids)))
        mirrored = len(labels) * torch.randint(0, 2, (len(ids),))
        yield images[ids + mirrored, y, x].float().mul_(scale).add_(bias), labels[ids]
