"""A damaged store gives the data that was stored, or an error that names file and block: never a signal,
never other bytes, never a hang. A sample of the damages, or all of them with APL_LONG=1."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import apldata

CHILD = Path(__file__).parent / "helpers/damage_child.py"
LONG = bool(os.environ.get("APL_LONG"))
CHUNK = 2000 if LONG else 200  # cases of a child
SECONDS = 900  # that a child may take, on a machine with much else to do


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of all kinds of columns, in 9 blocks."""
    path = str(tmp_path_factory.mktemp("damage") / "whole")
    fields = [
        apldata.Field("image", "u8", (3, 4, 4)),
        apldata.Field("label", "u8", (), "target", classes=("a", "b", "c")),
        apldata.Field("name", "utf8", (-1,), "name"),
        apldata.Field("track", "f32", (2,)),
    ]
    random = np.random.default_rng(3)
    with apldata.Writer(path, fields, block_records=16) as writer:
        for split, records in (("train", 88), ("test", 45)):
            writer.begin(split)
            writer.extend(
                image=random.integers(0, 40, (records, 3, 4, 4), np.uint8),
                label=np.arange(records, dtype=np.uint8) % 3,
                name=[f"{split} {i}" for i in range(records)],
                track=random.normal(size=(records, 2)).astype(np.float32),
            )
    return path


def try_cases(whole: str, folder: Path, kind: str, cases: list[int]) -> int:
    """Gives the cases to children; returns in how many of them there was an error."""

    def run(first: int) -> int:
        chunk = cases[first : first + CHUNK]
        place = folder / str(first)
        place.mkdir()
        command = [sys.executable, str(CHILD), whole, str(place), kind, *map(str, chunk)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        last = done.stdout.splitlines()[-1:] or ["nothing"]
        assert done.returncode == 0, f"{last[0]}: ended with {done.returncode}\n{done.stderr}"
        return int(last[0].removeprefix("errors "))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        errors = sum(pool.map(run, range(0, len(cases), CHUNK)))
    print(f"count: {len(cases)} cases of {kind}, {errors} with an error")
    return errors


def sample(of: int, count: int, seed: int) -> list[int]:
    """Some numbers below `of`, spread evenly; with APL_LONG=1, all."""
    if LONG or count >= of:
        return list(range(of))
    random = np.random.default_rng(seed)
    return sorted({int(n) for n in (np.arange(count) + random.random(count)) * (of / count)})


def size_of(whole: str) -> int:
    return Path(whole, "data.mdb").stat().st_size


def test_a_flipped_byte(whole: str, tmp_path: Path) -> None:
    cases = sample(size_of(whole), 400, 1)
    assert 0 < try_cases(whole, tmp_path, "flip", cases) < len(cases)  # there is padding too


def test_a_file_that_was_cut(whole: str, tmp_path: Path) -> None:
    cases = sample(size_of(whole), 200, 2)
    assert try_cases(whole, tmp_path, "cut", cases) == len(cases)


def test_a_file_with_more_behind(whole: str, tmp_path: Path) -> None:
    cases = [1, 2, 15, 4095, 4096, 4097, 8191, 8192, size_of(whole) - 1, size_of(whole)]
    assert try_cases(whole, tmp_path, "append", cases) == len(cases)


def test_a_file_that_is_cut_while_it_is_open(whole: str, tmp_path: Path) -> None:
    cases = sample(size_of(whole), 100, 4)
    assert try_cases(whole, tmp_path, "cut_open", cases) > 0
