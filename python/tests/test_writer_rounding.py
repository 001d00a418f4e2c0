"""Writer and convert(): whole numbers that a field would round are refused, and floats by convert()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata


def test_whole_numbers_that_f64_would_round_are_refused(tmp_path: Path) -> None:
    exact = [7, 2**60, np.uint64(2**63), -(2**63)]
    with apldata.Writer(tmp_path / "db", {"x": "f64"}) as writer:
        for number in exact:
            writer.append(x=number)
        for number in (2**53 + 1, 2**63 - 1, -(2**53) - 1, np.uint64(2**64 - 1)):
            with pytest.raises(apldata.InvalidError, match="which f64 cannot hold"):
                writer.append(x=number)
        with pytest.raises(apldata.InvalidError, match="which f64 cannot hold"):
            writer.extend(x=np.array([1, 2**53 + 1]))
    assert apldata.Store(tmp_path / "db").to_numpy()["x"].tolist() == [float(number) for number in exact]


@pytest.mark.parametrize(
    ("dtype", "number"), [("f64", 2**53 + 1), ("f32", 2**24 + 1), ("f16", 2049), ("i64", 2**53 + 1)]
)
def test_whole_numbers_beside_floats_are_not_rounded(tmp_path: Path, dtype: str, number: int) -> None:
    """NumPy makes floats of all numbers of a list if one of them is a float."""
    fields = [apldata.Field("v", dtype, (2,))]
    with apldata.Writer(tmp_path / "s", fields) as writer:
        for given in ([1.0, number], [1.0, np.int64(number)], [np.array(1.0), np.array(number)]):
            with pytest.raises(apldata.InvalidError, match=f"field v: {number}, beside floats, would become"):
                writer.append(v=given)
            with pytest.raises(apldata.InvalidError, match=f"row 1: field v: {number}, beside floats"):
                writer.extend(v=[[1.0, 2], given])
        writer.append(v=[1.0, number - 1])
        writer.append(v=[1.0, float(number - 1)])
    values = [batch["v"].tolist() for batch in apldata.Loader(tmp_path / "s", batch_size=2, shuffle=False)]
    assert values == [[[1, number - 1]] * 2]


def test_columns_of_whole_numbers_and_floats_are_not_rounded(tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"a": "f64"}) as writer:
        with pytest.raises(
            apldata.InvalidError, match=r"row 1: field a: 9007199254740993, .*f64 cannot hold"
        ):
            writer.extend(a=[0.5, 2**53 + 1])
        writer.extend(a=[0.5, 2**53 + 2])
    with pytest.raises(apldata.Error, match=r"train, row 1: field a: 9007199254740993, .*f64 cannot hold"):
        apldata.convert([{"a": 0.5}, {"a": 2**53 + 1}], tmp_path / "c")


@pytest.mark.parametrize("number", [2**24 + 1, 2**53 + 1, 2**60 + 1])
def test_whole_numbers_that_narrow_floats_round_are_refused(number: int, tmp_path: Path) -> None:
    with apldata.Writer(tmp_path / "s", {"a": "f32"}) as writer:
        for given in (number, np.int64(number), np.uint64(number)):
            with pytest.raises(apldata.InvalidError, match=f"field a: {number}, .* which f32 cannot hold"):
                writer.append(a=given)
        writer.extend(a=[number - 1, 2**60])


LATE = [
    (np.float32(1), 0.1, r"0\.1 \(float64\), which f32 would round: types={'a': 'f64'} keeps it, 'f32' r"),
    (np.float32(1), 1e300, r"1e\+300 \(float64\), which f32 would round"),
    (np.float16(1), np.float32(0.1), r"\(float32\), which f16 would round: types={'a': 'f32'} keeps it"),
    (np.ones(2, "f4"), np.array([0.5, 0.1]), "which f32 would round"),
    (np.ones(2, "f4"), [0.5, 0.1], "which f32 would round"),
]


@pytest.mark.parametrize(("first", "last", "told"), LATE)
def test_floats_of_later_rows_are_not_rounded(first: Any, last: Any, told: str, tmp_path: Path) -> None:
    rows = [{"a": first}] * 300
    with pytest.raises(apldata.InvalidError, match=f"list: train, row 300, column a: .*{told}"):
        apldata.convert([*rows, {"a": last}], tmp_path / "a")
    exact = apldata.convert([*rows, {"a": np.asarray(last) * 0 + 0.5}], tmp_path / "b")
    assert (apldata.Store(exact.db)[300]["a"] == 0.5).all()
    asked = apldata.convert([*rows, {"a": last}], tmp_path / "c", types={"a": ("f64", np.shape(first))})
    assert (apldata.Store(asked.db)[300]["a"] == np.asarray(last)).all()


def test_floats_of_later_splits_are_not_rounded(tmp_path: Path) -> None:
    splits = {"train": {"a": np.ones(3, "f4")}, "test": {"a": np.array([0.5, np.nan, 0.1])}}
    with pytest.raises(apldata.InvalidError, match=r"test, row 2, column a: 0\.1 .* which f32 would round"):
        apldata.convert(splits, tmp_path / "a")
    rounded = apldata.convert(splits, tmp_path / "b", types={"a": "f32"})
    assert apldata.Store(rounded.db).to_numpy("test")["a"][2] == np.float32(0.1)
