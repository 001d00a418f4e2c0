"""examples/train_torch.py: a few steps with each of its loaders."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import apldata

torch = pytest.importorskip("torch")

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "train_torch.py"
LOADERS = ("apl", "device", "torch")
FIGURES = ("rounds", "speed", "memory", "inference", "utilisation")


@pytest.fixture(scope="module")
def program() -> Any:
    if not PROGRAM.is_file():
        pytest.skip("the examples are not here")
    spec = importlib.util.spec_from_file_location("train_torch", PROGRAM)
    assert spec and spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    sys.modules["train_torch"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["train_torch"]


@pytest.mark.parametrize("loader", LOADERS)
def test_a_few_steps(program: Any, store_path: str, loader: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--steps", "3", "--batch-size", "64", "--width", "4", "--threads", "0", "--device", "cpu"]
    figures = program.main([*options, "--loader", loader, "--json", store_path])
    assert (figures.images, figures.tested, figures.loader) == (3 * 64, 300, loader)
    assert 0 < figures.waited < figures.seconds
    assert 1 < figures.losses[0] < 5
    told = capsys.readouterr().out
    for figure in FIGURES:
        assert f"\n{figure} " in told
    assert json.loads(told.splitlines()[-1])["rounds"] == pytest.approx(3 / 15)


def test_whole_epochs(program: Any, store_path: str) -> None:
    options = ["--epochs", "2", "--batch-size", "250", "--width", "4", "--threads", "0", "--device", "cpu"]
    figures = program.main([*options, store_path])
    assert (figures.rounds, figures.steps, figures.images, len(figures.losses)) == (2, 8, 2000, 2)


def test_time_ends_it(program: Any, store_path: str) -> None:
    options = ["--seconds", "0.5", "--batch-size", "50", "--width", "4", "--threads", "0", "--device", "cpu"]
    figures = program.main([*options, store_path])
    assert figures.seconds >= 0.5
    assert figures.rounds > 0


@pytest.mark.parametrize("loader", LOADERS)
def test_images_are_the_same(program: Any, store_path: str, loader: str) -> None:
    """What the network is tested with does not depend on the loader."""
    options = program.arguments(["--loader", loader, "--threads", "0", "--device", "cpu", store_path])
    store = program.apldata.Store(store_path)
    decoded = store.to_numpy("test")
    mean, deviation = (m[:, None, None] for m in store.moments("train"))
    ((images, labels),) = list(program.loader(options, store, "test"))
    expected = torch.from_numpy((decoded["image"] - mean) / deviation).float()
    assert torch.allclose(images, expected, atol=1e-5)
    assert torch.equal(labels, torch.from_numpy(decoded["label"]).long())


def test_photographs_are_for_another_program(program: Any, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for name in ("cats/1.jpg", "dogs/1.jpg"):
        (tmp_path / "photos" / name).parent.mkdir(parents=True)
        image.new("RGB", (40, 30)).save(tmp_path / "photos" / name)
    apldata.ingest(tmp_path / "photos", tmp_path / "db")
    with pytest.raises(SystemExit, match="the images vary in size"):
        program.main(["--steps", "1", "--device", "cpu", str(tmp_path / "db")])
