"""Trains a small network with PyTorch Lightning, which keeps the loader's position in its checkpoints:

    python examples/train_lightning.py [--epochs N] [--batch-size N] [--every N] [--resume FILE] DB OUT

DB is a store of CIFAR-10 or its like, such as ``aplingest cifar-10-binary.tar.gz DB`` makes. Every N steps, a
checkpoint is saved in OUT. ``--resume OUT/last.ckpt`` resumes with the very next batch, even within an epoch,
and ends with the same weights as a run that never stopped.
"""

from __future__ import annotations

from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from small_network import CROPS, arguments, network
from torch.nn import functional

from apldata.torch import DataLoader
from apldata.transforms import Normalize


class Classifier(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = network()

    def training_step(self, batch: Any, index: int) -> torch.Tensor:
        loss = functional.cross_entropy(self.net(batch.image), batch.label)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Any, index: int) -> None:
        right = (self.net(batch.image).argmax(1) == batch.label).float().mean()
        self.log("accuracy", right, batch_size=len(batch.label), prog_bar=True)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


def main(given: list[str] | None = None) -> lightning.Trainer:
    options = arguments(__doc__, given)
    lightning.seed_everything(0)
    train = DataLoader(
        options.db, options.batch_size, split="train", shuffle=True, transforms=[*CROPS, Normalize()]
    )
    test = DataLoader(options.db, 500, split="test", transforms=[Normalize()])
    saves = ModelCheckpoint(options.out, every_n_train_steps=options.every, save_last=True, save_top_k=-1)
    trainer = lightning.Trainer(
        max_epochs=options.epochs,
        accelerator="auto",
        callbacks=[saves],
        logger=False,
        default_root_dir=options.out,
    )
    trainer.fit(Classifier(), train, test, ckpt_path=options.resume)
    print(f"accuracy: {trainer.callback_metrics['accuracy']:.1%}")
    return trainer


if __name__ == "__main__":
    main()
