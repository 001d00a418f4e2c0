"""No loader at all: everything in one array, indexed by a permutation, as the fastest scripts do by hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from common import Batches, Job, Split, augment, normalise, pad, shuffled, windows


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    np.save(path / "images.npy", split.images)
    np.save(path / "labels.npy", split.labels)


Make = Callable[[Any], tuple[Any, Any]]


def indexed(images: Any, labels: Any) -> Make:
    return lambda ids: (images[ids], labels[ids])


def augmented(images: Any, labels: Any) -> Make:
    rng = np.random.default_rng(1)
    return lambda ids: (augment(images[ids], rng), labels[ids])


def gathered(images: Any, labels: Any) -> Make:
    """All images are padded beforehand, as they are and mirrored, so that a crop is one gather (480 MB)."""
    rng = np.random.default_rng(1)
    crops = windows(np.concatenate([pad(images), pad(images[:, :, :, ::-1])]))
    count = len(images)

    def make(ids: Any) -> tuple[Any, Any]:
        y, x = rng.integers(0, crops.shape[1], (2, len(ids)))
        return normalise(crops[ids + count * rng.integers(0, 2, len(ids)), y, x]), labels[ids]

    return make


VARIANTS = {"index": indexed, "numpy": augmented, "gather": gathered}


def ahead(make: Make, orders: Iterator[Any], threads: int) -> Iterator[tuple[Any, Any]]:
    """The batches in order, made by a pool that runs a few ahead."""
    waiting: deque[Future[tuple[Any, Any]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for ids in orders:
            waiting.append(pool.submit(make, ids))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants `index` (u8), `numpy` and `gather` (f32). One thread: the caller; more: a pool."""
    images, labels = np.load(path / "images.npy"), np.load(path / "labels.npy")
    make = VARIANTS[job.variant](images, labels)
    rng = np.random.default_rng(2)
    while True:
        orders = shuffled(len(labels), rng)
        yield ahead(make, orders, job.threads) if job.threads > 1 else map(make, orders)
