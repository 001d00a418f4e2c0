"""PyTorch's DataLoader over one array in memory, read from an .npy file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from common import BATCH, Batches, Images, Job, Split, augment
from torch.utils.data import DataLoader, Dataset

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    StatefulDataLoader = None


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    np.save(path / "images.npy", split.images)
    np.save(path / "labels.npy", split.labels.astype(np.int64))


class InMemory(Dataset[Any]):
    """One image a call, as most training scripts have it."""

    def __init__(self, path: Path, augmented: bool) -> None:
        self.images = np.load(path / "images.npy")
        self.labels = np.load(path / "labels.npy")
        self.augmented = augmented

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image = self.images[index]
        if self.augmented:
            image = augment(image[None], rng())[0]
        return torch.from_numpy(image), int(self.labels[index])


class Batched(InMemory):
    """A whole batch a call."""

    def __getitems__(self, indices: list[int]) -> tuple[Any, Any]:
        images: Images | np.ndarray = self.images[indices]
        if self.augmented:
            images = augment(images, rng())
        return torch.from_numpy(images), torch.from_numpy(self.labels[indices])


def rng() -> np.random.Generator:
    """A generator of this process, seeded by the DataLoader."""
    worker = torch.utils.data.get_worker_info()
    key = worker.seed if worker else 0
    if key not in generators:
        generators.clear()
        generators[key] = np.random.default_rng(key)
    return generators[key]


generators: dict[int, np.random.Generator] = {}


def as_is(batch: Any) -> Any:
    return batch


def loop(
    dataset: Dataset[Any], workers: int, collate: Callable[..., Any] | None, make: Any
) -> Iterator[Batches]:
    """One DataLoader, an epoch after the other. Workers 0: the caller does the work."""
    loader = make(
        dataset,
        BATCH,
        shuffle=True,
        num_workers=workers,
        collate_fn=collate,
        persistent_workers=workers > 0,
    )
    return itertools.repeat(loader)


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants KIND-W with W workers; kinds `batched`, `sample` and `stateful`, which is batched."""
    kind, workers = job.variant.split("-")
    torch.set_num_threads(job.threads)
    dataset = (InMemory if kind == "sample" else Batched)(path, job.augmented)
    make = StatefulDataLoader if kind == "stateful" else DataLoader
    return loop(dataset, int(workers), None if kind == "sample" else as_is, make)
