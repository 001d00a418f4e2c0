"""Batches as arrays of JAX's, on a device, or divided among several and over processes."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np
from jax.sharding import Sharding

from . import _trees
from ._columns import lent_view
from ._core import Batch
from ._errors import InvalidError
from ._foreign import Wrapped
from ._later import Collated, Separate
from ._narrowing import check_range, relabelled
from ._ragged import RaggedArray
from .collation import Collation, EdgeIndex, Edges, Nodes, Pad, Ragged
from .transforms import PerPicture

_OF_FIELD = "leave the field out of `fields`"
_OF_FUNCTION = "convert it in the function"


class Held:
    """Which of the batches that were handed out have arrays that Python still holds."""

    def __init__(self) -> None:
        self._batches: deque[list[weakref.ref[jax.Array]]] = deque(maxlen=1024)

    def add(self, arrays: Iterable[jax.Array]) -> None:
        self._batches.append([weakref.ref(array) for array in arrays])

    def count(self) -> int:
        return sum(any(array() is not None for array in batch) for batch in list(self._batches))


class Placement:
    """Makes arrays of what a loader hands out, and puts them where they belong. It knows no loader, since it
    is called by a thread that must not keep one alive.

    Args:
        target: where that is.
        label_dtype: the type that the `labels` get; None: they stay as they are.
        rows: of each batch, where a sharding over processes must have the same number everywhere; 0: any.
        collate: how fields become arrays.
    """

    def __init__(
        self,
        target: jax.Device | Sharding,
        label_dtype: Any,
        labels: Iterable[str],
        rows: int = 0,
        collate: Mapping[str, Collation] | None = None,
    ) -> None:
        _trees.register()
        self._target, self._dtype, self._labels = target, label_dtype, frozenset(labels)
        self._rows, self._whole = 0, True  # is each array put to one place as a whole?
        self._uneven: dict[str, str] = {}
        if isinstance(target, Sharding):
            self._rows = 0 if target.is_fully_addressable else rows
            self._whole = target.is_fully_addressable and row_parts(target) == 1
            self._uneven = {} if self._whole else _uneven(target, collate or {})
        self.lends = target == _lending_device()
        self.held = Held()

    def __call__(self, item: Any) -> Any:
        if not isinstance(item, Batch):
            return self._tree("what functions return", item, _OF_FUNCTION)
        self._check_rows(item)
        lent: list[jax.Array] = []
        made = {name: self._array(item, name, lent) for name in item}
        if lent:
            self.held.add(lent)
        return {name: array for name, array in made.items() if array is not None}

    def check(self, functions: Iterable[Any]) -> None:
        """Refuses what cannot be divided as it is, unless there is a function that may put something else in
        its place."""
        own = (Wrapped, PerPicture, Separate, Collated, Placement)
        if self._uneven and all(isinstance(function, own) for function in functions):
            name, why = next(iter(self._uneven.items()))
            raise _not_alike(f"field {name}", why)

    def _check_rows(self, batch: Batch) -> None:
        if self._rows and batch.rows != self._rows:
            raise InvalidError(
                f"a batch has {batch.rows} rows, and with a sharding over processes each of them has "
                f"{self._rows}: functions must not change the number of rows, nor must skip_corrupt"
            )

    def _array(self, batch: Batch, name: str, lent: list[jax.Array]) -> Any:
        """None: it is a list, of text or of arrays. What keeps the batch is put into `lent`."""
        view = lent_view(batch, name) if self.lends or name in self._uneven else None
        if view is not None and name in self._uneven:
            raise _not_alike(f"field {name}", self._uneven[name])
        if self.lends and view is not None and name not in self._labels:
            check_range(f"field {name}", batch[name], _OF_FIELD)
            array = jax.dlpack.from_dlpack(view)
            if view.lent:
                lent.append(array)
            return array
        value = batch[name]
        if isinstance(value, list):
            return None
        if name in self._labels and isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            value = relabelled(name, value, self._dtype)  # labels that were mixed are not whole
        return self._tree(f"field {name}", value, _OF_FIELD, batch.rows)

    def _tree(self, what: str, tree: Any, otherwise: str, rows: int = -1) -> Any:
        """Of a tree of arrays, where the whole of it is called `what`; `rows`: of the batch."""

        def put(path: Any, value: Any) -> jax.Array:
            place = "".join(map(str, path))
            return self._put(f"{what}, at {place}" if place else what, value, otherwise, rows)

        return jax.tree_util.tree_map_with_path(put, tree, is_leaf=None if self._whole else _is_ragged)

    def _put(self, what: str, value: Any, otherwise: str, rows: int) -> jax.Array:
        if isinstance(value, RaggedArray):
            raise _not_alike(what, _joined("Ragged"))
        check_range(what, value, otherwise)
        if not isinstance(self._target, Sharding):
            return jax.device_put(value, self._target)
        array = np.asarray(value)
        try:
            return jax.make_array_from_process_local_data(self._target, array)
        except ValueError as error:
            kind = "an array" if array.ndim == 0 or len(array) != rows else "a batch"
            size = f"{len(array)} rows" if array.ndim else "no dimensions"
            raise undivided(f"{what}: {kind} of {size}", self._target, f": {error}") from error


def _is_ragged(value: Any) -> bool:
    return isinstance(value, RaggedArray)


def _joined(how: str) -> str:
    return f"{how}() makes one array of the values of all records"


def _uneven(sharding: Sharding, collate: Mapping[str, Collation]) -> dict[str, str]:
    """Names of the arrays that collations make, and that cannot be divided: what they are instead of arrays
    of a row for each record, as long in all processes as in one."""
    found: dict[str, str] = {}
    for name, how in collate.items():
        if isinstance(how, (Ragged, Nodes, Edges, EdgeIndex)):
            parts = [part for part, _ in how._parts(name)]
            found.update(dict.fromkeys((name, *parts), _joined(type(how).__name__)))
        if isinstance(how, Pad) and how.length is None and not sharding.is_fully_addressable:
            told = "Pad() pads to the longest value of a batch, which differs between processes"
            found.update(dict.fromkeys((name, f"{name}_mask"), told))
    return found


def _not_alike(what: str, why: str) -> InvalidError:
    return InvalidError(
        f"{what} cannot be divided by a sharding, which takes arrays of a row for each record and of one "
        f"shape: {why}. Collate it by Pad(length), make such an array of it by a function among the "
        "transforms, leave it out of `fields`, or do without a sharding"
    )


def undivided(what: str, sharding: Sharding, why: str) -> InvalidError:
    return InvalidError(
        f"{what} cannot be divided among the devices of {sharding}{why}; "
        "choose batch_size to fit, and drop_last=True, which leaves out the short batch at an epoch's end"
    )


def row_parts(sharding: Sharding) -> int:
    """Into how many parts a sharding divides the rows; 1 if it cannot be told without an array."""
    rows = sharding.num_devices
    try:
        places = sharding.devices_indices_map((rows,)).values()
    except ValueError:
        return 1
    return len({place[0].indices(rows) for place in places})


def _lending_device() -> jax.Device | None:
    """The device whose memory is that of this process, as DLPack sees it."""
    return jax.local_devices(backend="cpu")[0]
