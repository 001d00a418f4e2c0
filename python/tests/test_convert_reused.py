"""apldata.convert() of sources that read each row into one and the same array, tensor or dict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made

COUNT = 20


def filled(kind: str) -> tuple[Any, Any]:
    """What a source fills again and again, and what of it a row holds."""
    array = np.zeros((2, 3), np.int32)
    if kind == "tensor":
        tensor = pytest.importorskip("torch").from_numpy(array)
        return array, tensor
    return array, {
        "array": array,
        "view": array[:, ::2],
        "list": [array, array],
        "scalar": array[0, 0, ...],
        "masked": np.ma.MaskedArray(array),
        "objects": np.array([None, array], object)[1:],
    }[kind]


class Reused:
    """A dataset of such rows."""

    def __init__(self, kind: str, as_dict: bool) -> None:
        self._array, self._value = filled(kind)
        self._as_dict = as_dict

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, row: int) -> Any:
        self._array[...] = row
        return {"x": self._value, "n": row} if self._as_dict else (self._value, row)


@pytest.mark.parametrize("kind", ["array", "view", "list", "scalar", "masked", "objects", "tensor"])
@pytest.mark.parametrize("workers", [0, 2])
def test_each_row_keeps_its_own_values(kind: str, workers: int, tmp_path: Path) -> None:
    """Each record held the values of the last row."""
    for as_dict in (True, False):
        dataset = Reused(kind, as_dict)
        given = dataset if workers else (dataset[row] for row in range(COUNT))
        store = made(given, tmp_path / f"{as_dict}", workers=workers)
        first = next(iter(store.schema)).name
        assert [set(np.ravel(record[first]).tolist()) for record in store] == [{n} for n in range(COUNT)]


def test_dicts_that_become_text(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        array, inside = np.zeros(1, np.int64), {"a": 0}
        whole = {"deep": [inside], "array": array}
        for number in range(3):
            inside["a"], array[0] = number, number
            yield {"x": whole, "y": [whole]}

    store = made(rows(), tmp_path / "a", types={"x": "json", "y": "json"})
    texts = [f'{{"deep": [{{"a": {number}}}], "array": [{number}]}}' for number in range(3)]
    assert [record["x"] for record in store] == texts
    assert [record["y"] for record in store] == [f"[{text}]" for text in texts]
