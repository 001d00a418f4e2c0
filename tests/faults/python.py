"""Reads a store, or writes one, through the Python package, as a subject of `sweep`: python.py read|write DB.

Calls fail between the two faults_arm() alone, not while the interpreter starts or ends. All is done once
before, so that nothing is imported, or allocated for good, in between. Prints a sum over all that came, or
one line of error.
"""

from __future__ import annotations

import ctypes
import gc
import shutil
import sys
import zlib

import numpy as np

import apldata
from apldata import transforms


def read(db: str) -> str:
    """Arrays, chosen records, and an epoch in two parts, the second from the state of the first."""
    rows, total = 0, 0
    crop = [transforms.RandomCrop(32, padding=4), transforms.RandomFlip(), transforms.ToFloat16()]
    with apldata.Store(db) as store:
        total = zlib.crc32(store.to_numpy("train", threads=2)["image"], total)
        total = zlib.crc32(store.get([5, 0, 17])["image"].copy(), total)
        with apldata.Loader(store, "train", 16, seed=3, threads=2, window=64, transforms=crop) as loader:
            for batch in loader:
                total = zlib.crc32(np.from_dlpack(batch["image"]).tobytes(), total)
                rows += batch.rows
                if rows >= 32:
                    break
            state = loader.state_dict()
        with apldata.Loader(store, "train", 16, seed=3, threads=2, window=64, transforms=crop) as loader:
            loader.load_state_dict(state)
            for batch in loader:
                total = zlib.crc32(batch["image"].tobytes(), total)
                rows += batch.rows
    return f"{rows} records, {total:08x}"


def write(db: str) -> str:
    """A store of 300 drawn records."""
    image = np.random.default_rng(1).integers(0, 90, (300, 3, 8, 8), np.uint8)
    with apldata.Writer(db, {"image": ("u8", (3, 8, 8)), "number": "i32"}, threads=2) as writer:
        writer.extend(image=image, number=np.arange(300, dtype=np.int32))
    return "written"


def attempt(job: str, db: str) -> tuple[str, int]:
    """What to say, and the exit status."""
    try:
        return {"read": read, "write": write}[job](db), 0
    except (apldata.Error, MemoryError) as error:
        return str(error) or "out of memory", 1


def main(job: str, db: str) -> int:
    attempt("read", "nowhere")
    attempt(job, db if job == "read" else "warm")
    shutil.rmtree("warm", ignore_errors=True)
    arm = ctypes.CDLL(None).faults_arm
    gc.collect()
    gc.disable()
    arm(1)
    said, status = attempt(job, db)
    arm(0)
    print(said, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
