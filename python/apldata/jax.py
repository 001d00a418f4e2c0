"""Batches of `jax.Array`.

On the CPU backend the arrays are the library's own memory, lent by DLPack, without a copy. On accelerators,
batches are put on the device ahead of the loop; with a sharding, each process loads its part, and together
they make global arrays.
"""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from ._arguments import U32, names_checked, some_names, whole, wrong_type, wrong_value
from ._columns import fixed_fields, has_functions, whole_targets
from ._core import Batch, Reader
from ._errors import InvalidError, LentError
from ._extras import not_installed
from ._loader import Loader
from ._options import LoaderOptions
from ._pass import Pass
from ._source import Source
from ._store import Store
from .collation import Collations
from .transforms import listed

try:
    import jax
    from jax.sharding import Sharding

    from ._narrowing import label_dtype_of, warn_of_rounding
    from ._placing import Held, Placement, row_parts, undivided
except ModuleNotFoundError as error:
    raise not_installed(error, "jax") from None

__all__ = ["DataLoader", "arrays"]

_PATIENCE = 60.0  # seconds to wait for computations that still use batches


def arrays(batch: Batch, device: jax.Device | str | None = None) -> dict[str, jax.Array]:
    """A batch, such as ``store[3:9]``, as a dict of arrays: in the batch's own memory if `device` is the CPU,
    otherwise copied to the device. None: JAX's default device. Text and fields of varying shape are left
    out."""
    return Placement(_device_of(device), None, ())(batch)


class DataLoader(Loader):
    """Batches of a split as dicts: the name of each field → `jax.Array` of the shape (rows, ...), as
    `apldata.Loader` would hand them out, with its order, states, and `len()`.

    On the CPU, arrays of fields of more than 64 bytes per record share memory with the batch, which is lent
    until the last of them is freed and the computations that use them have ended: a loop that runs ahead of
    its computations must wait for them, and one that keeps many batches must copy them (``x + 0``). For other
    devices, and for several, a Python thread puts `prefetch` batches there ahead of the loop; `state_dict()`
    belongs to the batch that the loop has. The arrays are committed to their device. Without JAX's 64-bit
    mode, 64-bit fields become 32-bit, as everywhere in JAX; numbers that 32 bits cannot hold are an error,
    and floats are rounded, of which a warning tells.

    Text and fields of varying shape are left out, unless they are collated (``collate={"tokens": Pad()}``;
    `Ragged` gives a pytree `RaggedArray` of two arrays), or a function among the transforms has put an array
    in their place. Arrays that functions put into a batch must not be written to afterwards, since JAX may
    use them in place. What functions return instead of a batch may be any pytree of arrays.

    Args:
        db, split, batch_size, transforms, fields: as for `apldata.Loader`, which also takes the `options`:
            seed, shuffle, drop_last, threads, ...
        device: where to put the arrays: a JAX device, or the name of a platform ("cpu", "gpu", "tpu"), which
            means its first device; None: JAX's default device.
        sharding: makes global arrays instead, whose rows are the processes' batches one after another; a
            batch has `batch_size` rows of each process. Rows are divided evenly among the devices, so
            `drop_last` is advisable, and required with several processes. Arrays without a row for each
            record (`Ragged`, graphs) cannot be divided, nor, over processes, those that `Pad` pads to no
            given length.
        prefetch: batches that are put on the device ahead of the loop; one more may be on its way. 0: none.
        label_dtype: the type to which whole-number targets are converted, such as ``"int32"``; it must hold
            them exactly. None: as they are stored.
        rank, world: the number of this process, and how many share an epoch; None: as jax.distributed says,
            if it has been initialised or there is a sharding, otherwise as torchrun, MPI or Slurm say.

    Raises:
        InvalidError: a named field is text or of varying shape; a whole number does not fit the type that it
            gets; or batches cannot be divided as the sharding requires, which is reported at the start if it
            can be known. Others as `apldata.Loader`.
    """

    @names_checked(LoaderOptions)
    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str | None = None,
        batch_size: int = 256,
        *,
        transforms: Iterable[Any] | None = (),
        fields: Iterable[str] | None = None,
        device: jax.Device | str | None = None,
        sharding: Sharding | None = None,
        prefetch: int = 2,
        label_dtype: Any = None,
        rank: int | None = None,
        world: int | None = None,
        **options: Unpack[LoaderOptions],
    ) -> None:
        prefetch = whole("prefetch", prefetch, 0, U32)
        if device is not None and sharding is not None:
            raise InvalidError("device or sharding: one of the two")
        label_dtype = None if label_dtype is None else label_dtype_of(label_dtype)
        fields = [fields] if isinstance(fields, str) else some_names("fields", fields)
        store, transforms = db if isinstance(db, Store) else Store(db), listed(transforms)
        collations = Collations(options.get("collate"), store.schema, None)
        if fields is None:  # packed ones are read alone
            fields = collations.packed or None
        if not has_functions(transforms):
            fields = fixed_fields(store, fields, "JAX", options.get("collate") or ())
        if rank is None and world is None and (sharding is not None or jax.process_count() > 1):
            rank, world = jax.process_index(), jax.process_count()
        target = sharding if sharding is not None else _device_of(device)
        labels = whole_targets(store) if label_dtype is not None else ()
        rows = batch_size if options.get("drop_last") and not options.get("socket") else 0
        self._placement = Placement(target, label_dtype, labels, rows, collations.by_name)
        self._places_ahead = prefetch > 0 and not self._placement.lends
        if self._places_ahead:
            self._depth = prefetch
            transforms = [*transforms, self._placement]
        warn_of_rounding(store, fields)
        super().__init__(
            store, split, batch_size, transforms=transforms, fields=fields, rank=rank, world=world, **options
        )
        if sharding is None:
            return
        try:
            self._check_sharding(sharding, world or 1)
        except InvalidError:
            self.close()
            raise

    _lent_advice = "arrays lie in their batches: copy those you want to keep: x + 0"

    def _make_source(self, reader: Reader) -> Source:
        return _PatientSource(reader, self._timeout, self._functions, self._placement)

    def _take(self, of: Pass) -> Any:
        item = self._taken(of)
        if self._places_ahead:
            return item
        source: Any = of.source  # of this class's own
        return source.placement(item)

    def _check_sharding(self, sharding: Sharding, world: int) -> None:
        """Tells at the start what else would be told at the end of the first epoch."""
        drop_last, parts = self._options["drop_last"], row_parts(sharding)
        self._placement.check(self._functions)
        if world > 1 and not drop_last:
            raise InvalidError(
                "drop_last=True is needed with a sharding over processes: without it, "
                "the last step may give them different numbers of rows"
            )
        rows = [self.batch_size * world]
        if not drop_last and not self._collations.packed:
            rows.append(self.records % self.batch_size)
        for count in rows:
            if count % parts:
                raise undivided(
                    f"a batch of {count} rows", sharding, f", which divides rows into {parts} parts"
                )

    def __iter__(self) -> Iterator[dict[str, jax.Array]]:
        return super().__iter__()


