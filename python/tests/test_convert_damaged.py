"""apldata.convert() of Arrow that is not what it says: tables that nobody checked, and damaged files."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata

pa = pytest.importorskip("pyarrow")


def lists(offsets: list[int]) -> Any:
    """Lists of six numbers that begin and end there."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32).tobytes())]
    rows, values = len(offsets) - 1, pa.array(np.arange(6.0))
    array = pa.Array.from_buffers(pa.list_(pa.float64()), rows, buffers, children=[values])
    return pa.table({"id": pa.array(range(rows)), "a": array})


def texts() -> Any:
    """A text that is no UTF-8."""
    buffers = [None, pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes()), pa.py_buffer(b"a\xff")]
    return pa.table({"t": pa.Array.from_buffers(pa.string(), 2, buffers)})


def beyond() -> Any:
    """Lists that end beyond the values, as a stream says."""
    table, sink = lists([0, 2, 4, 6]), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    offsets = np.array([0, 2, 4, 6], np.int32).tobytes()
    damaged = sink.getvalue().replace(offsets, np.array([0, 2, 4, 60], np.int32).tobytes())
    return pa.ipc.open_stream(damaged).read_all()


def from_json() -> Any:
    """As pyarrow 26 reads lists of which the first begins with null."""
    rows = ['{"id": 0, "a": [null, 1.0]}', *(f'{{"id": {i}, "a": [{i}.25, {i}.5]}}' for i in range(1, 6))]
    table = pytest.importorskip("pyarrow.json").read_json(io.BytesIO("\n".join(rows).encode()))
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        return table
    pytest.skip("this pyarrow reads it right")


TABLES = {
    "back": lambda: lists([0, 2, 1, 6]),
    "before": lambda: lists([0, -5, 4, 6]),
    "beyond": beyond,
    "json": from_json,
    "text": texts,
}


def write(table: Any, path: Path, new: Callable[..., Any]) -> Path:
    with new(path, table.schema) as writer:
        writer.write_table(table)
    return path


DOORS: dict[str, Callable[[Any, Path], Any]] = {
    "table": lambda table, _: table,
    "batch": lambda table, _: table.to_batches()[0],
    "reader": lambda table, _: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    "splits": lambda table, _: {"train": table},
    "file": lambda table, path: write(table, path / "t.arrow", pa.ipc.new_file),
    "stream": lambda table, path: write(table, path / "t.arrows", pa.ipc.new_stream),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", TABLES)
def test_invalid_tables_are_refused(kind: str, door: str, tmp_path: Path) -> None:
    table = TABLES[kind]()
    try:
        source = DOORS[door](table, tmp_path)
    except pa.ArrowInvalid:
        pytest.skip("pyarrow does not write it")
    with pytest.raises(apldata.SourceError):
        apldata.convert(source, tmp_path / "db")
    assert not (tmp_path / "db" / "data.mdb").exists()


# Each bit that is flipped either does not matter, or is an error. Those that end the process fail the test.
FLIPS = r"""
import random, sys
import apldata
whole, folder = open(sys.argv[1], "rb").read(), sys.argv[2]
random.seed(int(sys.argv[3]))
for i in range(60):
    at = random.randrange(len(whole) * 8)
    damaged = bytearray(whole)
    damaged[at // 8] ^= 1 << at % 8
    path = f"{folder}/damaged.arrow"
    open(path, "wb").write(damaged)
    print(at, flush=True)
    try:
        apldata.convert(path, f"{folder}/db", replace=True)
    except apldata.Error:
        pass
"""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_files_with_a_flipped_bit(new: Callable[..., Any], seed: int, tmp_path: Path) -> None:
    table = pa.table({
        "n": pa.array(range(50), pa.int32()), "t": [f"text {i}" for i in range(50)],
        "l": [[float(i)] * (i % 4) for i in range(50)],
        "c": pa.array(["a", "b", "c", "a", "b"] * 10).dictionary_encode(),
        "b": [bytes([i] * (i % 5)) for i in range(50)],
    })  # fmt: skip
    path = write(table, tmp_path / "whole.arrow", new)
    command = [sys.executable, "-W", "ignore", "-c", FLIPS, str(path), str(tmp_path), str(seed)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"bit {ran.stdout.split()[-1:]}: {ran.returncode} {ran.stderr[-2000:]}"
