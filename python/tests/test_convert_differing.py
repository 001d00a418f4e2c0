"""apldata.convert(): what comes after the first 256 rows, or in other splits, and differs from them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata


@pytest.mark.parametrize(
    ("first", "later", "why"),
    [
        (5, True, r"True \(bool\), where the first rows hold i64"),
        (0.5, True, r"True \(bool\), where the first rows hold f64"),
        (np.int32(5), np.bool_(True), r".*True.* \(bool\), where the first rows hold i32"),
        ([1, 2], [True, False], r"\[True, False\] \(bool\), where the first rows hold i64"),
        (np.array([1, 2]), np.array([True, False]), r".* \(bool\), where the first rows hold i64"),
        (5, -0.0, "-0.0, where the first rows hold i64, which has no minus zero"),
        (np.array([1, 2]), np.array([1, -0.0]), "-0.0, where the first rows hold i64"),
        ([1, 2], [1, True], r"\[1, True\] \(bool\), where the first rows hold i64"),
        (True, 1, r"1 \(int\), where the first rows hold bool"),
        (True, 0.0, r"0\.0 \(float\), where the first rows hold bool"),
        (True, np.uint8(1), r".* \(int\), where the first rows hold bool"),
        ([True, False], [1, 0], r"\[1, 0\] \(int\), where the first rows hold bool"),
        ([True, False], [False, 1], r"\[False, 1\] \(int\), where the first rows hold bool"),
        (np.array([True, False]), np.array([1.0, -0.0]), r".* \(float\), where the first rows hold bool"),
    ],
)
def test_booleans_and_minus_zero_among_numbers(first: Any, later: Any, why: str, tmp_path: Path) -> None:
    """They became 1 and 0."""
    rows = [{"a": first}] * 300 + [{"a": later}]
    with pytest.raises(apldata.InvalidError, match=f"row 300, column a: {why}"):
        made(rows, tmp_path / "a")
    spec = {"a": np.asarray(first).dtype} if np.ndim(first) == 0 else {"a": ("i64", (2,))}
    assert len(made(rows, tmp_path / "asked", types=spec)) == 301


def test_bytes_among_text(tmp_path: Path) -> None:
    """They became text."""
    why = r"column a: b'b' \(bytes\), where the first rows hold text: types=\{'a': 'utf8'\} makes text of all"
    for number, (source, place) in enumerate(
        (
            ([{"a": "a"}] * 300 + [{"a": b"b"}], "train, row 300"),
            ([{"a": "a"}] * 300 + [{"a": bytearray(b"b")}], "train, row 300"),
            ({"train": {"a": ["a"]}, "test": {"a": [b"b"]}}, "test, row 0"),
        )
    ):
        with pytest.raises(apldata.InvalidError, match=f"{place}, {why}"):
            made(source, tmp_path / "refused")
        store = made(source, tmp_path / str(number), types={"a": "utf8"})
        assert store[len(source) - 1 if isinstance(source, list) else 1]["a"] == "b"


def test_numbers_of_another_split_among_booleans(tmp_path: Path) -> None:
    splits = {"train": {"a": np.array([True, False])}, "test": {"a": np.array([1, 0])}}
    with pytest.raises(apldata.InvalidError, match=r"test, row 0, column a: .*\(int\).*hold bool"):
        made(splits, tmp_path / "a")
    assert made(splits, tmp_path / "b", types={"a": "bool"}).to_numpy("test")["a"].tolist() == [True, False]
    lacking = [{"a": True}, {"a": None}] * 200
    assert not made(lacking, tmp_path / "c", missing={"a": 0})[399]["a"]
    lists = [{"a": [True, False]}] * 300 + [{"a": []}]
    with pytest.raises(apldata.InvalidError, match=r"row 300: field a: a value of shape \(0,\)"):
        made(lists, tmp_path / "d")


def test_booleans_of_another_split(tmp_path: Path) -> None:
    splits = {"train": {"a": np.array([1, 2])}, "test": {"a": np.array([True])}}
    with pytest.raises(apldata.InvalidError, match=r"test, row 0, column a: .*bool.*hold i64"):
        made(splits, tmp_path / "a")


def test_booleans_that_are_classes(tmp_path: Path) -> None:
    rows = [{"a": False}] * 300 + [{"a": True}]
    store = made(rows, tmp_path / "a", classes={"a": ["no", "yes"]})
    assert store[300]["a"] == 1 and types_of(store) == {"a": "u8"}
    zeros = [{"a": 0.5}, {"a": -0.0}]
    assert np.signbit(made(zeros, tmp_path / "b")[1]["a"])


@pytest.mark.parametrize("later", [2.0, np.float32(2)])
def test_floats_without_a_fraction_among_whole_numbers(later: Any, tmp_path: Path) -> None:
    store = made([{"a": 1}] * 300 + [{"a": later}], tmp_path / "a")
    assert store[300]["a"] == 2 and types_of(store) == {"a": "i64"}
    with pytest.raises(apldata.InvalidError, match=r"row 300: field a: 2\.5.*which i64 cannot hold"):
        made([{"a": 1}] * 300 + [{"a": later + 0.5}], tmp_path / "b")


@pytest.mark.parametrize(
    "values", [[2.0, 1e-7, float("nan")], [True, False], np.array([2, 0.1], "f4"), np.array([2, 0.1], "f2")]
)
def test_text_of_numbers_is_the_same_from_all_sources(values: Any, tmp_path: Path) -> None:
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    sources = [
        [{"x": one} for one in values],
        {"x": values},
        pa.table({"x": values}),
        pd.DataFrame({"x": values}),
    ]
    for at, source in enumerate(sources):
        store = made(source, tmp_path / str(at), types={"x": "utf8"})
        assert [row["x"] for row in store] == list(map(str, values))
    gaps = pa.table({"x": pa.array([*values, None], pa.array(values).type)})
    store = made(gaps, tmp_path / "gaps", types={"x": "utf8"}, missing={"x": "none"})
    assert [row["x"] for row in store] == [*map(str, values), "none"]


MIXED: list[tuple[str, list[Any], Any]] = [
    ("f64", [np.float32(0.5), 0.1], [0.5, 0.1]),
    ("f64", [1, np.float16(0.5), True, Decimal("0.25")], [1, 0.5, 1, 0.25]),
    ("i64", [np.int8(1), 300, np.uint64(2), True], [1, 300, 2, 1]),
    ("i64", [np.uint64(2**62 + 1), -1], [2**62 + 1, -1]),
    ("bool", [True, 0, np.bool_(True)], [True, False, True]),
    ("i64", [[1, 2], np.array([3.0, 4.0]), [True, 5]], [[1, 2], [3, 4], [1, 5]]),
]


@pytest.mark.parametrize(("dtype", "values", "wanted"), MIXED)
@pytest.mark.parametrize("later", [False, True], ids=["first", "later"])
def test_a_type_that_is_given_is_taken_at_its_word(
    dtype: str, values: list[Any], wanted: list[Any], later: bool, tmp_path: Path
) -> None:
    before = [values[0]] * 300 if later else []
    store = made([{"a": value} for value in (*before, *values)], tmp_path / "a", types={"a": dtype})
    assert store.schema["a"].dtype == dtype
    assert [record["a"].tolist() for record in store][len(before) :] == wanted


@pytest.mark.parametrize(
    ("dtype", "values", "why"),
    [
        ("i64", [1, np.float32(0.5)], "row 1: field a: 0.5, of dtype float32, which i64 cannot hold"),
        ("bool", [True, 2], "row 1: field a: 2, of dtype int64, which bool cannot hold"),
        ("f64", [np.uint64(2**62 + 1), -1], "row 0: field a: 4611686018427387905, .* which f64 cannot hold"),
        ("f64", [1, 1j], "row 1: field a: 1j, of dtype complex128, which f64 cannot hold"),
        ("i64", [1, "1"], "hold int and str, .* which no field of i64 holds: give another"),
        (
            "f32",
            [[1], [[1, 2]]],
            "arrays of 1 and 2 dimensions, which no field of f32 holds: give another",
        ),
    ],
)
def test_what_a_given_type_does_not_hold(dtype: str, values: list[Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(apldata.InvalidError, match=why):
        made([{"a": value} for value in values], tmp_path / "a", types={"a": dtype})


def test_a_type_of_first_rows_without_values(tmp_path: Path) -> None:
    """Of a type alone, the field holds single numbers."""
    rows: list[Any] = [{"a": None, "k": n} for n in range(300)] + [{"a": 1.5, "k": 300}]
    filled = made(rows, tmp_path / "a", types={"a": "f32"}, missing={"a": 0})
    assert types_of(filled)["a"] == "f32" and filled.to_numpy()["a"].tolist() == [0] * 300 + [1.5]
    assert len(made(rows, tmp_path / "b", types={"a": "f32"}, missing="skip")) == 1
    lists = [*rows[:-1], {"a": [1, 2], "k": 300}]
    store = made(lists, tmp_path / "c", types={"a": ("f32", (2,))}, missing="skip")
    assert store[0]["a"].tolist() == [1, 2]
    with pytest.raises(apldata.InvalidError, match=r"hold nothing but missing values, .*: give one, types="):
        made(rows, tmp_path / "d", missing="skip")


def test_empty_lists_of_a_type_that_is_given(tmp_path: Path) -> None:
    store = made([{"a": []}, {"a": [[1, 2]]}], tmp_path / "a", types={"a": "u8"})
    assert types_of(store) == {"a": "u8[-1,2]"} and store[0]["a"].shape == (0, 2)
    store = made([{"a": []}] * 2, tmp_path / "b", types={"a": "u8"})
    assert types_of(store) == {"a": "u8[-1]"}


def test_columns_that_numpy_would_round_together(tmp_path: Path) -> None:
    """Each value is a whole number of i64; beside floats and others of u64, NumPy makes floats of all."""
    values = [2**62 + 1, 2.0, np.uint64(2**60 + 1), Decimal(3)]
    store = made([{"a": value} for value in values], tmp_path / "a", types={"a": "i64"})
    assert store.to_numpy()["a"].tolist() == [2**62 + 1, 2, 2**60 + 1, 3]
    with apldata.Writer(tmp_path / "b", {"a": "i64"}) as writer:
        with pytest.raises(apldata.InvalidError, match=r"row 1: field a: 0.5, of dtype float64"):
            writer.extend(a=[2**62 + 1, 0.5])
        writer.extend(a=[2**62 + 1, 2.0])
    assert apldata.Store(tmp_path / "b").to_numpy()["a"].tolist() == [2**62 + 1, 2]


def test_numbers_of_several_types_in_a_list(tmp_path: Path) -> None:
    lists = [[Decimal("0.1"), np.uint16(3)], [1.5, Decimal(2)]]
    store = made([{"a": one} for one in lists], tmp_path / "a", types={"a": "f64"})
    assert [record["a"].tolist() for record in store] == [[0.1, 3], [1.5, 2]]
    with pytest.raises(apldata.InvalidError, match=r"holds lists of .*, for which a store has no type"):
        made([{"a": [np.float32(1), "x"]}], tmp_path / "b")