class _PatientSource(Source):
    """JAX computes behind the loop's back, and keeps the batches that it still needs. When no more can be
    lent for that, and not because the loop keeps them itself, this waits until one comes back."""

    def __init__(self, reader: Reader, timeout: float, functions: list[Any], placement: Placement) -> None:
        super().__init__(reader, timeout, functions)
        self.placement = copy.copy(placement)
        self.held = self.placement.held = Held()

    def next(self) -> Batch | None:
        end, pause = time.monotonic() + _PATIENCE, 1e-4
        while True:
            try:
                return super().next()
            except LentError:
                lent = json.loads(self._reader.stats())["lent"]
                if time.monotonic() > end or self.held.count() >= lent:
                    raise
            time.sleep(pause)
            jax.device_put(np.int8(0))  # with such a call JAX releases NumPy arrays that it no longer needs
            pause = min(1.5 * pause, 0.01)


def _device_of(device: Any) -> jax.Device:
    if device is None:
        return _default_device()
    wanted = "a device of JAX's, or the name of a platform that it has"
    if isinstance(device, str):
        try:
            return jax.local_devices(backend=device)[0]
        except RuntimeError:
            here = ", ".join(sorted({repr(one.platform) for one in jax.local_devices()}))
            raise wrong_value("device", f"{wanted} (here: {here})", device) from None
    if not isinstance(device, jax.Device):
        raise wrong_type("device", wanted, device)
    return device


def _default_device() -> jax.Device:
    return next(iter(jax.device_put(np.int8(0)).devices()))
