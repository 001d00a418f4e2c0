"""What every system is given and must give back: CIFAR-10, two kinds of work on it, and their checks.

Work `u8`: batches of 512 images as u8[n, 3, 32, 32] with their labels, the training split shuffled for
each epoch. Work `f32`: the same as f32[n, 3, 32, 32], normalised, each image cropped at random from itself
with 4 black pixels around it, and mirrored with probability 1/2.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BATCH = 512
SHAPE = (3, 32, 32)
PAD = 4
CLASSES = 10
ROW = 1 + 3 * 32 * 32  # bytes of a record in the binary layout: label, pixels
MEAN = np.array([125.307, 122.95, 113.865], np.float32)
STD = np.array([62.993, 62.089, 66.705], np.float32)
SCALE = (1 / STD).reshape(3, 1, 1)
BIAS = (-MEAN / STD).reshape(3, 1, 1)

Images = NDArray[np.uint8]
Labels = NDArray[np.integer[Any]]
Batches = Iterable[tuple[Any, Any]]  # of (images, labels): arrays or tensors


class Split(NamedTuple):
    """Images u8[n, 3, 32, 32] and labels u8[n] in the order of the archive."""

    images: Images
    labels: Images


@dataclass(frozen=True)
class Job:
    """What is measured: work (`u8` or `f32`), number of threads or processes, way of using the system."""

    work: str
    threads: int
    variant: str

    @property
    def augmented(self) -> bool:
        return self.work == "f32"


def read_archive(archive: Path) -> dict[str, Split]:
    """Reads `train` and `test` of an archive in the binary layout. OSError, tarfile.TarError, ValueError."""
    members: dict[str, bytes] = {}
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            name = Path(member.name).name
            if (member.isfile() and name.endswith("_batch.bin")) or name.startswith("data_batch_"):
                members[name] = tar.extractfile(member).read()  # type: ignore[union-attr]
    train = [members[name] for name in sorted(members) if name.startswith("data_batch_")]
    if not train or "test_batch.bin" not in members:
        raise ValueError(f"{archive}: not CIFAR-10 in the binary layout")
    return {"train": _split(train), "test": _split([members["test_batch.bin"]])}


def _split(parts: list[bytes]) -> Split:
    rows = np.frombuffer(b"".join(parts), np.uint8).reshape(-1, ROW)
    return Split(rows[:, 1:].reshape(-1, *SHAPE), rows[:, 0])


# ------------------------------------------------------------------------------------------- work by NumPy


def normalise(images: Images) -> NDArray[np.float32]:
    """u8[n, 3, 32, 32] to f32 of the same shape."""
    out = images.astype(np.float32)
    out *= SCALE
    out += BIAS
    return out


def pad(images: Images) -> Images:
    """u8[n, 3, 32, 32] to u8[n, 3, 40, 40], black around."""
    out = np.zeros((len(images), 3, 32 + 2 * PAD, 32 + 2 * PAD), np.uint8)
    out[:, :, PAD:-PAD, PAD:-PAD] = images
    return out


def windows(padded: Images) -> Images:
    """A view u8[n, 9, 9, 3, 32, 32] of u8[n, 3, 40, 40]: all the crops."""
    n, c, y, x = padded.strides
    shape = (len(padded), 2 * PAD + 1, 2 * PAD + 1, *SHAPE)
    return np.lib.stride_tricks.as_strided(padded, shape, (n, y, x, c, y, x), writeable=False)


def augment(images: Images, rng: np.random.Generator) -> NDArray[np.float32]:
    """What work f32 asks for, of a whole batch: for the systems that have no fast transforms of their own."""
    n = len(images)
    y, x = rng.integers(0, 2 * PAD + 1, (2, n))
    crops = windows(pad(images))[np.arange(n), y, x]
    mirrored = np.flatnonzero(rng.random(n) < 0.5)
    crops[mirrored] = crops[mirrored, :, :, ::-1]
    return normalise(crops)


def from_bytes(rows: list[bytes]) -> tuple[Images, Images]:
    """Images (a view with gaps) and labels of a batch of records in the binary layout."""
    joined = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, ROW)
    return joined[:, 1:].reshape(-1, *SHAPE), joined[:, 0]


def finished(images: Images, job: Job, rng: np.random.Generator) -> NDArray[Any]:
    """What the job asks for, of a batch of images: augmented, or as they are, without gaps."""
    return augment(images, rng) if job.augmented else np.ascontiguousarray(images)


def to_bytes(split: Split) -> Iterator[bytes]:
    """The records of a split in the binary layout."""
    for image, label in zip(split.images, split.labels, strict=True):
        yield bytes([label]) + image.tobytes()


# -------------------------------------------------------------------------------------------------- checks


def expected(split: Split) -> dict[str, Any]:
    """What an epoch over the split must add up to."""
    sample = augment(split.images, np.random.default_rng(0))
    return {
        "count": len(split.labels),
        "classes": np.bincount(split.labels, minlength=CLASSES).tolist(),
        "pixels": int(split.images.sum(dtype=np.uint64)),
        "mean": sample.mean((0, 2, 3), dtype=np.float64).tolist(),
        "std": sample.std((0, 2, 3), dtype=np.float64).tolist(),
    }


class Check:
    """Adds an epoch's batches up and compares them with what is expected of it."""

    def __init__(self, work: str) -> None:
        self.type = np.dtype(np.uint8 if work == "u8" else np.float32)
        self.classes = np.zeros(CLASSES, np.int64)
        self.sum = np.zeros(3)
        self.squares = np.zeros(3)
        self.faults: set[str] = set()
        self.notes: set[str] = set()

    def add(self, images: Any, labels: Any) -> None:
        """Takes one batch, of NumPy arrays or of what can be seen as such."""
        batch, classes = np.asarray(images), np.asarray(labels).reshape(-1).astype(np.int64)
        self.classes += np.bincount(classes, minlength=CLASSES)
        if batch.dtype != self.type:
            self.faults.add(f"type {batch.dtype}")
        if batch.shape != (len(classes), *SHAPE):
            self.faults.add(f"shape {batch.shape}")
            return
        if not batch.flags.c_contiguous:
            self.notes.add("not contiguous")
        as_float = batch.astype(np.float64)
        self.sum += as_float.sum((0, 2, 3))
        self.squares += np.square(as_float).sum((0, 2, 3))

    def result(self, want: dict[str, Any]) -> dict[str, list[str]]:
        """Faults, for which a measurement does not count, and notes."""
        if self.classes.tolist() != want["classes"]:
            self.faults.add(f"{self.classes.sum()} records or wrong labels")
        n = max(1, int(self.classes.sum())) * 32 * 32
        mean = self.sum / n
        std = np.sqrt(np.maximum(0, self.squares / n - mean * mean))
        if self.type == np.uint8:
            if int(self.sum.sum()) != want["pixels"]:
                self.faults.add("wrong pixels")
        elif not (np.allclose(mean, want["mean"], atol=0.02) and np.allclose(std, want["std"], atol=0.02)):
            self.faults.add(f"mean {mean.round(3)}, deviation {std.round(3)}")
        return {"faults": sorted(self.faults), "notes": sorted(self.notes)}


# -------------------------------------------------------------------------------------------------- orders


def shuffled(count: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """The ids 0..count-1 in a random order, in batches."""
    order = rng.permutation(count)
    for begin in range(0, count, BATCH):
        yield order[begin : begin + BATCH]
