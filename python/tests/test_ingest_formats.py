"""apldata.ingest() of files that NumPy and others write: idx, npy, npz."""

import gzip
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import apldata


def write_idx(path: Path, array: np.ndarray) -> None:
    codes = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}
    head = bytes([0, 0, codes[array.dtype.str[1:]], array.ndim]) + np.array(array.shape, ">u4").tobytes()
    data = head + array.astype(array.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)


def mnist(folder: Path) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    made = {}
    folder.mkdir()
    for split, n in (("train", 300), ("t10k", 50)):
        made[f"{split}-images-idx3-ubyte.gz"] = rng.integers(0, 256, (n, 28, 28), "u1")
        made[f"{split}-labels-idx1-ubyte"] = rng.integers(0, 10, n, "u1")
    for name, array in made.items():
        write_idx(folder / name, array)
    return made


def read(db: Path, split: str, field: str) -> np.ndarray:
    with apldata.Loader(db, split=split, batch_size=7, shuffle=False, fields=[field]) as loader:
        return np.concatenate([np.array(batch[field]) for batch in loader])


def test_idx(tmp_path: Path) -> None:
    made = mnist(tmp_path / "raw")
    done = apldata.ingest(tmp_path / "raw", tmp_path / "db", classes=[f"digit {i}" for i in range(10)])
    assert (done.format, done.records) == ("idx", 350)
    assert apldata.Store(tmp_path / "db").schema["label"].classes[9] == "digit 9"
    for split, word in (("train", "train"), ("test", "t10k")):
        assert (read(tmp_path / "db", split, "image") == made[f"{word}-images-idx3-ubyte.gz"]).all()
        assert (read(tmp_path / "db", split, "label") == made[f"{word}-labels-idx1-ubyte"]).all()


