"""WebDataset: files in a tar, decoded by Pillow, with torchvision's transforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import webdataset as wds
from common import BATCH, Batches, Job
from loaders.torchvision_pillow import finished

VERSION = f"webdataset {wds.__version__}"


def prepare(folder: Path, files: list[str]) -> None:
    (folder / "webdataset").mkdir(exist_ok=True)
    with wds.ShardWriter(str(folder / "webdataset" / "%03d.tar"), maxcount=256, verbose=0) as sink:
        for number, path in enumerate(files):
            sink.write({"__key__": f"{number:06}", "jpg": Path(path).read_bytes(), "cls": str(number)})


def epoch(job: Job) -> Batches:
    torch.set_num_threads(1)

    def make(sample: tuple[Any, int]) -> tuple[Any, int]:
        return finished(sample[0], job, sample[1]), sample[1]

    shards = sorted(map(str, (job.folder / "webdataset").glob("*.tar")))
    data = wds.WebDataset(shards, shardshuffle=len(shards), empty_check=False).shuffle(1000)
    data = data.decode("pil").to_tuple("jpg", "cls").map(make).batched(BATCH)
    return iter(wds.WebLoader(data, batch_size=None, num_workers=0))
