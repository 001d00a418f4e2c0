"""A set as others write it is ingested, verified, read, exported and ingested again: its content is equal."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND

import apldata
from apldata import Field
from apldata.transforms import RandomResizedCrop

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
    fields = [name for name in ("image", "label") if name in store.schema.names]
    options = {"transforms": [RandomResizedCrop(16)], "fields": fields} if photos else {}
    count = 0
    for split in (name for name, split in store.splits.items() if split.records):
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


READ_RECORDS = """
import json, sys

import tensorflow as tf

rows = {}
for path in sys.argv[1:]:
    rows[path] = []
    for record in tf.data.TFRecordDataset(path):
        features = tf.train.Example.FromString(record.numpy()).features.feature
        row = {}
        for name, feature in features.items():
            kind = feature.WhichOneof("kind")
            values = getattr(feature, kind).value
            row[name] = [kind, [v.hex() for v in values] if kind == "bytes_list" else list(values)]
        rows[path].append(row)
json.dump(rows, sys.stdout)
"""

EVERY_TYPE = [
    Field("image", "u8", media="image/jpeg"),
    Field("file", "u8", media="application/json"),
    Field("text", "utf8", (-1,), "name"),
    Field("label", "u16", (), "target", classes=("a", "b", "größe")),
    Field("pixels", "u8", (-1, -1, 3)),
    *(Field(name, name, (), "target") for name in ("u8", "i8", "i16", "u32", "i32", "u64", "i64", "bool")),
    *(Field(name, name, (2,)) for name in ("f16", "bf16", "f32", "f64")),
    Field("boxes", "f32", (-1, 4), "target"),
    Field("halves", "f16", (-1, -1)),
    Field("mask", "bool", (3, 2)),
]


def every_type(i: int, image: bytes) -> dict[str, object]:
    bits = {"u8": 8, "i8": 7, "i16": 15, "u32": 32, "i32": 31, "i64": 63}
    whole = {n: 2**b - 1 if i % 2 else 0 if n[0] == "u" else -(2**b) for n, b in bits.items()}
    return {
        "image": image,
        "file": b'{"n": %d}' % i,
        "text": f"größe {i}" * (i % 3),
        "label": i % 3,
        "pixels": np.full((i % 3, 4 - i % 3, 3), i, "u1"),
        **whole,
        "u64": 2**63 - 1 - i,
        "bool": i % 2 == 1,
        "f16": np.array([i / 7, [np.inf, 6e-8, -0.0][i % 3]], "f2"),
        "bf16": np.array([[i, np.inf, 2.0**-133][i % 3], -0.15625], "f4"),
        "f32": np.array([1e-45, -i / 3], "f4"),
        "f64": [i / 3, np.pi],
        "boxes": np.arange(i % 3 * 4, dtype="f4").reshape(-1, 4),
        "halves": np.full((i % 2, i % 3), 0.5, "f2"),
        "mask": np.arange(6).reshape(3, 2) % 2 == i % 2,
    }


def read_by_tensorflow(out: Path) -> dict[str, list[dict[str, list]]]:
    """What TensorFlow reads, by file; in its own process, as beside some builds of torch it crashes."""
    paths = sorted(str(path) for path in out.glob("*.tfrecord"))
    command = [sys.executable, "-c", READ_RECORDS, *paths]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    return {Path(path).name: rows for path, rows in json.loads(done.stdout).items()}


def test_tfrecord(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    known = [f for f in EVERY_TYPE if f.name != "bf16" or importlib.util.find_spec("ml_dtypes")]
    names = {f.name for f in known}
    made = [{k: v for k, v in every_type(i, photo(rng)).items() if k in names} for i in range(40)]
    with apldata.Writer(tmp_path / "db", known) as writer:
        for split, rows in (("train", made[:30]), ("none", []), ("test", made[30:])):
            writer.begin(split)
            for row in rows:
                writer.append(**row)
    again = apldata.Store(round_trip(tmp_path / "db", "tfrecord"))
    assert str(again.schema) == str(apldata.Store(tmp_path / "db").schema)
    assert list(again.schema["label"].classes) == ["a", "b", "größe"]
    assert list(again.splits) == ["train", "none", "test"]
    assert sorted(os.listdir(tmp_path / "out")) == ["schema.json", "test.tfrecord", "train.tfrecord"]
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs tensorflow")
    read = read_by_tensorflow(tmp_path / "out")
    assert {name: len(rows) for name, rows in read.items()} == {"test.tfrecord": 10, "train.tfrecord": 30}
    for got, row in zip(read["train.tfrecord"] + read["test.tfrecord"], made, strict=True):
        assert got["image"] == ["bytes_list", [row["image"].hex()]]
        assert got["text"] == ["bytes_list", [row["text"].encode().hex()]]
        assert got["pixels"] == ["bytes_list", [row["pixels"].tobytes().hex()]]
        assert got["pixels/shape"] == ["int64_list", list(row["pixels"].shape)]
        assert got["f64"] == ["bytes_list", [np.array(row["f64"]).tobytes().hex()]]
        assert got["f16"] == ["float_list", row["f16"].tolist()]
        assert got["boxes"] == ["float_list", row["boxes"].ravel().tolist()]
        for name in ("label", "u8", "i8", "i16", "u32", "i32", "u64", "i64", "bool"):
            assert got[name] == ["int64_list", [row[name]]], name


def test_tfrecord_says_what_it_cannot_hold(tmp_path: Path) -> None:
    cases = {
        "record 1: field 'x' has a number above": (
            [Field("x", "u64", ())],
            [{"x": 1}, {"x": 2**63}],
            "train",
        ),
        "field 'x' needs a feature 'x/shape'": (
            [Field("x", "f32", (-1, -1)), Field("x/shape", "u8", ())],
            [{"x": [[1]], "x/shape": 1}],
            "train",
        ),
        "split '.x' cannot be a file's name": ([Field("x", "u8", ())], [{"x": 1}], ".x"),
    }
    for i, (message, (fields, rows, split)) in enumerate(cases.items()):
        with apldata.Writer(tmp_path / f"db{i}", fields) as writer:
            writer.begin(split)
            for row in rows:
                writer.append(**row)
        command = [str(COMMAND), "export", str(tmp_path / f"db{i}"), str(tmp_path / "out"), "--format"]
        done = subprocess.run([*command, "tfrecord"], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert message in done.stderr
        assert not (tmp_path / "out").exists()


def write_idx(path: Path, array: np.ndarray) -> None:
    sizes = b"".join(n.to_bytes(4, "big") for n in array.shape)
    path.write_bytes(bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes())


def test_mnist(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    (tmp_path / "set").mkdir()
    for split, count in (("train", 600), ("t10k", 100)):
        write_idx(tmp_path / f"set/{split}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28), "u1"))
        write_idx(tmp_path / f"set/{split}-labels-idx1-ubyte", rng.integers(0, 10, count, "u1"))
    assert apldata.ingest(tmp_path / "set", tmp_path / "db").format == "idx"
    round_trip(tmp_path / "db", "idx")
    for path in (tmp_path / "set").iterdir():
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_image_folder(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for split, count in (("train", 12), ("val", 4)):
        for name in ("cat", "dog", "größe"):
            (tmp_path / "set" / split / name).mkdir(parents=True)
            for i in range(count):
                (tmp_path / "set" / split / name / f"{i:03}.jpg").write_bytes(photo(rng))
    assert apldata.ingest(tmp_path / "set", tmp_path / "db").format == "folder"
    round_trip(tmp_path / "db", "folder")
    for path in (tmp_path / "set").glob("*/*/*"):
        assert (tmp_path / "out" / path.relative_to(tmp_path / "set")).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("format", ["tfrecord", "webdataset"])
def test_captions_and_boxes(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(3)
    (tmp_path / "set").mkdir()
    lines = ["file,caption,boxes,score"]
    for i in range(40):
        (tmp_path / f"set/{i}.jpg").write_bytes(photo(rng))
        boxes = [[i, 2, 3, 4.5]] * (i % 3)
        lines.append(f'{i}.jpg,"größe, {i}","{json.dumps(boxes)}",{i / 7}')
    (tmp_path / "set/list.csv").write_text("\n".join(lines) + "\n")
    columns = {"boxes": "f32[-1,4]", "score": "f64"}
    apldata.ingest(tmp_path / "set/list.csv", tmp_path / "db", types=columns)
    round_trip(tmp_path / "db", format)


def test_tokens(tmp_path: Path) -> None:
    stream = np.random.default_rng(4).integers(0, 50257, 20000).astype("u2")
    stream.tofile(tmp_path / "train.bin")
    apldata.ingest(tmp_path / "train.bin", tmp_path / "db", tokens="u16", chunk=300)
    round_trip(tmp_path / "db", "tfrecord")


@pytest.mark.parametrize("format", ["tfrecord", "webdataset"])
def test_graphs(tmp_path: Path, format: str) -> None:
    rng = np.random.default_rng(5)
    fields = [
        Field("x", "f32", (-1, 7)),
        Field("edge_index", "i64", (2, -1)),
        Field("y", "f32", (), "target"),
    ]
    with apldata.Writer(tmp_path / "db", fields) as writer:
        for i in range(1000):
            nodes, edges = int(rng.integers(1, 9)), int(rng.integers(0, 20))
            writer.append(
                x=rng.random((nodes, 7), "f4"), edge_index=rng.integers(0, nodes, (2, edges)), y=np.float32(i)
            )
    round_trip(tmp_path / "db", format)
