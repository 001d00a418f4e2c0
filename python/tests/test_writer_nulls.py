"""apldata.Writer.extend() of columns of other libraries, and of lists of names and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata


def test_names_and_numbers_of_classes_in_one_list(tmp_path: Path) -> None:
    classes = ("1", "2", "0")
    with apldata.Writer(tmp_path / "s", {"y": apldata.Field("y", "u8", mark="target", classes=classes)}) as w:
        w.extend(y=[1, "2"])
        w.extend(y=("0", np.int64(0), np.array(1)))
        with pytest.raises(apldata.InvalidError, match=r"row 1: field y must be a class .* got '3'"):
            w.extend(y=[1, "3"])
    store = apldata.Store(tmp_path / "s")
    assert [classes[record["y"]] for record in store] == ["2", "2", "0", "1", "2"]


def _columns_with_nulls() -> Iterator[Any]:
    with suppress(ImportError):
        import polars as pl

        yield pl.Series([0.5, None])
        yield pl.Series([[0.5, 1.0], [None, 1.0]], dtype=pl.Array(pl.Float64, 2))
        yield pl.Series([[], [0.5, None]], dtype=pl.List(pl.Float64))
    with suppress(ImportError):
        import pandas as pd

        yield pd.Series([0.5, None], dtype="Float64")
    with suppress(ImportError):
        import pyarrow as pa

        yield pa.array([0.5, None])
        yield pa.chunked_array([[0.5], [None]])
        yield pa.array([[0.5, None], []], pa.list_(pa.float64()))


@pytest.mark.parametrize("text", [False, True])
def test_nulls_of_columns_are_refused(tmp_path: Path, text: bool) -> None:
    more: dict[str, Any] = {"t": ["a", "b"]} if text else {}
    for column in _columns_with_nulls():
        fields: dict[str, Any] = {"x": ("f64", (-1,)), **({"t": str} if text else {})}
        with apldata.Writer(tmp_path / "s", fields, replace=True) as writer:
            with pytest.raises(apldata.InvalidError, match=r"field x: 1 nulls, and a store has none"):
                writer.extend(x=column, **more)
            with pytest.raises(apldata.InvalidError, match=r"field x: 1 nulls, and a store has none"):
                writer.append(x=column, **({"t": "a"} if text else {}))
            writer.append(x=[0.5], **({"t": "a"} if text else {}))


def test_columns_of_arrow_beside_text(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    with apldata.Writer(tmp_path / "s", {"x": "f64", "t": str}) as writer:
        writer.extend(x=pa.array([0.5, float("nan")]), t=pa.array(["a", "b"]))
    store = apldata.Store(tmp_path / "s")
    assert (
        store[0]["x"] == 0.5 and np.isnan(store[1]["x"]) and [record["t"] for record in store] == ["a", "b"]
    )
