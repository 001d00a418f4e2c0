"""apldata.convert() of lists of lists and of structs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata

POLYGONS: list[Any] = [[[[1, 2], [3, 4]]], [[]], []]


def test_lists_of_lists_of_nothing(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    store = made(pa.table({"at": POLYGONS}), tmp_path / "a")
    assert types_of(store) == {"at": "i64[-1,-1,-1]"}
    assert [record["at"].shape for record in store] == [(1, 2, 2), (1, 0, 0), (0, 0, 0)]
    pairs = pa.array(POLYGONS, pa.list_(pa.list_(pa.list_(pa.int16(), 2))))
    store = made(pa.table({"at": pairs}), tmp_path / "b")
    assert [record["at"].shape for record in store] == [(1, 2, 2), (1, 0, 2), (0, 0, 2)]
    assert store[0]["at"].tolist() == POLYGONS[0]
    with pytest.raises(apldata.InvalidError, match=r"row 0: field at must be .* lists of equal lengths"):
        made(pa.table({"at": [[[[1, 2]], []]]}), tmp_path / "c")
    fixed = pa.array([[[1], [2]], [[1, 2], [3, 4]]], pa.list_(pa.list_(pa.int8()), 2))
    store = made(pa.table({"at": fixed}), tmp_path / "d")
    assert types_of(store) == {"at": "i8[2,-1]"} and store[1]["at"].tolist() == [[1, 2], [3, 4]]


def test_empty_values_of_exported_stores(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    fields = {"a": ("i32", (2, -1, 3)), "b": ("f32", (-1, 17, 3)), "c": ("u8", (-1, -1, 2))}
    with apldata.Writer(tmp_path / "s", fields) as writer:
        for n in (0, 2, 0):
            writer.append(a=np.ones((2, n, 3)), b=np.ones((n, 17, 3)), c=np.ones((3, n, 2)))
    apldata.export(tmp_path / "s", tmp_path / "s.parquet")
    again = made(tmp_path / "s.parquet", tmp_path / "again")
    assert again.content_digest == apldata.Store(tmp_path / "s").content_digest
    assert [again[row]["c"].shape for row in (0, 1)] == [(3, 0, 2), (3, 2, 2)]


def test_no_values_are_made_up_for_lists_of_nothing(tmp_path: Path) -> None:
    rows = [{"a": np.ones((2, 2))}] * 300
    with pytest.raises(apldata.InvalidError, match=r"row 300: field a: a value of shape \(0,\), where"):
        made([*rows, {"a": []}], tmp_path / "a")
    store = made([*rows, {"a": []}], tmp_path / "b", types={"a": ("f64", (-1, 2))})
    assert store[300]["a"].shape == (0, 2)


CHATS: list[Any] = [[{"role": "user", "content": "hi"}, {"role": "bot", "content": "ho"}], []]


def test_structs_are_text_of_json_where_that_is_asked_for(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"messages": CHATS, "more": [{"id": 1, "of": {"x": 0.5}}] * 2, "n": [1, 2]})
    store = made(table, tmp_path / "a", types={"messages": "json", "more.of": "json"})
    assert types_of(store) == {"messages": "utf8[-1]", "more.id": "i64", "more.of": "utf8[-1]", "n": "i64"}
    assert [json.loads(record["messages"]) for record in store] == CHATS
    assert json.loads(store[1]["more.of"]) == {"x": 0.5}
    renamed = made(table, tmp_path / "b", fields={"messages": "chat"}, types={"chat": "json"})
    assert types_of(renamed) == {"chat": "utf8[-1]"} and json.loads(renamed[0]["chat"]) == CHATS[0]
    rows = made(table.to_pylist(), tmp_path / "c", types={"messages": "json", "more.of": "json"})
    assert rows.content_digest == store.content_digest


def test_chats_of_hugging_face(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_list([{"messages": chat} for chat in CHATS])
    store = made(dataset, tmp_path / "a", types={"messages": "json"})
    assert [json.loads(record["messages"]) for record in store] == CHATS


def test_dicts_of_other_keys_are_json(tmp_path: Path) -> None:
    rows: list[Any] = [{"a": {"b": 1}}, {"a": {"c": np.datetime64("2020-01-01")}}, {"a": {}}]
    for number, source in enumerate((rows, (row for row in rows))):
        store = made(source, tmp_path / str(number), types={"a": "json"})
        assert [json.loads(record["a"]) for record in store] == [{"b": 1}, {"c": "2020-01-01"}, {}]
    with pytest.raises(apldata.InvalidError, match=r"row 1: lacks a\.b; has a\.c too"):
        made(rows, tmp_path / "c")
