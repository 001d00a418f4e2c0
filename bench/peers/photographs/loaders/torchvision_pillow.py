"""PyTorch's DataLoader over files that Pillow decodes, with torchvision's transforms: the usual way."""

from __future__ import annotations

from typing import Any

import PIL
import torch
import torchvision
from common import BATCH, MEAN, SHORT, SIDE, STD, Batches, Job
from PIL import Image
from torchvision.transforms.v2 import functional as F

VERSION = f"torchvision {torchvision.__version__}, pillow {PIL.__version__}"


def finished(image: Any, job: Job, number: int) -> torch.Tensor:
    """Of an image of Pillow or a tensor: the steps of v2's transforms, for a given box."""
    if job.work == "centre":
        image = F.center_crop(F.resize(image, [SHORT], antialias=True), [SIDE, SIDE])
    else:
        left, top, width, height = job.boxes[number].tolist()
        image = F.resized_crop(image, top, left, height, width, [SIDE, SIDE], antialias=True)
        if job.flips[number]:
            image = F.horizontal_flip(image)
    scaled = F.to_dtype(F.to_image(image), torch.float32, scale=True)
    return F.normalize(scaled, MEAN.tolist(), STD.tolist(), inplace=True)


class Files(torch.utils.data.Dataset[Any]):
    def __init__(self, job: Job) -> None:
        self.job = job

    def __len__(self) -> int:
        return len(self.job.files)

    def image(self, path: str) -> Any:
        with open(path, "rb") as file:
            return Image.open(file).convert("RGB")

    def __getitem__(self, number: int) -> tuple[torch.Tensor, int]:
        return finished(self.image(self.job.files[number]), self.job, number), number


def batches(files: Files) -> Batches:
    torch.set_num_threads(1)
    order = files.job.shuffled().tolist()
    return iter(torch.utils.data.DataLoader(files, BATCH, sampler=order))


def epoch(job: Job) -> Batches:
    return batches(Files(job))
