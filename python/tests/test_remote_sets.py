"""Sets at URLs."""

from __future__ import annotations

import itertools
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND
from remote_server import serving
from remote_tools import stand_alone

import apldata
from apldata import CorruptError, Loader, Store


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stand_alone(monkeypatch, tmp_path)


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
def test_a_set_at_a_url(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    (tmp_path / "set").mkdir()
    more = tmp_path / "set/more"
    for name in ("a", "b c", "more"):
        with apldata.Writer(
            str(tmp_path / "set" / name), [apldata.Field("x", "u8", (16,))], block_records=16
        ) as w:
            w.begin("train")
            for _ in range(100):
                w.append(x=random.integers(0, 256, 16, "u1"))
    subprocess.run(
        [COMMAND, "join", tmp_path / "set/a", tmp_path / "set/b c", "-o", tmp_path / "set"], check=True
    )

    def read(path: str) -> list[bytes]:
        with Store(path) as store, Loader(store, "train", batch_size=32, seed=1) as loader:
            return [np.asarray(batch["x"]).tobytes() for batch in loader]

    here = read(str(tmp_path / "set"))
    with serving(tmp_path) as s:
        assert read(s.url + "/set") == here
        assert read(s.url + "/set/set.apl") == here
        out = subprocess.run([COMMAND, "verify", s.url + "/set"], capture_output=True, text=True)
        assert out.returncode == 0, out.stderr
        store = Store(s.url + "/set")
        pickled = pickle.dumps(store)
        subprocess.run([COMMAND, "join", "--add", more, "-o", tmp_path / "set"], check=True)
        assert pickle.loads(pickled).content_digest == store.content_digest
        assert len(Store(s.url + "/set")) == 3 * len(store) // 2
        shutil.rmtree(tmp_path / "set/b c")
        with pytest.raises(CorruptError, match=r"shard b c \(records 100 to 199\): .*b%20c"):
            read(s.url + "/set")


@pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")
def test_blocks_of_a_set_of_small_shards_are_fetched_once(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    shards = [tmp_path / "set" / f"s{i}" for i in range(12)]
    shards[0].parent.mkdir()
    for path in shards:
        with apldata.Writer(path, [apldata.Field("x", "u8", (512,))], block_records=64) as w:
            w.begin("train")
            w.extend(x=random.integers(0, 256, (64 * 12, 512), "u1"))
    subprocess.run([COMMAND, "join", *shards, "-o", tmp_path / "set"], check=True)
    with (
        serving(tmp_path) as s,
        Store(s.url + "/set") as store,
        Loader(store, batch_size=64, seed=1) as loader,
    ):
        assert sum(batch.rows for batch in loader) == 64 * 12 * 12
        for path in {path for path, _, _ in s.log if path.endswith("data.mdb")}:
            blocks = sorted((a, b) for p, a, b in s.log if p == path and a > 0 and b - a >= 512 * 64)
            assert all(before[1] <= after[0] for before, after in itertools.pairwise(blocks)), path
