"""Lightning's Trainer and Fabric over apldata.torch.DataLoader."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from ecosystem_tools import (
    DIE_AT,
    EPOCHS,
    STEPS,
    die,
    killed,
    model,
    run_script,
    test_loader,
    torch,
    train_loader,
    weights,
)

lightning = pytest.importorskip("lightning")
checkpoints = pytest.importorskip("lightning.pytorch.callbacks")

pytestmark = pytest.mark.filterwarnings("ignore")


class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
    def __init__(self, die_at: int = 0) -> None:
        super().__init__()
        self.net, self.die_at, self.seen = model(), die_at, []

    def training_step(self, batch: Any, index: int) -> Any:
        if self.die_at and self.global_step == self.die_at:
            die()
        images, labels = batch
        self.seen.append(labels.tolist())
        return torch.nn.functional.cross_entropy(self.net(images), labels)

    def validation_step(self, batch: Any, index: int) -> None:
        self.log("loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

    def predict_step(self, batch: Any, index: int) -> Any:
        return self.net(batch[0]).argmax(1)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 1e-3, momentum=0.9)


def trainer(folder: Path, *callbacks: Any, **options: Any) -> Any:
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    given = {"enable_checkpointing": bool(callbacks), "max_epochs": EPOCHS, **options}
    return lightning.Trainer(
        accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=folder, callbacks=list(callbacks), **given,
    )  # fmt: skip


def fit(path: str, folder: str, die_at: int = 0, resume: str | None = None, **saved: Any) -> Any:
    saves = checkpoints.ModelCheckpoint(folder, filename="{step}", save_top_k=-1, **saved)
    module = Module(die_at)
    trainer(Path(folder), saves).fit(module, train_loader(path), test_loader(path), ckpt_path=resume)
    return module


def fit_and_die(path: str, folder: str) -> None:
    fit(path, folder, die_at=DIE_AT + 1, every_n_train_steps=DIE_AT)


def test_killed_in_mid_epoch(store_path: str, tmp_path: Path) -> None:
    whole = fit(store_path, str(tmp_path / "whole"))
    assert len(whole.seen) == STEPS * EPOCHS
    killed(fit_and_die, store_path, str(tmp_path / "killed"))
    rest = fit(store_path, str(tmp_path / "rest"), resume=str(tmp_path / f"killed/step={DIE_AT}.ckpt"))
    assert rest.seen == whole.seen[DIE_AT:] and torch.equal(weights(rest), weights(whole))


def test_resumed_at_the_end_of_an_epoch(store_path: str, tmp_path: Path) -> None:
    """As ModelCheckpoint saves by default."""
    whole = fit(store_path, str(tmp_path / "whole"))
    for epoch in (1, 2):
        resume = str(tmp_path / f"whole/step={STEPS * epoch}.ckpt")
        rest = fit(store_path, str(tmp_path / f"rest{epoch}"), resume=resume)
        assert rest.seen == whole.seen[STEPS * epoch :] and torch.equal(weights(rest), weights(whole))


def test_overfit_batches_and_predict(store_path: str, tmp_path: Path) -> None:
    module = Module()
    loader = train_loader(store_path, ids=range(500, 1000))
    trainer(tmp_path, overfit_batches=2, max_epochs=2).fit(module, loader, test_loader(store_path))
    assert module.seen[:2] == module.seen[2:] and len(module.seen) == 4
    inside = train_loader(store_path, ids=range(500, 1000), shuffle=False)
    assert module.seen[:2] == [labels.tolist() for _, labels in inside][:2]
    predicted = trainer(tmp_path).predict(module, test_loader(store_path))
    assert sum(map(len, predicted)) == 300


def test_fabric(store_path: str) -> None:
    fabric = lightning.Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    loader = fabric.setup_dataloaders(train_loader(store_path))
    for _ in range(2):
        seen = [labels.tolist() for _, labels in loader]
        assert len(seen) == STEPS
    plain = train_loader(store_path, first_epoch=1)
    assert seen == [labels.tolist() for _, labels in plain]


DDP = """
import json, sys
import torch
from test_torch_ecosystem_lightning import Module
from ecosystem_tools import test_loader, train_loader
import lightning

class Ids(Module):
    def training_step(self, batch, index):
        self.seen.append(batch["id"].tolist())
        return self.net(batch["image"]).square().mean()

def ids(samples):
    return {"id": torch.from_numpy(samples.ids.astype("int64")), "image": torch.from_numpy(samples["image"])}

if __name__ == "__main__":
    path, out = sys.argv[1:]
    loader = train_loader(path, collate_fn=ids)     # made before there is a process group
    module = Ids()
    trainer = lightning.Trainer(accelerator="cpu", strategy="ddp", devices=2, max_epochs=2, logger=False,
                                enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(module, loader, test_loader(path))
    with open(f"{out}/{trainer.global_rank}.json", "w") as file:
        json.dump(module.seen, file)
"""


def test_ddp_on_two_processes(store_path: str, tmp_path: Path) -> None:
    run_script(DDP, tmp_path, store_path, str(tmp_path))
    seen = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2)]
    assert len(seen[0]) == len(seen[1]) == STEPS
    for epoch in range(2):
        steps = slice(epoch * STEPS // 2, (epoch + 1) * STEPS // 2)
        assert sorted(i for rank in seen for ids in rank[steps] for i in ids) == list(range(1000))
