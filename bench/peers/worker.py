"""One measurement in a process of its own; runs in the environment of the system that is measured.

    worker.py ingest LOADER ARCHIVE FOLDER
    worker.py expect ARCHIVE FILE
    worker.py epochs LOADER FOLDER EXPECTED WORK THREADS VARIANT SECONDS EPOCHS

Prints one JSON object as its last line. A loader is a module in loaders/: `write(split, path)`, or
`ingest(archive, folder)` if it reads archives itself, makes the store; `epochs(path, job)` gives one iterable
of batches an epoch, without end.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import common
import measure

MEMORY_SECONDS = 0.4  # for so long is the memory watched, after the measurement


def ingest(loader: str, archive: str, folder: str) -> dict[str, Any]:
    """Makes a store of all records; seconds from the archive to the closed store."""
    module = importlib.import_module(f"loaders.{loader}")
    begin, cpu = time.perf_counter(), measure.cpu_seconds()
    if hasattr(module, "ingest"):
        module.ingest(Path(archive), Path(folder))
    else:
        for name, split in common.read_archive(Path(archive)).items():
            module.write(split, Path(folder) / name)
    took, used = time.perf_counter() - begin, measure.cpu_seconds() - cpu
    files = [file.stat() for file in Path(folder).rglob("*") if file.is_file()]
    size = sum(file.st_size for file in files)
    return {"seconds": took, "cpu": used, "bytes": size, "files": len(files)}


def expect(archive: str, file: str) -> dict[str, Any]:
    """Writes down what an epoch must add up to, and how many records the archive has."""
    splits = common.read_archive(Path(archive))
    what = common.expected(splits["train"]) | {"records": sum(len(s.labels) for s in splits.values())}
    Path(file).write_text(json.dumps(what))
    return what


def epochs(
    loader: str, folder: str, want: str, work: str, threads: str, variant: str, seconds: str, least: str
) -> dict[str, Any]:
    """First batch, a checked epoch to warm up, timed epochs, and more batches while the memory is watched."""
    begin = time.perf_counter()
    module = importlib.import_module(f"loaders.{loader}")
    imported = time.perf_counter() - begin
    job = common.Job(work, int(threads), variant)
    base = measure.memory()
    begin = time.perf_counter()
    stream = iter(module.epochs(Path(folder), job))
    batches = iter(next(stream))
    first = next(batches)
    result = {"first": time.perf_counter() - begin, "import": imported, "base": base}
    check = common.Check(work)
    for images, labels in itertools.chain([first], batches):
        check.add(images, labels)
    result |= check.result(json.loads(Path(want).read_text()))
    del first, batches
    result |= timed(stream, float(seconds), int(least)) | {"memory": watched(stream)}
    return result | {"versions": versions()}


def timed(stream: Any, seconds: float, least: int) -> dict[str, Any]:
    """Takes epochs for some time; seconds of each, records and processor time of all, cores others used."""
    took: list[float] = []
    records = 0
    cpu, machine, begin = measure.cpu_seconds(), measure.machine_seconds(), time.perf_counter()
    while len(took) < least or time.perf_counter() - begin < seconds:
        epoch = time.perf_counter()
        for _, labels in next(stream):
            records += len(labels)
        took.append(time.perf_counter() - epoch)
    used, wall = measure.cpu_seconds() - cpu, time.perf_counter() - begin
    others = max(0.0, measure.machine_seconds() - machine - used) / wall
    return {"epochs": took, "records": records, "cpu": used, "others": others}


def watched(stream: Any) -> dict[str, int]:
    """The greatest memory while batches are taken as before."""
    end = time.perf_counter() + MEMORY_SECONDS
    with measure.Sampler() as sampler:
        while time.perf_counter() < end:
            for _ in next(stream):
                if time.perf_counter() > end:
                    break
            else:
                continue
            sampler.take()
            break
    return sampler.peak


def versions() -> dict[str, str]:
    """Of all that is installed here."""
    return {found.metadata["Name"].lower(): found.version for found in distributions()}


def main() -> None:
    commands: dict[str, Callable[..., dict[str, Any]]] = {
        "ingest": ingest,
        "expect": expect,
        "epochs": epochs,
    }
    do = commands[sys.argv[1]]
    print("\n" + json.dumps(do(*sys.argv[2:])), flush=True)
    for child in measure.tree()[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    os._exit(0)  # some systems hang when they are taken down in the middle of an epoch


if __name__ == "__main__":
    main()
