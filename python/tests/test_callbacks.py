"""Figures of a loader beside the losses: TensorBoard, Weights & Biases, Lightning, Prometheus."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apldata import Loader, Store
from apldata.callbacks import TensorBoard, Wandb, Watch, prometheus_text, write_prometheus

NAMES = {
    "records_per_second", "stall", "megabytes_read_per_second", "cores", "memory_megabytes", "queued",
    "wait_p99_milliseconds",
}  # fmt: skip


@pytest.fixture
def loader(store: Store) -> Iterator[Loader]:
    with Loader(store, "train", 100, threads=1) as loader:
        yield loader


class Sink:
    """What a SummaryWriter and a run have been given."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.seen.append((name, value, step))

    def log(self, figures: dict[str, float], step: int, commit: bool) -> None:
        self.seen.append((figures, step, commit))


def test_figures_are_of_what_happened_since(loader: Loader) -> None:
    watch = Watch(loader)
    assert watch.figures()["records_per_second"] == 0
    list(loader)
    figures = watch.figures()
    assert set(figures) == NAMES and all(isinstance(value, float) for value in figures.values())
    assert figures["records_per_second"] > 0 and 0 <= figures["stall"] <= 1
    assert watch.figures()["records_per_second"] == 0
    state = loader.state_dict()
    loader.load_state_dict(state)  # opens it again
    list(loader)
    list(loader)
    assert watch.figures()["records_per_second"] > 0
    with pytest.raises(TypeError, match="Loader"):
        Watch("db")  # type: ignore[arg-type]


def test_every_so_manyeth_step(loader: Loader) -> None:
    writer, run = Sink(), Sink()
    board = TensorBoard(loader, writer, every=4, prefix="train")
    wandb = Wandb(loader, run, every=3)
    for step, _ in enumerate(loader):
        board(10 * step)
        wandb()
    assert {name for name, *_ in writer.seen} == {f"train/{name}" for name in NAMES}
    assert {step for *_, step in writer.seen} == {30, 70}
    assert [(step, commit) for _, step, commit in run.seen] == [(3, False), (6, False), (9, False)]
    assert set(run.seen[0][0]) == {f"data/{name}" for name in NAMES}


def test_wrong_arguments(loader: Loader) -> None:
    with pytest.raises(TypeError, match="SummaryWriter"):
        TensorBoard(loader, object())
    with pytest.raises(TypeError, match=r"wandb\.init"):
        Wandb(loader, object())
    with pytest.raises((TypeError, ValueError), match="every"):
        TensorBoard(loader, Sink(), every=0)
    with pytest.raises(TypeError, match="names and loaders"):
        prometheus_text([loader])  # type: ignore[arg-type]


def test_prometheus_text(loader: Loader, tmp_path: Path) -> None:
    list(loader)
    content = prometheus_text({"train": loader, 'a "b"\\\n': loader})
    lines = content.splitlines()
    assert any(line.startswith('apl_loader_records_total{loader="train",store="') for line in lines)
    assert any(
        line.startswith('apl_loader_records_total{loader="a \\"b\\"\\\\\\n",store="') for line in lines
    )
    assert all(line.startswith(("# HELP apl_loader_", "# TYPE apl_loader_", "apl_loader_")) for line in lines)
    if shutil.which("promtool"):
        told = subprocess.run(["promtool", "check", "metrics"], input=content, capture_output=True, text=True)
        assert told.returncode == 0 and not told.stderr, told.stderr


def test_prometheus_file_is_replaced_as_a_whole(loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "apl.prom"
    path.write_text("before")
    write_prometheus({"train": loader}, path)
    assert path.read_text().startswith("# HELP") and os.listdir(tmp_path) == ["apl.prom"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    with pytest.raises(OSError):
        write_prometheus({"train": loader}, tmp_path / "absent" / "apl.prom")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_prometheus({"train": loader}, tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["apl.prom", "folder"]
