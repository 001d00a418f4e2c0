"""Hugging Face's Trainer over apldata.torch.DataLoader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ecosystem_tools import (
    BATCH,
    DIE_AT,
    EPOCHS,
    STEPS,
    apltorch,
    die,
    killed,
    model,
    test_loader,
    torch,
    train_loader,
    weights,
)

transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

pytestmark = pytest.mark.filterwarnings("ignore")
KEYS = {"image": "pixel_values", "label": "labels"}


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net, self.seen = model(), []

    def forward(self, pixel_values: Any, labels: Any) -> dict[str, Any]:
        if self.training:
            self.seen.append(labels.tolist())
        logits = self.net(pixel_values)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Trainer(transformers.Trainer):  # type: ignore[misc, name-defined]
    path: str

    def get_train_dataloader(self) -> Any:
        return self.accelerator.prepare(train_loader(self.path, as_dict=KEYS))

    def get_eval_dataloader(self, dataset: Any = None) -> Any:
        return test_loader(self.path, as_dict=KEYS)


class Die(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        if state.global_step == DIE_AT + 2:
            die()


def train(path: str, folder: str, resume: str | None = None, callbacks: Any = ()) -> Any:
    args = transformers.TrainingArguments(
        folder, num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, save_steps=DIE_AT, use_cpu=True,
        report_to=[], disable_tqdm=True, learning_rate=1e-3, max_grad_norm=0, logging_strategy="no",
    )  # fmt: skip
    trainer = Trainer(Net(), args, callbacks=list(callbacks))
    trainer.path = path
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def train_and_die(path: str, folder: str) -> None:
    train(path, folder, callbacks=[Die()])


def test_killed_in_mid_epoch(store_path: str, tmp_path: Path) -> None:
    whole = train(store_path, str(tmp_path / "whole"))
    assert len(whole.model.seen) == STEPS * EPOCHS
    killed(train_and_die, store_path, str(tmp_path / "killed"))
    rest = train(store_path, str(tmp_path / "rest"), str(tmp_path / f"killed/checkpoint-{DIE_AT}"))
    assert rest.model.seen == whole.model.seen[DIE_AT:]
    assert torch.equal(weights(rest.model), weights(whole.model))
    assert rest.evaluate().keys() >= {"eval_loss"}


def test_over_a_dataset(store_path: str, tmp_path: Path) -> None:
    """The Trainer's own loader, over our dataset."""
    data = apltorch.Dataset(store_path, transform=lambda image: image.float(), as_dict=KEYS)
    args = transformers.TrainingArguments(
        str(tmp_path),
        max_steps=3,
        per_device_train_batch_size=50,
        use_cpu=True,
        report_to=[],
        disable_tqdm=True,
    )
    net = Net()
    transformers.Trainer(net, args, train_dataset=data).train()
    assert [len(labels) for labels in net.seen] == [50] * 3
