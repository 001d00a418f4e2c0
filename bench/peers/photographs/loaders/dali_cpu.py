"""DALI on the CPU: decodes the box alone; the boxes come from outside, so that they are those of all."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
from common import BATCH, MEAN, SIDE, STD, Batches, Job
from nvidia.dali import fn, pipeline_def, types

VERSION = f"dali {importlib.metadata.version('nvidia-dali-cuda120')}"
INPUTS = ("encoded", "anchor", "shape", "flip")
_pipelines: list[Any] = []


@pipeline_def(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1)
def pipeline() -> Any:
    encoded, anchor, shape, flip = (fn.external_source(name=name) for name in INPUTS)
    images = fn.decoders.image_slice(
        encoded,
        anchor,
        shape,
        axis_names="WH",
        normalized_anchor=False,
        normalized_shape=False,
        device="cpu",
        adjust_orientation=False,
    )
    images = fn.resize(images, size=[SIDE, SIDE], interp_type=types.INTERP_LINEAR, antialias=True)
    mean, std = (255 * MEAN).tolist(), (255 * STD).tolist()
    return fn.crop_mirror_normalize(
        images, mean=mean, std=std, mirror=flip, output_layout="CHW", dtype=types.FLOAT
    )


def feed(of: Any, job: Job, numbers: Any) -> None:
    boxes = job.boxes[numbers].astype(np.float32)
    of.feed_input("encoded", [np.fromfile(job.files[n], np.uint8) for n in numbers])
    of.feed_input("anchor", list(boxes[:, :2]))
    of.feed_input("shape", list(boxes[:, 2:]))
    of.feed_input("flip", [np.array(job.flips[n], np.int32) for n in numbers])


def epoch(job: Job) -> Batches:
    if not _pipelines:
        _pipelines.append(pipeline())
        _pipelines[0].build()
    for numbers in job.batches():
        feed(_pipelines[0], job, numbers)
        (images,) = _pipelines[0].run()
        yield images.as_array(), numbers
