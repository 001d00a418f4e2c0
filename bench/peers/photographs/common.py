"""What every loader of photographs is given, and what it must give back.

Work `random`: RandomResizedCrop(224), mirrored with probability 1/2, normalised, as f32[n, 3, 224, 224] in
batches of 256. Work `centre`: Resize(256) and CenterCrop(224) instead, not mirrored. The boxes of each round
are drawn in advance, as APL's reader draws them, so that all loaders cut the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 256
SIDE = 224
SHORT = 256
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
SCALE = (1 / (255 * STD)).reshape(3, 1, 1).astype(np.float32)
BIAS = (-MEAN / STD).reshape(3, 1, 1).astype(np.float32)
SEED = 1

Batches = Iterator[tuple[Any, Any]]  # of (images, numbers of the files): arrays or tensors


@dataclass(frozen=True)
class Job:
    """One pass over all files. By number of the file: `boxes` (left, top, width, height) and `flips`."""

    folder: Path
    files: list[str]
    work: str
    epoch: int
    boxes: NDArray[np.int64]
    flips: NDArray[np.bool_]
    threads: int = 1

    def shuffled(self) -> NDArray[np.int64]:
        """The numbers of the files in the order of this epoch."""
        return np.random.default_rng(self.epoch).permutation(len(self.files))

    def batches(self) -> Iterator[NDArray[np.int64]]:
        order = self.shuffled()
        for begin in range(0, len(order), BATCH):
            yield order[begin : begin + BATCH]


def job(folder: Path, work: str, epoch: int, flip: bool, threads: int) -> Job:
    """From the files that run.py has written."""
    told = json.loads((folder / "images.json").read_text())
    boxes = np.load(folder / ("centre.npy" if work == "centre" else f"boxes-{epoch}.npy"))
    flips = np.random.default_rng([7, epoch]).random(len(boxes)) < 0.5
    if work == "centre" or not flip:
        flips[:] = False
    return Job(folder, told["files"], work, epoch, boxes, flips, threads)


def empty(count: int) -> NDArray[np.float32]:
    return np.empty((count, 3, SIDE, SIDE), np.float32)


def finish(pixels: NDArray[np.uint8], flip: bool, out: NDArray[np.float32]) -> None:
    """Normalises u8[SIDE, SIDE, 3] into f32[3, SIDE, SIDE], for loaders that do not do it."""
    planes = (pixels[:, ::-1] if flip else pixels).transpose(2, 0, 1)
    np.multiply(planes, SCALE, out=out)
    np.add(out, BIAS, out=out)


def as_levels(images: Any) -> NDArray[np.float32]:
    """Normalised images as levels from 0 to 255."""
    return (np.asarray(images, np.float32) - BIAS) / SCALE
