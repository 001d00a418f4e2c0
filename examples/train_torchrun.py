"""Trains a small network with several processes, for which one reader decodes:

    torchrun --standalone --nproc-per-node 4 examples/train_torchrun.py [--epochs N] [--checkpoint FILE] DB

DB is a store of images of one size, with classes. With share="node", the first process starts a server that
reads for all of them: each block is decoded once, and the decoded images are in memory once. Each process
gets the batches that a loader of its own would give it. If the job is started again, it goes on from the
checkpoint, with the very next batch.
"""

from __future__ import annotations

import argparse
import os

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

import apldata
from apldata.torch import DataLoader
from apldata.transforms import Normalize, RandomFlip


def network(store: apldata.Store) -> nn.Module:
    channels = store.schema["image"].shape[0]
    return nn.Sequential(
        nn.Conv2d(channels, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, len(store.classes or ())),
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("db")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=64, help="of each process")
    parser.add_argument("--checkpoint", default="")
    asked = parser.parse_args(arguments)

    distributed.init_process_group("gloo")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    store = apldata.Store(asked.db)
    model = DistributedDataParallel(network(store))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(
        store, asked.batch_size, split="train", shuffle=True, drop_last=True, share="node",
        transforms=[RandomFlip(), Normalize()],
    )  # fmt: skip
    if os.path.exists(asked.checkpoint):
        saved = torch.load(asked.checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        loader.load_state_dict(saved["loader"])  # on all ranks: they go there together

    for epoch in range(loader.epoch, asked.epochs):
        loss = torch.zeros(())
        for image, label in loader:
            loss = nn.functional.cross_entropy(model(image), label.long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        distributed.all_reduce(loss.detach_())
        if distributed.get_rank() == 0:
            print(f"epoch {epoch}: loss {loss.item() / distributed.get_world_size():.3f}", flush=True)
            if asked.checkpoint:
                torch.save({"model": model.state_dict(), "loader": loader.state_dict()}, asked.checkpoint)
    loader.close()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