def test_several_sources(tmp_path: Path) -> None:
    made = mnist(tmp_path / "raw")
    files = sorted((tmp_path / "raw").glob("train*"))
    apldata.ingest(files, tmp_path / "db")
    assert (read(tmp_path / "db", "train", "image") == made["train-images-idx3-ubyte.gz"]).all()
    with pytest.raises(ValueError, match="one source or more"):
        apldata.ingest([], tmp_path / "none")
    with pytest.raises(TypeError, match="a list of names"):
        apldata.ingest(files, tmp_path / "none", classes="cat")
    with pytest.raises(apldata.SourceError, match=r"train-labels-idx1-ubyte: row .*label . is not of 0 to 2"):
        apldata.ingest(files, tmp_path / "none", classes=["a", "b", "c"])


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    return {
        "x_train": rng.integers(0, 256, (60, 8, 8, 3), "u1"),
        "y_train": rng.integers(0, 10, 60, "i8"),
        "x_test": rng.integers(0, 256, (20, 8, 8, 3), "u1"),
        "y_test": rng.integers(0, 10, 20, "i8"),
    }


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path: Path, save: Callable[..., None]) -> None:
    made = arrays()
    made["x_test"] = np.asfortranarray(made["x_test"])
    save(tmp_path / "set.npz", **made)
    apldata.ingest(tmp_path / "set.npz", tmp_path / "db")
    for split in ("train", "test"):
        for field in ("x", "y"):
            assert (read(tmp_path / "db", split, field) == made[f"{field}_{split}"]).all()
    whole = (tmp_path / "set.npz").read_bytes()
    for cut in (len(whole) - 1, len(whole) // 2, 100):
        (tmp_path / "set.npz").write_bytes(whole[:cut])
        with pytest.raises(apldata.SourceError, match=r"truncated|directory"):
            apldata.ingest(tmp_path / "set.npz", tmp_path / "none")
    for at in range(60, len(whole), len(whole) // 40):
        (tmp_path / "set.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            apldata.ingest(tmp_path / "set.npz", tmp_path / "other", replace=True)
        except apldata.Error:
            continue
        for split in ("train", "test"):
            for field in ("x", "y"):
                assert (read(tmp_path / "other", split, field) == made[f"{field}_{split}"]).all()


@pytest.mark.parametrize(
    "dtype", ["u1", "i1", "<u2", ">i2", "<u4", ">u4", "<i8", ">u8", "<f2", ">f4", "<f8", "?"]
)
def test_npy_types(tmp_path: Path, dtype: str) -> None:
    values = np.random.default_rng(3).integers(0, 2, (50, 3)).astype(dtype)
    np.save(tmp_path / "values.npy", values)
    np.save(tmp_path / "fortran.npy", np.asfortranarray(values))
    apldata.ingest([tmp_path / "values.npy", tmp_path / "fortran.npy"], tmp_path / "db")
    assert (read(tmp_path / "db", "train", "values") == values).all()
    assert (read(tmp_path / "db", "train", "fortran") == values).all()


def test_npy_refused(tmp_path: Path) -> None:
    for bad, words in (
        (np.array([{}, []], dtype=object), "Python objects"),
        (np.array(["a", "b"]), "texts"),
        (np.array([1j]), "complex"),
    ):
        np.save(tmp_path / "bad.npy", bad, allow_pickle=True)
        with pytest.raises(apldata.UnsupportedError, match=words):
            apldata.ingest(tmp_path / "bad.npy", tmp_path / "db")


def test_npy_structured(tmp_path: Path) -> None:
    values = np.zeros(9, [("a", "<f4"), ("b", ">i2", (3,)), ("label", "u1")])
    values["a"], values["b"], values["label"] = np.arange(9), np.arange(27).reshape(9, 3), np.arange(9)
    np.save(tmp_path / "rows.npy", values)
    apldata.ingest(tmp_path / "rows.npy", tmp_path / "db", classes=[str(i) for i in range(9)])
    for field in ("a", "b", "label"):
        assert (read(tmp_path / "db", "train", field) == values[field]).all()


def test_tables(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("age,name,label\n7,one,x\n8,two,y\n")
    (tmp_path / "val.csv").write_text("age,name,label\n9,three,x\n")
    tables = [tmp_path / "train.csv", tmp_path / "val.csv"]
    done = apldata.ingest(tables, tmp_path / "db", types={"age": "f32"})
    assert (done.format, done.records) == ("list", 3)
    store = apldata.Store(tmp_path / "db")
    assert store.schema["label"].classes == ("x", "y")
    assert read(tmp_path / "db", "train", "age").tolist() == [7.0, 8.0]
    with pytest.raises(apldata.InvalidError, match=r"has no column photo, for --image; there are age"):
        apldata.ingest(tables, tmp_path / "none", image="photo")
    with pytest.raises(apldata.SourceError, match=r"row 2, column name: 'one' is not a valid i8"):
        apldata.ingest(tables, tmp_path / "none", types={"name": "i8"})
    with pytest.raises(TypeError, match="a dict of columns"):
        apldata.ingest(tables, tmp_path / "none", types="age=f32")


def test_tokens(tmp_path: Path) -> None:
    stream = np.random.default_rng(4).integers(0, 100, 3000).astype("<u2")
    stream.tofile(tmp_path / "train.bin")
    apldata.ingest(tmp_path / "train.bin", tmp_path / "db", tokens="u16", document_end=0)
    store = apldata.Store(tmp_path / "db")
    documents = [np.array(store[i]["tokens"]) for i in range(len(store))]
    assert (np.concatenate(documents) == stream).all()
    assert all(document[-1] == 0 and (document[:-1] != 0).all() for document in documents[:-1])
    np.save(tmp_path / "stream.npy", stream.astype("i8"))
    apldata.ingest(tmp_path / "stream.npy", tmp_path / "db", format="tokens", chunk=1000, replace=True)
    store = apldata.Store(tmp_path / "db")
    assert len(store) == 3 and (np.array(store[2]["tokens"]) == stream[2000:]).all()
    with pytest.raises(ValueError, match="tokens"):
        apldata.ingest(tmp_path / "train.bin", tmp_path / "none", tokens="u8")


def test_raw(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.bin").write_bytes(b"\0\1\2")
    apldata.ingest(tmp_path / "set", tmp_path / "db", format="raw")
    record = apldata.Store(tmp_path / "db")[0]
    assert bytes(record["bytes"]) == b"\0\1\2" and record["path"] == "a.bin"


# In a process of its own: TensorFlow and a CUDA build of torch crash in one.
WRITE_RECORDS = """
import json
import sys

import tensorflow as tf

made = json.load(sys.stdin)
for part in range(2):
    path = f"{sys.argv[1]}/train-0000{part}-of-00002.tfrecord"
    with tf.io.TFRecordWriter(path, sys.argv[2]) as writer:
        for label, box, many in made[25 * part : 25 * part + 25]:
            features = {
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                "box": tf.train.Feature(float_list=tf.train.FloatList(value=box)),
                "many": tf.train.Feature(int64_list=tf.train.Int64List(value=many)),
                "text": tf.train.Feature(bytes_list=tf.train.BytesList(value=[f"é{label}".encode()])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
"""


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs tensorflow")
@pytest.mark.parametrize("packing", ["", "GZIP"])
def test_tfrecord(tmp_path: Path, packing: str) -> None:
    (tmp_path / "records").mkdir()
    rng = np.random.default_rng(5)
    made = [
        (int(rng.integers(10)), rng.random(4).astype("f4"), rng.integers(0, 99, i % 4)) for i in range(50)
    ]
    rows = json.dumps([(label, box.tolist(), many.tolist()) for label, box, many in made])
    command = [sys.executable, "-c", WRITE_RECORDS, str(tmp_path / "records"), packing]
    subprocess.run(command, input=rows, text=True, check=True, timeout=300, capture_output=True)
    apldata.ingest(tmp_path / "records", tmp_path / "db")
    store = apldata.Store(tmp_path / "db")
    for record, (label, box, many) in zip((store[i] for i in range(len(store))), made, strict=True):
        assert record["label"] == label and (record["box"] == box).all()
        assert (record["many"] == many).all() and record["text"] == f"é{label}"


def test_kinds(tmp_path: Path) -> None:
    rows = [{"boxes": [[0, 0, 4, 2]], "labels": [1], "n": 3}, {"boxes": [[9, 1, 2, 2]], "labels": [1], "n": 4}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table, db = tmp_path / "t.jsonl", tmp_path / "db"
    kinds = {"boxes": "boxes,xywh", "labels": "label,per=boxes"}
    assert apldata.ingest(table, db, kinds=kinds).records == 2
    with pytest.raises(apldata.SourceError, match=r"row 2: boxes: \[9, 1, 2, 2\] has right < left in form xyxy"):
        apldata.ingest(table, tmp_path / "none", kinds=kinds | {"boxes": "boxes"})
    with pytest.raises(apldata.InvalidError, match="did you mean xywh"):
        apldata.ingest(table, tmp_path / "none", kinds={"boxes": "boxes,xyhw"})
    with pytest.raises(TypeError, match="kinds"):
        apldata.ingest(table, tmp_path / "none", kinds="boxes=boxes")  # type: ignore[arg-type]
