"""Trains a small network with Hugging Face's Trainer:

    python examples/train_huggingface.py [--epochs N] [--batch-size N] [--every N] [--resume FOLDER] DB OUT

DB is a store of CIFAR-10 or its like, such as ``aplingest cifar-10-binary.tar.gz DB`` makes. Every N steps,
the Trainer saves OUT/checkpoint-STEP. ``--resume OUT/checkpoint-STEP`` resumes with the very next batch, even
within an epoch, and ends with the same weights as a run that never stopped: the Trainer skips the batches it
has already seen, and these are the same in every run.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers
from small_network import CROPS, arguments, network
from torch.nn import functional

from apldata.torch import DataLoader
from apldata.transforms import Normalize

KEYS = {"image": "pixel_values", "label": "labels"}  # as models of transformers call them


class Classifier(torch.nn.Module):
    """Takes and gives what models of transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.net = network()

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.net(pixel_values)
        return {"loss": functional.cross_entropy(logits, labels), "logits": logits}


class Trainer(transformers.Trainer):
    """The Trainer, with loaders of a store."""

    db: str

    def get_train_dataloader(self) -> Any:
        made = DataLoader(
            self.db,
            self.args.train_batch_size,
            split="train",
            shuffle=True,
            transforms=[*CROPS, Normalize()],
            as_dict=KEYS,
        )
        return self.accelerator.prepare(made)

    def get_eval_dataloader(self, eval_dataset: Any = None) -> Any:
        return self.accelerator.prepare(
            DataLoader(self.db, 500, split="test", transforms=[Normalize()], as_dict=KEYS)
        )


def accuracy(predicted: transformers.EvalPrediction) -> dict[str, float]:
    return {"accuracy": float((predicted.predictions.argmax(1) == predicted.label_ids).mean())}


def main(given: list[str] | None = None) -> Trainer:
    options = arguments(__doc__, given)
    transformers.set_seed(0)
    chosen = transformers.TrainingArguments(
        options.out,
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch_size,
        save_steps=options.every,
        learning_rate=1e-3,
        report_to=[],
    )
    trainer = Trainer(Classifier(), chosen, compute_metrics=accuracy)
    trainer.db = options.db
    trainer.train(resume_from_checkpoint=options.resume)
    print(f"accuracy: {trainer.evaluate()['eval_accuracy']:.1%}")
    return trainer


if __name__ == "__main__":
    main()
