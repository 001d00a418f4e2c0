"""FFCV: its own file format, pipelines that it compiles, its own transforms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import BATCH, MEAN, PAD, STD, Batches, Job, Split
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, SimpleRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import (
    NormalizeImage,
    RandomHorizontalFlip,
    RandomTranslate,
    Squeeze,
    ToTensor,
    ToTorchImage,
)
from ffcv.writer import DatasetWriter


class Images:
    """What FFCV's writer indexes: images as u8[32, 32, 3] with their labels."""

    def __init__(self, split: Split) -> None:
        self.images = np.ascontiguousarray(split.images.transpose(0, 2, 3, 1))
        self.labels = split.labels

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.images[index], int(self.labels[index])


def write(split: Split, path: Path) -> None:
    fields = {"image": RGBImageField(write_mode="raw", max_resolution=32), "label": IntField()}
    DatasetWriter(str(path), fields, num_workers=2).from_indexed_dataset(Images(split))


def pipeline(job: Job) -> list[Any]:
    """The steps for an image; normalising is a table look-up."""
    if not job.augmented:
        return [SimpleRGBImageDecoder(), ToTensor(), ToTorchImage()]
    return [
        SimpleRGBImageDecoder(),
        RandomHorizontalFlip(),
        RandomTranslate(PAD, (0, 0, 0)),
        NormalizeImage(MEAN, STD, np.float32),
        ToTensor(),
        ToTorchImage(),
    ]


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants `random` (the whole file in memory) and `quasi` (page by page)."""
    torch.set_num_threads(job.threads)
    loader = Loader(
        str(path),
        batch_size=BATCH,
        num_workers=job.threads,
        order=OrderOption.RANDOM if job.variant == "random" else OrderOption.QUASI_RANDOM,
        os_cache=job.variant == "random",
        drop_last=False,
        pipelines={"image": pipeline(job), "label": [IntDecoder(), ToTensor(), Squeeze(1)]},
    )
    return itertools.repeat(loader)
