"""APL for PyTorch.

    from apldata import Normalize, RandomFlip, ToFloat16
    from apldata.torch import CudaPrefetcher, DataLoader

    augmented = [RandomFlip(), Normalize(), ToFloat16()]
    loader = DataLoader("db", batch_size=512, shuffle=True, pin_memory=True, transforms=augmented)
    for images, labels in CudaPrefetcher(loader, "cuda"):
        ...

`DataLoader` gives batches as tensors in the library's own memory; `CudaPrefetcher` copies the batches of any
loader to a device ahead of time; `DeviceLoader` keeps a decoded split on the device; `Dataset` is for torch's
own DataLoader.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._extras import not_installed

try:
    from ._dataset import Dataset
    from ._loader import DataLoader
    from ._prefetch import CudaPrefetcher
except ModuleNotFoundError as error:
    raise not_installed(error, "torch") from None

if TYPE_CHECKING:
    from ._device import DeviceLoader

__all__ = ["CudaPrefetcher", "DataLoader", "Dataset", "DeviceLoader"]


def __getattr__(name: str) -> Any:
    if name != "DeviceLoader":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("._device", __name__).DeviceLoader


def __dir__() -> list[str]:
    return __all__
