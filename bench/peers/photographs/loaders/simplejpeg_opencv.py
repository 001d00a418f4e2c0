"""By hand: simplejpeg decodes, OpenCV resizes without antialiasing, NumPy normalises into the batch."""

from __future__ import annotations

from pathlib import Path

import cv2
import simplejpeg
from common import SIDE, Batches, Job, empty, finish

VERSION = f"simplejpeg {simplejpeg.__version__}, opencv {cv2.__version__}"


def batches(job: Job, interpolation: int) -> Batches:
    cv2.setNumThreads(0)
    for numbers in job.batches():
        images = empty(len(numbers))
        for out, number in zip(images, numbers, strict=True):
            left, top, width, height = job.boxes[number].tolist()
            pixels = simplejpeg.decode_jpeg(Path(job.files[number]).read_bytes(), "RGB")
            part = pixels[top : top + height, left : left + width]
            finish(cv2.resize(part, (SIDE, SIDE), interpolation=interpolation), job.flips[number], out)
        yield images, numbers


def epoch(job: Job) -> Batches:
    return batches(job, cv2.INTER_LINEAR)
