"""LMDB with a zstd frame for each record, by hand, behind PyTorch's DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import torch
import zstandard
from common import Batches, Job, Split, finished, from_bytes, to_bytes
from loaders.torch_loader import as_is, loop, rng
from torch.utils.data import DataLoader, Dataset


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    compressor = zstandard.ZstdCompressor(3)
    with lmdb.open(str(path), map_size=1 << 32) as env, env.begin(write=True) as txn:
        for i, row in enumerate(to_bytes(split)):
            txn.put(i.to_bytes(4, "big"), compressor.compress(row), append=True)


class Records(Dataset[Any]):
    """A batch a call; opens the environment in the process that reads."""

    def __init__(self, path: Path, job: Job) -> None:
        self.path, self.job = path, job
        self.txn: Any = None
        with lmdb.open(str(path), readonly=True, lock=False) as env:
            self.count = env.stat()["entries"]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        images, labels = self.__getitems__([index])
        return images[0], labels[0]

    def __getitems__(self, indices: list[int]) -> tuple[Any, Any]:
        if self.txn is None:
            env = lmdb.open(str(self.path), readonly=True, lock=False, readahead=False)
            self.txn = env.begin(buffers=True)
            self.inflate = zstandard.ZstdDecompressor().decompress
        images, labels = from_bytes([self.inflate(self.txn.get(i.to_bytes(4, "big"))) for i in indices])
        return torch.from_numpy(finished(images, self.job, rng())), torch.from_numpy(labels.astype("int64"))


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """Variants batched-W, with W workers."""
    torch.set_num_threads(job.threads)
    return loop(Records(path, job), int(job.variant.split("-")[1]), as_is, DataLoader)
