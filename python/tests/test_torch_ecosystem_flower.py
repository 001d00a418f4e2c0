"""examples/train_flower.py: clients train on stores of their own, and their union is the data set."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata

pytest.importorskip("torch")
pytest.importorskip("flwr")
pytest.importorskip("ray")

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "train_flower.py"
COMMAND = Path(apldata.__path__[0]) / "bin" / "apldata"
CLIENTS = 3


@pytest.fixture(scope="module")
def program() -> Any:
    if not PROGRAM.is_file():
        pytest.skip("the examples are not here")
    spec = importlib.util.spec_from_file_location("train_flower", PROGRAM)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clients_train(program: Any, store_path: str, drawn: Any, tmp_path: Path) -> None:
    store = apldata.Store(store_path)
    parts = store.clients("flower", CLIENTS, dirichlet=0.5)
    (tmp_path / "clients").mkdir()
    taken = []
    for i, part in enumerate(parts):
        to = tmp_path / "clients" / str(i)
        extract = ("extract", "-q", "--split", part.name, store_path, str(to))
        subprocess.run([COMMAND, *extract], check=True)
        taken.append(apldata.Store(str(to)).to_numpy(part.name)["image"])
    assert [len(images) for images in taken] == [part.records for part in parts]
    union, train = (
        np.sort(images.reshape(len(images), -1).view("V3072"), axis=0)
        for images in (np.concatenate(taken), drawn["train"]["image"])
    )
    assert np.array_equal(union, train)
    told = program.main(["--rounds", "1", store_path, str(tmp_path / "clients")])
    assert len(told) == 2
    assert all(0 <= share <= 1 for share in told)
