"""apldata.convert(types={...: "json"}): times to the last digit, and no key that is lost."""

from __future__ import annotations

import datetime
from collections import deque
from fractions import Fraction
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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1, 2.5], np.longdouble), "[1.0, 2.5]"),
        (np.longdouble(3), "3.0"),
        (deque([1, "b"]), '[1, "b"]'),
        (range(2), "[0, 1]"),
        ({"a": 1, "b": 2}.keys(), '["a", "b"]'),
        ({"a": [deque([range(1)])], "f": Fraction(1, 3)}, '{"a": [[[0]]], "f": "1/3"}'),
    ],
)
def test_values_that_json_has_in_another_form(value: Any, text: str, tmp_path: Path) -> None:
    assert texts([{"a": value}], tmp_path / "rows") == [text]
    assert texts({"a": [value], "b": [1]}, tmp_path / "columns") == [text]


def test_numbers_of_types_that_python_lacks(tmp_path: Path) -> None:
    third = np.longdouble(1) / 3
    with pytest.raises(apldata.InvalidError, match=r"row 0, .* has no .*, which .astype\(float\) rounds"):
        texts({"a": np.array([third])}, tmp_path / "a")
    floats = pytest.importorskip("ml_dtypes").bfloat16
    assert texts([{"a": np.array([1.5], floats)}], tmp_path / "b") == ["[1.5]"]


def test_periods_are_text_as_other_times_are(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})
    assert texts(frame, tmp_path / "a") == ['"2020-01"', '"2020-02"']


def test_lists_in_another_form_are_arrays(tmp_path: Path) -> None:
    """A window that slides is another in each row."""
    window: deque[int] = deque([0, 0], maxlen=2)

    def rows() -> Any:
        for n in range(3):
            window.append(n)
            yield {"a": window, "m": {"w": window}}

    store = made(rows(), tmp_path / "a", types={"m": "json"})
    assert types_of(store)["a"] == "i64[2]"
    assert [record["a"].tolist() for record in store] == [[0, 0], [0, 1], [1, 2]]
    assert [record["m"] for record in store] == ['{"w": [0, 0]}', '{"w": [0, 1]}', '{"w": [1, 2]}']
    assert made([range(2), range(2, 4)], tmp_path / "b", fields=["x"])[1]["x"].tolist() == [2, 3]
    with pytest.raises(apldata.Error, match="a list of numbers or of lists"):
        made([range(2)], tmp_path / "c")


class Thing:
    """Of which Python shows no more than where it lies."""


@pytest.mark.parametrize(
    ("value", "helps"),
    [
        ({1, 2}, r"sorted\(...\) makes a list of it"),
        (1j, "give its .real and .imag"),
        (np.array([1j]), "give its .real and .imag"),
        (Thing(), r"give what it holds, such as by vars\(...\)"),
        (iter([1]), r"list\(...\) makes a list of it"),
        (slice(1), r"types={'a': 'utf8'} makes text of it, as str\(\) does"),
    ],
)
def test_errors_say_what_to_give_instead(value: Any, helps: str, tmp_path: Path) -> None:
    """And do not advise what would be refused, or would leave out all rows."""
    with pytest.raises(apldata.InvalidError, match=f"for which a store has no type: {helps}, or choose"):
        made([{"a": value, "b": 1}], tmp_path / "a")
    with pytest.raises(apldata.InvalidError, match=f"column a: JSON cannot tell .*: it has no .*: {helps}$"):
        made([{"a": value, "b": 1}], tmp_path / "b", types={"a": "json"})
    if "utf8" in helps:
        store = made([{"a": value, "b": 1}], tmp_path / "c", types={"a": "utf8"})
        assert store[0]["a"] == str(value)


def test_json_is_advised_where_it_helps(tmp_path: Path) -> None:
    with pytest.raises(apldata.InvalidError, match=r"give one, .* \(\"json\" makes text of it\)"):
        made([{"a": ["b"]}], tmp_path / "a")
    with pytest.raises(apldata.InvalidError, match=r"give one, types={'a': ...}, or choose"):
        made([{"a": None}], tmp_path / "b")
    nan = {"a": {"b": float("nan")}}
    with pytest.raises(apldata.InvalidError, match=r"no infinity: missing='skip' leaves such rows out$"):
        made([nan], tmp_path / "c", types={"a": "json"}, missing={"a": "{}"})
    with pytest.raises(apldata.InvalidError, match="holds dict, which no field of files holds: give another"):
        made({"a": [{"b": 1}], "c": [1]}, tmp_path / "d", types={"a": "file"})
    with pytest.raises(apldata.InvalidError, match=r"column a: complex128\[1\]: give its .real and .imag"):
        made([{"a": np.array([1j])}], tmp_path / "e", types={"a": "utf8"})
