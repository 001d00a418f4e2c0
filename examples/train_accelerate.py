"""Trains a small network with Accelerate, on one process or, by `accelerate launch`, on many:

    python examples/train_accelerate.py [--epochs N] [--batch-size N] [--every N] [--resume FOLDER] DB OUT

DB is a store of CIFAR-10 or its like, such as ``aplingest cifar-10-binary.tar.gz DB`` makes. Every N steps,
a checkpoint is saved in OUT/step-STEP, with the loader's position in it. ``--resume OUT/step-STEP`` resumes
with the very next batch, even within an epoch, and ends with the same weights as a run that never stopped.
"""

from __future__ import annotations

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from small_network import CROPS, arguments, network
from torch.nn import functional

from apldata.torch import DataLoader
from apldata.transforms import Normalize


def main(given: list[str] | None = None) -> torch.nn.Module:
    options = arguments(__doc__, given)
    accelerator = Accelerator()
    set_seed(0)
    model = network()
    model, optimizer, train, test = accelerator.prepare(
        model,
        torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9),
        DataLoader(
            options.db, options.batch_size, split="train", shuffle=True, transforms=[*CROPS, Normalize()]
        ),
        DataLoader(options.db, 500, split="test", transforms=[Normalize()]),
    )
    step = 0
    if options.resume:
        accelerator.load_state(options.resume)
        step = int(options.resume.rpartition("-")[2])
    for epoch in range(train.epoch, options.epochs):
        model.train()
        for images, labels in train:
            accelerator.backward(functional.cross_entropy(model(images), labels))
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % options.every == 0:
                accelerator.save_state(f"{options.out}/step-{step}")
        accelerator.print(f"epoch {epoch}: accuracy {accuracy(accelerator, model, test):.1%}")
    accelerator.end_training()
    return accelerator.unwrap_model(model)


@torch.no_grad()
def accuracy(accelerator: Accelerator, model: torch.nn.Module, test: DataLoader) -> float:
    """Over all ranks, whose last batches may differ in length: counts are summed, which do not."""
    model.eval()
    counts = torch.zeros(2, device=accelerator.device)
    for images, labels in test:
        counts += torch.tensor([(model(images).argmax(1) == labels).sum(), len(labels)], device=counts.device)
    right, tested = accelerator.reduce(counts).tolist()
    return right / tested


if __name__ == "__main__":
    main()
