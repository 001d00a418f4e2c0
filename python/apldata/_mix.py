"""Several stores that one loader reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._arguments import number, optional_text, path_of, wrong_type, wrong_value
from ._store import Store


def weight_of(name: str, value: Any) -> float:
    """A weight, as the extension takes it: 0 for None."""
    wanted = "a number above 0, or None"
    if value is None:
        return 0.0
    weight = number(name, value, wanted, 0)
    if weight == 0:
        raise wrong_value(name, f"{wanted}: leave out a store that is not to be read", value)
    return weight


def sources(mix: Iterable[Any]) -> list[tuple[Store, str | None, float]]:
    """The stores of a mix, opened, with their splits and weights."""
    if isinstance(mix, (str, bytes, os.PathLike, Store)):
        mix = [mix]
    if not isinstance(mix, Iterable):
        raise wrong_type("mix", "a list of stores", mix)
    return [_source(f"mix[{at}]", one if isinstance(one, tuple) else (one,)) for at, one in enumerate(mix)]


def _source(name: str, given: tuple[Any, ...]) -> tuple[Store, str | None, float]:
    if not 1 <= len(given) <= 3:
        raise wrong_value(name, "a store, (store, split) or (store, split, weight)", given)
    db, split, weight = given[0], given[1] if len(given) > 1 else None, given[2] if len(given) > 2 else None
    split, weight = optional_text(f"{name}: split", split), weight_of(f"{name}: weight", weight)
    return db if isinstance(db, Store) else Store(path_of(name, db)), split, weight


def records_of(store: Store, split: str | None) -> int:
    """How many records a split has; None: the first of the store."""
    return store.splits[next(iter(store.splits)) if split is None else split].records
