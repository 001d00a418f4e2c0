"""The order of a loader as torch's samplers tell it: for tools that look at it, or build loaders of it."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from ._feed import Feed, Row

if TYPE_CHECKING:
    from ._loader import DataLoader


class Sampler(torch.utils.data.DistributedSampler[Any]):
    """The samples of this rank in the order of a loader: indices into ``loader.dataset``, one epoch for each
    iteration. It is a DistributedSampler since the ranks share each epoch already: there is no need of
    another.

    Each index also knows which delivery of which epoch it stands for. A DataLoader of torch's that is built
    over ``loader.dataset`` with this sampler, or with the loader's batch_sampler, so hands out what the
    loader would: in its order, with its transforms, for its rank.
    """

    def __init__(self, loader: DataLoader, feed: Feed) -> None:  # not torch's: that wants to draw by itself
        self._loader, self._source = weakref.ref(loader), feed
        self._next: int | None = None  # epoch; None: as the loader's

    @property
    def feed(self) -> Feed:
        """Where the batches come from, for the rank that is known by now."""
        loader = self._loader()
        if loader is not None:
            loader._settle()
        return self._source

    @property
    def dataset(self) -> Any:  # type: ignore[override, unused-ignore]
        return self.feed.dataset()

    @property
    def num_replicas(self) -> int:  # type: ignore[override, unused-ignore]
        return self.feed.world

    @property
    def rank(self) -> int:  # type: ignore[override, unused-ignore]
        return self.feed.rank

    @property
    def shuffle(self) -> bool:  # type: ignore[override, unused-ignore]
        return not self.feed.options["sequential"]

    @property
    def drop_last(self) -> bool:  # type: ignore[override, unused-ignore]
        return bool(self.feed.options["drop_last"])

    @property
    def seed(self) -> int:  # type: ignore[override, unused-ignore]
        return int(self.feed.options["seed"])

    @property
    def generator(self) -> torch.Generator | None:
        """The loader's, from which the seed came; not advanced."""
        given: torch.Generator | None = self.feed.given["generator"]
        return given

    @property
    def epoch(self) -> int:  # type: ignore[override, unused-ignore]
        """The epoch that the next iteration goes through."""
        loader = self._loader()
        if self._next is not None or loader is None:
            return self._next or 0
        return loader._coming_epoch()

    def set_epoch(self, epoch: int) -> None:
        """As the loader's, which goes there too."""
        loader = self._loader()
        if loader is not None:
            loader.set_epoch(epoch)
        self._next = int(epoch)

    def advance(self) -> int:
        """The epoch to be gone through now; the next one is another."""
        epoch = self.epoch
        self._next = epoch + 1
        return epoch

    @property
    def num_samples(self) -> int:  # type: ignore[override, unused-ignore]
        return sum(len(rows) for rows in self.feed.batches(self.epoch))

    @property
    def total_size(self) -> int:  # type: ignore[override, unused-ignore]
        return self.feed.records

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[Row]:
        for rows in self.feed.batches(self.advance()):
            yield from rows


class BatchSampler(torch.utils.data.BatchSampler):
    """The batches of this rank, each a list of indices into ``loader.dataset``: see `Sampler`.

    Args:
        sampler: a loader's. Of another's indices it makes the batches that torch's BatchSampler makes.
        batch_size, drop_last: as the loader's, or others.
    """

    sampler: Any

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        self.sampler, self.batch_size, self.drop_last = sampler, int(batch_size), bool(drop_last)

    @property
    def feed(self) -> Feed:
        """Where the batches come from."""
        feed: Feed = self.sampler.feed
        return feed

    def set_epoch(self, epoch: int) -> None:
        """As the sampler's."""
        self.sampler.set_epoch(epoch)

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.sampler, Sampler):
            yield from super().__iter__()
            return
        yield from self.feed.batches(self.sampler.advance(), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        if not isinstance(self.sampler, Sampler):
            return super().__len__()
        return self.feed.steps(self.sampler.epoch, self.batch_size, self.drop_last)
