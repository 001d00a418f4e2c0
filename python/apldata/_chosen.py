"""Which records the epochs of a loader have: of which stores, which of them, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arguments import choice, wrong_type, wrong_value
from ._checks import check_order
from ._errors import InvalidError
from ._ids import marked, mask_of
from ._mix import records_of, sources, weight_of
from ._store import Store
from .sampling import Sampling


class Chosen:
    """What is read of a split, and of those of a mix.

    Args:
        sampling, ids, mix, weight, weight_by: as of a `Loader`.
    """

    def __init__(
        self,
        store: Store,
        split: str,
        sampling: Sampling | None,
        ids: Any,
        mix: Iterable[Any],
        weight: float | None,
        weight_by: str,
    ) -> None:
        if sampling is not None and not isinstance(sampling, Sampling):
            raise wrong_type("sampling", "an apldata.Sampling", sampling)
        self.sampling, self._weight = sampling, weight
        self._by_tokens = choice("weight_by", weight_by, {"records": 0, "tokens": 1})
        self._store, self._split, self._more = store, split, sources(mix)
        self.stores = (store, *(other for other, *_ in self._more))
        self.ids = None if ids is None else self._numbers(ids)
        if self.ids is not None and not self.ids.size:
            raise wrong_value("ids", "at least one record", ids)

    def _numbers(self, ids: Any) -> np.ndarray:
        mask, others = mask_of(ids), sum(len(store) for store in self.stores[1:])
        if mask is None:
            return self._store._ids(ids, others, from_end=False)
        if others:
            raise InvalidError("ids: a mask is one of a single split; with mix, give ids")
        split = self._store.split_ids(self._split)
        found: np.ndarray = split[marked(mask, len(split), f"split {self._split!r}")]
        return found

    def check_in_order(self, order: int) -> None:
        """Refuses what shuffle=False does not allow."""
        weighted = self._weight is not None or any(weight for _, _, weight in self._more)
        check_order(self.sampling is not None, weighted, order, self.ids)

    def in_c(self) -> dict[str, Any]:
        """As the extension takes it."""
        return {
            "sampling": self.sampling and self.sampling._in_c(self._store, self.ids), "mix": self._more,
            "weight": weight_of("weight", self._weight), "by_tokens": self._by_tokens,
            "ids": None if self.ids is None else self.ids.tobytes(),
        }  # fmt: skip

    def deliveries(self, reuse: int) -> int:
        """How many an epoch has; where stores with weights are packed, on average."""
        if self.sampling and self.sampling.records:
            return int(self.sampling.records)
        if self.ids is not None:
            return len(self.ids) * reuse
        read = ((self._store, self._split), *((store, split) for store, split, _ in self._more))
        return sum(records_of(store, split) for store, split in read) * reuse

    def source(self, ids: Any) -> tuple[Any, Any]:
        """For ids across all stores: the number of the store of each, and its id there."""
        given = np.asarray(ids, np.int64)
        ends = np.cumsum([len(store) for store in self.stores])
        if given.size and not 0 <= given.min() <= given.max() < ends[-1]:
            raise wrong_value("ids", f"below {ends[-1]}, the records of all stores", ids)
        number = np.searchsorted(ends, given, side="right")
        return number, given - np.concatenate(([0], ends))[number]
