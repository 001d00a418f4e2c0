"""apldata.convert() of data frames of pandas: the types of their columns, and what is missing."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def arrow(values: list[Any], type: Any) -> Any:
    return pd.Series(values, dtype=pd.ArrowDtype(type))


ZONED = pd.Timestamp("2020-01-01", tz="UTC")


@pytest.mark.parametrize(
    ("column", "type", "values"),
    [
        (arrow([ZONED, None], pa.timestamp("us", "UTC")), "i64", [1577836800000000]),
        (arrow([dt.date(2020, 1, 1), None], pa.date32()), "i32", [18262]),
        (arrow([dt.time(1, 2, 3), None], pa.time64("us")), "i64", [3723000000]),
        (arrow([dt.timedelta(seconds=1), None], pa.duration("ns")), "i64", [1000000000]),
        (arrow([[1, 2], [3]], pa.list_(pa.int16())), "i16[-1]", [[1, 2], [3]]),
        (arrow([2**64 - 1, None], pa.uint64()), "u64", [2**64 - 1]),
        (pd.Series([2**64 - 1, None, 1], dtype="UInt64"), "u64", [2**64 - 1, 1]),
        (pd.Series([3, None], dtype="Int16"), "i16", [3]),
        (pd.Series([1.5, None], dtype="Float32"), "f32", [1.5]),
        (pd.Series([True, None, False], dtype="boolean"), "bool", [True, False]),
        (pd.arrays.SparseArray([0.5, float("inf")]), "f64", [0.5, float("inf")]),
    ],
)
def test_types_are_those_of_the_columns(column: Any, type: str, values: list[Any], tmp_path: Path) -> None:
    store = made(pd.DataFrame({"a": column, "b": 1}), tmp_path / "a", missing="skip")
    assert types_of(store) == {"a": type, "b": "i64"}
    assert [np.asarray(record["a"]).tolist() for record in store] == values


def test_what_is_missing_is_not_nan(tmp_path: Path) -> None:
    column = pd.arrays.FloatingArray(np.array([1, np.nan, 3.0]), np.array([False, False, True]))
    store = made(pd.DataFrame({"a": column}), tmp_path / "a", missing={"a": -1})
    np.testing.assert_array_equal(store.to_numpy()["a"], [1, np.nan, -1])
    big = pd.DataFrame({"a": pd.Series([2**64 - 1, None], dtype="UInt64")})
    assert made(big, tmp_path / "b", missing={"a": 0}).to_numpy()["a"].tolist() == [2**64 - 1, 0]


def test_structs_become_columns(tmp_path: Path) -> None:
    column = arrow(
        [{"x": 1, "y": "p"}, {"x": 2, "y": "q"}], pa.struct([("x", pa.int8()), ("y", pa.string())])
    )
    frame = pd.DataFrame({"b": [5, 6], "a": column}).iloc[::-1]
    store = made(frame, tmp_path / "a")
    assert list(types_of(store).items()) == [("b", "i64"), ("a.x", "i8"), ("a.y", "utf8[-1]")]
    assert store[0] == {"b": 6, "a.x": 2, "a.y": "q"}


def test_json_keeps_zones(tmp_path: Path) -> None:
    times = pd.to_datetime(["2020-07-01 12:00", "1960-01-01 00:00"]).tz_localize("US/Eastern")
    wanted = ["2020-07-01T16:00:00.000000+00:00", "1960-01-01T05:00:00.000000+00:00"]
    frame = pd.DataFrame({"a": times.as_unit("us")})
    for number, source in enumerate((frame, pa.Table.from_pandas(frame))):
        store = made(source, tmp_path / str(number), types={"a": "json"})
        assert [record["a"].strip('"') for record in store] == wanted
    nested = [{"a": {"at": times[0].to_pydatetime()}}]
    store = made(nested, tmp_path / "nested", types={"a": "json"})
    assert store[0]["a"] == '{"at": "2020-07-01T12:00:00-04:00"}'


def test_numbers_beyond_those_with_a_sign(tmp_path: Path) -> None:
    """Beside others, NumPy makes floats of them."""
    with apldata.Writer(tmp_path / "a", [apldata.Field("x", "u64"), apldata.Field("y", "u64", (2,))]) as w:
        w.begin("train")
        w.extend(x=[2**64 - 1, 0], y=[[2**63, 1], [0, 2**64 - 1]])
        with pytest.raises(apldata.InvalidError, match="beside floats"):
            w.append(x=1, y=[2**64 - 1, 0.5])
    store = apldata.Store(tmp_path / "a")
    assert store.to_numpy()["x"].tolist() == [2**64 - 1, 0]
    assert store.to_numpy()["y"].tolist() == [[2**63, 1], [0, 2**64 - 1]]
