"""apldata.convert() of files and splits whose columns have types that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

STRUCT = pa.struct([("u", pa.int32()), ("v", pa.string())])
FILES = pa.struct([("bytes", pa.binary()), ("path", pa.null())])
NAMED = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def folder(root: Path, *columns: Any, splits: bool) -> Path:
    """A file of each column, all of one split, or each of another."""
    root.mkdir()
    for number, column in enumerate(columns):
        name = ("train", "val", "test")[number] if splits else f"train-{number}"
        pq.write_table(pa.table({"a": column}), root / f"{name}.parquet")
    return root


def stored(store: apldata.Store) -> list[Any]:
    return [getattr(record["a"], "tolist", lambda r=record: r["a"])() for record in store]


@pytest.mark.parametrize("splits", [False, True], ids=["files", "splits"])
@pytest.mark.parametrize(
    ("one", "other", "type", "values"),
    [
        (pa.array([1], pa.int32()), pa.array([2**40]), "i64", [1, 2**40]),
        (pa.array([2**40]), pa.array([1], pa.int32()), "i64", [2**40, 1]),
        (pa.array([200], pa.uint8()), pa.array([-1], pa.int8()), "i16", [200, -1]),
        (pa.array([[1]], pa.list_(pa.int32())), pa.array([[2, 2**40]]), "i64[-1]", [[1], [2, 2**40]]),
        (pa.array([[]]), pa.array([[1, 2]]), "i64[-1]", [[], [1, 2]]),
        (pa.array(["a"]), pa.array(["b"], pa.large_string()), "utf8[-1]", ["a", "b"]),
        (
            pa.array([{"bytes": b"x1", "path": None}], FILES),
            pa.array([{"bytes": b"y", "path": "y"}], NAMED),
            "u8[-1]",
            [[120, 49], [121]],
        ),
        (pa.array([1], pa.timestamp("ms")), pa.array([2000], pa.timestamp("us")), "i64", [1, 2]),
    ],
    ids=["i32", "i64", "signs", "lists", "empty lists", "text", "files", "times"],
)
def test_what_one_type_holds(
    one: Any, other: Any, type: str, values: list[Any], splits: bool, tmp_path: Path
) -> None:
    """Files of one split were refused; of splits, values that the type of the first does not hold."""
    store = made(folder(tmp_path / "in", one, other, splits=splits), tmp_path / "a")
    assert types_of(store)["a"] == type and stored(store) == values


@pytest.mark.parametrize("splits", [False, True], ids=["files", "splits"])
def test_columns_without_values_have_the_type_of_the_others(splits: bool, tmp_path: Path) -> None:
    columns = (pa.nulls(2), pa.array([1, None], pa.int32()), pa.array([2**40]))
    root = folder(tmp_path / "in", *columns, splits=splits)
    store = made(root, tmp_path / "a", missing={"a": -1})
    assert types_of(store) == {"a": "i64"} and stored(store) == [-1, -1, 1, -1, 2**40]
    assert stored(made(root, tmp_path / "b", missing="skip")) == [1, 2**40]
    with pytest.raises(apldata.InvalidError, match="train, row 0, column a: a missing value"):
        made(root, tmp_path / "c")


def test_members_of_structs(tmp_path: Path) -> None:
    wide = pa.struct([("u", pa.int64()), ("v", pa.string())])
    rows = (pa.array([{"u": 1, "v": "a"}], STRUCT), pa.array([{"u": 2**40, "v": "b"}], wide))
    root = folder(tmp_path / "in", *rows, splits=False)
    assert [record["a.u"] for record in made(root, tmp_path / "a")] == [1, 2**40]
    pq.write_table(pa.table({"a": pa.array([{"u": 1}])}), root / "train-9.parquet")
    with pytest.raises(apldata.SourceError, match=r"train-9\.parquet: has no column a\.v, as the first file"):
        made(root, tmp_path / "b")
    kept = made(root, tmp_path / "c", types={"a": "json"})
    assert stored(kept) == ['{"u": 1, "v": "a"}', '{"u": 1099511627776, "v": "b"}', '{"u": 1}']


@pytest.mark.parametrize(
    ("one", "other", "asked", "values"),
    [
        (pa.array([0.5], pa.float32()), pa.array([0.1]), "f64", [0.5, 0.1]),
        (pa.array([1]), pa.array([0.5]), "f64", [1, 0.5]),
        (pa.array([1]), pa.array([2], pa.uint64()), "i64", [1, 2]),
        (pa.array([True]), pa.array([2], pa.int32()), "i32", [1, 2]),
        (pa.array(["a"]), pa.array([2]), "utf8", ["a", "2"]),
        (pa.array([[1]]), pa.array([2]), "json", ["[1]", "2"]),
        (pa.array([b"a"]), pa.array(["b"]), None, []),
    ],
)
def test_other_types_are_refused_with_what_to_ask_for(
    one: Any, other: Any, asked: str | None, values: list[Any], tmp_path: Path
) -> None:
    root = folder(tmp_path / "in", one, other, splits=False)
    why = rf"in/train-1\.parquet: column a is {other.type}, and .+ in the first file: "
    helps = rf"types=\{{'a': '{asked}'\}} makes \w+ of both, " if asked else ""
    with pytest.raises(
        apldata.SourceError, match=why + helps + r"fields=\[\.\.\.\] without it leaves it out$"
    ):
        made(root, tmp_path / "a")
    if asked:
        assert stored(made(root, tmp_path / "b", types={"a": asked})) == values


def test_tables_in_memory(tmp_path: Path) -> None:
    narrow, wide = (pa.table({"a": pa.array([1], type)}) for type in (pa.int32(), pa.int64()))
    store = made({"train": narrow, "test": wide}, tmp_path / "a")
    assert types_of(store) == {"a": "i64"}
    with pytest.raises(apldata.InvalidError, match=r"no column 'b': fields=\[\.\.\.\] without it leaves"):
        made({"train": narrow.append_column("b", [[1]]), "test": wide}, tmp_path / "b")
