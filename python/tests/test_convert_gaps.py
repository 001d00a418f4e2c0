"""apldata.convert() of values that lack something, or that a store has another form for."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata

LISTS: list[Any] = [[1.0, None], [2.0, 3.0], [None, None]]


@pytest.mark.parametrize("kind", ["rows", "later rows", "pandas", "arrow", "bools"])
def test_lists_that_lack_a_value_are_missing(kind: str, tmp_path: Path) -> None:
    source: Any = [{"s": value} for value in LISTS]
    if kind == "later rows":
        source = [{"s": [0.5, 0.5]}] * 2000 + source
    if kind == "pandas":
        source = pytest.importorskip("pandas").DataFrame({"s": LISTS})
    if kind in ("arrow", "bools"):
        lists = [[value and (value == 2 if kind == "bools" else value) for value in one] for one in LISTS]
        source = pytest.importorskip("pyarrow").table({"s": lists})
    store = made(source, tmp_path / "a", missing="skip")
    assert len(store) == (2001 if kind == "later rows" else 1)
    assert store[len(store) - 1]["s"].tolist() == ([True, False] if kind == "bools" else [2.0, 3.0])
    with pytest.raises(apldata.InvalidError, match=r"row [02],?.*column s: a missing value"):
        made(source, tmp_path / "b")
    filled = made(source, tmp_path / "c", missing={"s": [1, 1]})
    assert filled[len(filled) - 1]["s"].tolist() == [1, 1]


@pytest.mark.parametrize("columns", [False, True], ids=["frame", "dict of columns"])
def test_nan_of_a_frame_is_missing_where_that_is_dealt_with(columns: bool, tmp_path: Path) -> None:
    """As pandas has it; by itself it stays NaN."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [22.0, np.nan, 30.0], "fare": [1.5, 2.5, np.nan]})
    source = dict(frame) if columns else frame
    assert np.isnan(made(source, tmp_path / "a").to_numpy()["age"]).tolist() == [False, True, False]
    assert made(source, tmp_path / "b", missing="skip").to_numpy()["age"].tolist() == [22]
    filled = made(source, tmp_path / "c", missing={"age": -1}).to_numpy()
    assert filled["age"].tolist() == [22, -1, 30] and np.isnan(filled["fare"][2])


def test_json_keeps_what_lists_lack(tmp_path: Path) -> None:
    store = made([{"s": value} for value in LISTS], tmp_path / "a", types={"s": "json"})
    assert [record["s"] for record in store] == ["[1.0, null]", "[2.0, 3.0]", "[null, null]"]


def test_missing_names_fields(tmp_path: Path) -> None:
    with pytest.raises(apldata.InvalidError, match="missing: there is no field 'y': there are x"):
        made([{"x": 1}, {"x": None}], tmp_path / "a", missing={"y": 0})
    store = made([{"x": 1}, {"x": None}], tmp_path / "b", fields={"x": "y"}, missing={"y": 0})
    assert store.to_numpy()["y"].tolist() == [1, 0]


def test_times_of_day(tmp_path: Path) -> None:
    store = made([{"at": dt.time(1, 2, 3, 4)}, {"at": dt.time(0)}], tmp_path / "a")
    assert types_of(store) == {"at": "i64"}
    assert store.to_numpy()["at"].tolist() == [3723000004, 0]
    first: list[Any] = [{"at": dt.time(1)}] * 3000
    for number, later in enumerate((dt.timedelta(1), dt.time(1, tzinfo=dt.UTC), 5)):
        with pytest.raises(apldata.InvalidError, match=r"row 3,000.*(microseconds since midnight|no zone)"):
            made([*first, {"at": later}], tmp_path / f"b{number}")
    with pytest.raises(apldata.InvalidError, match="i64 cannot hold"):
        made([{"at": dt.timedelta(999999999)}], tmp_path / "c")


