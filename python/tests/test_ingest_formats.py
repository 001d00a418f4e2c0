"""apldata.ingest() of files that NumPy and others write: idx."""

import gzip
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
    with pytest.raises(apldata.SourceError, match=r"train-labels-idx1-ubyte: row .*label . is not below 3"):
        apldata.ingest(files, tmp_path / "none", classes=["a", "b", "c"])
