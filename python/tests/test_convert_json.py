"""apldata.convert(types={...: "json"}): times to the last digit, and no key that is lost."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata


def texts(source: Any, db: Path) -> list[str]:
    return [record["a"] for record in made(source, db, types={"a": "json"})]


def test_times_of_day_keep_nanoseconds(tmp_path: Path) -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    fine = pa.array([123456789, 1000, 0, None], pa.time64("ns"))
    told = ['"00:00:00.123456789"', '"00:00:00.000001"', '"00:00:00"', "null"]
    struct = pa.StructArray.from_arrays([fine, fine.dictionary_encode()], names=["t", "d"])
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), fine)
    nested = pa.array([[("k", 123456789)]], pa.map_(pa.string(), pa.time64("ns")))
    assert texts({"a": struct}, tmp_path / "struct") == [f'{{"t": {one}, "d": {one}}}' for one in told]
    wanted = [f"[{told[0]}, {told[1]}]", f"[{told[2]}, {told[3]}]"]
    assert texts(pa.table({"a": lists}), tmp_path / "lists") == wanted
    assert texts(pl.DataFrame({"a": pl.Series(lists)}), tmp_path / "polars") == wanted
    assert texts(pa.table({"a": nested}), tmp_path / "map") == [f'[["k", {told[0]}]]']
    assert texts(pa.table({"a": fine[:3]}), tmp_path / "alone") == told[:3]
    assert texts(pa.table({"a": pa.array([1], pa.time32("s"))}), tmp_path / "seconds") == ['"00:00:01"']
    assert texts([{"a": [datetime.time(1, 2, 3, 4)]}], tmp_path / "rows") == ['["01:02:03.000004"]']


def test_durations_have_one_notation(tmp_path: Path) -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    long, fine = datetime.timedelta(days=1, microseconds=5), pd.Timedelta(123456789, "ns")
    rows = [{"a": [long, np.timedelta64(5, "s"), fine]}]
    wanted = ['["86400000005 microseconds", "5 seconds", "123456789 nanoseconds"]']
    assert texts(rows, tmp_path / "rows") == wanted
    lists = pa.table({"a": pa.array([[long]], pa.list_(pa.duration("us")))})
    assert texts(lists, tmp_path / "lists") == ['["86400000005 microseconds"]']


def test_keys_that_would_be_one(tmp_path: Path) -> None:
    for value in (
        {1: "a", "1": "b"},
        [{"deep": {True: 1, "true": 2}}],
        {"x": np.array([{None: 1, "null": 2}])},
    ):
        with pytest.raises(
            apldata.InvalidError, match=r"row 0, column a: JSON cannot .*: two of its keys would be"
        ):
            texts([{"a": value}], tmp_path / "a")
    assert texts([{"a": {1: {2: 3}}}], tmp_path / "b") == ['{"1": {"2": 3}}']


def test_members_of_one_name(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    struct = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    for source in ({"a": struct}, {"a": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), struct)}):
        with pytest.raises(apldata.InvalidError, match="column a: a struct has two members called 'x'"):
            texts(pa.table(source), tmp_path / "a")
    store = made(pa.table({"a": struct, "b": [1]}), tmp_path / "b", fields=["b"])
    assert types_of(store) == {"b": "i64"}
