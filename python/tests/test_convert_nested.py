"""apldata.convert() of lists of lists and of structs."""

from __future__ import annotations

import importlib.util
import json
import re
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
    paths = made([{"a": {"of": [Path("x/y.jpg")]}}], tmp_path / "paths", types={"a": "json"})
    assert json.loads(paths[0]["a"]) == {"of": ["x/y.jpg"]}
    with pytest.raises(apldata.InvalidError, match=r"row 1: lacks a\.b; has a\.c too"):
        made(rows, tmp_path / "c")


UNEVEN: list[Any] = [[[0.0, 0.5, 4.0, 0.5, 4.0, 4.0], [1.0, 1.0, 2.0, 1.0]], [[5.0, 6.0]], []]
EVEN: list[Any] = [[1.0, 2.0], [3.0, 4.0]]
FIRST = (
    r"column at: its first (row holds|4 rows hold) lists of lists of different lengths, in row {}, which no"
)
ADVICE = r"types=\{'at': 'json'\} keeps such lists as text, or flatten them, with their lengths in a field"


def sources(rows: list[Any]) -> dict[str, Any]:
    """The same column, as each library has it."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"at": rows})
    found = {"rows": [{"at": row} for row in rows], "arrow": table, "columns": {"at": rows}}
    found["arrays"] = [{"at": [np.array(one) for one in row]} for row in rows]
    if importlib.util.find_spec("pandas"):
        found["pandas"] = table.to_pandas()
    return found


@pytest.mark.parametrize("before", [0, 3, 300])
def test_lists_of_different_lengths_are_refused_with_advice(tmp_path: Path, before: int) -> None:
    for kind, source in sources([EVEN] * before + UNEVEN[:1]).items():
        with pytest.raises(apldata.InvalidError, match=ADVICE) as caught:
            made(source, tmp_path / "s")
        later = f"row {before}: field at must be an array of f64"
        assert re.search(f"{FIRST.format(before)}|{later}", str(caught.value)), kind


def test_lists_of_different_depths_of_arrow_are_refused_with_advice(tmp_path: Path) -> None:
    """COCO's polygons of several objects, of which some are alike: they ended with a bare ValueError."""
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(apldata.InvalidError, match=rf"row 0: field at must be .*{ADVICE}"):
        made(pa.table({"at": [[EVEN, UNEVEN[0]]]}), tmp_path / "s")


def test_the_advice_about_lists_of_different_lengths_works(tmp_path: Path) -> None:
    for kind, source in sources(UNEVEN).items():
        store = made(source, tmp_path / kind, types={"at": "json"})
        assert [json.loads(record["at"]) for record in store] == UNEVEN, kind
    rows = [
        {"at": [one for flat in each for one in flat], "lengths": [len(one) for one in each]}
        for each in UNEVEN
    ]
    store = made(rows, tmp_path / "flat", types={"at": ("f32", (-1,)), "lengths": ("i64", (-1,))})
    for record, each in zip(store, UNEVEN, strict=True):
        again = np.split(record["at"], np.cumsum(record["lengths"]))[:-1]
        assert [one.tolist() for one in again] == each


def test_lists_of_lists_of_pandas_are_arrays(tmp_path: Path) -> None:
    """It has them as arrays of arrays."""
    pytest.importorskip("pandas")
    store = made(sources([EVEN, EVEN * 2])["pandas"], tmp_path / "s")
    assert types_of(store) == {"at": "f64[-1,2]"} and store[1]["at"].tolist() == EVEN * 2


def test_arrays_within_values_are_json(tmp_path: Path) -> None:
    """Long ones too, of which text would leave out the middle."""
    times = np.array(["2020-01-01"], "M8[D]")
    store = made(
        [{"a": {"b": np.arange(2000), "c": [np.float32(0.5)], "d": times}}],
        tmp_path / "s",
        types={"a": "json"},
    )
    assert json.loads(store[0]["a"]) == {"b": [*range(2000)], "c": [0.5], "d": ["2020-01-01"]}


