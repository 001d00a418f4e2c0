"""Batches in page-locked memory, from which a GPU reads by itself while the program goes on."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import warnings
from collections import deque
from typing import Any

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from .._core import View
from .._warning import warn

_HELD = 8  # batches that may wait for the device before the host waits too
_PORTABLE = 1  # locked for all devices of the process


def available() -> bool:
    """Is there a GPU to lock memory for? If not, says so, as torch does."""
    if torch.cuda.is_available():
        return True
    warn("pin_memory=True: there is no CUDA device, so memory is not pinned")
    return False


def copy_int64(whole: torch.Tensor) -> torch.Tensor:
    """A copy of integers as int64, in memory that torch has pinned and looks after."""
    return torch.empty(whole.shape, dtype=torch.int64, pin_memory=True).copy_(whole)


class Pins:
    """Locks the memory of a loader's batches, and unlocks it: what the option `pin` calls."""

    def __init__(self) -> None:
        self._runtime = torch.cuda.cudart()
        self._pinned: set[int] = set()

    def pin(self, address: int, size: int) -> None:
        """Locks memory; where the system refuses, says so, and the memory serves as it is."""
        error = int(self._runtime.cudaHostRegister(address, size, _PORTABLE))
        if error == 0:
            self._pinned.add(address)
        else:
            warnings.warn(f"{size} bytes are not pinned: CUDA's error {error}", UserWarning, stacklevel=2)

    def unpin(self, address: int, size: int) -> None:
        if address in self._pinned:
            self._pinned.discard(address)
            self._runtime.cudaHostUnregister(address)


class _Loan:
    """Stands between a tensor and the memory that it lies in: torch releases it with the last
    tensor that shares that memory."""

    def __init__(self, loans: Loans, array: np.ndarray) -> None:
        self._loans, self._array = loans, array
        self.__array_interface__ = array.__array_interface__

    def __del__(self) -> None:
        self._loans.retire(self._array)


class Loans:
    """Lends batches as tensors, and keeps them from being overwritten while a device still reads them.

    A copy to the device that does not block may be far from begun when the last tensor on the batch is gone:
    ``images = images.to("cuda", non_blocking=True)``. So a batch is kept until all that the current stream
    had to do when that happened is done.
    """

    def __init__(self) -> None:
        self._retired: deque[tuple[Any, np.ndarray]] = deque()

    def lend(self, view: View) -> torch.Tensor:
        """A tensor in the view's memory, as `torch.from_dlpack`, but kept for the device."""
        if not view.lent:  # a copy of a small column, in memory that nobody has pinned
            return from_dlpack(view).pin_memory()
        self._sweep()
        if view.dtype != "bf16":
            return torch.from_numpy(np.asarray(_Loan(self, np.asarray(view))))
        bits = np.asarray(view.bits()).view(np.int16)
        return torch.from_numpy(np.asarray(_Loan(self, bits))).view(torch.bfloat16)

    def retire(self, array: np.ndarray) -> None:
        """No tensor is left in the array; the device may still have to read it. From any thread."""
        try:
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream())
        except Exception:  # the device, or the interpreter, is going down: nothing reads now
            return
        self._retired.append((event, array))

    def _sweep(self) -> None:
        """Gives back what the device has read, and waits for it where too much is held."""
        while self._retired:
            try:  # taken out first, so that no other thread waits for this and drops the next
                event, array = self._retired.popleft()
            except IndexError:
                return
            if not event.query():
                if len(self._retired) < _HELD:
                    self._retired.appendleft((event, array))
                    return
                event.synchronize()

    def __del__(self) -> None:
        for event, _ in self._retired:
            event.synchronize()
