"""Trains with ranks that may die, and goes on with those that are left:

    torchrun --nproc-per-node=4 --max-restarts=3 examples/train_elastic.py DB CHECKPOINT
    torchrun --nnodes=1:2 --nproc-per-node=4 --max-restarts=3 --rdzv-backend=c10d --rdzv-endpoint=HOST:PORT \\
        examples/train_elastic.py DB CHECKPOINT

When a rank dies, torchrun ends the others and restarts, with as many machines as are left. The ranks
resume from CHECKPOINT, which holds what belongs together: the network, where the loader stood, and the
receipts of what all ranks had been given of the epoch by then. Any number of ranks can resume from it. At the
end of each epoch the receipts show that the network was trained on each record exactly once.

DB is a store of images with classes, such as ``aplingest cifar-10-binary.tar.gz DB`` makes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

import apldata
from apldata.torch import DataLoader
from apldata.transforms import Normalize, RandomFlip

# -------------------------------------------------------------------------------------------- receipts


def added(receipts: list[dict[str, Any]]) -> dict[str, Any]:
    """What parts of an epoch come to, by several ranks and one after another."""
    counts = ("delivered", "skipped", "missing", "repeated")
    total = {name: sum(receipt[name] for receipt in receipts) for name in counts}
    total["dropped"] = max(receipt["dropped"] for receipt in receipts)  # of the whole epoch
    hashes = sum(int(receipt["sum"], 16) for receipt in receipts) % 2**128
    return {**total, "sum": f"{hashes:032x}"}


# --------------------------------------------------------------------------------------------- training


class Run:
    """A rank's part in training."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.store = apldata.Store(options.db)
        image, label = self.store.schema["image"], self.store.schema["label"]
        torch.manual_seed(options.seed)
        net = nn.Sequential(nn.Flatten(), nn.LazyLinear(len(label.classes or ())))
        net(torch.zeros(1, *image.shape))  # now it knows its shape
        self.loader = DataLoader(
            self.store,
            options.batch_size,
            shuffle=True,
            split="train",
            seed=options.seed,
            fields=["image", "label"],
            transforms=[RandomFlip(), Normalize()],
            lanes=options.lanes,
        )
        self.before: list[dict[str, Any]] = []  # receipts of this epoch, from before this run
        self.restore(net)
        self.net = nn.parallel.DistributedDataParallel(net)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=options.rate)

    def restore(self, net: nn.Module) -> None:
        """Goes on from the checkpoint, if there is one."""
        if not self.options.checkpoint.exists():
            return
        saved = torch.load(self.options.checkpoint, weights_only=True)
        net.load_state_dict(saved["net"])
        self.loader.load_state_dict(saved["loader"])
        self.before = saved["receipts"]
        if dist.get_rank() == 0:
            epoch, position = saved["loader"]["epoch"], saved["loader"]["position"]
            ranks = dist.get_world_size()
            print(f"resumed at epoch {epoch}, position {position}, with {ranks} ranks", flush=True)

    def receipts(self) -> list[dict[str, Any]]:
        """Of all ranks, and of those before them: one for all of this epoch up to now."""
        ranks: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(ranks, self.loader.receipt())
        return [added(self.before + ranks)]

    def save(self) -> None:
        """Writes the checkpoint, at once: whoever dies meanwhile, there is the old one or the new."""
        net, loader = self.net.module.state_dict(), self.loader.state_dict()
        state = {"net": net, "loader": loader, "receipts": self.receipts()}
        if dist.get_rank() == 0:
            path = self.options.checkpoint
            torch.save(state, path.with_suffix(".new"))
            os.replace(path.with_suffix(".new"), path)
        dist.barrier()

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> None:
        """Follows the mean over the rows of all ranks, of which one may have none at the end of an epoch."""
        rows = torch.tensor(float(len(labels)))
        dist.all_reduce(rows)
        loss = functional.cross_entropy(self.net(images), labels.long(), reduction="sum")
        self.optimizer.zero_grad()
        (loss * dist.get_world_size() / rows).backward()
        self.optimizer.step()

    def epoch(self, epoch: int) -> None:
        """What is left of an epoch."""
        for n, (images, labels) in enumerate(self.loader, 1):
            self.step(images, labels)
            if n % self.options.every == 0:
                self.save()
        (receipt,) = self.receipts()
        once = receipt["delivered"] == self.store.splits["train"].records and not receipt["repeated"]
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {receipt['delivered']} records, sum {receipt['sum']}", flush=True)
        if not once:
            raise SystemExit(f"epoch {epoch}: not each record once: {receipt}")
        self.before = []

    def run(self) -> None:
        """All epochs that are left."""
        for epoch in range(self.loader.epoch, self.options.epochs):
            self.epoch(epoch)


# ------------------------------------------------------------------------------------------ the program


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("db", metavar="DB", help="a store with the fields image and label")
    parser.add_argument("checkpoint", metavar="CHECKPOINT", type=Path, help="a file that all ranks can read")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64, help="of each rank")
    parser.add_argument("--every", type=int, default=10, help="steps from one checkpoint to the next")
    parser.add_argument("--lanes", type=int, default=1, help="12, and a rank decodes its own share only")
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> None:
    options = arguments(given)
    dist.init_process_group("gloo")  # RANK, WORLD_SIZE and an address, from torchrun
    try:
        Run(options).run()
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
