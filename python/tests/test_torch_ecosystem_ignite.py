"""PyTorch-Ignite over apldata.torch.DataLoader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ecosystem_tools import DIE_AT, EPOCHS, STEPS, check_killed, die, model, torch, train_loader, weights

engines = pytest.importorskip("ignite.engine")

pytestmark = pytest.mark.filterwarnings("ignore")


def train(path: str, file: str, resume: bool = False, die_at: int = 0) -> tuple[Any, list[Any]]:
    net, loader, seen = model(), train_loader(path), []
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    step = engines.create_supervised_trainer(net, optimizer, torch.nn.CrossEntropyLoss())

    @step.on(engines.Events.ITERATION_COMPLETED)
    def done(engine: Any) -> None:
        seen.append(engine.state.batch[1].tolist())
        if engine.state.iteration == DIE_AT and not resume:
            parts = {"net": net, "optimizer": optimizer, "engine": engine, "loader": loader}
            torch.save({name: part.state_dict() for name, part in parts.items()}, file)
        if engine.state.iteration == die_at:
            die()

    if resume:
        saved = torch.load(file, weights_only=False)
        for name, part in {"net": net, "optimizer": optimizer, "engine": step, "loader": loader}.items():
            part.load_state_dict(saved[name])
    step.run(loader, max_epochs=EPOCHS, epoch_length=STEPS)
    return weights(net), seen


def train_and_die(path: str, file: str) -> None:
    train(path, file, die_at=DIE_AT + 2)


def test_killed_in_mid_epoch(store_path: str, tmp_path: Path) -> None:
    check_killed(train, train_and_die, store_path, tmp_path)
