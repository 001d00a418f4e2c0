"""How stores, batches and loaders show themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Batch
    from ._loader import Loader
    from ._store import Store


def store_repr(store: Store) -> str:
    """Path, number of records, splits, fields."""
    splits = ", ".join(f"{name}: {count:,}" for name, count, _ in ((n, c, f) for n, f, c in store._splits()))
    fields = ", ".join(f"{f.name} {f.type}" for f in store.schema)
    return f"<apldata.Store {store.path!r}: {len(store):,} records ({splits}); {fields}>"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} values"
    return f"{getattr(value, 'dtype', type(value).__name__)}{list(getattr(value, 'shape', ()))}"


def batch_repr(batch: Batch) -> str:
    """Rows, position, fields with dtypes and shapes."""
    fields = ", ".join(f"{name} {_shown(batch[name])}" for name in batch)
    return f"<apldata.Batch of {len(batch)}, epoch {batch.epoch}, position {batch.position}: {fields}>"


def loader_repr(loader: Loader) -> str:
    """Store, split, batches, where it stands."""
    what = f"<apldata.Loader of {loader.store.path!r}, split {loader.split!r}"
    try:
        return f"{what}: {len(loader):,} batches of {loader.batch_size}, epoch {loader.epoch}>"
    except ValueError:
        return f"{what}, closed>"
