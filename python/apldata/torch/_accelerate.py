"""Loaders under Hugging Face's accelerate: `Accelerator.prepare()` leaves them as they are."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


class Adopted:
    """A part of loaders for accelerate, which shards the loaders of others, brings their batches to its
    device, and has to know when an epoch ends. Ours are sharded already; the rest is done here once an
    Accelerator has prepared the loader.
    """

    end_of_dataloader = False  # is the batch that was handed out last the last of its epoch?
    remainder = 0  # rows of the last batch that are there twice: none ever are
    use_stateful_dataloader = True  # Accelerator.save_state() and load_state() keep the loader's state
    _adopted = False

    @property
    def _is_accelerate_prepared(self) -> bool:
        """Asked by `Accelerator.prepare()`; True: it is to leave the loader as it is."""
        self._adopted = True
        return True

    @_is_accelerate_prepared.setter
    def _is_accelerate_prepared(self, prepared: bool) -> None:
        self._adopted = bool(prepared)

    @property
    def total_batch_size(self) -> int:
        """Rows of a batch of all ranks."""
        return self.batch_size * max(1, self._options["world"])  # type: ignore[attr-defined, no-any-return]

    def _adopt(self, epoch: Iterator[Any]) -> Iterator[Any]:
        """An epoch, as accelerate wants it if it has prepared the loader."""
        if not self._adopted or "accelerate" not in sys.modules:
            return epoch
        return self._accelerated(epoch)

    def _accelerated(self, epoch: Iterator[Any]) -> Iterator[Any]:
        from accelerate.state import GradientState, PartialState
        from accelerate.utils import send_to_device

        gradients, device = GradientState(), PartialState().device
        self.end_of_dataloader = False
        gradients._add_dataloader(self)
        try:
            for batch in epoch:
                self.end_of_dataloader = self._is_last()
                yield send_to_device(batch, device, non_blocking=self.pin_memory)  # type: ignore[attr-defined]
        finally:
            gradients._remove_dataloader(self)

    def _is_last(self) -> bool:
        """Is there no batch after this one in the epoch?"""
        left = self.records - self.state_dict()["position"]  # type: ignore[attr-defined]
        whole = self.total_batch_size if self.drop_last else 1  # type: ignore[attr-defined]
        return bool(left < whole)
