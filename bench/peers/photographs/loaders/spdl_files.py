"""SPDL: its pipeline of threads; FFmpeg decodes, crops and resizes, NumPy normalises."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import spdl.io
from common import SIDE, Batches, Job, empty, finish
from spdl.pipeline import PipelineBuilder

VERSION = f"spdl {importlib.metadata.version('spdl-core')}"
SCALED = f"scale={SIDE}:{SIDE}:flags=bilinear,format=pix_fmts=rgb24"


def epoch(job: Job) -> Batches:
    def make(numbers: Any) -> tuple[Any, Any]:
        images = empty(len(numbers))
        for out, number in zip(images, numbers, strict=True):
            left, top, width, height = job.boxes[number].tolist()
            steps = f"crop={width}:{height}:{left}:{top}:exact=1,{SCALED}"
            frame = spdl.io.load_image(job.files[number], filter_desc=steps)
            finish(spdl.io.to_numpy(frame), job.flips[number], out)
        return images, numbers

    built = PipelineBuilder().add_source(job.batches()).pipe(make, concurrency=job.threads).add_sink(3)
    pipeline = built.build(num_threads=job.threads)
    with pipeline.auto_stop():
        yield from pipeline
