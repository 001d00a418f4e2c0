"""apldata.join: a set of stores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import _core
from ._arguments import flag, path_of, wrong_type
from ._errors import ExistsError, advising
from ._store import Store
from ._warning import warn


def join(
    shards: Iterable[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    replace: bool = False,
    append: bool = False,
) -> None:
    """Makes a set of stores, as `apldata join` does: seals a list of them in the directory `path`, which must
    contain them. No shard is changed, and `Store` opens the set like a store.

    Args:
        shards: the paths of the stores, in their order. They must have the same fields and classes.
        path: the directory of the set.
        replace: replace an existing list.
        append: append the shards to the existing list.

    Raises:
        ExistsError: there is a list already, or a store.
        MismatchError: a shard has other fields.
        NotFoundError, IncompleteError, CorruptError, BusyError, StorageError, InvalidError.

    Warns:
        UserWarning: there is a split "train", and another one is the first.
    """
    if isinstance(shards, (str, bytes, os.PathLike)):
        raise wrong_type("shards", "a list of paths", shards)
    paths: tuple[Any, ...] = tuple(os.fsencode(path_of("shards", shard)) for shard in shards)
    directory = os.fsencode(path_of("path", path))
    replaces, appends = bool(flag("replace", replace)), bool(flag("append", append))
    with advising(ExistsError, "replace=True puts another in its place"):
        _core.join(directory, paths, replaces, appends)
    _tell_first_split(os.fsdecode(directory))


def _tell_first_split(path: str) -> None:
    """Loaders read the first split unless told otherwise."""
    with Store(path) as joined:
        first, *others = joined.splits
    if "train" in others:
        warn(
            f"{path}: the first split is {first!r}, which loaders read unless told otherwise: to have "
            "'train' first, give a shard that begins with it first"
        )
