"""Lists of texts: written as lists of str, and read so by stores, loaders of NumPy and PyTorch, and Arrow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import apldata
from apldata import Field, Loader, Store, Writer

NAMES = [["dog", "caf\xe9"], [], ["", "x"], ["a longer one"], ["", ""]]
GRIDS = [[["a", "b"]], [], [["", ""], ["c", "dd"]], [["e", "f"]], [["g", "h"]]]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    fields = [
        Field("number", "i64", (), "target"),
        Field("names", "utf8", (-1, -1)),
        Field("grid", "utf8", (-1, 2, -1), "name"),
    ]
    with Writer(tmp_path / "db", fields) as writer:
        for i, (names, grid) in enumerate(zip(NAMES, GRIDS, strict=True)):
            writer.append(number=i, names=names, grid=grid)
    return Store(tmp_path / "db")


def test_come_back(store: Store) -> None:
    assert store.schema["names"].shape == (-1, -1)
    assert [store[i]["names"] for i in range(5)] == NAMES
    assert [store[i]["grid"] for i in range(5)] == GRIDS
    assert store.get(np.array([3, 0]))["names"] == [NAMES[3], NAMES[0]]
    assert "utf8[*]" in store._repr_html_()


@pytest.mark.parametrize("share", [None, "node"])
def test_by_loaders(store: Store, share: str | None) -> None:
    with Loader(store, batch_size=2, seed=1, share=share) as loader:
        found = {int(n): names for b in loader for n, names in zip(b["number"], b["names"], strict=True)}
    assert found == dict(enumerate(NAMES))


def test_in_torch(store: Store) -> None:
    pytest.importorskip("torch")
    from apldata.torch import DataLoader

    with DataLoader(store, batch_size=2, seed=1, fields=["number", "names"]) as loader:
        found = {int(n): names for numbers, lists in loader for n, names in zip(numbers, lists, strict=True)}
    assert found == dict(enumerate(NAMES))


def test_in_columns(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", [Field("names", "utf8", (-1, -1))]) as writer:
        writer.extend(names=NAMES)
    assert [Store(tmp_path / "db")[i]["names"] for i in range(5)] == NAMES


def test_in_arrow(store: Store, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    apldata.export(store, tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet")
    assert table["names"].to_pylist() == NAMES and table["grid"].to_pylist() == GRIDS


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("dog", "in a list"),
        ([1], "in a list"),
        ([["dog"]], "in a list"),
        (["a\0b"], "has a NUL in it"),
        (["\ud800"], "a lone surrogate"),
        ([b"\xff"], "not UTF-8"),
    ],
)
def test_refused(tmp_path: Path, value: object, message: str) -> None:
    with (
        pytest.raises(apldata.Error, match=message),
        Writer(tmp_path / "db", [Field("names", "utf8", (-1, -1))]) as writer,
    ):
        writer.append(names=value)


def test_uneven(tmp_path: Path) -> None:
    with (
        pytest.raises(apldata.Error, match="different lengths"),
        Writer(tmp_path / "db", [Field("grid", "utf8", (-1, -1, -1))]) as writer,
    ):
        writer.append(grid=[["a"], ["b", "c"]])


def test_conditions_are_functions(store: Store) -> None:
    assert list(store.where(names=lambda values: np.array(["x" in names for names in values]))) == [2]
    with pytest.raises(apldata.Error, match="function"):
        store.where(names="x")
