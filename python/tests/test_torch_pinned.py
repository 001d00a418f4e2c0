"""apldata.torch.DataLoader: pinned memory, with a GPU that the test plays."""

from __future__ import annotations

import ctypes
import gc
import warnings
from typing import Any

import pytest
from torch_tools import flat, torch

from apldata import Normalize, ToBFloat16

DataLoader = pytest.importorskip("apldata.torch").DataLoader


class Gpu:
    """Stands in for torch.cuda: work that is done when told, and a list of what is pinned."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from apldata.torch import _pinned

        self.pinned: dict[int, int] = {}
        self.events: list[Gpu._Event] = []
        self.refuse = False
        for name, value in {
            "is_available": lambda: True, "cudart": lambda: self, "current_stream": lambda: None,
            "Event": lambda: Gpu._Event(self),
        }.items():  # fmt: skip
            monkeypatch.setattr(torch.cuda, name, value)
        monkeypatch.setattr(_pinned, "copy_int64", lambda whole: whole.to(torch.int64))

    class _Event:
        def __init__(self, gpu: Gpu) -> None:
            self.done = self.waited = False
            gpu.events.append(self)

        def record(self, stream: Any) -> None:
            pass

        def query(self) -> bool:
            return self.done

        def synchronize(self) -> None:
            self.done = self.waited = True

    def cudaHostRegister(self, pointer: int, size: int, flags: int) -> int:
        if self.refuse:
            return 2
        assert pointer not in self.pinned and flags == 1
        self.pinned[pointer] = size
        return 0

    def cudaHostUnregister(self, pointer: int) -> int:
        del self.pinned[pointer]
        return 0

    def holds(self, tensor: Any) -> bool:
        return any(at <= tensor.data_ptr() < at + size for at, size in self.pinned.items())


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    return Gpu(monkeypatch)


@pytest.mark.parametrize("transforms", [[], [Normalize(), ToBFloat16()]], ids=["u8", "bf16"])
def test_pinned_batches(store_path: str, gpu: Gpu, transforms: list[Any]) -> None:
    plain = DataLoader(store_path, 50, True, transforms=transforms)
    loader = DataLoader(store_path, 50, True, transforms=transforms, pin_memory=True)
    for _ in range(3):
        for (images, labels), (pinned, pinned_labels) in zip(plain, loader, strict=True):
            assert gpu.holds(pinned) and torch.equal(images, pinned) and torch.equal(labels, pinned_labels)
            for event in gpu.events:
                event.done = True
    assert gpu.pinned
    loader.close()
    del loader, pinned
    gc.collect()
    assert not gpu.pinned


def test_pinned_memory_is_kept_for_the_device(store_path: str, gpu: Gpu) -> None:
    """The device has a copy to make of each batch, and is behind: no batch may change before that."""

    loader = DataLoader(store_path, 50, True, pin_memory=True)
    copies: list[tuple[int, bytes]] = []
    for _ in range(3):
        for images, _ in loader:
            copies.append((images.data_ptr(), images.numpy().tobytes()))
            del images
            pending = [event for event in gpu.events if not event.done]
            assert len(pending) <= 9
            for at, values in copies[len(copies) - len(pending) :]:
                assert ctypes.string_at(at, len(values)) == values
    assert any(event.waited for event in gpu.events)


def test_pinned_tensors_outlive_the_loader(store_path: str, gpu: Gpu) -> None:
    loader = DataLoader(store_path, 50, pin_memory=True)
    row = next(iter(loader))[0][7]
    expected = row.clone()
    del loader
    gc.collect()
    assert torch.equal(row, expected) and gpu.holds(row)
    del row
    gc.collect()
    assert not gpu.pinned and all(event.done for event in gpu.events)


def test_pinning_that_is_refused(store_path: str, gpu: Gpu) -> None:
    gpu.refuse = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loader = DataLoader(store_path, 50, pin_memory=True)
        assert len(flat(loader)) == 20
    assert any("not pinned" in str(warning.message) for warning in caught)


def test_what_functions_make_is_pinned_by_torch(
    store_path: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self.clone())
    with DataLoader(store_path, 50, pin_memory=True, transforms=[lambda batch: None]) as loader:
        images, labels = next(iter(loader))
        assert images.shape == (50, 3, 32, 32) and labels.dtype == torch.int64 and not gpu.pinned
    with DataLoader(store_path, 50, pin_memory=True, collate_fn=lambda b: {"n": [torch.ones(3)]}) as loader:
        made = next(iter(loader))
        assert torch.equal(made["n"][0], torch.ones(3))
