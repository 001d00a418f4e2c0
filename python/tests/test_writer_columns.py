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
