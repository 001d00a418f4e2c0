"""Trains a small residual network on the images of a store, and tests it after every epoch:

    python examples/train_torch.py [--loader apl|device|torch] [--epochs N] [--seconds S] DB

DB is a store of CIFAR-10 or its like, such as ``aplingest cifar-10-binary.tar.gz DB`` makes. The loaders:

    apl      apldata.torch.DataLoader: decoded and augmented by the library's threads
    device   apldata.torch.DeviceLoader: the decoded split lies on the device, and is augmented there
    torch    torch's own DataLoader, over the decoded split in memory, augmented image by image in Python

At the end it prints five figures: rounds in the time taken, images a second, memory, the time of inference,
and utilisation. "stall" is the share of training time spent waiting for batches; on a GPU, utilisation
is the share in which the GPU was busy with training steps.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional

import apldata
from apldata.torch import CudaPrefetcher, DataLoader, DeviceLoader
from apldata.transforms import Normalize, RandomCrop, RandomFlip, ToBFloat16, Transform

PADDING = 4
PEAK = 0.25  # of the learning rate's multiple, by the part of training that is done

# --------------------------------------------------------------------------------------------- network


class Unit(nn.Sequential):
    """Convolution, normalisation, rectification; halved in height and width if `pools`."""

    def __init__(self, inputs: int, outputs: int, pools: bool = False) -> None:
        layers: list[nn.Module] = [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)]
        layers += [nn.MaxPool2d(2)] if pools else []
        super().__init__(*layers, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class Residual(nn.Module):
    """Two units, around which their input is led."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.units = nn.Sequential(Unit(channels, channels), Unit(channels, channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.units(x)


def network(channels: int, classes: int, width: int) -> nn.Module:
    """A residual network of eight convolutions, for small images; `width` channels at first."""
    return nn.Sequential(
        Unit(channels, width),
        Unit(width, 2 * width, pools=True),
        Residual(2 * width),
        Unit(2 * width, 4 * width, pools=True),
        Unit(4 * width, 8 * width, pools=True),
        Residual(8 * width),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(8 * width, classes),
    )


# --------------------------------------------------------------------------------------------- loaders


class Images(torch.utils.data.Dataset):
    """A decoded split in memory, augmented image by image, as scripts do it by hand."""

    def __init__(self, store: apldata.Store, split: str, augments: bool) -> None:
        decoded = store.to_numpy(split)
        self.images, self.labels = (torch.from_numpy(decoded[name]) for name in fields(store))
        self.labels = self.labels.long()
        mean, std = (torch.from_numpy(m).float()[:, None, None] for m in store.moments("train"))
        self.mean, self.std, self.augments = mean, std, augments

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        image = self.images[i]
        if self.augments:
            height, width = image.shape[1:]
            padded = functional.pad(image, (PADDING,) * 4)
            top, left = torch.randint(0, 2 * PADDING + 1, (2,)).tolist()
            image = padded[:, top : top + height, left : left + width]
            image = image.flip(2) if torch.rand(()) < 0.5 else image
        return (image - self.mean) / self.std, self.labels[i]


def fields(store: apldata.Store) -> list[str]:
    """The names of the images and of the labels with classes."""
    labels = [one.name for one in store.schema if one.mark == "target" and one.classes]
    if not labels:
        raise SystemExit(f"{store.path}: there are no labels with classes to learn")
    shape = store.schema[store.picture].shape
    if len(shape) != 3 or -1 in shape:
        raise SystemExit(f"{store.path}: the images vary in size: docs/DATA.md has a program for photographs")
    return [store.picture, labels[0]]


def transforms(options: argparse.Namespace, store: apldata.Store, training: bool) -> list[Transform]:
    """What is done to images before the network sees them."""
    size = store.schema[store.picture].shape[1:]
    chosen: list[Transform] = [RandomCrop(size, padding=PADDING), RandomFlip()] if training else []
    return [*chosen, Normalize(), *([ToBFloat16()] if options.precision == "bf16" else [])]


def loader(options: argparse.Namespace, store: apldata.Store, split: str) -> Any:
    """Batches (images, labels) on the device, in each iteration those of an epoch."""
    training, device = split == "train", options.device
    size = options.batch_size if training else 1000
    if options.loader == "torch":
        return _torch_loader(options, store, split, size)
    chosen: dict[str, Any] = {
        "split": split,
        "batch_size": size,
        "shuffle": training,
        "drop_last": training,
        "seed": options.seed,
        "fields": fields(store),
        "transforms": transforms(options, store, training),
    }
    if options.loader == "device":
        return DeviceLoader(store, device=device, channels_last=device.type == "cuda", **chosen)
    made = DataLoader(store, num_workers=options.threads, pin_memory=device.type == "cuda", **chosen)
    return CudaPrefetcher(made, device) if device.type == "cuda" else made


