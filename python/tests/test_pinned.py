"""Pinned stores: what the digest does not cover is refused at its first block, wherever it comes from. A forged
store has the blocks of a black one, all checksums of which are right, and the manifest of an honest one."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND
from remote_server import Server, serving
from remote_tools import stand_alone

import apldata
from apldata import CorruptError, Field, InvalidError, Loader, MismatchError, Store

RECORDS, GOLDEN = 640, Path(__file__).parents[2] / "tests" / "golden"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)


def make(path: Path, black: bool, kept: bool) -> None:
    fields = [Field("image", "u8", (3, 8, 8)), Field("label", "u8", (), "target")]
    if kept:
        fields[0] = Field("image", "u8", media="application/octet-stream")
    random = np.random.default_rng(1)
    with apldata.Writer(str(path), fields, block_records=16, codec=None if kept else "raw") as w:
        for i in range(RECORDS):
            image = random.integers(1, 256, (3, 8, 8), "u1") * (not black)
            w.append(image=image.astype("u1").tobytes() if kept else image.astype("u1"), label=i % 10)


def manifest(file: bytes) -> slice:
    at = file.index(b"APLM")
    return slice(at, at + int.from_bytes(file[at + 8 : at + 16], "little"))


def forge(honest: Path, black: Path) -> None:
    """Gives the black store the manifest of the honest one: both lie at the same place."""
    good, bad = (bytearray((path / "data.mdb").read_bytes()) for path in (honest, black))
    assert manifest(good) == manifest(bad) and len(good) == len(bad)
    bad[manifest(bad)] = good[manifest(good)]
    os.chmod(black / "data.mdb", 0o644)
    (black / "data.mdb").write_bytes(bad)


@pytest.fixture(scope="module", params=["pixels", "kept"])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp(request.param)
    for name in ("honest", "forged"):
        make(path / name, name == "forged", request.param == "kept")
    forge(path / "honest", path / "forged")
    return path


@pytest.fixture(scope="module")
def digest(root: Path) -> str:
    found = Store(root / "honest").digest
    assert found is not None and len(found) == 64
    return found


@pytest.fixture()
def server(root: Path) -> Iterator[Server]:
    with serving(root) as s:
        yield s


def images(store: Store, **options: Any) -> list[bytes]:
    loader = Loader(store, batch_size=8, seed=3, **options)
    return [bytes(image) for batch in loader for image in batch["image"]]


def refused(store: Store) -> None:
    with pytest.raises(CorruptError, match="SHA-256"):
        images(store)
    with pytest.raises(CorruptError, match="SHA-256"):
        images(store, window=32)
    with pytest.raises(CorruptError, match="SHA-256"):
        store[0]
    with pytest.raises(CorruptError, match="SHA-256"):
        store.to_numpy("train", ["label"])


# ------------------------------------------------------------------------------------------------ here


def test_the_honest_one_is_read_as_ever(root: Path, digest: str) -> None:
    for given in (digest, bytes.fromhex(digest), digest.upper()):
        store = Store(root / "honest", expected_digest=given)
        assert store.expected_digest == store.digest == digest
    assert images(store) == images(Store(root / "honest"))
    store.verify()


def test_the_black_one_is_refused(root: Path, digest: str) -> None:
    for io in ("map", "read"):
        refused(Store(root / "forged", expected_digest=digest, io=io))
    claims = Store(root / "forged", Store(root / "honest").content_digest)
    assert not any(map(any, images(claims)))  # what it says of its content is a claim
    with pytest.raises(CorruptError):
        claims.verify()


def test_another_digest_or_none(root: Path, digest: str) -> None:
    with pytest.raises(MismatchError, match="the digest is not the one expected"):
        Store(root / "honest", expected_digest="00" * 32)
    old = Store(GOLDEN / "plain") if (GOLDEN / "plain").is_dir() else None
    if old:
        assert old.digest is None and old.expected_digest is None
        with pytest.raises(MismatchError, match="has no digests of its blocks"):
            Store(GOLDEN / "plain", expected_digest=digest)
    for wrong in ("00", "zz" * 32, b"short"):
        with pytest.raises(ValueError, match="expected_digest"):
            Store(root / "honest", expected_digest=wrong)


def _first(path: Any) -> str:
    try:
        return str(path[0])
    except CorruptError as error:
        return str(error)


def test_copies_and_children_are_pinned_too(root: Path, digest: str) -> None:
    store = Store(root / "forged", expected_digest=digest)
    refused(pickle.loads(pickle.dumps(store)))
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert "SHA-256" in pool.apply(_first, (store,))


def test_a_server_compares_for_its_loaders(root: Path, digest: str) -> None:
    store = Store(root / "honest", expected_digest=digest)
    with pytest.raises(InvalidError, match="apldata serve --expect"):
        Loader(store, socket=root / "none")


# ---------------------------------------------------------------------------------------------- commands


def run(*command: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([COMMAND, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


@pytest.mark.skipif(not COMMAND.exists(), reason="build/apldata is not built")
def test_commands(root: Path, digest: str, tmp_path: Path) -> None:
    commands: list[tuple[Any, ...]] = [
        ("stream", "{}", "--fields", "label"),
        ("bench", "{}"),
        ("verify", "{}"),
        ("get", "{}", 3, "--fields", "image", "--format", "raw", "-o", "-"),
        ("show", "{}", 3, "--as", "text"),
        ("export", "{}", tmp_path / "out", "--format", "raw", "--force"),
        ("extract", "{}", tmp_path / "db", "--force"),
        ("audit", "{}", "--load", "--epochs", 2),
        ("view", "{}", "-o", tmp_path / "page.html"),
    ]
    for name, *rest in commands:
        for db in ("honest", "forged"):
            operands = [root / db if one == "{}" else one for one in rest]
            done = run(name, *operands, "--expect", digest)
            assert not done.stdout or db == "honest" or name in ("verify", "audit", "bench"), name
            assert (b"SHA-256" in done.stdout + done.stderr) == (db == "forged"), (name, done.stderr)
            assert done.returncode == 0 or db == "forged" or name == "audit", (name, done.stderr)
    for wrong in (digest[1:], digest + "0", "x" * 64):
        assert run("verify", root / "honest", "--expect", wrong).returncode == 2
    both = run("bench", root / "honest", "--with", root / "forged", "--expect", digest)
    assert both.returncode == 1 and b"--with" in both.stderr


# -------------------------------------------------------------------------------------------------- URLs


def test_at_a_url(root: Path, digest: str, server: Server) -> None:
    here = images(Store(root / "honest"))
    assert images(Store(f"{server.url}/honest", expected_digest=digest)) == here
    refused(Store(f"{server.url}/forged", expected_digest=digest))


def test_out_of_a_cache(root: Path, digest: str, server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in ("honest", "forged"):
        assert len(images(Store(f"{server.url}/{name}", cache=cache))) == RECORDS
    with Store(f"{server.url}/honest", cache=cache, expected_digest=digest) as store:
        assert images(store) == images(Store(root / "honest"))
        store.verify()
    refused(Store(f"{server.url}/forged", cache=cache, expected_digest=digest))


def test_bytes_that_are_damaged_on_the_way_are_asked_for_again(root: Path, digest: str, server: Server) -> None:
    store = Store(f"{server.url}/honest", expected_digest=digest)
    left = [3]

    def fault(handler: Any, first: int, end: int) -> bool:
        body = bytearray(handler.read(first, end))
        if not left or len(body) < 1000:
            return False
        left.clear()
        assert len(body) == end - first
        body[len(body) // 2] ^= 1
        handler.send_range(first, end, bytes(body))
        return True

    server.fault = fault
    assert images(store) == images(Store(root / "honest")) and not left


# -------------------------------------------------------------------------------------------------- sets


@pytest.fixture()
def joined(root: Path, tmp_path: Path) -> Path:
    """A set of two honest shards."""
    path = tmp_path / "set"
    path.mkdir()
    make(path / "first", False, (Store(root / "honest").schema[0].media is not None))
    shutil.copytree(root / "honest", path / "second")
    apldata.join([path / "first", path / "second"], path)
    return path


def test_of_a_set(root: Path, joined: Path) -> None:
    digest = Store(joined).digest
    assert digest is not None
    whole = images(Store(joined))
    assert images(Store(joined, expected_digest=digest)) == whole
    shutil.rmtree(joined / "second")
    shutil.copytree(root / "forged", joined / "second")
    assert images(Store(joined)) != whole  # black, and nobody notices
    with serving(joined.parent) as server:
        for where in (joined, f"{server.url}/set"):
            store = Store(where, expected_digest=digest)
            assert store[0]["label"] == 0
            with pytest.raises(CorruptError, match="second.*SHA-256"):
                store[RECORDS]
            with pytest.raises(CorruptError, match="SHA-256"):
                images(store)
