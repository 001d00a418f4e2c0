"""Batches in page-locked memory, from which a GPU reads by itself while the program goes on."""

from __future__ import annotations

import warnings
from collections import deque
from typing import Any

import numpy as np
import torch

from .._core import View
from ._tensors import from_array

_HELD = 8  # batches that may wait for the device before the host waits too
_PORTABLE = 1  # locked for all devices of the process


def available() -> bool:
    """Is there a GPU to lock memory for? If not, says so, as torch does."""
    if torch.cuda.is_available():
        return True
    warnings.warn(
        "pin_memory=True: there is no CUDA device, so memory is not pinned", UserWarning, stacklevel=3
    )
    return False


def copy_int64(whole: torch.Tensor) -> torch.Tensor:
    """A copy of integers as int64, in memory that torch has pinned and looks after."""
    return torch.empty(whole.shape, dtype=torch.int64, pin_memory=True).copy_(whole)


class _Loan:
    """Stands between a tensor and the view that it lies in: what torch lets go when no tensor shares the
    memory any more."""

    def __init__(self, memory: PinnedMemory, array: np.ndarray) -> None:
        self._memory, self._array = memory, array
        self.__array_interface__ = array.__array_interface__

    def __del__(self) -> None:
        self._memory.retire(self._array)


class PinnedMemory:
    """Pins the memory of a loader's batches, and so that none is written anew while a device reads it.

    A copy to the device that does not block may be far from begun when the last tensor on the batch is gone:
    ``images = images.to("cuda", non_blocking=True)``. So what was lent is kept until all that the current
    stream had to do by then is done.
    """

    def __init__(self, cuda: Any = torch.cuda) -> None:
        self._cuda = cuda
        self._runtime = cuda.cudart()
        self._pinned: set[int] = set()
        self._retired: deque[tuple[Any, np.ndarray]] = deque()

    def pin(self, address: int, size: int) -> None:
        """Locks memory; where the system refuses, says so, and the memory serves as it is."""
        error = int(self._runtime.cudaHostRegister(address, size, _PORTABLE))
        if error == 0:
            self._pinned.add(address)
        else:
            warnings.warn(
                f"cudaHostRegister of {size} bytes failed ({error}): not pinned", UserWarning, stacklevel=2
            )

    def unpin(self, address: int, size: int) -> None:
        if address in self._pinned:
            self._pinned.discard(address)
            self._runtime.cudaHostUnregister(address)

    def lend(self, view: View) -> torch.Tensor:
        """A tensor in the view's memory, as `torch.from_dlpack`, but with the view kept for the device."""
        self.sweep()
        array = np.asarray(view.bits()).view(np.int16) if view.dtype == "bf16" else np.asarray(view)
        tensor = from_array(np.asarray(_Loan(self, array)))
        return tensor.view(torch.bfloat16) if view.dtype == "bf16" else tensor

    def retire(self, array: np.ndarray) -> None:
        """No tensor lies in it any more; the current stream may still have to read it."""
        try:
            event = self._cuda.Event()
            event.record(self._cuda.current_stream())
        except Exception:  # the device, or the interpreter, is going down: nothing reads any more
            return
        self._retired.append((event, array))

    def sweep(self) -> None:
        """Gives back what the device has read, and waits for it where too much is held."""
        while self._retired:
            event, array = self._retired[0]
            if not event.query():
                if len(self._retired) <= _HELD:
                    return
                event.synchronize()
            self._retired.popleft()
            del array
