"""PyTorch's DataLoader over files that torchvision.io decodes to tensors."""

from __future__ import annotations

from typing import Any

import torchvision
from common import Batches, Job
from loaders.torchvision_pillow import Files, batches
from torchvision.io import ImageReadMode, decode_jpeg, read_file

VERSION = f"torchvision {torchvision.__version__}"


class Tensors(Files):
    def image(self, path: str) -> Any:
        return decode_jpeg(read_file(path), ImageReadMode.RGB)


def epoch(job: Job) -> Batches:
    return batches(Tensors(job))