@pytest.mark.parametrize("kind", ["list_view", "large_list_view"])
def test_views_of_lists_have_the_values_of_lists(tmp_path: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    view = getattr(pa, kind)
    rows: list[Any] = [[1], [2, 3], [], [4, 5, 6]]
    structs = [[{"q": 1}, {"q": 2}], [], [{"q": 3}], []]
    table = pa.table(
        {
            "a": pa.array(rows, view(pa.int64())),
            "b": pa.array([[one] for one in rows], pa.list_(view(pa.int64()))),
            "s": pa.array(structs, view(pa.struct([("q", pa.int64())]))),
        }
    )
    store = made(table, tmp_path / "a")
    assert [record["a"].tolist() for record in store] == rows
    assert [record["b"].tolist() for record in store] == [[one] for one in rows]
    assert [record["s.q"].tolist() for record in store] == [[1, 2], [], [3], []]
    assert [record["a"].tolist() for record in made(table.slice(1, 3), tmp_path / "b")] == rows[1:]
    holes = pa.table({"a": pa.array([[1], None, [2, 3]], view(pa.float32()))})
    store = made(holes, tmp_path / "c", missing="skip")
    assert [record["a"].tolist() for record in store] == [[1], [2, 3]]
    turned = getattr(pa, "ListViewArray" if kind == "list_view" else "LargeListViewArray").from_arrays
    offsets, sizes = ([pa.array(ints, pa.int32() if kind == "list_view" else pa.int64())
                       for ints in ([2, 0, 1], [2, 3, 0])])  # fmt: skip
    store = made(pa.table({"a": turned(offsets, sizes, pa.array([1, 2, 3, 4]))}), tmp_path / "d")
    assert [record["a"].tolist() for record in store] == [[3, 4], [1, 2, 3], []]


def test_json_has_all_elements_of_arrays_within(tmp_path: Path) -> None:
    ids, when = np.arange(2000), np.array(["2020-01-01", "NaT"], "M8[ns]")
    nested = {
        "ids": ids,
        "n": np.int64(5),
        "f": np.float32(0.5),
        "b": np.bool_(True),
        "when": when,
        "at": [ids],
    }
    store = made(
        [{"m": nested}, {"m": np.array([{"ids": ids}], object)}], tmp_path / "a", types={"m": "json"}
    )
    assert json.loads(store[0]["m"]) == {
        "ids": ids.tolist(), "n": 5, "f": 0.5, "b": True, "when": ["2020-01-01T00:00:00.000000000", None],
        "at": [ids.tolist()],
    }  # fmt: skip
    assert json.loads(store[1]["m"]) == [{"ids": ids.tolist()}]
    with pytest.raises(apldata.InvalidError, match=r"row 0, column m: .*'json'.* makes text of arrays"):
        made([{"m": ids}], tmp_path / "b", types={"m": "utf8"})


def test_json_of_chats_that_pandas_has_read(tmp_path: Path) -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    chat = [{"role": "bot", "tool_calls": [{"name": "f", "ids": [0, 1, 2]}]}]
    pq.write_table(pa.table({"m": [chat]}), tmp_path / "c.parquet")
    frame = pd.read_parquet(tmp_path / "c.parquet")
    store = made(frame, tmp_path / "a", types={"m": "json"})
    assert json.loads(store[0]["m"]) == chat
    direct = made(tmp_path / "c.parquet", tmp_path / "b", types={"m": "json"})
    assert direct[0]["m"] == store[0]["m"]


def test_json_of_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    store = made([{"m": {"ids": torch.arange(2000)}}], tmp_path / "a", types={"m": "json"})
    assert json.loads(store[0]["m"]) == {"ids": list(range(2000))}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"\xff", "it has no bytes"),
        ({1}, "it has no set"),
        (float("nan"), "it has no NaN and no infinity"),
        (np.array([np.inf]), "it has no NaN and no infinity"),
        ({(1, 2): 3}, "keys must be str"),
    ],
)
def test_what_json_does_not_have_is_refused(tmp_path: Path, value: Any, why: str) -> None:
    rows = [{"m": {"a": 1}}, {"m": {"a": value}}]
    with pytest.raises(apldata.InvalidError, match=f"row 1, column m: JSON cannot tell .*: {why}"):
        made(rows, tmp_path / "a", types={"m": "json"})
    assert len(made(rows, tmp_path / "b", types={"m": "json"}, missing="skip")) == 1
