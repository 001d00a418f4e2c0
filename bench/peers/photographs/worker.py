"""A loader in a process of its own: worker.py LOADER FOLDER; run.py talks to it by lines of JSON.

`prepare` makes what the loader reads; `epoch` takes all batches of an epoch and tells the seconds of
wall and CPU time, of this process and those below it; `ahead` tells the seconds to the first batch, and
of some that follow; `check` writes the images of the first files. A loader is a module with
`epoch(job)`, which gives its batches, and perhaps `prepare(folder, files)` and `ready(job)`, which is
not timed.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
import common
import measure

FOLDER = Path(sys.argv[2])


def prepare(module: Any, _: dict[str, Any]) -> dict[str, Any]:
    if hasattr(module, "prepare"):
        module.prepare(FOLDER, json.loads((FOLDER / "images.json").read_text())["files"])
    return {}


def job_of(module: Any, told: dict[str, Any]) -> common.Job:
    job = common.job(FOLDER, told["work"], told["epoch"], told.get("flip", True), told.get("threads", 1))
    if hasattr(module, "ready"):
        module.ready(job)
    return job


def epoch(module: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Seconds of an epoch, and whether it was whole: each file once, of the right shape, type and mean."""
    job = job_of(module, told)
    seen: list[int] = []
    faults: set[str] = set()
    levels = []
    wall, cpu = time.perf_counter(), measure.cpu_seconds()
    for images, numbers in module.epoch(job):
        seen += np.asarray(numbers).ravel().tolist()
        if tuple(images.shape) != (len(numbers), 3, common.SIDE, common.SIDE):
            faults.add(f"shape {tuple(images.shape)}")
        if "float32" not in str(images.dtype):
            faults.add(f"type {images.dtype}")
        levels.append(float(np.asarray(images[0, :, ::8, ::8]).mean()))
    cpu, wall = measure.cpu_seconds() - cpu, time.perf_counter() - wall
    if sorted(seen) != list(range(len(job.files))):
        faults.add(f"{len(seen)} images of {len(job.files)}, or not each once")
    if not -1.5 < float(np.mean(levels)) < 1.5:
        faults.add(f"mean {np.mean(levels):.2f}")
    return {"cpu": cpu, "wall": wall, "images": len(seen), "faults": sorted(faults)}


def ahead(module: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Seconds to the first batch; then, after `skip` made ahead, wall and CPU seconds of `batches` more."""
    job = job_of(module, told)
    begin = time.perf_counter()
    batches = module.ahead(job)
    next(batches)
    first = time.perf_counter() - begin
    for _ in range(told["skip"]):
        next(batches)
    wall, cpu = time.perf_counter(), measure.cpu_seconds()
    images = sum(len(numbers) for _, numbers in itertools.islice(batches, told["batches"]))
    cpu, wall = measure.cpu_seconds() - cpu, time.perf_counter() - wall
    batches.close()
    return {"first": first, "wall": wall / images, "cpu": cpu / images}


def check(module: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Writes the images of the first `count` files, as levels, to the file told of."""
    job = job_of(module, told | {"flip": False})
    out = np.zeros((told["count"], 3, common.SIDE, common.SIDE), np.float32)
    for images, numbers in module.epoch(job):
        for image, number in zip(images, np.asarray(numbers).ravel().tolist(), strict=True):
            if number < told["count"]:
                out[number] = common.as_levels(image)
    np.save(told["file"], out)
    return {}


def main() -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    module = importlib.import_module(f"loaders.{sys.argv[1]}")
    print(json.dumps({"versions": getattr(module, "VERSION", "")}), file=answers, flush=True)
    commands = {"prepare": prepare, "epoch": epoch, "ahead": ahead, "check": check}
    for line in sys.stdin:
        told = json.loads(line)
        print(json.dumps(commands[told["do"]](module, told)), file=answers, flush=True)
    os._exit(0)  # some libraries hang when they are taken down


if __name__ == "__main__":
    main()
