"""SPDL: the same pipeline over an indexed tar file with one member for each image."""

from __future__ import annotations

import io
import mmap
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spdl.io
from common import BATCH, ROW, Batches, Job, Split, finished, from_bytes, to_bytes
from loaders.spdl_npy import endless, pipeline


def write(split: Split, path: Path) -> None:
    path.mkdir(parents=True)
    with tarfile.open(path / "rows.tar", "w") as tar:
        for i, row in enumerate(to_bytes(split)):
            member = tarfile.TarInfo(f"{i:06}.bin")
            member.size = ROW
            tar.addfile(member, io.BytesIO(row))


def epochs(path: Path, job: Job) -> Iterator[Batches]:
    with (path / "rows.tar").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    members = [content for _, content in spdl.io.iter_tarfile(mapped)]
    rng = np.random.default_rng(2)

    def make(ids: Any) -> tuple[Any, Any]:
        images, labels = from_bytes([bytes(members[i]) for i in ids])
        return finished(images, job, rng), labels

    return pipeline(endless(len(members)), make, job.threads, -(-len(members) // BATCH))
