"""MosaicML Streaming: MDS shards, zstd in each, read by a StreamingDataset behind PyTorch's DataLoader."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

UNUSED = ("torchvision", "transformers")


class Hollow(types.ModuleType):
    """A module in which every name is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class HollowFinder(MetaPathFinder, Loader):
    """Stands in for what Streaming imports but the benchmark never calls.

    torchvision does not import unless it was built for the very build of torch that is installed.
    """

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        known = name.partition(".")[0] in UNUSED
        return ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        return Hollow(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


sys.meta_path.insert(0, HollowFinder())

import numpy as np  # noqa: E402
from common import BATCH, Batches, Job, Split, finished, from_bytes, to_bytes  # noqa: E402
from streaming import MDSWriter, StreamingDataset  # noqa: E402
from streaming.base.util import clean_stale_shared_memory  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402


def write(split: Split, path: Path) -> None:
    with MDSWriter(out=str(path), columns={"row": "bytes"}, compression="zstd:3", size_limit=1 << 23) as out:
        for row in to_bytes(split):
            out.write({"row": row})


class Collate:
    """Arrays of a list of samples."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.rng: np.random.Generator | None = None

    def __call__(self, samples: list[dict[str, bytes]]) -> tuple[Any, Any]:
        self.rng = self.rng or np.random.default_rng()
        images, labels = from_bytes([sample["row"] for sample in samples])
        return finished(images, self.job, self.rng), labels


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    """The shards are inflated next to the packed ones by the first epoch, the one that warms up."""
    clean_stale_shared_memory()
    data = StreamingDataset(local=str(path), batch_size=BATCH, shuffle=True, shuffle_seed=1)
    return itertools.repeat(
        DataLoader(data, BATCH, num_workers=job.threads, collate_fn=Collate(job), persistent_workers=True)
    )
