"""memory_budget bounds what batches of values of varying size take up, and changes nothing delivered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Field, Loader, Writer
from apldata.collation import Pad, Ragged

RECORDS, BATCH, LARGE, SMALL = 1200, 24, 40_000, 400
FIXED = 32 << 10  # what a batch takes up besides its values


def size_of(record: int) -> int:
    """Large records come together."""
    return LARGE if record % 100 < 8 else SMALL


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of kept files, and of values that stay with their block."""
    path = tmp_path_factory.mktemp("memory") / "db"
    random = np.random.default_rng(1)
    fields = {"file": Field("file", "u8", (-1,), media="application/octet-stream"), "values": ("u8", (-1,))}
    with Writer(str(path), fields) as w:
        for i in range(RECORDS):
            value = random.integers(0, 256, size_of(i), "u1")
            w.append(file=value, values=value[: size_of(i) // 4])
    return path


def least_budget(db: Path, **options: Any) -> int:
    """Errors name what is enough for the window: first for the smallest there may be, then for this one."""
    budget = 1000
    for _ in range(2):
        with pytest.raises(apldata.InvalidError) as told:
            Loader(db, batch_size=BATCH, memory_budget=budget, **options)
        needed = re.search(r"needs (\d+)", str(told.value))
        assert needed
        budget = int(needed[1])
    return budget


def epochs(loader: Loader) -> Iterator[tuple[bytes, int]]:
    """The ids and values of each batch, and the memory in use when it comes."""
    for _ in range(2):
        for batch in loader:
            said = b"".join(np.ascontiguousarray(v).tobytes() for v in batch["file"])
            yield batch.ids.tobytes() + said, loader.stats()["memory"]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("collation", [None, Ragged(), Pad()], ids=["list", "ragged", "pad"])
def test_the_least_budget_holds(db: Path, shuffle: bool, threads: int, collation: Any) -> None:
    options: dict[str, Any] = {"fields": ["file"], "shuffle": shuffle, "threads": threads, "seed": 3}
    if collation:
        options["collate"] = {"file": collation}
    budget = least_budget(db, **options)
    with Loader(db, batch_size=BATCH, memory_budget=budget, **options) as loader:
        bound = [(said, memory) for said, memory in epochs(loader)]
    with Loader(db, batch_size=BATCH, **options) as loader:
        free = [said for said, _ in epochs(loader)]
    assert [said for said, _ in bound] == free
    largest = BATCH * LARGE * (2 if isinstance(collation, Pad) else 1)  # with a mask of as many bytes
    assert max(memory for _, memory in bound) <= budget + 2 * largest + FIXED  # one is held, and one is next
