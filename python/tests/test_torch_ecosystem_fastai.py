"""fastai over apldata.torch.DataLoader."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
from ecosystem_tools import (
    DIE_AT,
    EPOCHS,
    check_killed,
    die,
    model,
    test_loader,
    torch,
    train_loader,
    weights,
)

fastai = pytest.importorskip("fastai.learner")
data = pytest.importorskip("fastai.data.core")
optimizers = pytest.importorskip("fastai.optimizer")

pytestmark = pytest.mark.filterwarnings("ignore")


class Watch(fastai.Callback):  # type: ignore[misc, name-defined]
    """Saves after DIE_AT steps, and dies."""

    def __init__(self, loader: Any, file: str, step: int, die_at: int) -> None:
        super().__init__()
        self.loader, self.file, self.step, self.die_at, self.seen = loader, file, step, die_at, []

    def after_batch(self) -> None:
        if not self.training:
            return
        self.seen.append(self.yb[0].tolist())
        self.step += 1
        if self.step == DIE_AT and self.die_at:
            state = {
                "net": self.model.state_dict(),
                "opt": self.opt.state_dict(),
                "loader": self.loader.state_dict(),
            }
            torch.save(state, self.file)
        if self.step == self.die_at:
            die()


def train(path: str, file: str, resume: bool = False, die_at: int = 0) -> tuple[Any, list[Any]]:
    net, loader = model(), train_loader(path)
    learner = fastai.Learner(
        data.DataLoaders(loader, test_loader(path), device="cpu"), net, loss_func=torch.nn.CrossEntropyLoss(),
        opt_func=optimizers.SGD, lr=1e-3,
    )  # fmt: skip
    if resume:
        saved = torch.load(file, weights_only=False)
        loader.load_state_dict(saved["loader"])
        net.load_state_dict(saved["net"])
        learner.create_opt()
        learner.opt.load_state_dict(saved["opt"])
    watch = Watch(loader, file, DIE_AT if resume else 0, die_at)
    with contextlib.redirect_stdout(io.StringIO()):
        learner.fit(EPOCHS - loader.epoch, cbs=[watch])
    return weights(net), watch.seen


def train_and_die(path: str, file: str) -> None:
    train(path, file, die_at=DIE_AT + 2)


def test_killed_in_mid_epoch(store_path: str, tmp_path: Path) -> None:
    check_killed(train, train_and_die, store_path, tmp_path)
