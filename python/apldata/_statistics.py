"""What a store tells of the values in its splits, without reading them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ._arguments import optional_text, text
from ._errors import NotFoundError
from .schema import Schema


class _Store(Protocol):
    """What is asked of a `Store`."""

    @property
    def path(self) -> str: ...
    @property
    def schema(self) -> Schema: ...
    @property
    def picture(self) -> str: ...
    def _moments(self, split: str, field: str, /) -> list[tuple[float, float]]: ...
    def _class_counts(self, split: str, field: str, /) -> list[int]: ...


def moments_of(store: _Store, split: str, field: str | None) -> tuple[np.ndarray, np.ndarray]:
    """As `Store.moments()`."""
    name = text("field", field) if field else store.picture
    known = store.schema[name]
    if known.dtype == "u8" and len(known.shape) == 3 and known.shape[0] > 16:
        store.schema.image([name])  # refuses it
    found = store._moments(text("split", split), name)
    if not found:
        raise NotFoundError(
            f"{store.path}: there are no mean and standard deviation of field {name} over split {split}"
            + (": too few of its files are indexed" if known.media == "image/jpeg" else "")
        )
    mean, std = np.array(found).T
    return mean.copy(), std.copy()


def class_counts_of(store: _Store, split: str, field: str | None) -> dict[str, int]:
    """As `Store.class_counts()`."""
    name = optional_text("field", field) or next((f.name for f in store.schema if f.classes), None)
    if name is None or name not in store.schema.names or not store.schema[name].classes:
        raise NotFoundError(
            f"{store.path}: there is no field with classes" + (f" called {field}" if field else "")
        )
    counts = store._class_counts(text("split", split), name)
    return dict(zip(store.schema[name].classes, counts, strict=True))
