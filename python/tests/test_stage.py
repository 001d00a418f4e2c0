"""apldata stage: what training reads is on the disk before it begins, in the order of need; interruptions
lose nothing."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND
from remote_server import Handler, Server, serving
from test_remote_cache import parts, read

import apldata

BLOCKS, FILES = 40, 160

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="build/apldata is not built")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("AWS_", "APL_CACHE")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def make_blocks(path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    with apldata.Writer(str(path), [apldata.Field("x", "u8", (256,))], block_records=16) as w:
        for split, blocks in (("train", BLOCKS), ("test", 5)):
            w.begin(split)
            for _ in range(16 * blocks):
                w.append(x=random.integers(0, 256, 256, "u1"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of blocks, one of files, and a set."""
    path = tmp_path_factory.mktemp("stores")
    random = np.random.default_rng(3)
    (path / "set").mkdir()
    for seed, name in enumerate(("blocks", "set/a", "set/b", "set/c")):
        make_blocks(path / name, seed)
    subprocess.run([COMMAND, "join", *[path / "set" / s for s in "abc"], "-o", path / "set"], check=True)
    fields = [
        apldata.Field("file", "u8", media="application/octet-stream"),
        apldata.Field("label", "u8", (), "target", classes=["a", "b", "c"]),
    ]
    with apldata.Writer(str(path / "files"), fields, block_records=20, keep_files=True) as w:
        for split, records in (("train", FILES), ("test", 20)):
            w.begin(split)
            for i in range(records):
                w.append(file=random.integers(0, 256, 3000 + i, "u1"), label=i % 3)
    return path


@pytest.fixture()
def server(root: Path) -> Iterator[Server]:
    with serving(root) as s:
        yield s


def stage(url: str, cache: Path, *options: str, **how: Any) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, "stage", url, cache, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, **how)


def figures(url: str, cache: Path, *options: str) -> dict[str, Any]:
    done = stage(url, cache, "--json", *options)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def of_parts(server: Server) -> list[tuple[str, int, int]]:
    """Requests besides those that open a file, and find out whether it is still the same."""
    return [request for request in server.log if request[1] > 0]


EACH = pytest.mark.parametrize(("name", "field"), [("blocks", "x"), ("set", "x"), ("files", "file")])


@EACH
def test_training_needs_nothing_more(
    server: Server, root: Path, tmp_path: Path, name: str, field: str
) -> None:
    url = f"{server.url}/{name}"
    said = figures(url, tmp_path / "cache")
    assert said["complete"] and said["cached_bytes"] == 0
    with apldata.Store(str(root / name)) as store:
        records = len(store)
    assert said["records"] == records
    fetched = [r for r in of_parts(server) if r[2] - r[1] > 4096]  # no pages of the tree
    assert fetched and len(fetched) == len(set(fetched))
    server.log.clear()
    here, _ = read(str(root / name), 2, field)
    there, counts = read(url, 2, field, cache=tmp_path / "cache")
    assert there == here
    assert not of_parts(server) and counts["cache_hits"] > 0 and counts["cache_damaged"] == 0
    with apldata.Store(url, cache=tmp_path / "cache") as store, apldata.Loader(store, "test") as loader:
        assert sum(len(batch.ids) for batch in loader) == records - (FILES if name == "files" else
            16 * BLOCKS * (3 if name == "set" else 1))  # fmt: skip
    assert not of_parts(server)
    again = figures(url, tmp_path / "cache")
    assert not of_parts(server)
    assert again["cached_bytes"] > 0


def test_other_windows_seeds_fields_and_samples_need_the_same_parts(server: Server, tmp_path: Path) -> None:
    figures(server.url + "/files", tmp_path / "cache")
    figures(server.url + "/blocks", tmp_path / "cache")
    server.log.clear()
    every: list[dict[str, Any]] = [{"window": 64}, {"shuffle": False}, {"reuse": 2}]
    for options in every:
        read(server.url + "/blocks", 1, "x", options, cache=tmp_path / "cache")
        read(server.url + "/files", 1, "file", options, cache=tmp_path / "cache")
    read(server.url + "/files", 1, "label", {"fields": ["label"]}, cache=tmp_path / "cache")
    figures(server.url + "/files", tmp_path / "cache", "--balance", "label")
    assert not of_parts(server)


def test_a_sample_of_files_reads_labels_alone(server: Server, root: Path, tmp_path: Path) -> None:
    said = figures(server.url + "/files", tmp_path / "cache", "--balance", "label", "--split", "train")
    assert said["fetched_bytes"] < 1.3 * (root / "files/data.mdb").stat().st_size


def delivered(path: Path, **options: Any) -> list[int]:
    with apldata.Store(str(path)) as store, apldata.Loader(store, "train", 8, **options) as loader:
        return [int(i) for batch in loader for i in batch.ids]


