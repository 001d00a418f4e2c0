"""apldata.convert(): which columns sources have, and which fields these become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata


def of_kind(kind: str, rows: list[dict[str, Any]]) -> Any:
    """A source with these rows."""
    if kind in ("rows", "generator"):
        return rows if kind == "rows" else (row for row in rows)
    if kind == "arrays":
        return {name: [row[name] for row in rows] for name in rows[0]}
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(rows)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(rows)
    if kind == "arrow":
        return pytest.importorskip("pyarrow").Table.from_pylist(rows)
    dataset = pytest.importorskip("datasets").Dataset.from_list(rows)
    return dataset if kind == "dataset" else dataset.to_iterable_dataset()


@pytest.mark.parametrize(
    "kind", ["rows", "generator", "arrays", "pandas", "polars", "arrow", "dataset", "iterable dataset"]
)
def test_columns_that_only_later_splits_have(tmp_path: Path, kind: str) -> None:
    def both() -> dict[str, Any]:
        return {"bare": of_kind(kind, [{"x": 1}]), "full": of_kind(kind, [{"x": 2, "label": "a"}])}

    told = r": full, column label: bare has none of that name, .*: fields=\['x'\] leaves it out$"
    with pytest.raises(apldata.InvalidError, match=told):
        made(both(), tmp_path / "a")
    store = made(both(), tmp_path / "b", fields=["x"])
    assert types_of(store) == {"x": "i64"} and len(store) == 2
    turned = {"train": of_kind(kind, [{"x": 1, "y": 3}]), "val": of_kind(kind, [{"y": 4, "x": 2}])}
    assert made(turned, tmp_path / "c").to_numpy("val")["y"].tolist() == [4]


def test_columns_that_only_later_files_have(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"s": [{"x": 1}]}), tmp_path / "train.parquet")
    pq.write_table(pa.table({"s": [{"x": 1, "y": 2}]}), tmp_path / "test.parquet")
    files = [tmp_path / "train.parquet", tmp_path / "test.parquet"]
    with pytest.raises(apldata.InvalidError, match=r"test, column s\.y: train has none of that name"):
        made(files, tmp_path / "a")
    assert types_of(made(files, tmp_path / "b", fields=["s.x"])) == {"s.x": "i64"}


def test_indexes_of_pandas_that_only_later_files_have(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": range(6)})
    frame.to_parquet(tmp_path / "train.parquet")
    frame[frame.x % 2 == 0].to_parquet(tmp_path / "test.parquet")  # with the numbers of its rows
    store = made([tmp_path / "train.parquet", tmp_path / "test.parquet"], tmp_path / "a")
    assert types_of(store) == {"x": "i64"} and store.to_numpy("test")["x"].tolist() == [0, 2, 4]


def test_indexes_of_pandas_without_names_are_left_out(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"x": range(6)}).iloc[[5, 1, 3]]
    frame.to_parquet(tmp_path / "train-1.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "train-2.parquet")
    files = [tmp_path / "train-1.parquet", tmp_path / "train-2.parquet"]
    for number, source in enumerate((frame, files[0], files, files[::-1], pa.Table.from_pandas(frame))):
        assert types_of(made(source, tmp_path / str(number))) == {"x": "i64"}
    store = made(files[0], tmp_path / "asked", fields={"__index_level_0__": "row", "x": "x"})
    assert store.to_numpy()["row"].tolist() == [5, 1, 3]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for number, row in enumerate(({"a.b": 1, "a": {"b": 2}}, {"a": {"b": 2}, "a.b": 1})):
        for source in (pa.Table.from_pylist([row]), [row]):
            with pytest.raises(apldata.Error, match=r"two columns are called 'a\.b', such as"):
                made(source, tmp_path / "a")
        store = made(pa.Table.from_pylist([row | {"x": 3}]), tmp_path / f"{number}", fields=["x"])
        assert types_of(store) == {"x": "i64"}
    whole = made([{"a.b": 1, "a": {"b": 2}}], tmp_path / "b", types={"a": "json"})
    assert types_of(whole) == {"a.b": "i64", "a": "utf8[-1]"}
    with pytest.raises(apldata.SourceError, match=r"row 0: two columns are called '1'"):
        made([{1: 5, "1": 6}], tmp_path / "c")


def test_splits_that_hugging_face_names(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    named = {datasets.Split.TEST: [{"x": 2}], datasets.Split.TRAIN: [{"x": 1}]}
    assert list(made(named, tmp_path / "a").splits) == ["train", "test"]
    assert list(made(named, tmp_path / "b", split=datasets.Split.TEST).splits) == ["test"]
    both = [datasets.Split.TEST, "train"]
    assert list(made(named, tmp_path / "c", split=both).splits) == ["test", "train"]


def test_columns_alone_have_no_name(tmp_path: Path) -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for column, kind in (
        (pa.array([1]), "Int64Array"),
        (pa.chunked_array([[1]]), "ChunkedArray"),
        (pl.Series("x", [1]), "Series"),
    ):
        for source in (column, {"train": column}):
            with pytest.raises(apldata.InvalidError, match=f"source: a {kind} is one column: give a table"):
                made(source, tmp_path / "a")
    assert types_of(made(pa.chunked_array([[{"x": 1}]]), tmp_path / "b")) == {"x": "i64"}
    assert types_of(made(pl.Series("s", [{"x": 1}]), tmp_path / "c")) == {"x": "i64"}


def test_objects_of_polars_are_refused(tmp_path: Path) -> None:
    """Arrow would get their addresses."""
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = pl.DataFrame({"v": pl.Series([{1}, {2}], dtype=pl.Object), "x": [1, 2]})
    for source in (frame, {"train": frame}):
        with pytest.raises(apldata.InvalidError, match=r"column v: Python's objects.*frame\.to_dicts\(\)"):
            made(source, tmp_path / "a")
    assert types_of(made(frame, tmp_path / "b", fields=["x"])) == {"x": "i64"}


def test_dicts_of_columns_are_tables(tmp_path: Path) -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for number, columns in enumerate(
        (
            {"x": pl.Series([1, 2]), "c": pl.Series(["a", "b"], dtype=pl.Categorical)},
            {"x": pa.array([1, 2]), "c": pa.array(["a", "b"]).dictionary_encode()},
        )
    ):
        for source in (columns, {"train": columns, "test": columns}):
            store = made(source, tmp_path / f"{number}-{len(source.get('test', ()))}")
            assert types_of(store) == {"x": "i64", "c": "u8"}
            assert store[1]["x"] == 2
            assert store.schema["c"].classes == ("a", "b")
    with pytest.raises(apldata.InvalidError, match=r"source: polars\.DataFrame makes no table of its col"):
        made({"x": pl.Series([1, 2]), "y": pl.Series([1])}, tmp_path / "uneven")


def test_types_that_first_rows_do_not_tell(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    streamed = datasets.IterableDataset.from_generator(lambda: ({"z": [n] * n} for n in range(300)))
    with pytest.raises(apldata.SourceError, match=r"later rows have columns or types that its first do not"):
        made(streamed, tmp_path / "a")
    assert made(({"z": [n] * n} for n in range(3)), tmp_path / "b")[2]["z"].tolist() == [2, 2]


def test_fields_that_are_called_like_indexes(tmp_path: Path) -> None:
    """Of an exported store, they are none of pandas' indexes."""
    pq = pytest.importorskip("pyarrow.parquet")
    with apldata.Writer(tmp_path / "a", {"__index_level_0__": "i64", "x": "i64"}) as writer:
        writer.append({"__index_level_0__": 4, "x": 1})
    apldata.export(tmp_path / "a", tmp_path / "a.parquet")
    digest = apldata.Store(tmp_path / "a").content_digest
    for number, source in enumerate((tmp_path / "a.parquet", pq.read_table(tmp_path / "a.parquet"))):
        assert made(source, tmp_path / str(number)).content_digest == digest


def test_dictionaries_within_structs_in_several_row_groups(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    words = pa.array(["a", "b", "c"] * 100).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array(range(301), pa.int32()), words)
    table = pa.table({"s": pa.StructArray.from_arrays([words, lists], names=["d", "l"]), "x": range(300)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=50)
    store = made(tmp_path / "a.parquet", tmp_path / "a", types={"s.l": "json"})
    assert types_of(store) == {"s.d": "u8", "s.l": "utf8[-1]", "x": "i64"}
    assert store.schema["s.d"].classes == ("a", "b", "c")
    assert store[299] == {"s.d": 2, "s.l": '["c"]', "x": 299}
