"""apldata.convert() of Parquet files in folders whose names hold columns, as Hive and Spark write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def laid_out(root: Path, *folders: str, **more: Any) -> Path:
    """A file of two rows in each of these folders: 0 and 10, 1 and 11, ..."""
    for number, folder in enumerate(folders):
        (root / folder).mkdir(parents=True)
        table = pa.table({"x": [number, number + 10], **{name: [one] * 2 for name, one in more.items()}})
        pq.write_table(table, root / folder / "part-0.parquet")
    return root


def test_folders_hold_columns(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "in", "label=dog", "label=cat%20or%20not")
    store = made(source, tmp_path / "a")
    assert types_of(store) == {"x": "i64", "label": "u8"} and store.classes == ("cat or not", "dog")
    assert store.to_numpy()["x"].tolist() == [1, 11, 0, 10]
    assert store.to_numpy()["label"].tolist() == [0, 0, 1, 1]
    files = made(sorted(source.rglob("*.parquet")), tmp_path / "b")
    assert files.content_digest == store.content_digest
    one = made(sorted(source.rglob("*.parquet"))[0], tmp_path / "one")
    assert types_of(one) == {"x": "i64"}
    assert made(source, tmp_path / "c", fields=["label"]).to_numpy()["label"].tolist() == [0, 0, 1, 1]
    assert made(source, tmp_path / "d", types={"label": "utf8"})[2]["label"] == "dog"
    assert types_of(made(source, tmp_path / "e", fields=["x"])) == {"x": "i64"}


def test_numbers_and_several_columns(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "in", "year=2020/month=01", "year=2021/month=12")
    store = made(source, tmp_path / "a", types={"month": "i32"})
    assert types_of(store) == {"x": "i64", "year": "i32", "month": "i32"}
    assert [store[2]["year"], store[2]["month"]] == [2021, 12]
    assert made(source, tmp_path / "text").schema["month"].classes == ("01", "12")
    large = laid_out(tmp_path / "large", "id=5000000000")
    assert types_of(made(large, tmp_path / "b"))["id"] == "i64"


def test_splits_beside_columns(tmp_path: Path) -> None:
    named = made(laid_out(tmp_path / "1", "split=holdout/label=a", "split=train/label=b"), tmp_path / "a")
    assert list(named.splits) == ["train", "holdout"] and types_of(named) == {"x": "i64", "label": "u8"}
    assert named.to_numpy("holdout")["label"].tolist() == [0, 0] and named.classes == ("a", "b")
    words = made(laid_out(tmp_path / "2", "test/label=b", "train/label=a"), tmp_path / "b")
    assert list(words.splits) == ["train", "test"] and words.to_numpy("test")["label"].tolist() == [1, 1]
    classes = made(laid_out(tmp_path / "3", "label=test", "label=train"), tmp_path / "c")
    assert list(classes.splits) == ["train"] and classes.classes == ("test", "train")


def test_missing_values_and_own_columns(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "1", "label=__HIVE_DEFAULT_PARTITION__", "label=a")
    with pytest.raises(apldata.InvalidError, match="row 0, column label: a missing value"):
        made(source, tmp_path / "a")
    assert made(source, tmp_path / "b", missing="skip").to_numpy()["x"].tolist() == [1, 11]
    own = made(laid_out(tmp_path / "2", "label=a", label="a"), tmp_path / "c")
    assert types_of(own) == {"x": "i64", "label": "utf8[-1]"} and own[0]["label"] == "a"
    laid_out(source, "more")
    told = r"more/part-0.parquet: does not lie in a folder label=..., and the first file does"
    with pytest.raises(apldata.SourceError, match=told):
        made(source, tmp_path / "d")


def test_columns_that_folders_tell_otherwise(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "1", "label=a", label="b")
    told = r"column label holds 'b', and the file lies in a folder label=a: rename one"
    with pytest.raises(apldata.SourceError, match=told):
        made(source, tmp_path / "a")
    assert types_of(made(source, tmp_path / "b", fields=["x"])) == {"x": "i64"}
    numbers = laid_out(tmp_path / "2", "year=05", year=5)
    assert made(numbers, tmp_path / "c")[0]["year"] == 5
    with pytest.raises(apldata.SourceError, match=r"column year holds 5, and .* in a folder year=6"):
        made(laid_out(tmp_path / "3", "year=6", year=5), tmp_path / "d")


def test_leading_zeros_tell_text(tmp_path: Path) -> None:
    """As in tables: they are lost from numbers."""
    source = laid_out(tmp_path / "in", "zip=01234", "zip=99999", "zip=-0")
    store = made(source, tmp_path / "a")
    assert types_of(store)["zip"] == "u8" and store.schema["zip"].classes == ("-0", "01234", "99999")
    assert [row["zip"] for row in made(source, tmp_path / "b", types={"zip": "utf8"})][2] == "01234"
    numbers = made(source, tmp_path / "c", types={"zip": "i32"})
    assert types_of(numbers)["zip"] == "i32" and sorted(set(numbers.to_numpy()["zip"])) == [0, 1234, 99999]