def test_tensors_of_bfloat16_are_floats(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    rows = [{"x": torch.tensor([1.5, -2.0], dtype=torch.bfloat16)}]
    for name, types in (("a", None), ("b", {"x": ("f32", (2,))})):
        store = made(rows, tmp_path / name, types=types)
        assert types_of(store) == {"x": "f32[2]"}
        assert store[0]["x"].tolist() == [1.5, -2.0]


def test_fields_name_structs(tmp_path: Path) -> None:
    rows: list[Any] = [{"s": {"a": 1, "b": {"c": 2}}, "x": 3, "y": 4}]
    sources = [rows]
    if pa := pytest.importorskip("pyarrow"):
        sources.append(pa.Table.from_pylist(rows))
    for number, source in enumerate(sources):
        store = made(source, tmp_path / f"a{number}", fields=["x", "s"])
        assert list(types_of(store)) == ["x", "s.a", "s.b.c"]
        store = made(source, tmp_path / f"b{number}", fields={"s.b": "t", "x": "z"})
        assert list(types_of(store)) == ["t.c", "z"]
        with pytest.raises(apldata.InvalidError, match=r"there is no column 's\.d'"):
            made(source, tmp_path / "c", fields=["s.d"])


def test_tensors_of_arrow_in_another_order(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    kind = pa.fixed_shape_tensor(pa.int16(), [2, 3], permutation=[1, 0])
    for name, rows in (("a", [list(range(6))] * 2), ("b", [list(range(6)), None])):
        storage = pa.array(rows, pa.list_(pa.int16(), 6))
        table = pa.table({"a": pa.ExtensionArray.from_storage(kind, storage)})
        store = made(table, tmp_path / name, missing="skip")
        assert types_of(store) == {"a": "i16[3,2]"}
        np.testing.assert_array_equal(store[0]["a"], np.arange(6).reshape(2, 3).T)


def test_dictionaries_of_streams_are_told_of(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})
    with pytest.warns(apldata.IngestWarning, match="column a: stored as text, as a stream does not tell all"):
        apldata.convert(table.to_reader(), tmp_path / "a")
    store = made(table.to_reader(), tmp_path / "b", classes={"a": ["y", "x"]})
    assert store.schema["a"].classes == ("y", "x") and store.to_numpy()["a"].tolist() == [1, 0]


def test_images_of_hugging_face(tmp_path: Path) -> None:
    datasets, image = pytest.importorskip("datasets"), pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (4, 4), (100, 2, 3)).save(file, "PNG")
    features = datasets.Features({"image": datasets.Image(mode="L")})
    grey = datasets.Dataset.from_dict(
        {"image": [{"bytes": file.getvalue(), "path": None}]}, features=features
    )
    with pytest.warns(apldata.IngestWarning, match="column image: .* the feature's mode, 'L', is left aside"):
        apldata.convert(grey, tmp_path / "a")
    plain = datasets.Features({"image": datasets.Image()})
    streamed = grey.cast(plain).to_iterable_dataset().map(lambda row: row)
    assert types_of(made(streamed, tmp_path / "b")) == {"image": "u8[3,4,4]"}


def test_notes_name_units_and_conversions(tmp_path: Path) -> None:
    def notes(source: Any) -> list[str]:
        with pytest.warns(apldata.IngestWarning) as told:
            apldata.convert(source, tmp_path / "a", threads=1, replace=True)
        return [str(one.message).removeprefix("list: ") for one in told]

    assert notes([np.timedelta64(5)]) == ["column value: stored as durations without a unit (i64)"]
    assert notes([np.datetime64(5, "as")]) == ["column value: stored as attoseconds since 1970-01-01 (i64)"]
    image = pytest.importorskip("PIL.Image").new("RGB", (4, 3))
    plain, stored = "column image: images come without their files: their pixels are stored", ", without loss"
    assert notes([image]) == [plain + stored]
    assert notes([image.convert("CMYK")]) == [plain, "images in CMYK, which Pillow has made RGB: 1"]


@pytest.mark.parametrize("first", [False, True], ids=["later", "first"])
def test_a_struct_that_is_missing_lacks_all_its_members(first: bool, tmp_path: Path) -> None:
    rows: list[Any] = [{"st": {"a": 1, "in": {"b": "x"}}, "u": None}, {"st": {"a": 2, "in": None}, "u": None},
                       {"st": None, "u": {"v": 3}}]  # fmt: skip
    rows = rows[::-1] if first else rows
    fill = {"st.a": -1, "st.in.b": "none", "u.v": 0}
    store = made(rows, tmp_path / "a", missing=fill)
    assert types_of(store) == {"st.a": "i64", "st.in.b": "utf8[-1]", "u.v": "i64"}
    wanted = [(1, "x", 0), (2, "none", 0), (-1, "none", 3)]
    assert [tuple(record.values()) for record in store] == (wanted[::-1] if first else wanted)
    row = 0 if first else 1
    with pytest.raises(apldata.InvalidError, match=rf"row {row}, column st.*: a missing value"):
        made([{"st": one["st"]} for one in rows], tmp_path / "b")


def test_a_struct_that_is_missing_in_later_rows(tmp_path: Path) -> None:
    rows: list[Any] = [{"st": {"a": n}, "k": n} for n in range(3000)] + [{"k": 3000, "st": None}]
    assert len(made(rows, tmp_path / "a", missing="skip")) == 3000
    assert len(made(rows, tmp_path / "b", types={"st": "json"}, missing="skip")) == 3000
    for wrong in ({"k": 1}, {"k": 1, "st": 2}, {"k": 1, "st": {}}, {"k": 1, "st": None, "st.a": 3}):
        with pytest.raises(apldata.Error, match=r"row 3,001: (lacks st.a|has st too)"):
            made([*rows, wrong], tmp_path / "c", missing="skip")
    with pytest.raises(apldata.Error, match=r"row 1: lacks st; has st.a too"):
        made([{"st": 5}, {"st": {"a": 1}}], tmp_path / "d")


def test_a_struct_that_all_rows_of_a_split_lack(tmp_path: Path) -> None:
    rows: list[Any] = [{"st": {"a": 1}, "k": 0}]
    none: list[Any] = [{"st": None, "k": n} for n in range(2000)]
    for number, fields in enumerate((None, ["st", "k"], ["st.a", "k"])):
        splits = {"train": rows, "test": [*none, {"st": {"a": 2}, "k": 1}]}
        store = made(splits, tmp_path / f"{number}", missing={"st.a": -1}, fields=fields)
        assert store.to_numpy("test")["st.a"].tolist() == [-1] * 2000 + [2]
    with pytest.raises(apldata.InvalidError, match="column st: train has none of that name"):
        made({"train": rows, "test": [*none, {"st": 5, "k": 1}]}, tmp_path / "a", missing="skip")