def _torch_loader(options: argparse.Namespace, store: apldata.Store, split: str, size: int) -> Any:
    training, cuda = split == "train", options.device.type == "cuda"
    workers = max(1, len(os.sched_getaffinity(0)) - 1) if options.threads is None else options.threads
    made: Any = torch.utils.data.DataLoader(
        Images(store, split, augments=training),
        batch_size=size,
        shuffle=training,
        drop_last=training,
        num_workers=workers,
        persistent_workers=workers > 0,
        pin_memory=cuda,
        generator=torch.Generator().manual_seed(options.seed),
    )
    return CudaPrefetcher(made, options.device) if cuda else made


# -------------------------------------------------------------------------------------------- training


@dataclass
class Figures:
    """What training came to. Seconds are of training alone, without tests."""

    loader: str
    device: str
    rounds: float = 0.0  # over the training images
    steps: int = 0
    images: int = 0
    seconds: float = 0.0
    waited: float = 0.0  # seconds, for batches
    busy: float = 0.0  # seconds: a GPU's at training steps, or the processor's
    cores: int = 1
    accuracy: float = 0.0
    tested: int = 0
    inference: float = 0.0  # seconds, of the last test
    memory: int = 0  # bytes, the most that were resident
    device_memory: int = 0
    losses: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.images / max(self.seconds, 1e-9)

    @property
    def stall(self) -> float:
        return self.waited / max(self.seconds, 1e-9)

    @property
    def utilisation(self) -> float:
        return self.busy / max(self.seconds * self.cores, 1e-9)


