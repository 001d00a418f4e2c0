"""apldata.convert() of what export() wrote and others have edited since."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from convert_tools import made

import apldata

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """x of 0 ... 5; of train, 1, 2, 4 and 5."""
    label = apldata.Field("label", "u8", mark="target", classes=("cat", "dog"))
    with apldata.Writer(
        tmp_path / "db", {"x": apldata.Field("x", "i16", mark="name"), "label": label}
    ) as writer:
        writer.begin("train")
        writer.extend(x=[1, 2, 4, 5], label=[1, 0, 0, 1])
        writer.begin("val")
        writer.extend(x=[0, 3], label=[0, 1])
    return tmp_path / "db"


@pytest.fixture
def table(db: Path, tmp_path: Path) -> Any:
    apldata.export(db, tmp_path / "x.parquet")
    return pq.read_table(tmp_path / "x.parquet")


def both(table: Any, tmp_path: Path, **options: Any) -> apldata.Store:
    """The store of a table, which is the same from a file."""
    store = made(table, tmp_path / "memory", replace=True, **options)
    pq.write_table(table, tmp_path / "edited.parquet")
    file = made(tmp_path / "edited.parquet", tmp_path / "file", replace=True, **options)
    assert file.content_digest == store.content_digest and list(file.splits) == list(store.splits)
    return store


def splits(store: apldata.Store, field: str = "x") -> dict[str, list[int]]:
    return {name: store.to_numpy(name)[field].tolist() for name in store.splits}


def with_splits(table: Any, names: list[Any], type: Any = None) -> Any:
    at = table.column_names.index("split")
    return table.set_column(at, "split", pa.array(names, type))


def test_a_table_is_read_as_its_file_is(table: Any, db: Path, tmp_path: Path) -> None:
    store = both(table, tmp_path)
    assert splits(store) == {"train": [1, 2, 4, 5], "val": [0, 3]} and store.classes == ("cat", "dog")
    assert store.content_digest == apldata.Store(db).content_digest
    assert list(both(table, tmp_path, split=["val"]).splits) == ["val"]
    assert splits(both(table, tmp_path, fields=["x"])) == splits(store)
    parts = [pa.concat_tables([table, table]), table.slice(0, 3)]
    for number, part in enumerate(parts):
        pq.write_table(part, tmp_path / f"{number}.parquet")
    files = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    found = splits(made(files, tmp_path / "files"))
    assert found == {"train": [1, 2, 4, 5, 1, 2, 4, 5, 1, 2, 4], "val": [0, 3, 0, 3]}


def test_rows_without_a_split_are_refused(table: Any, tmp_path: Path) -> None:
    named = ["train", "val", None, "val", "train", "train"]
    with pytest.raises(
        apldata.InvalidError, match=r"Table: row 2, column split: a missing value: the column names"
    ):
        made(with_splits(table, named), tmp_path / "no")
    pq.write_table(with_splits(table, named), tmp_path / "null.parquet")
    with pytest.raises(apldata.InvalidError, match=r"null\.parquet: row 2, column split: a missing value"):
        made(tmp_path / "null.parquet", tmp_path / "no")
    with pytest.raises(apldata.InvalidError, match=r"row 0, column split: 1, which is no text"):
        made(with_splits(table, [1] * 6), tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_splits_come_in_the_order_of_the_store(table: Any, tmp_path: Path) -> None:
    by_x = both(table.sort_by("x"), tmp_path)
    assert list(splits(by_x).items()) == [("train", [1, 2, 4, 5]), ("val", [0, 3])]
    with_more = with_splits(table, ["holdout", "test", "eval", "val", "val", "train"])
    assert list(both(with_more, tmp_path).splits) == ["train", "val", "eval", "test", "holdout"]
    categories = with_splits(table, ["val"] * 3 + ["train"] * 3, pa.dictionary(pa.int8(), pa.string()))
    assert splits(both(categories, tmp_path)) == {"train": [5, 0, 3], "val": [1, 2, 4]}


def test_an_empty_split_stays(tmp_path: Path) -> None:
    for order in (["train", "val"], ["val", "train"]):
        with apldata.Writer(tmp_path / "db", {"x": "i64"}, replace=True) as writer:
            writer.begin(order[0])
            writer.begin(order[1])
            writer.extend(x=[1, 2])
        apldata.export(tmp_path / "db", tmp_path / "x.parquet", replace=True)
        again = made(tmp_path / "x.parquet", tmp_path / "again", replace=True)
        assert splits(again) == {order[0]: [], order[1]: [1, 2]} and list(again.splits) == order


def test_a_split_whose_rows_are_gone_is_gone(table: Any, tmp_path: Path) -> None:
    assert list(both(table.slice(0, 4), tmp_path).splits) == ["train"]


def test_renamed_columns_keep_what_is_told_of_them(table: Any, tmp_path: Path) -> None:
    renamed = table.rename_columns(["x2", "kind", "part"])
    store = both(renamed, tmp_path)
    assert splits(store, "x2") == {"train": [1, 2, 4, 5], "val": [0, 3]}
    assert store.schema["kind"].classes == ("cat", "dog") and store.schema["kind"].mark == "target"
    assert store.schema["x2"].type == "i16" and store.schema["x2"].mark == "name"


def test_what_is_lost_is_told_of(table: Any, tmp_path: Path) -> None:
    with pytest.warns(
        apldata.IngestWarning, match="column split names the splits of records, and there is none"
    ):
        apldata.convert(table.drop_columns(["split"]), tmp_path / "a")
    numbers = table.drop_columns(["label"]).append_column("kind", table["label"])
    with pytest.warns(
        apldata.IngestWarning, match=r"classes of label, .* no such column: if kind has these, name"
    ):
        apldata.convert(numbers, tmp_path / "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apldata.convert(table, tmp_path / "c")
        apldata.convert(table.drop_columns(["label"]), tmp_path / "d")
        apldata.convert(table.rename_columns(["x2", "kind", "part"]), tmp_path / "e")
