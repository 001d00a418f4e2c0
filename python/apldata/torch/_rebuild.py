"""Loaders that tools put together of another's parts, as they do with torch's: `type(loader)(dataset,
sampler=...)`."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch.utils.data import SequentialSampler

from ._fixed import Fixed
from ._sampler import BatchSampler, Sampler


class Given(Fixed):
    """The transforms of a loader, which also know what else it was given: a tool that rebuilds the loader
    from its attributes brings all of it along with them."""

    def __init__(self, transforms: Iterable[Any], given: dict[str, Any]) -> None:
        super().__init__(transforms)
        self.given = given

    _advice = "transforms of a DataLoader cannot be changed: its threads are at work; make another"

    def __reduce__(self) -> tuple[Any, ...]:
        return Given, (list(self), self.given)


@dataclass(frozen=True)
class Rebuilt:
    """The arguments of the loader that is meant."""

    given: dict[str, Any]
    wrapper: Any = None  # around the batch sampler, which wants to see the indices go by


def _inner(batch_sampler: Any) -> Any:
    """The loader's own batch sampler, if that is what a wrapper holds."""
    for name in ("_batch_sampler", "batch_sampler"):
        inner = getattr(batch_sampler, name, None)
        if isinstance(inner, BatchSampler):
            return inner
    return None


def rebuilt(given: dict[str, Any]) -> Rebuilt | None:
    """The loader that the arguments of a new one mean, if those are parts of another; None: they are not."""
    sampler, batch_sampler = given["sampler"], given["batch_sampler"]
    if isinstance(batch_sampler, BatchSampler):
        return _of_batches(batch_sampler, given)
    inner = _inner(batch_sampler)
    if inner is not None:
        return _of_batches(inner, given, batch_sampler)
    if batch_sampler is not None:
        return None
    if isinstance(sampler, Sampler):
        return Rebuilt(dict(sampler.feed.given))
    if type(sampler) is SequentialSampler:
        return Rebuilt(_in_order(given))
    return None


def _of_batches(batches: BatchSampler, given: dict[str, Any], wrapper: Any = None) -> Rebuilt | None:
    if isinstance(batches.sampler, Sampler):
        of = batches.feed.given
    elif type(batches.sampler) is SequentialSampler:
        of = _in_order(given)
    else:
        return None
    more = {"sampler": None, "batch_sampler": None}
    return Rebuilt({**of, **more, "batch_size": batches.batch_size, "drop_last": batches.drop_last}, wrapper)


def _in_order(given: dict[str, Any]) -> dict[str, Any]:
    """As given, but in the order of ids, which is that of a SequentialSampler."""
    transforms = given["transforms"]
    whole = transforms.given if isinstance(transforms, Given) else given
    return {**whole, "sampler": None, "batch_sampler": None, "shuffle": False}


def harmless(function: Any) -> bool:
    """Is it the worker_init_fn that Lightning sets by itself? It seeds worker processes, of which there are
    none."""
    function = getattr(function, "func", function)
    module = str(getattr(function, "__module__", ""))
    return function is None or module.startswith(("lightning", "pytorch_lightning"))
