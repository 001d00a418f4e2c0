"""Columns of fixed shapes beside those that vary, whose records are taken one by one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata._encoder import Encoder

COLUMNS: dict[str, tuple[Any, Any]] = {
    "text": (str, ["a", "bc", ""]),
    "kind": (apldata.Field("kind", "u8", mark="target", classes=("cat", "dog")), ["dog", "cat", "dog"]),
    "number": ("i64", np.array([2**60 + 1, -5, 0])),
    "narrow": ("f32", np.array([0.5, np.nan, -2.0])),
    "half": (("f16", (2,)), np.array([[1, 2], [3, 4], [5, 6]], np.float16)),
    "yes": ("bool", np.array([True, False, True])),
    "turned": (("u16", (2, 3)), np.arange(18, dtype=np.uint16).reshape(3, 3, 2).transpose(0, 2, 1)),
    "image": (apldata.Field("image", "u8", (2, 4, 3), layout="HWC"), np.arange(72).reshape(3, 2, 4, 3) % 64),
    "large": (("u8", (8192,)), np.arange(3 * 8192).reshape(3, 8192).astype(np.uint8)),
}  # fmt: skip


if find_spec("ml_dtypes"):
    COLUMNS["brain"] = ("bf16", np.array([0.5, 1.5, 2.0], np.float32))


def test_a_column_at_once_is_what_its_values_are(tmp_path: Path) -> None:
    fields = {name: spec for name, (spec, _) in COLUMNS.items()}
    for name in ("all", "each"):
        with apldata.Writer(tmp_path / name, fields, threads=1) as writer:
            if name == "all":
                writer.extend({name: values for name, (_, values) in COLUMNS.items()})
            for row in range(3 if name == "each" else 0):
                writer.append({name: values[row] for name, (_, values) in COLUMNS.items()})
    assert apldata.Store(tmp_path / "all").content_digest == apldata.Store(tmp_path / "each").content_digest
    assert [apldata.Store(tmp_path / "all")[row]["kind"] for row in range(3)] == [1, 0, 1]


def test_names_of_classes_are_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, plain = [], Encoder._array
    monkeypatch.setattr(Encoder, "_array", lambda self, *given: calls.append(given[0]) or plain(self, *given))
    fields = {"text": str, "kind": COLUMNS["kind"][0], "x": "i32"}
    with apldata.Writer(tmp_path / "db", fields) as writer:
        writer.extend(text=["a"] * 50, kind=["cat"] * 50, x=np.arange(50))
    assert calls == [1, 2]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ({"x": np.array([1, 2, 300])}, "row 2: field x: 300, of dtype int64, which u8 cannot hold"),
        ({"kind": ["cat", "cow", "dog"]}, r"row 1: field kind must be a class \('cat', 'dog'\).*; got 'cow'"),
        ({"kind": np.array([0, 1, 2])}, "row 2: field kind must be a class from 0 to 1; got 2"),
    ],
)
def test_the_row_that_is_refused_is_named(column: dict[str, Any], told: str, tmp_path: Path) -> None:
    fields = {"text": str, "kind": COLUMNS["kind"][0], "x": "u8"}
    good = {"text": ["a", "b", "c"], "kind": ["cat", "dog", "cat"], "x": np.arange(3)}
    with apldata.Writer(tmp_path / "db", fields) as writer:
        with pytest.raises(apldata.InvalidError, match=told):
            writer.extend(good | column)
        writer.extend(good)
    assert len(apldata.Store(tmp_path / "db")) == 3


def test_columns_of_pandas_with_different_indexes_are_refused(tmp_path: Path) -> None:
    """They were paired by their places; by their indexes, pandas would pair them otherwise."""
    pd = pytest.importorskip("pandas")
    x, y = pd.Series([10, 20], index=[1, 0]), pd.Series([1, 2])
    with apldata.Writer(tmp_path / "s", {"x": "i64", "y": "i64", "n": "i64"}) as writer:
        with pytest.raises(
            apldata.InvalidError, match=r"columns x and y have different indexes.*reset_index"
        ):
            writer.extend(x=x, y=y, n=[1, 2])
        writer.extend(pd.DataFrame({"x": x, "y": y}).assign(n=[1, 2]).to_dict("series"))
        writer.extend(x=x.reset_index(drop=True), y=y, n=x.to_numpy())
        writer.append(x=x[1], y=y[1], n=0)
    store = apldata.Store(tmp_path / "s").to_numpy()
    assert store["x"].tolist() == [20, 10, 10, 20, 10] and store["y"].tolist() == [1, 2, 1, 2, 2]


def test_values_of_one_record_have_indexes_of_their_own(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    row = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    with apldata.Writer(tmp_path / "s", {"x": ("f64", (2,)), "y": ("f64", (2,))}) as writer:
        writer.append(x=row[["a", "b"]], y=row[["d", "c"]])
    assert apldata.Store(tmp_path / "s")[0]["y"].tolist() == [4, 3]
