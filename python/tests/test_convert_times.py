"""apldata.convert() of dates, times and durations: all of a column in the unit of its first rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata

DAY, AT = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
ZONE = datetime.timezone(datetime.timedelta(hours=1))
DAYS, MICROSECONDS = 18262, 18262 * 86400 * 10**6


def late(first: Any, last: Any) -> Iterator[dict[str, Any]]:
    """Rows of which only the last, that types are not found from, differs."""
    return ({"t": first if row < 300 else last} for row in range(301))


def table(values: list[Any], type: str, *more: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.table({"t": pa.array(values, getattr(pa, type)(*more))})


@pytest.mark.parametrize(
    ("first", "last", "number"),
    [
        (datetime.timedelta(hours=1), np.timedelta64(2, "h"), 2 * 3600 * 10**6),
        (AT, DAY, MICROSECONDS),
        (AT, np.datetime64("2020-01-01T00:00:00.000001000", "ns"), MICROSECONDS + 1),
        (AT.replace(tzinfo=ZONE), AT.replace(tzinfo=datetime.UTC), MICROSECONDS),
        (np.array(["2020"] * 2, "M8[Y]"), np.array(["2021-01-01"] * 2, "M8[D]"), [51, 51]),
        (np.datetime64("2020", "Y"), np.datetime64("2021-01-01", "D"), 51),
        (np.datetime64("2020-01-01", "s"), AT, MICROSECONDS // 10**6),
        (np.timedelta64(1, "25s"), np.timedelta64(50, "s"), 2),
        (np.timedelta64(1, "Y"), np.timedelta64(24, "M"), 2),
    ],
)
def test_later_units_are_converted(first: Any, last: Any, number: Any, tmp_path: Path) -> None:
    assert made(late(first, last), tmp_path / "a")[300]["t"].tolist() == number


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (AT, np.datetime64("2020-01-01T00:00:00.000000001"), "00.000000001 is not a whole number of micro"),
        (np.datetime64("2020", "s"), np.datetime64("300000000000", "Y"), "is not a whole number of seconds"),
        (DAY, AT.replace(hour=5), "is not a whole number of days"),
        (datetime.timedelta(1), DAY, "days since 1970-01-01, where the first rows hold microseconds"),
        (np.timedelta64(1, "Y"), np.timedelta64(365, "D"), "days, where the first rows hold years"),
        (AT, AT.replace(tzinfo=datetime.UTC), "where the first rows hold times of no zone"),
        (AT.replace(tzinfo=datetime.UTC), AT, "where the first rows hold times of a known zone"),
        (AT, 5, r"5 \(int\), where the first rows hold microseconds since 1970-01-01"),
        (AT, "2020-01-01", r"'2020-01-01' \(str\), where the first rows hold microseconds"),
        (5, AT, "2020-01-01 00:00:00, where the first rows hold no times"),
        (5, np.datetime64("2020"), "2020, where the first rows hold no times"),
        ("x", DAY, r"date\(2020, 1, 1\) \(date\), where the first rows hold text: types={'t': 'utf8'} makes"),
        ("x", 5, r"5 \(int\), where the first rows hold text"),
    ],
)
def test_what_would_be_rounded_or_mixed_is_refused(first: Any, last: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(apldata.InvalidError, match=rf"generator: train, row 300, column t: .*{told}"):
        made(late(first, last), tmp_path / "a")


def test_timestamps_of_pandas_among_those_of_python(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    assert made(late(AT, pd.Timestamp(AT)), tmp_path / "a")[300]["t"] == MICROSECONDS
    with pytest.raises(apldata.InvalidError, match=r"row 300, column t: .*is not a whole number of micro"):
        made(late(AT, pd.Timestamp("2020-01-01 00:00:00.000000001")), tmp_path / "b")


def test_types_make_text_of_times(tmp_path: Path) -> None:
    store = made(late("x", DAY), tmp_path / "a", types={"t": "utf8"})
    assert [store[row]["t"] for row in (0, 300)] == ["x", "2020-01-01"]
    days = {"t": np.array(["2020-01-01"], "M8[D]")}
    assert made(days, tmp_path / "b", types={"t": "utf8"})[0]["t"] == "2020-01-01"


def test_splits_of_other_units(tmp_path: Path) -> None:
    pd, pq = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    frame = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]).astype("datetime64[us]")})
    finer = frame.astype("datetime64[ns]")
    store = made({"train": frame, "test": finer}, tmp_path / "a")
    assert store.to_numpy("test")["t"].tolist() == [MICROSECONDS]
    odd = finer + pd.Timedelta(1, "ns")
    with pytest.raises(apldata.InvalidError, match=r"test, row 0, column t: .* whole number of microseconds"):
        made({"train": frame, "test": odd}, tmp_path / "b")
    for split, unit in (("train", "ms"), ("test", "us")):
        pq.write_table(table([AT], "timestamp", unit), tmp_path / f"{split}.parquet")
    store = made([tmp_path / "train.parquet", tmp_path / "test.parquet"], tmp_path / "c")
    assert store.to_numpy("test")["t"].tolist() == [MICROSECONDS // 1000]


def test_splits_of_other_kinds_are_refused(tmp_path: Path) -> None:
    train = table([AT], "timestamp", "us")
    for number, (test, told) in enumerate(
        (
            (table([AT], "timestamp", "us", "UTC"), "column t: microseconds since 1970-01-01, UTC, where"),
            (table([5], "int64"), "row 0, column t: 5, where the first rows hold microseconds since"),
            (table([datetime.timedelta(1)], "duration", "us"), "column t: microseconds, where the first"),
        )
    ):
        with pytest.raises(apldata.InvalidError, match=f"Table: test, {told}"):
            made({"train": train, "test": test}, tmp_path / str(number))
        with pytest.raises(apldata.InvalidError, match=r"test, .*where the first rows hold"):
            made({"train": test, "test": train}, tmp_path / f"{number}-turned")


@pytest.mark.parametrize(
    ("type", "more", "value", "number"),
    [
        ("timestamp", ["s"], AT, MICROSECONDS // 10**6),
        ("timestamp", ["ns", "UTC"], AT, MICROSECONDS * 1000),
        ("date32", [], DAY, DAYS),
        ("date64", [], DAY, DAYS * 86400 * 1000),
        ("time32", ["ms"], datetime.time(0, 0, 2), 2000),
        ("duration", ["s"], datetime.timedelta(1), 86400),
    ],
)
def test_missing_times_leave_the_others_alone(
    type: str, more: list[Any], value: Any, number: int, tmp_path: Path
) -> None:
    times = table([value, None, value], type, *more)
    assert made(times, tmp_path / "a", missing="skip").to_numpy()["t"].tolist() == [number] * 2
    assert made(times, tmp_path / "b", missing={"t": -1}).to_numpy()["t"].tolist() == [number, -1, number]


def test_times_of_numpy_that_are_missing(tmp_path: Path) -> None:
    days = {"t": np.array(["2020-01-01", "NaT"], "M8[D]")}
    assert made(days, tmp_path / "a", missing={"t": DAY}).to_numpy()["t"].tolist() == [DAYS] * 2


def test_rows_of_the_times_of_pandas(tmp_path: Path) -> None:
    """They have a unit each: seconds, if the text that one was made from has no more."""
    pd = pytest.importorskip("pandas")
    day, later = pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000005")
    rows = [{"a": day, "b": pd.Timedelta("1s")}, {"a": later, "b": datetime.timedelta(0)}]
    store = made(rows, tmp_path / "a")
    assert types_of(store) == {"a": "i64", "b": "i64"}
    assert [row["a"] for row in store] == [1577836800000000, 1577836800000005]
    assert [row["b"] for row in store] == [1000000, 0]
    fine = pd.Timestamp("2020-01-01 00:00:00.000000007", tz="US/Eastern")
    store = made({"a": [day.tz_localize("UTC"), fine]}, tmp_path / "b")
    assert store[1]["a"] == 1577836800000000007 + 5 * 3600 * 10**9
    with pytest.raises(apldata.InvalidError, match=r"row 1, column a: .* hold times of no zone"):
        made([{"a": day}, {"a": fine}], tmp_path / "c")
    assert made([{"a": day}, {"a": pd.NaT}], tmp_path / "d", missing="skip").to_numpy()["a"].shape == (1,)
