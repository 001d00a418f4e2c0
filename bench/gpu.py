"""A GPU fed by APL, beside its limits: gpu.py [--cifar STORE] [--photos STORE [--images FOLDER]] [--scale N]

Needs apldata and PyTorch; for photographs torchvision too. STOREs are what `aplingest` makes of CIFAR-10's
archive, and of FOLDER, which holds photographs, a folder for each class; torchvision's own loader reads it.
Wall time; forms take turns, and the best of ROUNDS counts. "The limit" is the same work with nothing to load:
one batch, again and again. Without a GPU everything runs on the CPU, which shows only that it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import torch

import apldata
from apldata.torch import CudaPrefetcher, DataLoader, DeviceLoader
from apldata.transforms import Normalize, RandomCrop, RandomFlip, RandomResizedCrop, ToBFloat16

ROUNDS = 3
BATCH = 512  # of CIFAR
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CORES = len(os.sched_getaffinity(0))
AUGMENTED = [RandomCrop(32, padding=4), RandomFlip(), Normalize()]
FORMS = {"u8": [], "f32": AUGMENTED, "bf16": [*AUGMENTED, ToBFloat16()]}

Work = Callable[[], int]  # the number of images


def wait() -> None:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def rate(work: Work) -> float:
    """Images a second."""
    wait()
    begun = time.perf_counter()
    images = work()
    wait()
    return images / (time.perf_counter() - begun)


def best(works: dict[str, Work]) -> dict[str, float]:
    """The best rate of each, which take turns; the first turn is for warming up."""
    for work in works.values():
        work()
    rates = dict.fromkeys(works, 0.0)
    for _ in range(ROUNDS):
        for name, work in works.items():
            rates[name] = max(rates[name], rate(work))
    return rates


def table(title: str, works: dict[str, Work], limit: str) -> None:
    """Prints the rates of works, each of the one called `limit`."""
    print(f"\n| {title} | images/s | of the limit |\n|---|---:|---:|")
    rates = best(works)
    for name, value in rates.items():
        print(f"| {name} | {value:,.0f} | {value / rates[limit]:.3f} |", flush=True)


def endless(loader: Iterable[Any]) -> Iterator[Any]:
    return chain.from_iterable(repeat(loader))


def fed(prefetcher: Iterable[Any], images: int) -> Work:
    """Takes so many images, in epochs that follow each other."""
    batches = endless(prefetcher)

    def work() -> int:
        taken = 0
        while taken < images:
            taken += len(next(batches)[0])
        return taken

    return work


def copied(host: Any, images: int) -> Work:
    """Copies one pinned batch so many times."""

    def work() -> int:
        count = -(-images // len(host))
        for _ in range(count):
            host.to(DEVICE, non_blocking=True)
        return count * len(host)

    return work


def pinned(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.pin_memory() if DEVICE.type == "cuda" else tensor


def loader(store: str, batch: int, transforms: list[Any], **options: Any) -> DataLoader:
    pinned = DEVICE.type == "cuda"
    options = {"split": "train", "drop_last": True, "pin_memory": pinned, "num_workers": CORES, **options}
    return DataLoader(store, batch, True, seed=1, transforms=transforms, **options)


# --------------------------------------------------------------------------------------- bringing batches


def transfer(store: str, images: int) -> None:
    """Batches brought to the device, of copies of one batch."""
    for form, transforms in FORMS.items():
        made = loader(store, BATCH, transforms)
        host = pinned(next(iter(made))[0].clone())
        works: dict[str, Work] = {"the limit: one pinned batch, copied": copied(host, images)}
        for name, options in {
            "CudaPrefetcher(DataLoader)": {},
            f"the same, {CORES // 2} threads": {"num_workers": CORES // 2},
            "the same, 2 threads": {"num_workers": 2},
            "the same, not pinned": {"pin_memory": False},
        }.items():
            works[name] = fed(CudaPrefetcher(loader(store, BATCH, transforms, **options), DEVICE), images)
        works["DataLoader, nothing copied"] = fed(made, images)
        table(f"{form} to the device, {BATCH} a batch", works, "the limit: one pinned batch, copied")


def resident(store: str, images: int) -> None:
    """Batches out of what lies on the device, of a plain gather there."""
    dataset = apldata.Store(store)
    split = dataset.get(dataset.split_ids("train"), ["image"])
    values = torch.from_dlpack(split.column("image")).clone().to(DEVICE)
    rows = torch.randperm(len(values), device=DEVICE).split(BATCH)

    def gather(after: Callable[[torch.Tensor], object]) -> Work:
        def work() -> int:
            taken = 0
            for part in chain.from_iterable(repeat(rows)):
                after(values.index_select(0, part))
                taken += len(part)
                if taken >= images:
                    return taken
            return taken

        return work

    plain = {"u8": lambda x: x, "f32": lambda x: x.float(), "bf16": lambda x: x.bfloat16()}
    for form, transforms in FORMS.items():
        made = DeviceLoader(store, "train", BATCH, device=DEVICE, drop_last=True, transforms=transforms)
        works = {
            "the limit: index_select" + (f", .to({form})" if form != "u8" else ""): gather(plain[form]),
            "DeviceLoader" + (", cropped, flipped, normalised" if transforms else ""): fed(made, images),
        }
        table(f"{form} on the device, {BATCH} a batch", works, next(iter(works)))


# ---------------------------------------------------------------------------------------------- training


def steps(net: torch.nn.Module, batches: Iterable[Any], images: int) -> Work:
    """Training steps over so many images, bf16 as autocast has it."""
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    source = endless(batches)

    def work() -> int:
        taken = 0
        while taken < images:
            x, y = next(source)
            with torch.autocast(DEVICE.type, torch.bfloat16, enabled=DEVICE.type == "cuda"):
                x = x.to(memory_format=torch.channels_last) if DEVICE.type == "cuda" else x.float()
                loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            taken += len(y)
        return taken

    return work


def training(title: str, net: torch.nn.Module, sources: dict[str, Any], images: int) -> None:
    """The same network trained from each source, of training on one batch that lies on the device."""
    net = net.to(DEVICE, memory_format=torch.channels_last).train()
    first = next(iter(next(iter(sources.values()))))
    batch = [tensor.clone().to(DEVICE) for tensor in first]
    works = {"the limit: one batch": steps(net, [batch], images)}
    works |= {name: steps(net, source, images) for name, source in sources.items()}
    table(title, works, "the limit: one batch")


def cifar(store: str, images: int) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import train_torch

    transforms = FORMS["bf16"]
    options = argparse.Namespace(loader="torch", device=DEVICE, batch_size=BATCH, seed=1, threads=CORES)
    sources = {
        "CudaPrefetcher(DataLoader)": CudaPrefetcher(loader(store, BATCH, transforms), DEVICE),
        "the same, 2 threads": CudaPrefetcher(loader(store, BATCH, transforms, num_workers=2), DEVICE),
        "DeviceLoader": DeviceLoader(
            store, "train", BATCH, device=DEVICE, drop_last=True, transforms=transforms, channels_last=True
        ),
        f"torch's DataLoader, decoded in memory, {CORES} workers": train_torch.loader(
            options, apldata.Store(store), "train"
        ),
    }
    net = train_torch.network(3, 10, 64 if DEVICE.type == "cuda" else 4)
    training(f"CIFAR-10, a residual network, bf16, {BATCH} a batch", net, sources, images)


# ------------------------------------------------------------------------------------------- photographs


MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PHOTO_TRANSFORMS = [RandomResizedCrop(224), RandomFlip(), Normalize(MEAN, STD), ToBFloat16()]
PHOTO_BATCH = 256 if DEVICE.type == "cuda" else 16


def thread_counts() -> list[int]:
    return [n for n in (1, 2, 4, 8, 16, 32) if n < CORES] + [CORES]


def decoding(store: str, images: int) -> None:
    """Photographs decoded, by number of threads."""
    print("\n| RandomResizedCrop(224), threads | images/s | of one thread |\n|---:|---:|---:|")
    one = 0.0
    for threads in thread_counts():
        made = loader(store, PHOTO_BATCH, PHOTO_TRANSFORMS, num_workers=threads)
        batches = fed(made, images * min(threads, 8) // 4)
        batches()
        reached = max(rate(batches) for _ in range(2))
        one = one or reached
        print(f"| {threads} | {reached:,.0f} | {reached / one:.2f} |", flush=True)


def torchvisions(folder: str) -> CudaPrefetcher:
    """torchvision's ImageFolder under torch's DataLoader, as its ImageNet recipe has it."""
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    transforms = v2.Compose([
        v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD),
    ])  # fmt: skip
    made: Any = torch.utils.data.DataLoader(
        ImageFolder(folder, transforms), PHOTO_BATCH, True, num_workers=CORES, persistent_workers=True,
        pin_memory=DEVICE.type == "cuda", drop_last=True,
    )  # fmt: skip
    return CudaPrefetcher(made, DEVICE)


def photographs(store: str, folder: str | None, images: int) -> None:
    from torchvision.models import resnet18, resnet50

    decoding(store, images)
    for model, times in ((resnet50, 1), (resnet18, 3)):
        sources: dict[str, Any] = {
            f"DataLoader, {threads} threads": CudaPrefetcher(
                loader(store, PHOTO_BATCH, PHOTO_TRANSFORMS, num_workers=threads), DEVICE
            )
            for threads in reversed(thread_counts()[1:])
        }
        if folder is not None:
            sources[f"torchvision's ImageFolder, {CORES} workers"] = torchvisions(folder)
        title = f"{model.__name__}, bf16, {PHOTO_BATCH} a batch"
        training(title, model(num_classes=1000), sources, images * times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--cifar", metavar="STORE")
    parser.add_argument("--photos", metavar="STORE")
    parser.add_argument("--images", metavar="FOLDER", help="of the same photographs")
    parser.add_argument("--scale", type=float, default=1.0, help="of the images in each measurement")
    given = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    name = torch.cuda.get_device_name() if DEVICE.type == "cuda" else "no GPU"
    print(f"{name}; {CORES} cores; torch {torch.__version__}; apldata {apldata.__version__}")
    if given.cifar:
        transfer(given.cifar, int(1_000_000 * given.scale))
        resident(given.cifar, int(2_000_000 * given.scale))
        cifar(given.cifar, int(200_000 * given.scale))
    if given.photos:
        photographs(given.photos, given.images, int(8_000 * given.scale))


if __name__ == "__main__":
    main()
