"""A set as others write it is ingested, verified, read for an epoch, exported and ingested again: its content is equal."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import apldata
from apldata.transforms import RandomResizedCrop

COMMAND = Path(os.environ.get("APLDATA", ROOT / "build/apldata"))
pytestmark = pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")


def photo(rng: np.random.Generator, kind: str = "JPEG") -> bytes:
    image = pytest.importorskip("PIL.Image")
    height, width = rng.integers(20, 60, 2)
    out = io.BytesIO()
    pixels = np.add.outer(np.arange(height), np.arange(width))[..., None] + rng.integers(0, 99, 3)
    image.fromarray(pixels.astype("u1")).save(out, kind)
    return out.getvalue()


def train(db: Path) -> int:
    """An epoch of every split, with crops of JPEG images; how many records there were."""
    store = apldata.Store(db)
    photos = "image" in store.schema.names and store.schema["image"].media == "image/jpeg"
    options = {"transforms": [RandomResizedCrop(16)], "fields": ["image", "label"]} if photos else {}
    count = 0
    for split in store.splits:
        with apldata.Loader(db, split=split, batch_size=16, seed=1, **options) as loader:
            count += sum(len(batch.ids) for batch in loader)
    return count


def export(db: Path, out: Path, format: str, *options: str) -> None:
    command = [str(COMMAND), "export", "-q", *options, str(db), str(out), "--format", format]
    subprocess.run(command, check=True, timeout=120)


def round_trip(db: Path, format: str, *options: str) -> Path:
    """Verifies, trains, exports, ingests again."""
    store = apldata.Store(db)
    store.verify()
    assert train(db) == len(store)
    export(db, db.parent / "out", format, *options)
    again = db.parent / "again"
    apldata.ingest(db.parent / "out", again)
    assert apldata.Store(again).content_digest == store.content_digest
    return again


def test_webdataset(tmp_path: Path) -> None:
    wds = pytest.importorskip("webdataset")
    rng = np.random.default_rng(0)
    samples = {}
    for split, count in (("train", 50), ("val", 12)):
        with wds.ShardWriter(str(tmp_path / f"{split}-%06d.tar"), maxcount=20, verbose=0) as sink:
            for i in range(count):
                sample = {
                    "__key__": f"{split}/größe {i:04}",
                    "jpg": photo(rng),
                    "cls": i % 7,
                    "txt": f"caption {i}",
                    "json": {"n": i},
                    "boxes.npy": np.arange(i % 3 * 4, dtype=">f4").reshape(-1, 4),
                    "mask.png": photo(rng, "PNG"),
                    "flac": b"fLaC" * i,
                }
                samples[sample["__key__"]] = sample
                sink.write(sample)
    done = apldata.ingest(tmp_path / "{train-{000000..000002},val-000000}.tar", tmp_path / "db")
    assert (done.format, done.records) == ("webdataset", 62)
    again = round_trip(tmp_path / "db", "webdataset", "--shard-records", "7")
    rows = apldata.Store(again).get(range(62), fields=["__key__", "image", "boxes"])
    for key, image, boxes in zip(rows["__key__"], rows["image"], rows["boxes"], strict=True):
        assert bytes(image) == samples[key]["jpg"], key
        np.testing.assert_array_equal(boxes, samples[key]["boxes.npy"])
    shards = sorted(str(path) for path in (tmp_path / "out").iterdir())
    read = list(wds.WebDataset(shards, shardshuffle=False))
    assert {s["__key__"]: (s["jpg"], s["flac"], s["txt"].decode()) for s in read} == {
        s["__key__"]: (s["jpg"], s["flac"], s["txt"]) for s in samples.values()
    }
