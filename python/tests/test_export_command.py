"""What `apldata export` writes, as other libraries read it; and what it refuses to write."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import COMMAND

from apldata import Field, Store, Writer, ingest

pytestmark = pytest.mark.skipif(not COMMAND.is_file(), reason="the commands are not built")


def export(db: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(COMMAND), "export", "--no-progress", *options, str(db), str(out)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def make(db: Path, fields: list[Field], records: list[dict[str, Any]], split: str = "train") -> Path:
    with Writer(str(db), fields) as writer:
        writer.begin(split)
        for record in records:
            writer.append(**record)
    return db


def picture(*shape: int, dtype: str = "u1") -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype)


NAMED = [Field("image", "u8", media="image/jpeg"), Field("path", "utf8", (-1,), "name")]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../up",
        "a/../../up",
        "a//b",
        "",
        ".hidden",
        "a/.b/c",
        "nul\0",
        "d/" * 30 + "e",
        "x" * 300,
        "a/",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, path: str) -> None:
    db = make(tmp_path / "db", NAMED, [{"image": b"1", "path": "fine"}, {"image": b"2", "path": path}])
    done = export(db, tmp_path / "out", "--format", "folder")
    assert done.returncode == 1
    assert "record 1: " in done.stderr
    assert "cannot be the path of a file; --names id" in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["db"]
    assert export(db, tmp_path / "out", "--format", "folder", "--names", "id").returncode == 0
    assert sorted(os.listdir(tmp_path / "out/train")) == ["0.jpg", "1.jpg"]


@pytest.mark.parametrize(
    ("one", "other"), [("a.jpg", "a.jpg"), ("a", "a.jpg"), ("a/b.jpg", "train/a/b.jpg"), ("a.x", "a.x/b")]
)
def test_records_with_one_name_are_told(tmp_path: Path, one: str, other: str) -> None:
    db = make(tmp_path / "db", NAMED, [{"image": b"1", "path": one}, {"image": b"2", "path": other}])
    done = export(db, tmp_path / "out", "--format", "folder")
    assert done.returncode == 1
    assert "another record has this name too; --names id numbers the files" in done.stderr
    assert os.listdir(tmp_path) == ["db"]


@pytest.mark.parametrize("name", ["..", "a/b", ".", ".x"])
def test_a_class_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    fields = [
        Field("image", "u8", media="image/png"),
        Field("label", "u8", (), "target", classes=("a", name)),
    ]
    db = make(tmp_path / "db", fields, [{"image": b"1", "label": i} for i in (0, 1)])
    done = export(db, tmp_path / "out", "--format", "folder")
    assert done.returncode == 1
    assert f"record 1: '{name}' cannot be the path of a file" in done.stderr
    assert os.listdir(tmp_path) == ["db"]


def test_numbers_of_classes_sort_as_they_count(tmp_path: Path) -> None:
    fields = [Field("image", "u8", media="image/png"), Field("label", "i32", (), "target")]
    db = make(tmp_path / "db", fields, [{"image": b"x", "label": i} for i in (7, 10, 1000)])
    assert export(db, tmp_path / "out", "--format", "folder").returncode == 0
    assert sorted(os.listdir(tmp_path / "out/train")) == ["0007", "0010", "1000"]
    assert (tmp_path / "out/train/0010/1.png").read_bytes() == b"x"


@pytest.mark.parametrize("dtype", ["u1", "u2"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_png_holds_the_very_pixels(tmp_path: Path, dtype: str, channels: int) -> None:
    fields = [Field("image", "u8" if dtype == "u1" else "u16", (-1, -1, -1))]
    pictures = [picture(channels, h, w, dtype=dtype) for h, w in ((5, 7), (1, 1), (9, 2))]
    db = make(tmp_path / "db", fields, [{"image": p} for p in pictures])
    done = export(db, tmp_path / "out", "--format", "folder")
    assert (done.returncode, done.stderr) == (0, "")
    for i, p in enumerate(pictures):
        data = (tmp_path / f"out/train/{i}.png").read_bytes()
        assert data[24] == 8 * p.itemsize
        if dtype == "u2":
            cv2 = pytest.importorskip("cv2")
            got = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
            if channels == 2:
                continue  # OpenCV makes four channels of them
            got = got if got.ndim == 3 else got[..., None]
            got = got[..., [2, 1, 0, 3][:channels]] if channels > 2 else got
        else:
            got = np.asarray(pytest.importorskip("PIL.Image").open(io.BytesIO(data)))
            got = got if got.ndim == 3 else got[..., None]
        np.testing.assert_array_equal(got.transpose(2, 0, 1), p)


def test_idx_is_big_endian(tmp_path: Path) -> None:
    types = {"u8": "u1", "i8": "i1", "i16": ">i2", "i32": ">i4", "f32": ">f4", "f64": ">f8"}
    fields = [Field(f"x_{name}", name, (3, 2)) for name in types]
    values = np.arange(-30000, 30000, 10).reshape(1000, 3, 2)
    rows = {f"x_{name}": values.astype(dtype.lstrip(">")) for name, dtype in types.items()}
    with Writer(str(tmp_path / "db"), fields) as writer:
        writer.begin("test")
        writer.extend(**rows)
    done = export(tmp_path / "db", tmp_path / "out", "--format", "idx")
    assert (done.returncode, done.stderr) == (0, "")
    for name, dtype in types.items():
        (path,) = (tmp_path / "out").glob(f"t10k-x_{name}-idx3-*")
        data = path.read_bytes()
        assert np.frombuffer(data, ">u4", 3, 4).tolist() == [1000, 3, 2]
        np.testing.assert_array_equal(
            np.frombuffer(data, dtype, offset=16).reshape(1000, 3, 2), rows[f"x_{name}"]
        )


def test_idx_says_what_it_cannot_hold(tmp_path: Path) -> None:
    fields = [
        Field("image", "u8", (2, 2)),
        Field("weight", "u16", (), "target"),
        Field("name", "utf8", (-1,), "name"),
    ]
    db = make(tmp_path / "db", fields, [{"image": picture(2, 2), "weight": 3, "name": "n"}])
    done = export(db, tmp_path / "out", "--format", "idx")
    assert done.returncode == 1
    assert "IDX cannot hold field weight, of type u16" in done.stderr
    assert export(db, tmp_path / "out", "--format", "idx", "--fields", "image").returncode == 0
    assert os.listdir(tmp_path / "out") == ["train-images-idx3-ubyte"]


EVERYTHING = [
    Field("image", "u8", media="image/jpeg"),
    Field("label", "u16", (), "target", classes=("a", "b")),
    Field("text", "utf8", (-1,), "name"),
    Field("boxes", "f32", (-1, 4), "target"),
    Field("score", "f64", (), "target"),
    Field("count", "i64", (), "target"),
    Field("meta", "u8", media="application/json"),
]


def everything(i: int) -> dict[str, Any]:
    return {
        "image": bytes([i]) * (i * 200),
        "label": i % 2,
        "text": f"größe {i}",
        "boxes": np.arange(4 * i, dtype="f4").reshape(i, 4),
        "score": i / 3,
        "count": -i,
        "meta": b'{"n": %d}' % i,
    }


def test_webdataset_reads_what_was_written(tmp_path: Path) -> None:
    wds = pytest.importorskip("webdataset")
    db = make(tmp_path / "db", EVERYTHING, [everything(i) for i in range(10)])
    done = export(db, tmp_path / "out", "--format", "webdataset", "--shard-records", "4")
    assert (done.returncode, done.stderr) == (0, "")
    shards = sorted(str(p) for p in (tmp_path / "out").iterdir())
    assert [os.path.basename(s) for s in shards] == [f"train-00000{i}.tar" for i in range(3)]
    samples = list(wds.WebDataset(shards, shardshuffle=False).decode())
    assert [s["__key__"] for s in samples] == [f"{i:09}" for i in range(10)]
    for i, sample in enumerate(samples):
        record = everything(i)
        assert sample["jpg"] == record["image"]
        assert sample["cls"] == record["label"]
        assert sample["txt"] == record["text"]
        assert sample["score.npy"] == record["score"]
        assert sample["score.npy"].dtype == np.float64
        assert sample["count.cls"] == record["count"]
        assert sample["meta.json"] == {"n": i}
        np.testing.assert_array_equal(sample["boxes.npy"], record["boxes"])


def test_archives_are_what_tar_reads(tmp_path: Path) -> None:
    db = make(tmp_path / "db", EVERYTHING, [everything(i) for i in range(10)], split="val")
    assert export(db, tmp_path / "out", "--format", "webdataset", "--shard-size", "6K").returncode == 0
    count = 0
    for path in sorted((tmp_path / "out").iterdir()):
        assert path.stat().st_size <= 6144 or path.stat().st_size % 512 == 0
        with tarfile.open(path) as tar:
            first, *rest = tar.getmembers()
            assert first.name == "__apl__/schema.json"
            assert all(m.isreg() and m.mode == 0o644 and m.mtime == 0 for m in rest)
            count += sum(m.name.endswith(".jpg") for m in rest)
    assert count == len(Store(str(db)))


def test_any_number_of_files_is_written_with_few_open(tmp_path: Path) -> None:
    db = make(tmp_path / "db", [NAMED[0]], [{"image": b"x"} for _ in range(300)])
    limited = ["bash", "-c", 'ulimit -n 40; exec "$@"', "-", str(COMMAND), "export", "-q", str(db)]
    for options in (
        ["out", "--format", "folder"],
        ["shards", "--format", "webdataset", "--shard-records", "1"],
    ):
        subprocess.run([*limited, str(tmp_path / options[0]), *options[1:]], check=True, timeout=120)
    assert len(os.listdir(tmp_path / "out/train")) == 300
    assert len(os.listdir(tmp_path / "shards")) == 300


@pytest.mark.parametrize("format", ["idx", "npy", "folder"])
def test_an_export_is_ingested_as_the_same_content(tmp_path: Path, format: str) -> None:
    """Images of each split sorted by class, as folders have them."""
    shape = (3, 5, 4) if format == "folder" else (5, 4)
    fields = [Field("image", "u8", shape), Field("label", "u8", (), "target", classes=("a", "b"))]
    with Writer(str(tmp_path / "db"), fields) as writer:
        for split, count in (("train", 20), ("test", 6)):
            writer.begin(split)
            for i in range(count):
                writer.append(image=picture(*shape) ^ i, label=2 * i // count)
    assert export(tmp_path / "db", tmp_path / "out", "--format", format).returncode == 0
    ingest(tmp_path / "out", tmp_path / "again")
    assert Store(str(tmp_path / "again")).content_digest == Store(str(tmp_path / "db")).content_digest


def test_get_takes_the_file_that_the_name_is_for(tmp_path: Path) -> None:
    """Of a record with several: a photo and its mask."""
    image = pytest.importorskip("PIL.Image")

    def file(form: str) -> bytes:
        out = io.BytesIO()
        image.new("L", (20, 10)).save(out, form)
        return out.getvalue()

    kept = {"photo": file("JPEG"), "mask": file("PNG")}
    fields = [Field(n, "u8", (-1,), media=f"image/{m}") for n, m in (("photo", "jpeg"), ("mask", "png"))]
    db = make(tmp_path / "db", fields, [{n: np.frombuffer(v, "u1") for n, v in kept.items()}])

    def get(name: str) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), "get", str(db), "0", "-o", str(tmp_path / name)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    for name, field in {"x.jpg": "photo", "x.JPEG": "photo", "x.png": "mask"}.items():
        assert get(name).returncode == 0 and (tmp_path / name).read_bytes() == kept[field]
    for name in ("x", "x.tiff"):
        done = get(name)
        assert done.returncode == 1 and "several do: --fields names one" in done.stderr
