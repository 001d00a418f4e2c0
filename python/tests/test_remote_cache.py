"""The cache of a store at a URL: nothing is fetched twice that fits, what is needed soonest stays, and
nothing that happens to its files is an error or a wrong byte."""

from __future__ import annotations

import bisect
import hashlib
import heapq
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from remote_server import Server, serving

import apldata
from apldata import Loader, NotFoundError, Store

ROWS, BLOCK, VALUE = 1600, 16, 256
KEPT = 3000


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if (name.startswith(("AWS_", "APL_")) and name != "APL_MOTO") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 100 blocks, and one of files."""
    path = tmp_path_factory.mktemp("stores")
    random = np.random.default_rng(3)
    with apldata.Writer(str(path / "blocks"), [apldata.Field("x", "u8", (VALUE,))], block_records=BLOCK) as w:
        w.begin("train")
        for _ in range(ROWS):
            w.append(x=random.integers(0, 256, VALUE, "u1"))
    fields = [apldata.Field("file", "u8", media="application/octet-stream")]
    with apldata.Writer(str(path / "files"), fields, block_records=20, keep_files=True) as w:
        w.begin("train")
        for _ in range(240):
            w.append(file=random.integers(0, 256, KEPT, "u1"))
    return path


@pytest.fixture()
def server(root: Path) -> Iterator[Server]:
    with serving(root) as s:
        yield s


def read(
    path: str, epochs: int = 1, name: str = "x", options: Any = None, **store: Any
) -> tuple[Any, dict[str, Any]]:
    """What epochs deliver, and what was fetched for that."""
    seen = []
    with (
        Store(path, **store) as opened,
        Loader(opened, "train", batch_size=32, seed=1, **(options or {})) as loader,
    ):
        for _ in range(epochs):
            for batch in loader:
                values = batch[name]
                rows = values if isinstance(values, np.ndarray) else [np.asarray(v).tobytes() for v in values]
                seen.append((np.asarray(batch.ids).tobytes(), np.asarray(rows).tobytes()))
        return seen, loader.stats()["remote"]


def parts(cache: Path) -> list[Path]:
    return [path for path in cache.glob("*/*") if path.is_file()]


def offsets(server: Server, sizes: dict[int, int]) -> list[int]:
    """Of the parts that have been sent, in their order."""
    every = sorted(sizes)
    return [
        offset
        for _, first, end in server.log
        for offset in every[bisect.bisect_left(every, first) : bisect.bisect_left(every, end)]
        if offset + sizes[offset] <= end
    ]


def ranges(server: Server, least: int) -> list[tuple[int, int]]:
    return [(first, end) for _, first, end in server.log if end - first >= least]


@pytest.mark.parametrize(("name", "field"), [("blocks", "x"), ("files", "file")])
def test_what_fits_is_fetched_once(server: Server, root: Path, tmp_path: Path, name: str, field: str) -> None:
    here, _ = read(str(root / name), 2, field)
    for run in range(2):
        server.log.clear()
        there, counts = read(f"{server.url}/{name}", 2, field, cache=tmp_path / "cache", cache_budget=1 << 30)
        assert there == here
        assert counts["cache_damaged"] == 0
        fetched = [r for r in ranges(server, 1) if r[0] > 0]
        assert len(fetched) == len(set(fetched))
        assert not fetched if run else fetched
    assert counts["cache_hits"] > 0 and counts["requests"] == 1


def belady(order: list[Any], room: int) -> int:
    """How many of the requests must be fetched at least, with room for that many of equal size."""
    following: list[int] = [0] * len(order)
    last: dict[Any, int] = {}
    for i in range(len(order) - 1, -1, -1):
        following[i] = last.get(order[i], len(order) + i)
        last[order[i]] = i
    due: dict[Any, int] = {}
    heap: list[tuple[int, Any]] = []
    fetched = 0
    for i, what in enumerate(order):
        fetched += what not in due
        due[what] = following[i]
        heapq.heappush(heap, (-following[i], what))
        while len(due) > room:
            when, other = heapq.heappop(heap)
            if due.get(other) == -when:
                del due[other]
    return fetched


def lru(order: list[Any], room: int) -> int:
    kept: dict[Any, None] = {}
    fetched = 0
    for what in order:
        fetched += kept.pop(what, 0) == 0
        kept[what] = None
        if len(kept) > room:
            del kept[next(iter(kept))]
    return fetched


@pytest.mark.parametrize(
    ("name", "field", "options", "bound"),
    [
        ("blocks", "x", {"window": 128}, 1.05),
        ("files", "file", {}, 1.05),
        ("blocks", "x", {"window": 128, "rank": 0, "world": 2, "lanes": 2}, 1.2),
        ("files", "file", {"rank": 1, "world": 2}, 1.2),
    ],
)
def test_a_small_cache_keeps_what_is_needed_soonest(
    server: Server, tmp_path: Path, name: str, field: str, options: dict[str, Any], bound: float
) -> None:
    """Ten epochs, a cache for a third: what is fetched, over the least that a cache of that size could do,
    which is computed from the order of the requests without one. A rank knows which part of the next epoch
    is its own, and not which of those after that."""
    url, epochs, small, budget = f"{server.url}/{name}", 10, 2000, 1 << 30
    here, _ = read(url, epochs, field, options, cache=tmp_path / "all", cache_budget=budget)
    sizes = {}
    for path in parts(tmp_path / "all"):
        offset, n = (int(part, 16) for part in path.name.split("-"))
        if n > small and n != 4096:  # a page of the tree
            sizes[offset] = n
    server.log.clear()
    read(url, epochs, field, options)
    order = offsets(server, sizes)
    assert len(order) >= 0.9 * epochs * len(sizes) / options.get("world", 1)
    room = len(sizes) // 3
    page = -(-(max(sizes.values()) + 64) // 4096) * 4096
    spare = len(parts(tmp_path / "all")) - len(sizes)  # pages of what else is kept
    server.log.clear()
    there, _ = read(
        url, epochs, field, options, cache=tmp_path / "some", cache_budget=room * page + spare * 4096
    )
    assert there == here
    fetched = len(offsets(server, sizes))
    kept = [path for path in parts(tmp_path / "some") if int(path.name.partition("-")[0], 16) in sizes]
    room = len(kept)  # what the rest has left over
    best = belady(order, room)
    print(f"\n{name}: {fetched / best:.4f} of the least; LRU {lru(order, room) / best:.3f}, "
          f"none {len(order) / best:.3f}")  # fmt: skip
    assert fetched <= bound * best
    assert len(sizes) // 3 <= room + spare and room < len(sizes) // 2


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1 << at % 8
    path.write_bytes(content)


DAMAGES = {
    "a byte flipped": lambda path, i: flip(path, 37 * i),
    "truncated": lambda path, i: os.truncate(path, path.stat().st_size * (i % 7) // 8),
    "emptied": lambda path, i: path.write_bytes(b""),
    "another part": lambda path, i: path.write_bytes(next(iter(sorted(path.parent.iterdir()))).read_bytes()),
    "longer": lambda path, i: path.write_bytes(path.read_bytes() + b"x"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_fetched_again(server: Server, root: Path, tmp_path: Path, damage: str) -> None:
    here, _ = read(str(root / "blocks"))
    read(server.url + "/blocks", cache=tmp_path / "cache")
    files = sorted(parts(tmp_path / "cache"))
    for i, path in enumerate(files):
        DAMAGES[damage](path, i)
    there, counts = read(server.url + "/blocks", cache=tmp_path / "cache")
    assert there == here
    assert counts["cache_damaged"] >= len(files) - 2
    there, counts = read(server.url + "/blocks", cache=tmp_path / "cache")
    assert there == here and counts["cache_damaged"] == 0 and counts["requests"] == 1


def test_bytes_that_came_wrong_do_not_stay(server: Server, root: Path, tmp_path: Path) -> None:
    """Right by the part's own checksum, but not by the block's."""
    wrong: set[int] = set()

    def damage(handler: Any, first: int, end: int) -> bool:
        if end - first <= 4096 or wrong:
            return False
        wrong.add(first)
        handler.send_range(first, end, bytes(b ^ 0x40 for b in handler.read(first, end)))
        return True

    here, _ = read(str(root / "blocks"))
    server.fault = damage
    for _ in range(2):
        there, _ = read(server.url + "/blocks", cache=tmp_path / "cache")
        assert there == here


def test_a_replaced_object_is_not_read_from_the_cache(server: Server, root: Path, tmp_path: Path) -> None:
    read(server.url + "/blocks", cache=tmp_path / "cache")
    for path in server.etags:
        server.etags[path] = "another"
    _, counts = read(server.url + "/blocks", cache=tmp_path / "cache")
    assert counts["cache_hits"] == 0


def test_deleting_it_is_no_error(server: Server, root: Path, tmp_path: Path) -> None:
    here, _ = read(str(root / "blocks"), 3, options={"window": 128})
    seen = []
    with (
        Store(server.url + "/blocks", cache=tmp_path / "cache") as store,
        Loader(store, "train", batch_size=32, seed=1, window=128) as loader,
    ):
        for _ in range(3):
            for batch in loader:
                seen.append((np.asarray(batch.ids).tobytes(), np.asarray(batch["x"]).tobytes()))
            shutil.rmtree(tmp_path / "cache", ignore_errors=True)  # others write
    assert seen == here


def test_a_full_disk_is_no_error(server: Server, root: Path, tmp_path: Path) -> None:
    """A limit of the size of files stands for a disk that is full: what cannot be written is not kept."""
    here, _ = read(str(root / "blocks"))
    code = (
        "import resource, signal, sys; sys.path[:0] = [sys.argv[3], sys.argv[3] + '/helpers']\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "import test_remote_cache as t; print(len(t.read(sys.argv[1], cache=sys.argv[2])[0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, server.url + "/blocks", tmp_path / "cache", Path(__file__).parent],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(done.stdout) == len(here)
    assert all(path.stat().st_size <= 1000 for path in parts(tmp_path / "cache"))


def test_what_a_killed_process_leaves_is_right(server: Server, root: Path, tmp_path: Path) -> None:
    here, _ = read(str(root / "files"), 1, "file")
    code = (
        "import sys; sys.path[:0] = [sys.argv[3], sys.argv[3] + '/helpers']; import test_remote_cache as t\n"
        "print(flush=True); t.read(sys.argv[1], 1000, 'file', cache=sys.argv[2], cache_budget=600000)\n"
    )
    for wait in (0.1, 0.3):
        with subprocess.Popen(
            [sys.executable, "-c", code, server.url + "/files", tmp_path / "cache", Path(__file__).parent],
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout
            process.stdout.readline()
            try:
                process.wait(wait)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
    there, counts = read(server.url + "/files", 1, "file", cache=tmp_path / "cache", cache_budget=600000)
    assert there == here and counts["cache_damaged"] == 0
    assert sum(-(-path.stat().st_size // 4096) * 4096 for path in parts(tmp_path / "cache")) <= 600000


def test_processes_share_it(server: Server, root: Path, tmp_path: Path) -> None:
    here, _ = read(str(root / "blocks"), 2, options={"window": 128})
    code = (
        "import hashlib, sys; sys.path[:0] = [sys.argv[3], sys.argv[3] + '/helpers']; import test_remote_cache as t\n"
        "how = dict(options={'window': 128}, cache=sys.argv[2], cache_budget=300000)\n"
        "seen, counts = t.read(sys.argv[1], 2, **how)\n"
        "print(hashlib.sha256(repr(seen).encode()).hexdigest())\n"
    )
    command = [sys.executable, "-c", code, server.url + "/blocks", tmp_path / "cache", Path(__file__).parent]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        assert process.communicate()[0].strip() == hashlib.sha256(repr(here).encode()).hexdigest()
    assert sum(-(-path.stat().st_size // 4096) * 4096 for path in parts(tmp_path / "cache")) <= 300000


def test_a_directory_that_cannot_be_made_is_an_error(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotFoundError, match=r"cache .*file/x: cannot make the directory: Not a directory$"):
        Store(server.url + "/blocks?signature=hush", cache=tmp_path / "file/x")


def test_the_environment_names_it(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("APL_CACHE_BUDGET", "1M")
    read(server.url + "/blocks")
    assert parts(tmp_path / "cache")
    monkeypatch.setenv("APL_CACHE_BUDGET", "lots")
    with pytest.raises(ValueError, match="APL_CACHE_BUDGET is a number of bytes"):
        Store(server.url + "/blocks")
