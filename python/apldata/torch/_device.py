"""DeviceLoader: batches out of a split that lies decoded on a device, in the order, and augmented, as a
Loader's."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from .. import _core
from .._arguments import flag, names_checked, text
from .._loader import Loader
from .._store import Store
from .._units import size
from ..kinds import Kind
from ..sampling import Sampling
from ._draw import Drawing, Drawn
from ._ranks import Placed, place
from ._resident import Resident
from ._tensors import device_of


class DeviceLoader(Placed, Loader):
    """Batches of a split that is kept, decoded, on a device: for splits that fit there.

    Order, states, receipts and augmentation are the same as those of an `apldata.Loader` with the same
    options, and the tensors equal its arrays bit for bit; either can load a state of the other. Nothing is
    decoded after the start: each batch is gathered, augmented and converted by a few kernels on the device,
    on the caller's stream. The host draws ids and placements every 65,536 records (for CIFAR-10, once an
    epoch), sends them over in one copy, and waits for nothing. On a CPU it is only for trying out: there
    `DataLoader` is faster. Take batches from one stream only, or make streams wait for each other.

    Yields named tuples of tensors on the device, as `DataLoader` does, one tensor for each of `fields`: for
    CIFAR-10 ``(images, labels)``, images as the transforms say, whole-number targets as int64. They belong to
    the caller.

    Args:
        db: a `Store`, or its directory.
        split: its name.
        batch_size: records in a batch. The last of an epoch may have fewer.
        device: "cuda", "cuda:1", "cpu", ...; None: "cuda" if there is one, else "cpu".
        seed, shuffle, drop_last, window, bins, reuse, lanes, sampling, first_epoch: as for `Loader`.
        transforms: from `apldata.transforms`: crops of images of one size, padded with zeros or reflections,
            flips, Cutout, Normalize, conversions and ChannelsLast; all others are refused. Apply functions of
            your own in your loop, to the batches.
        fields: what to yield, in this order; None: the inputs and targets of the store. The name "id" stands
            for the records' ids, int64[rows].
        kinds: as for `Loader`. Masks and boxes, which would have to move with the images, are refused.
        channels_last: images are (rows, channels, height, width) with the strides of `torch.channels_last`.
        compile: fuse the kernels of augmentation with `torch.compile`, which makes the first batch slow.
        threads: threads that decode at the start; None: one per core.
        rank, world: as for `Loader`; None: as torch.distributed says, or torchrun, MPI or Slurm.
        shard: False: all records in this process, whatever the ranks, such as to evaluate on each of them.

    Raises:
        NotFoundError: no such store, split or field.
        InvalidError: an option is wrong; a field is of varying shape; or the device has too little free
            memory, which is checked before anything is decoded (`bytes_needed()` tells how much is needed,
            without a loader).
        CorruptError: at the start: a block is not what was written; `error.records` says which records.
    """

    @names_checked()
    def __init__(
        self,
        db: Store | str | os.PathLike[str],
        split: str = "train",
        batch_size: int = 256,
        *,
        device: str | torch.device | None = None,
        seed: int = 0,
        transforms: Iterable[Any] | None = (),
        fields: Iterable[str] | None = None,
        kinds: Mapping[str, Kind | str] | None = None,
        shuffle: bool = True,
        drop_last: bool = False,
        channels_last: bool = False,
        compile: bool = False,
        window: int = 0,
        bins: int = 0,
        reuse: int = 1,
        lanes: int = 0,
        sampling: Sampling | None = None,
        threads: int | None = None,
        rank: int | None = None,
        world: int | None = None,
        shard: bool = True,
        first_epoch: int = 0,
    ) -> None:
        self.device = device_of(device)
        store = db if isinstance(db, Store) else Store(db)
        self._resident = Resident(
            store, text("split", split), self.device, transforms, fields, kinds,
            channels_last=bool(flag("channels_last", channels_last)), compiled=bool(flag("compile", compile)),
        )  # fmt: skip
        by_default = rank is None and world is None and shard is True
        rank, world = place(rank, world, shard)
        super().__init__(
            store, split, batch_size, seed=seed, fields=[], kinds=kinds, shuffle=shuffle,
            drop_last=drop_last, threads=0,
            window=window, bins=bins, reuse=reuse, lanes=lanes, sampling=sampling, rank=rank, world=world,
            first_epoch=first_epoch,
        )  # fmt: skip
        self._place(by_default)
        self._resident.load(threads)

    def __iter__(self) -> Iterator[Any]:
        self._settle()
        epoch = super().__iter__()
        self._agree()
        return epoch

    def __len__(self) -> int:
        self._settle()
        return super().__len__()

    @staticmethod
    def bytes_needed(
        db: Store | str | os.PathLike[str],
        split: str = "train",
        *,
        transforms: Iterable[Any] | None = (),
        fields: Iterable[str] | None = None,
        kinds: Mapping[str, Kind | str] | None = None,
    ) -> int:
        """The bytes that a loader with these options needs on its device, without the batches themselves.
        Decodes nothing."""
        store = db if isinstance(db, Store) else Store(db)
        cpu = torch.device("cpu")
        return Resident(store, text("split", split), cpu, transforms, fields, kinds).bytes_needed

    def _make_source(self, reader: _core.Reader) -> Drawing:
        return Drawing(reader, self._resident, self.seed, self.batch_size)

    def _convert(self, drawn: Drawn) -> Any:
        places = [place and place.cut(drawn.start, drawn.stop) for place in drawn.part.places]
        return self._resident.take(drawn.part.rows[drawn.start : drawn.stop], places)

    def receipt(self) -> dict[str, Any]:
        """Accounts for the deliveries of the current epoch so far, as `Loader.receipt()` does. Batches drawn
        ahead do not count: to tell them apart, those that were handed out are drawn once more."""
        source: Any = self._settled().source  # of this class's own
        origin, calls = source.origin()
        if origin is None:
            return super().receipt()
        reader = _core.Reader(self.store, {**self._options, "state": origin})
        try:
            _replay(reader, calls)
            return _summed(reader.receipt())
        finally:
            reader.close()

    def __repr__(self) -> str:
        held = f"{len(self._resident.ids):,} records, {size(self._resident.bytes_held)} on {self.device}"
        return (
            f"<apldata.torch.DeviceLoader of {self.store.path!r}, split {self.split}: {held}; "
            f"{len(self)} batches of {self.batch_size}, seed {self.seed}, epoch {self.epoch}>"
        )


def _replay(reader: _core.Reader, calls: int) -> None:
    """Asks for that many batches."""
    for _ in range(calls):
        reader.next()


def _summed(receipt: dict[str, Any]) -> dict[str, Any]:
    low, high = receipt["sum"]
    return {**receipt, "sum": f"{high << 64 | low:032x}"}
