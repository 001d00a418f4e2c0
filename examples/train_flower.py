"""Federated training with Flower: each client trains on a store of its own, and only weights travel.

    aplingest cifar-10-binary.tar.gz DB
    apldata split DB client --clients 10 --dirichlet 0.5
    for i in 0 1 2 3 4 5 6 7 8 9; do apldata extract DB clients/$i --split client-$i; done
    python examples/train_flower.py [--rounds N] [--epochs N] [--batch-size N] [--json] DB clients

DB is the store with the split "test", on which the server tests the averaged network after each round.
`clients` is the folder of the clients' stores, one for each node of the simulation. In a real deployment each
client has its own store, and the functions below stay as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from torch import nn
from torch.nn import functional

import apldata
from apldata.torch import DataLoader
from apldata.transforms import Normalize, RandomCrop, RandomFlip

# ---------------------------------------------------------------------------------------------- network


def network(channels: int, classes: int) -> nn.Sequential:
    """A small convolutional network. It normalises groups: statistics of batches differ between clients."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((channels, 32), (32, 64), (64, 128)):
        layers += [
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.GroupNorm(8, outputs),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, classes))


def network_for(store: apldata.Store) -> nn.Sequential:
    image, label = fields(store)
    return network(store.schema[image].shape[0], len(store.schema[label].classes))


def fields(store: apldata.Store) -> list[str]:
    """The names of the images and of the labels with classes."""
    return [store.picture, next(one.name for one in store.schema if one.mark == "target" and one.classes)]


# ----------------------------------------------------------------------------------------------- client


def train(model: nn.Module, store: apldata.Store, options: argparse.Namespace, epoch: int) -> float:
    """Trains on the whole of a client's store, from its epoch number `epoch` on; returns the mean loss."""
    image, label = fields(store)
    size = store.schema[image].shape[1:]
    transforms = [RandomCrop(size, padding=4), RandomFlip(), Normalize(*options.moments)]
    with DataLoader(
        store,
        options.batch_size,
        shuffle=True,
        split=next(iter(store.splits)),
        transforms=transforms,
        fields=[image, label],
    ) as loader:
        optimizer = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=0.9)
        losses = []
        for number in range(epoch, epoch + options.epochs):
            loader.set_epoch(number)
            for images, labels in loader:
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(images), labels.long())
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    return sum(losses) / max(len(losses), 1)


def client_app(options: argparse.Namespace) -> ClientApp:
    app = ClientApp()

    @app.train()
    def _(message: Message, context: Context) -> Message:
        torch.set_num_threads(1)
        client, rounds = (
            int(context.node_config["partition-id"]),
            int(message.content["config"]["server-round"]),
        )
        with apldata.Store(str(options.stores[client])) as store:
            model = network_for(store)
            model.load_state_dict(message.content["arrays"].to_torch_state_dict())
            loss = train(model, store, options, epoch=(rounds - 1) * options.epochs)
            metrics = MetricRecord({"loss": loss, "num-examples": len(store)})
        content = RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics})
        return Message(content=content, reply_to=message)

    return app


# ----------------------------------------------------------------------------------------------- server


@torch.no_grad()
def accuracy(model: nn.Module, store: apldata.Store, options: argparse.Namespace) -> float:
    """The share of the split "test" that the network classifies correctly."""
    model.eval()
    right = 0
    transforms = [Normalize(*options.moments)]
    with DataLoader(
        store, 500, shuffle=False, split="test", transforms=transforms, fields=fields(store)
    ) as loader:
        for images, labels in loader:
            right += int((model(images).argmax(1) == labels).sum())
    return right / store.splits["test"].records


def server_app(options: argparse.Namespace, told: list[float]) -> ServerApp:
    app = ServerApp()

    @app.main()
    def _(grid: Grid, context: Context) -> None:
        with apldata.Store(options.store) as store:
            model = network_for(store)

            def evaluate(round_number: int, arrays: ArrayRecord) -> MetricRecord:
                model.load_state_dict(arrays.to_torch_state_dict())
                told.append(accuracy(model, store, options))
                return MetricRecord({"accuracy": told[-1]})

            count = options.client_count
            strategy = FedAvg(fraction_evaluate=0, min_train_nodes=count, min_available_nodes=count)
            strategy.start(grid, ArrayRecord(model.state_dict()), options.rounds, evaluate_fn=evaluate)

    return app


# ------------------------------------------------------------------------------------------------- main


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Trains one network on the stores of many clients, with Flower."
    )
    parser.add_argument("store", metavar="DB")
    parser.add_argument("clients", type=Path, help="a folder with a store for each client: 0, 1, ...")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1, help="of each client in each round")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rate", type=float, default=0.05)
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    options = parser.parse_args(given)
    options.clients = options.clients.resolve()
    found = [path.parent for path in options.clients.glob("*/data.mdb")]
    options.stores = sorted(found, key=lambda path: (len(path.name), path.name))  # none for no records
    options.client_count = len(options.stores)
    if not options.client_count:
        parser.error(f"{options.clients}: there is no client's store")
    with apldata.Store(options.store) as store:
        options.moments = [(m / 255).tolist() for m in store.moments("train")]  # of images from 0 to 1
    return options


def main(given: list[str] | None = None) -> list[float]:
    """Returns the accuracy before training, and after each round."""
    options = arguments(given)
    told: list[float] = []
    workers: dict[str, Any] = {"client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(
        server_app(options, told), client_app(options), options.client_count, backend_config=workers
    )
    print("accuracy:", ", ".join(f"{share:.1%}" for share in told))
    if options.json:
        print(json.dumps({"clients": options.client_count, "accuracy": told}))
    return told


if __name__ == "__main__":
    main()