@pytest.mark.parametrize("seed", [0, 5])
def test_a_budget_holds_what_is_needed_first(server: Server, root: Path, tmp_path: Path, seed: int) -> None:
    """Of the files, each of which has a size of its own, those of the first deliveries."""
    options = ("--seed", str(seed), "--batch-size", "8", "--split", "train")
    said = figures(server.url + "/files", tmp_path / "cache", "--budget", "300K", *options)
    assert not said["complete"]
    assert 200_000 < sum(-(-p.stat().st_size // 4096) * 4096 for p in parts(tmp_path / "cache")) <= 300 << 10
    sizes = {int(p.name.partition("-")[2], 16) for p in parts(tmp_path / "cache")}
    opening = 65536 // 3000  # records that may come with the first bytes of the file, which open it
    staged = {n - 3000 for n in sizes if 3000 + opening < n < 3000 + FILES}
    order = [i for i in delivered(root / "files", seed=seed) if i > opening]
    count = len(staged)
    assert count > 20
    ahead = order[: count + 24]  # a few batches are on their way at once
    assert staged <= set(ahead)
    assert set(order[: count - 24]) <= staged
    more = figures(server.url + "/files", tmp_path / "cache", "--budget", "8M", *options)
    assert more["complete"] and more["cached_bytes"] >= sum(sizes - {4096}) * 0.9


@pytest.mark.parametrize(
    ("size", "why"),
    [("size=300k", "the disk is full"), ("nr_inodes=30", "the disk has no inodes left")],
)
def test_a_disk_that_is_full_before_the_budget_is_told(
    server: Server, tmp_path: Path, size: str, why: str
) -> None:
    def staged(*options: str, directory: str = "cache") -> subprocess.CompletedProcess[str]:
        """On a disk of its own."""
        command = f"mount -t tmpfs -o {size} none {tmp_path} || exit 77; {COMMAND} stage --no-progress "
        command += f"{' '.join(options)} {server.url}/files {tmp_path}/{directory}"
        apart = ["unshare", "-m", "sh", "-c", command]
        done = subprocess.run(apart, capture_output=True, text=True, check=False)
        if done.returncode == 77 or "unshare:" in done.stderr:
            pytest.skip("a file system cannot be mounted")
        return done

    done = staged("--budget", "100M")
    assert done.returncode == 0
    assert f": {why}: No space left on device; the budget would allow more" in done.stderr
    assert "what the disk has room for is in" in done.stdout
    done = staged("--budget", "100M", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 0 and said["ok"] and said["disk_full"] and not said["complete"]
    assert why in done.stderr
    assert not staged("--budget", "100M", "--quiet").stderr
    if "inodes" in size:
        done = staged()
        assert done.returncode == 1
        assert f": {why}: No space left on device; --budget SIZE copies" in done.stderr
        deep = "/".join(str(n) for n in range(40))  # there is no room for the directory
        done = staged("--budget", "100M", directory=deep)
        assert done.returncode == 1 and "cannot make the directory" in done.stderr and not done.stdout


def test_a_budget_bounds_what_is_fetched_in_vain(root: Path, server: Server, tmp_path: Path) -> None:
    """What is asked for ahead, and then not kept, is a sixteenth of the budget, but at least 1 MiB."""
    random = np.random.default_rng(5)
    with apldata.Writer(str(root / "large"), [apldata.Field("x", "u8", (65536,))], block_records=4) as w:
        w.begin("train")
        for _ in range(160):
            w.append(x=random.integers(0, 256, 65536, "u1"))
    budget, block = 2 << 20, 4 * 65536
    said = figures(server.url + "/large", tmp_path / "cache", "--budget", str(budget))
    assert not said["complete"]
    assert said["fetched_bytes"] <= budget + (1 << 20) + 4 * block


def test_commands_keep_what_they_read(server: Server, tmp_path: Path) -> None:
    """--cache and --cache-budget of the commands that read URLs."""
    kept = ["--cache", str(tmp_path / "cache"), "--cache-budget", "1T"]
    url, out = server.url + "/blocks", tmp_path / "out"
    for command in (
        ["bench", *kept, "--epochs", "1", url],
        ["stream", *kept, url],
        ["export", *kept, url, str(out), "--format", "npy"],
        ["extract", *kept, url, str(tmp_path / "extracted")],
        ["audit", *kept, "--epochs", "1", "--load", url],
        ["view", *kept, "-o", str(tmp_path / "page.html"), url],
    ):
        server.log.clear()
        done = subprocess.run([COMMAND, *command], capture_output=True, check=False)
        assert b"cache" not in done.stderr and done.returncode in (0, 1), done.stderr
        large = [r for r in of_parts(server) if r[2] - r[1] > 4096]
        if command[0] != "export":  # the first to read the other split
            assert bool(large) == (command[0] == "bench"), command[0]
    for wrong, why in (
        ("--cache=https://x/y", b"is a URL"),
        ("--cache-budget=0", b"takes a number of bytes"),
    ):
        done = subprocess.run([COMMAND, "bench", wrong, url], capture_output=True, check=False)
        assert done.returncode == 2 and why in done.stderr


def test_what_is_exported_or_looked_up_is_there_for_training(server: Server, tmp_path: Path) -> None:
    """In the same parts."""
    url, cache = server.url + "/blocks", tmp_path / "cache"
    export = [COMMAND, "export", "--cache", cache, url, tmp_path / "out", "--format", "npy"]
    subprocess.run(export, check=True, capture_output=True)
    exported = sorted(r[1:] for r in of_parts(server) if r[2] - r[1] > 4096)
    assert exported and all(end <= first for (_, end), (first, _) in itertools.pairwise(exported))
    server.log.clear()
    assert figures(url, cache)["complete"]
    assert not of_parts(server)


def test_ranks_get_what_is_theirs(server: Server, root: Path, tmp_path: Path) -> None:
    options = ("--ranks", "1,3", "--world", "4", "--batch-size", "8", "--split", "train")
    figures(server.url + "/files", tmp_path / "cache", *options)
    server.log.clear()
    for rank in (1, 3):
        with (
            apldata.Store(server.url + "/files", cache=tmp_path / "cache") as store,
            apldata.Loader(store, "train", 8, rank=rank, world=4, queue_depth=1, threads=0) as loader,
        ):
            assert sum(len(batch.ids) for batch in loader) == FILES // 4
    assert not of_parts(server)


def test_later_epochs_are_those_of_lanes(server: Server, tmp_path: Path) -> None:
    """Each epoch deals the blocks to the ranks again."""
    lanes = ("--ranks", "0", "--world", "4", "--lanes", "4", "--split", "train", "--batch-size", "16")
    one = figures(server.url + "/blocks", tmp_path / "one", *lanes)
    four = figures(server.url + "/blocks", tmp_path / "four", "--epochs", "4", *lanes)
    assert four["records"] == 4 * one["records"] == 16 * BLOCKS
    server.log.clear()
    apldata.Store(server.url + "/blocks").close()
    opening = sum(end - first for _, first, end in server.log)  # as much of each
    assert four["fetched_bytes"] - opening > 2 * (one["fetched_bytes"] - opening)


def slowly(server: Server, seconds: float) -> None:
    def fault(handler: Handler, first: int, end: int) -> bool:
        time.sleep(seconds if first else 0)
        return False

    server.fault = fault


GAP = 4096  # as store/remote/range_list.h has it


@pytest.mark.parametrize("name", ["blocks", "files"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_copy_goes_on(server: Server, tmp_path: Path, name: str, number: int) -> None:
    url, cache = f"{server.url}/{name}", tmp_path / "cache"
    slowly(server, 0.2)
    environment = {**os.environ, "APL_REMOTE_AHEAD": "20000"}  # few at a time
    with subprocess.Popen([COMMAND, "stage", url, cache], env=environment) as process:
        deadline = time.monotonic() + 20
        while len(parts(cache)) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait(5) == -number
    there = parts(cache)
    assert there
    if number == signal.SIGINT:
        assert not [path for path in there if path.name.startswith(".new")]
    server.fault = None
    server.log.clear()
    assert figures(url, cache)["complete"]
    for path in there:
        if not path.name.startswith(".new"):
            first, n = (int(part, 16) for part in path.name.split("-"))
            again = [r for r in of_parts(server) if r[1] <= first and first + n <= r[2]]
            between = [r for r in again if n <= GAP and r[1] < first and first + n < r[2]]
            assert again == between  # two that are wanted are asked for at once, whatever little lies between
    assert not [path for path in parts(cache) if path.name.startswith(".new")]
    server.log.clear()
    figures(url, cache)
    assert not of_parts(server)


def test_two_copies_into_one_directory(server: Server, tmp_path: Path) -> None:
    command = [COMMAND, "stage", "-q", server.url + "/files", tmp_path / "cache"]
    copies = [subprocess.Popen(command) for _ in range(2)]
    assert [copy.wait(60) for copy in copies] == [0, 0]
    server.log.clear()
    assert figures(server.url + "/files", tmp_path / "cache")["damaged_parts"] == 0
    assert not of_parts(server)


def test_training_may_begin_meanwhile(server: Server, root: Path, tmp_path: Path) -> None:
    here, _ = read(str(root / "files"), 1, "file")
    slowly(server, 0.02)
    copy = threading.Thread(target=figures, args=(server.url + "/files", tmp_path / "cache", "--seed", "1"))
    copy.start()
    there, _ = read(server.url + "/files", 1, "file", cache=tmp_path / "cache")
    copy.join()
    assert there == here


def test_a_damaged_part_is_copied_again(server: Server, tmp_path: Path) -> None:
    figures(server.url + "/blocks", tmp_path / "cache")
    for path in parts(tmp_path / "cache")[::7]:
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    said = figures(server.url + "/blocks", tmp_path / "cache")
    assert said["complete"] and said["damaged_parts"] > 3
    server.log.clear()
    assert figures(server.url + "/blocks", tmp_path / "cache")["damaged_parts"] == 0
    assert not of_parts(server)


def test_a_full_disk_is_one_line(server: Server, tmp_path: Path) -> None:
    """A limit of the size of files stands for it."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = stage(server.url + "/blocks", tmp_path / "cache", preexec_fn=limit)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (f"apldata: {server.url}/blocks: cache {tmp_path / 'cache'}: File too large\n")
    assert all(path.stat().st_size <= 2000 for path in parts(tmp_path / "cache"))


def test_what_cannot_be_staged(server: Server, root: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def nameless(handler: Handler, first: int, end: int) -> bool:
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {first}-{end - 1}/{handler.size}")
        handler.send_header("Content-Length", str(end - first))
        handler.end_headers()
        handler.wfile.write(handler.read(first, end))
        return True

    for name, why in {
        str(root / "blocks"): "is on this machine already: there is nothing to stage",
        server.url + "/nothing": "is not a store (there is no data.mdb or set.apl in it)",
    }.items():
        done = stage(name, cache)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == f"apldata: {name}: {why}\n"
        assert not cache.exists(), "a cache of nothing"
    server.fault = nameless
    done = stage(server.url + "/blocks", cache)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "blocks: its server sends no ETag that is exact and no Last-Modified: no part of it" in done.stderr
    (tmp_path / "file").write_text("")
    done = stage(server.url + "/blocks", tmp_path / "file/x")
    assert done.returncode == 1 and "cannot make the directory" in done.stderr
    assert done.stderr.count("\n") == 1 and "is not a store" not in done.stderr
    for options in (["--budget", "0"], ["--budget", "lots"], ["--world", "4"], ["--ranks", "x"]):
        done = stage(server.url + "/blocks", cache, *options)
        assert done.returncode == 2
    for place, why in {root / "blocks": "has a data.mdb", server.url + "/blocks": "is a URL"}.items():
        done = stage(server.url + "/blocks", place)
        assert (done.returncode, done.stdout) == (2, "") and why in done.stderr


@pytest.mark.parametrize("budget", [[], ["--budget", "1G"]])
def test_a_cache_that_cannot_be_written_says_why(server: Server, tmp_path: Path, budget: list[str]) -> None:
    """It is neither full nor staged."""
    cache = tmp_path / "cache"
    (cache / "used").mkdir(parents=True)
    done = stage(server.url + "/blocks", cache, *budget)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"apldata: {server.url}/blocks: cache {cache}: Is a directory\n"


def test_a_directory_in_place_of_a_part_makes_room(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert stage(server.url + "/blocks", cache).returncode == 0
    part = parts(cache)[-1]
    part.unlink()
    part.mkdir()
    assert stage(server.url + "/blocks", cache).returncode == 0
    assert part.is_file()


@pytest.mark.parametrize("name", ["blocks", "files"])
def test_processes_that_read_the_same_fetch_it_once(server: Server, tmp_path: Path, name: str) -> None:
    url = f"{server.url}/{name}"
    alone = figures(url, tmp_path / "alone")["fetched_bytes"]
    server.log.clear()
    slowly(server, 0.01)
    command = [COMMAND, "stage", "-q", url, tmp_path / "cache"]
    copies = [subprocess.Popen(command) for _ in range(4)]
    assert [copy.wait(60) for copy in copies] == [0] * 4
    opening = sum(end - first for _, first, end in server.log if first == 0)
    fetched = sum(end - first for _, first, end in server.log) - opening
    assert fetched < 1.6 * alone  # neighbours that they join otherwise are fetched by both


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_who_fetches_and_dies_holds_nobody_up(server: Server, tmp_path: Path, number: int) -> None:
    """The others wait for him until he is dead, or for five seconds."""
    asked, go = threading.Event(), threading.Event()

    def fault(handler: Handler, first: int, end: int) -> bool:
        if first and not go.is_set():
            asked.set()
            go.wait(30)
        return False

    server.fault = fault
    with subprocess.Popen([COMMAND, "stage", "-q", server.url + "/files", tmp_path / "cache"]) as fetcher:
        assert asked.wait(20)
        time.sleep(0.1)
        fetcher.send_signal(number)
        go.set()
        began = time.monotonic()
        assert figures(server.url + "/files", tmp_path / "cache")["complete"]
        assert time.monotonic() - began < 60
        fetcher.kill()
