"""apldata.convert(): what comes after the first 256 rows, or in other splits, and differs from them."""

from __future__ import annotations

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
    ],
)
def test_booleans_and_minus_zero_among_numbers(first: Any, later: Any, why: str, tmp_path: Path) -> None:
    """They became 1 and 0."""
    rows = [{"a": first}] * 300 + [{"a": later}]
    with pytest.raises(apldata.InvalidError, match=f"row 300, column a: {why}"):
        made(rows, tmp_path / "a")
    spec = {"a": np.asarray(first).dtype} if np.ndim(first) == 0 else {"a": ("i64", (2,))}
    assert len(made(rows, tmp_path / "asked", types=spec)) == 301


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
