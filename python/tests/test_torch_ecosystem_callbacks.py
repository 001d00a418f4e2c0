"""Figures of a loader, by TensorBoard, Weights & Biases and Lightning themselves."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from apldata import Loader, Store
from apldata.callbacks import TensorBoard, Wandb
from apldata.callbacks import lightning as lightning_callback

with suppress(
    ImportError
):  # before TensorBoard loads TensorFlow, beside which Triton can no longer be loaded
    importlib.import_module("lightning.pytorch")

NAMES = {
    "records_per_second", "stall", "megabytes_read_per_second", "cores", "memory_megabytes", "queued",
    "wait_p99_milliseconds",
}  # fmt: skip


@pytest.fixture
def loader(store: Store) -> Iterator[Loader]:
    with Loader(store, "train", 100, threads=1) as loader:
        yield loader


def test_tensorboard(loader: Loader, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        watch = TensorBoard(loader, writer, every=5)
        for step, _ in enumerate(loader):
            watch(step)
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert set(events.Tags()["scalars"]) == {f"data/{name}" for name in NAMES}
    assert [event.step for event in events.Scalars("data/stall")] == [4, 9]


def test_wandb_offline(loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(mode="offline", dir=str(tmp_path), project="test") as run:
        watch = Wandb(loader, run, every=5, commit=True)
        for _ in loader:
            watch()
        assert run.summary["data/records_per_second"] > 0
    assert list(tmp_path.glob("wandb/offline-run-*"))


def test_lightning(loader: Loader) -> None:
    pytest.importorskip("lightning.pytorch")

    class Logger:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def log_metrics(self, figures: dict[str, float], step: int) -> None:
            self.seen.append((set(figures), step))

    class Trainer:
        loggers, global_step = [Logger(), Logger()], 0

    callback, trainer = lightning_callback(loader, every=2), Trainer()
    callback.on_train_start(trainer, None)
    for _ in loader:
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, None, None, None, 0)
    for logger in trainer.loggers:
        assert logger.seen == [({f"data/{name}" for name in NAMES}, step) for step in (2, 4, 6, 8, 10)]