class Training:
    """A network in training, and its figures."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.device = options, options.device
        self.cuda = self.device.type == "cuda"
        self.store = apldata.Store(options.db)
        self.figures = Figures(options.loader, str(self.device))
        torch.manual_seed(options.seed)
        self.train, self.test = (loader(options, self.store, split) for split in ("train", "test"))
        channels, classes = self.store.schema[self.store.picture].shape[0], self._classes()
        net = network(channels, classes, options.width or (64 if self.cuda else 8))
        self.net = net.to(self.device, memory_format=torch.channels_last)
        self.forward: Any = torch.compile(self.net) if options.compile else self.net
        self.optimizer = torch.optim.SGD(
            self.net.parameters(), lr=options.rate, momentum=0.9, nesterov=True, weight_decay=5e-4
        )
        self.spans: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    def _classes(self) -> int:
        return len(self.store.schema[fields(self.store)[1]].classes or ())

    def precision(self) -> AbstractContextManager[Any]:
        halved = self.options.precision == "bf16"
        return torch.autocast(self.device.type, torch.bfloat16) if halved else nullcontext()

    def done(self) -> float:
        """The part of training that is done."""
        options, figures = self.options, self.figures
        limits = (
            (options.epochs, figures.rounds),
            (options.seconds, figures.seconds),
            (options.steps, figures.steps),
        )
        return min(1.0, max(have / limit for limit, have in limits if limit))

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """One step down the gradient; the loss, on the device."""
        done = self.done()
        for group in self.optimizer.param_groups:  # up, then down, in straight lines
            group["lr"] = self.options.rate * min(done / PEAK + 0.05, (1 - done) / (1 - PEAK) + 0.001)
        with self.precision():
            images = images.contiguous(memory_format=torch.channels_last)
            loss = functional.cross_entropy(self.forward(images), labels, label_smoothing=0.1)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def _span(self) -> AbstractContextManager[Any]:
        """Notes when the GPU begins and ends what is given to it inside."""
        return _Span(self.spans) if self.cuda else nullcontext()

    def epoch(self) -> None:
        """Learns from the training images, each once, or until the time is up."""
        figures, batches = self.figures, len(self.train)
        self.net.train()
        loss, before = torch.zeros((), device=self.device), (figures.steps, figures.seconds)
        begun, worked = time.perf_counter(), time.process_time()
        for images, labels in self._timed(self.train):
            with self._span():
                loss += self.step(images, labels)
            figures.steps += 1
            figures.images += len(labels)
            figures.rounds = figures.steps / batches
            figures.seconds = before[1] + time.perf_counter() - begun
            if self.done() >= 1:
                break
        figures.losses.append(loss.item() / max(figures.steps - before[0], 1))  # waits for the GPU
        figures.seconds = before[1] + time.perf_counter() - begun
        if self.cuda:
            figures.busy += sum(start.elapsed_time(end) for start, end in self.spans) / 1e3
            self.spans.clear()
        else:
            figures.busy += time.process_time() - worked

    def _timed(self, batches: Any) -> Iterator[Any]:
        """The batches, with the time noted that they were waited for."""
        iterator = iter(batches)
        while True:
            begun = time.perf_counter()
            batch = next(iterator, None)
            self.figures.waited += time.perf_counter() - begun
            if batch is None:
                return
            yield batch

    @torch.inference_mode()
    def evaluate(self) -> None:
        """Tests the network, on the test images as they are."""
        self.net.eval()
        begun = time.perf_counter()
        right, tested = torch.zeros((), dtype=torch.int64, device=self.device), 0
        for images, labels in self.test:
            with self.precision():
                images = images.contiguous(memory_format=torch.channels_last)
                right += (self.forward(images).argmax(1) == labels).sum()
            tested += len(labels)
        self.figures.accuracy = right.item() / max(tested, 1)
        self.figures.tested = tested
        self.figures.inference = time.perf_counter() - begun

    def run(self) -> Figures:
        """Trains until epochs or seconds are over."""
        figures, epoch = self.figures, 0
        while self.done() < 1:
            self.epoch()
            self.evaluate()
            epoch += 1
            print(
                f"epoch {epoch:2d}  {figures.seconds:7.1f} s  loss {figures.losses[-1]:.3f}  "
                f"accuracy {100 * figures.accuracy:.2f} %",
                flush=True,
            )
        figures.cores = 1 if self.cuda else len(os.sched_getaffinity(0))
        figures.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        figures.device_memory = torch.cuda.max_memory_allocated() if self.cuda else 0
        return figures


class _Span:
    def __init__(self, spans: list[tuple[torch.cuda.Event, torch.cuda.Event]]) -> None:
        self._spans = spans

    def __enter__(self) -> None:
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._start.record()

    def __exit__(self, *error: object) -> None:
        self._end.record()
        self._spans.append((self._start, self._end))


# ------------------------------------------------------------------------------------------- the program


def report(figures: Figures) -> None:
    """The five figures, for people."""
    f = figures
    on_device = f", {f.device_memory / 2**20:,.0f} MiB on the GPU" if f.device_memory else ""
    of = "of the time at training steps" if f.device_memory else f"of {f.cores} cores"
    print(f"loader       {f.loader}, on {f.device}")
    print(f"rounds       {f.rounds:.2f} in {f.seconds:.1f} s; accuracy {100 * f.accuracy:.2f} %")
    print(f"speed        {f.speed:,.0f} images/s, stall {100 * f.stall:.2f} %")
    print(f"memory       {f.memory / 2**20:,.0f} MiB{on_device}")
    each = 1e6 * f.inference / max(f.tested, 1)
    print(f"inference    {f.tested:,} images in {f.inference:.2f} s, {each:.1f} µs each")
    print(f"utilisation  {100 * f.utilisation:.1f} % {of}")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("db", metavar="DB", help="a store with the splits train and test")
    parser.add_argument("--loader", choices=("apl", "device", "torch"), default="apl")
    parser.add_argument("--epochs", type=float, help="to train for; 5, if nothing is said")
    parser.add_argument("--seconds", type=float, help="to train for, tests left out")
    parser.add_argument("--steps", type=int, help="of the optimizer, to train for")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--threads", type=int, help="that make batches (torch: processes)")
    parser.add_argument("--width", type=int, help="channels of the first layer: 8 on a CPU, 64 on a GPU")
    parser.add_argument("--rate", type=float, default=0.1, help="of learning, at its peak")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", type=torch.device, help="cpu or cuda: cuda if there is one")
    parser.add_argument("--precision", choices=("f32", "bf16"), help="bf16 on a GPU, else f32")
    parser.add_argument("--compile", action="store_true", help="the network, with torch.compile")
    parser.add_argument("--json", action="store_true", help="tell the figures as JSON too")
    options = parser.parse_args(given)
    options.device = options.device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    options.precision = options.precision or ("bf16" if options.device.type == "cuda" else "f32")
    if not (options.epochs or options.seconds or options.steps):
        options.epochs = 5
    return options


def main(given: list[str] | None = None) -> Figures:
    options = arguments(given)
    torch.backends.cudnn.benchmark = True
    figures = Training(options).run()
    report(figures)
    if options.json:
        derived = {name: getattr(figures, name) for name in ("speed", "stall", "utilisation")}
        print(json.dumps({**asdict(figures), **derived}))
    return figures


if __name__ == "__main__":
    main()
