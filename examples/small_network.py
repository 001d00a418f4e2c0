"""A small network, and the options of train_lightning.py, train_accelerate.py and train_huggingface.py."""

from __future__ import annotations

import argparse

from torch import nn

from apldata.transforms import RandomCrop, RandomFlip

CROPS = [RandomCrop(32, padding=4), RandomFlip()]


def network(classes: int = 10) -> nn.Sequential:
    """Three convolutions, for images of 32 x 32 pixels."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 128)):
        layers += [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 4 * 4, classes))


def arguments(doc: str | None, given: list[str] | None) -> argparse.Namespace:
    """The options of the three programs, whose docstrings explain them."""
    parser = argparse.ArgumentParser(description=(doc or "").split(":\n")[0])
    parser.add_argument("db", metavar="DB", help="a store with the splits train and test")
    parser.add_argument("out", metavar="OUT", help="a directory for checkpoints")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--every", type=int, default=100, metavar="N", help="steps between two checkpoints")
    parser.add_argument("--resume", metavar="PATH", help="a checkpoint to resume from")
    return parser.parse_args(given)
