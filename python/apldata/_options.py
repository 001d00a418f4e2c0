"""The options of a `Loader` that loaders and functions made of it pass on, with their types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

from .collation import Collation
from .kinds import Kind
from .sampling import Sampling


class RecordOptions(TypedDict, total=False):
    """Which records come, how often, in what form, and through how much memory."""

    collate: Mapping[str, Collation] | None
    kinds: Mapping[str, Kind | str] | None
    window: int
    bins: int
    reuse: int
    lanes: int
    fill: bool
    late: int
    sampling: Sampling | None
    ids: Any
    mix: Iterable[Any]
    weight: float | None
    weight_by: str
    memory_budget: int
    first_epoch: int
    skip_corrupt: int
    loaders: int
    consumers: int
    share: str | None
    monitor: str | os.PathLike[str] | None


class LoaderOptions(RecordOptions, total=False):
    """Those, the order, and the threads."""

    seed: int
    shuffle: bool
    drop_last: bool
    threads: int | None
    queue_depth: int
    order: str
    timeout: float | None
    pin: tuple[Callable[[int, int], object], Callable[[int, int], object]] | None


class DatasetOptions(LoaderOptions, total=False):
    """Those, what is done to the records, and who shares an epoch."""

    transforms: Iterable[Any] | None
    rank: int | None
    world: int | None
