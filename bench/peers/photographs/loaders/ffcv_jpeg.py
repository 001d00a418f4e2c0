"""FFCV: its own file format, with the images re-encoded as JPEG of quality 90; it draws its own boxes."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import numpy as np
from common import BATCH, MEAN, SHORT, SIDE, STD, Batches, Job
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

VERSION = f"ffcv {importlib.metadata.version('ffcv')}"
_loaders: dict[str, Any] = {}


class Files:
    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        return np.asarray(Image.open(self.files[number]).convert("RGB")), number


def prepare(folder: Path, files: list[str]) -> None:
    fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "number": IntField()}
    if not (folder / "ffcv.beton").exists():
        DatasetWriter(str(folder / "ffcv.beton"), fields, num_workers=1).from_indexed_dataset(Files(files))


def steps(job: Job) -> list[Any]:
    finish = [NormalizeImage(MEAN * 255, STD * 255, np.float32), ToTensor(), ToTorchImage()]
    if job.work == "centre":
        return [CenterCropRGBImageDecoder((SIDE, SIDE), SIDE / SHORT), *finish]
    return [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(), *finish]


def ready(job: Job) -> None:
    """Compiles once for each work."""
    if job.work not in _loaders:
        _loaders[job.work] = Loader(
            str(job.folder / "ffcv.beton"),
            batch_size=BATCH,
            num_workers=job.threads,
            order=OrderOption.RANDOM,
            os_cache=True,
            drop_last=False,
            pipelines={"image": steps(job), "number": [IntDecoder(), ToTensor(), Squeeze(1)]},
        )


def epoch(job: Job) -> Batches:
    return iter(_loaders[job.work])
