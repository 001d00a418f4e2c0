"""CudaPrefetcher: brings the batches of any loader to a device, ahead of the loop."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .._arguments import U32, whole
from ._tensors import device_of, map_tensors


class CudaCopier:
    """Copies to a CUDA device on a stream of its own."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)

    def event(self) -> Any:
        return torch.cuda.Event()

    def copy(self, batch: Any, event: Any) -> Any:
        """Begins the copy of a batch, and returns its result; `event` comes when it is complete."""
        with torch.cuda.stream(self.stream):
            copied = map_tensors(lambda tensor: tensor.to(self.device, non_blocking=True), batch)
            event.record(self.stream)
        return copied

    def hand_over(self, copied: Any, event: Any) -> None:
        """From here on the caller's stream uses it: after the copy, and the memory is not reused before
        that is done."""
        stream = torch.cuda.current_stream(self.device)
        stream.wait_event(event)
        map_tensors(lambda tensor: tensor.record_stream(stream), copied)


class _Slot:
    """A batch on its way: where it comes from, which must stay until the copy is complete, and where it
    goes."""

    def __init__(self, event: Any) -> None:
        self.event = event
        self.host: Any = None
        self.copied: Any = None
        self.state: Any = None


class Slots:
    """A ring of `depth` batches that are copied ahead, and one more whose copy may still run when it is
    handed out."""

    def __init__(self, copier: Any, depth: int) -> None:
        self._copier, self._depth = copier, depth
        self._free = [_Slot(copier.event()) for _ in range(depth + 1)]
        self._ready: deque[_Slot] = deque()
        self._used: deque[_Slot] = deque()  # handed out; the copy may not be complete

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def full(self) -> bool:
        return len(self._ready) == self._depth

    def _release(self) -> None:
        """Releases the oldest batch on the host, after its copy."""
        slot = self._used.popleft()
        slot.event.synchronize()
        slot.host = None
        self._free.append(slot)

    def _slot(self) -> _Slot:
        while self._used and (not self._free or self._used[0].event.query()):
            self._release()
        return self._free.pop()

    def put(self, host: Any, state: Any) -> None:
        """Begins the copy of a batch."""
        slot = self._slot()
        slot.host, slot.state = host, state
        slot.copied = self._copier.copy(host, slot.event)
        self._ready.append(slot)

    def take(self) -> tuple[Any, Any]:
        """The oldest batch, for the caller's stream, and the loader's state after it."""
        slot = self._ready.popleft()
        self._used.append(slot)
        copied, slot.copied = slot.copied, None
        self._copier.hand_over(copied, slot.event)
        return copied, slot.state

    def close(self) -> None:
        """Gives up what was not taken, once all copies are done."""
        self._used.extend(self._ready)
        self._ready.clear()
        for slot in self._used:
            slot.copied = None
        while self._used:
            self._release()


class _Feed:
    """The batches of a loader, each with the loader's state after it. An error waits until all that came
    before it has been handed out."""

    def __init__(self, batches: Iterator[Any], state: Callable[[], Any]) -> None:
        self._batches, self._state = batches, state
        self._ended = False
        self._error: Exception | None = None

    def fill(self, slots: Slots) -> bool:
        """Copies ahead; False: there is nothing left."""
        while not slots.full and not self._ended:
            try:
                batch = next(self._batches)
            except StopIteration:
                self._ended = True
            except Exception as error:
                self._ended, self._error = True, error
            else:
                slots.put(batch, self._state())
        if not len(slots) and self._error is not None:
            raise self._error
        return len(slots) > 0


class CudaPrefetcher:
    """Iterates over a loader, and copies its batches to a device while earlier ones are in use.

        for images, labels in CudaPrefetcher(loader, "cuda"): ...

    Copies run on a stream of their own, in parallel with the caller's kernels. Each batch on the host is kept
    until its copy is complete, and each batch on the device until the caller's stream (the current one when
    the batch is taken) is done with it. If you use it on other streams, call `record_stream` for those.
    Copies overlap only if the host's memory is pinned: ``pin_memory=True``.

    `state_dict()` belongs to the batch that the caller has, not to those copied ahead, so it can be saved at
    any time. `len()`, `set_epoch()`, `load_state_dict()` and other attributes are the loader's. For a device
    that is not CUDA, batches are moved when they are requested.

    Args:
        loader: any iterable of tensors, or of tuples, lists and mappings with tensors in them, at any depth.
            Everything else in them is passed on unchanged.
        device: "cuda", "cuda:1", "cpu", ...; None: the current CUDA device, if there is one, else the CPU.
        depth: batches that are copied ahead; at least 1.
    """

    def __init__(self, loader: Any, device: torch.device | str | int | None = None, depth: int = 2) -> None:
        depth = whole("depth", depth, 1, U32)
        self.loader, self.device, self.depth = loader, device_of(device), depth
        self._state: Any = None  # of the loader after the batch that the caller has; None: the loader knows
        self._copier = CudaCopier(self.device) if self.device.type == "cuda" else None

    def __len__(self) -> int:
        return len(self.loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "loader":
            raise AttributeError(name)
        return getattr(self.loader, name)

    def __iter__(self) -> Iterator[Any]:
        batches = iter(self.loader)
        self._state = None
        return self._moved(batches) if self._copier is None else self._prefetched(batches)

    def _moved(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield map_tensors(lambda tensor: tensor.to(self.device), batch)

    def _prefetched(self, batches: Iterator[Any]) -> Iterator[Any]:
        slots, feed = Slots(self._copier, self.depth), _Feed(batches, self._loader_state)
        self._state = self._loader_state()
        try:
            while feed.fill(slots):
                batch, self._state = slots.take()
                yield batch
                del batch  # the caller's now, who may let it go
            self._state = None
        finally:
            slots.close()

    def _loader_state(self) -> Any:
        state_dict = getattr(self.loader, "state_dict", None)
        return None if state_dict is None else state_dict()

    def state_dict(self) -> Any:
        """The loader's state after the batch that the caller has."""
        return self.loader.state_dict() if self._state is None else self._state

    def load_state_dict(self, state: Any) -> None:
        """Makes the next iteration resume where `state` was saved."""
        self.loader.load_state_dict(state)
        self._state = None

    def set_epoch(self, epoch: int) -> None:
        """As the loader's."""
        self.loader.set_epoch(epoch)
        self._state = None
