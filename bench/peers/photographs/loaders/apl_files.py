"""APL with --keep-files: the files as they came, without an index."""

from __future__ import annotations

from pathlib import Path

from common import Batches, Job
from loaders import apl

import apldata

VERSION = apl.VERSION


def prepare(folder: Path, files: list[str]) -> None:
    if not (folder / "kept").exists():
        apldata.ingest(str(folder / "images"), str(folder / "kept"), keep_files=True)


def ready(job: Job) -> None:
    apl.kept(job.folder / "kept", job)


def epoch(job: Job) -> Batches:
    return apl.batches(job.folder / "kept", job)


def ahead(job: Job) -> Batches:
    return apl.endless(job.folder / "kept", job)
