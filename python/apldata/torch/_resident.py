"""A split that lies decoded on a device: one tensor for each field."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.dlpack import from_dlpack

from .. import _core
from .._arguments import shown
from .._arrays import numpy_dtype
from .._errors import InvalidError
from .._following import Following
from .._foreign import resolved
from .._store import Store
from ..schema import Field
from ..transforms import MOVING, split_transforms
from ._augment import Augment, Places, reflected
from ._tensors import check_int64, names_given, tuple_type

_PART = 64 << 20  # bytes that are decoded, and copied to the device, at a time
_NOWHERE = Places(None, None, None, None, None, None)
_READERS_OWN = (
    "policy",
    "affine_p",
    "perspective_p",
    "elastic_p",
    "pad_left",
    "pad_fill",
    "jitter_p",
    "grey_p",
    "blur_p",
    "erase_p",
    "blend",
)  # what DeviceLoader cannot do
_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def torch_dtype(field: Field) -> torch.dtype:
    """The dtype of a field's values, as stored."""
    if field.dtype == "bf16":
        return torch.bfloat16
    return torch.from_numpy(np.empty(0, numpy_dtype(field.dtype))).dtype


def check_field(store: Store, name: str) -> Field:
    """The field; InvalidError if it cannot lie in one tensor."""
    field = store.schema[name]
    if field.dtype == "utf8" or -1 in field.shape:
        raise InvalidError(
            f"{store.path}: field {name} is {field.type}, of varying shape: a split can lie on a device only "
            "in fields of one shape; leave it out of `fields`, or use DataLoader"
        )
    return field


def is_label(field: Field) -> bool:
    """Is it a target of whole numbers, which becomes int64?"""
    return field.mark == "target" and not torch_dtype(field).is_floating_point and field.dtype != "bool"


class Ids:
    """In the place of a column: the ids of the records, int64."""

    name, augment = "id", None
    values: torch.Tensor

    def bytes_of(self, records: int) -> int:
        return 8 * records

    def take(self, rows: torch.Tensor, places: Places | None) -> torch.Tensor:
        return self.values.index_select(0, rows)


class Column:
    """A field of a split on a device: `values`, of the shape (records, ...), in the order of ids.

    Args:
        augment: what is done to images on their way into a batch.
        channels_last: they are handed out with the strides of `torch.channels_last`.
        compiled: `torch.compile` is to fuse what is done to them.
    """

    values: torch.Tensor

    def __init__(
        self,
        field: Field,
        device: torch.device,
        augment: Augment | None = None,
        *,
        channels_last: bool = False,
        compiled: bool = False,
    ) -> None:
        self.name, self.device, self.augment = field.name, device, augment
        self.dtype = torch.int64 if is_label(field) else torch_dtype(field)
        self.shape = augment.padded_shape if augment else field.shape
        self._grey = augment is not None and len(field.shape) == 2  # without a dimension of channels
        self._permutes = (
            channels_last and augment is not None and augment.settings["layout"] != _core.APL_NHWC
        )
        self._apply: Any = augment and (torch.compile(augment.apply) if compiled else augment.apply)

    def bytes_of(self, records: int) -> int:
        """Bytes that this many records take on the device."""
        return records * int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def allocate(self, records: int) -> None:
        dtype = _SIGNED.get(self.dtype, self.dtype)  # a few operations are missing for the unsigned ones
        make = torch.zeros if self.augment and self.augment.pad else torch.empty
        self.values = make((records, *self.shape), dtype=dtype, device=self.device)

    def fill(self, first: int, part: torch.Tensor) -> None:
        """Puts stored values into the records from `first`."""
        to = self.values[first : first + len(part)]
        part = part.to(self.device)
        if self.augment is None:
            made = part.to(self.dtype)
            if self.dtype == torch.int64:
                check_int64(made, part.dtype == torch.uint64, self.name)
            to.copy_(made.view(to.dtype))
            return
        part = part[:, None] if self._grey else part
        pad, (height, width) = self.augment.pad, self.augment.padded
        part = part.permute(0, 2, 3, 1) if self.augment.nhwc else part
        down = 1 if self.augment.nhwc else 2
        if pad and self.augment.reflects:
            for dim, length in ((down, height), (down + 1, width)):
                part = part.index_select(dim, reflected(length - 2 * pad, pad, self.device))
        elif pad:
            to = to.narrow(down, pad, height - 2 * pad).narrow(down + 1, pad, width - 2 * pad)
        to.copy_(part)

    def take(self, rows: torch.Tensor, places: Places | None) -> torch.Tensor:
        """The records `rows` (int64[n]), augmented."""
        if self.augment is None:
            return self.values.index_select(0, rows).view(self.dtype)
        images = self._apply(self.values, rows, places or _NOWHERE)
        if self._grey:
            return images.squeeze(3 if self.augment.nhwc else 1)
        return images.permute(0, 3, 1, 2) if self._permutes else images


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by torch, for reuse
        return torch.cuda.mem_get_info(device)[0] + kept
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class Resident:
    """A split of a store on a device. Made without values, so that bytes_needed() can be asked; load() brings
    them.

    Args:
        names: of the fields wanted, and "id"; None: the inputs and targets.
        transforms, kinds, channels_last, compiled: see `DeviceLoader`.
    """

    def __init__(
        self,
        store: Store,
        split: str,
        device: torch.device,
        transforms: Iterable[Any] | None = (),
        names: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        *,
        channels_last: bool = False,
        compiled: bool = False,
    ) -> None:
        self.store, self.split, self.device = store, split, device
        self.ids = store.split_ids(split)
        self._dense = len(self.ids) > 0 and int(self.ids[-1]) - int(self.ids[0]) == len(self.ids) - 1
        self._channels_last, self._compiled = channels_last, compiled
        names = names_given(store.schema, names)
        self._settings = self._complete(transforms, names, kinds)
        self.columns = [self._column(name) for name in names]
        self._tuple: Any = tuple_type(tuple(names))

    def _complete(
        self, transforms: Iterable[Any] | None, names: list[str], kinds: Mapping[str, Any] | None
    ) -> dict[str, dict[str, Any]]:
        read = [name for name in names if name in self.store.schema.names]
        done = resolved(transforms, self.store, read, kinds)
        in_c, functions = split_transforms(done)
        if functions:
            raise InvalidError(
                f"{shown(functions[0])}: DeviceLoader runs no functions over batches: call it in the loop, "
                "on what that yields"
            )
        if any(key in one for one in in_c for key in _READERS_OWN):
            raise InvalidError(
                "DeviceLoader changes no colours and erases nothing: leave "
                "RandAugment, ColorJitter, Grayscale, GaussianBlur, RandomErasing, MixUp to DataLoader, or "
                "call torchvision's in the loop"
            )
        if any(isinstance(one, MOVING) for one in done):
            Following(self.store, read, kinds).check_alone("DeviceLoader")
        if any("sizing" in one for one in in_c):
            raise InvalidError(
                "DeviceLoader resizes nothing: store the images at the size (aplingest --resize), or leave "
                "Resize and RandomResizedCrop to DataLoader"
            )
        settings = {one["field"]: one for one in (self.store._transform(one, self.split) for one in in_c)}
        for name in settings.keys() - set(names):
            raise InvalidError(f"a transform: field {name} is not among the fields wanted")
        return settings

    def _column(self, name: str) -> Column | Ids:
        if name == "id" and all(field.name != "id" for field in self.store.schema):
            return Ids()
        field = check_field(self.store, name)
        settings = self._settings.get(name)
        grey = len(field.shape) == 2
        if settings is None and (grey or not (self._channels_last and field.is_picture)):
            return Column(field, self.device)
        settings = settings or self.store._transform({"field": name}, self.split)
        nhwc = self._channels_last or settings["layout"] == _core.APL_NHWC
        augment = Augment(
            settings,
            (1, *field.shape) if grey else field.shape,
            self.device,
            nhwc=nhwc,
            by_table=self._compiled,
        )
        return Column(field, self.device, augment, channels_last=self._channels_last, compiled=self._compiled)

    # ------------------------------------------------------------------------------------------- values

    @property
    def bytes_held(self) -> int:
        """That the values take on the device."""
        return sum(column.bytes_of(len(self.ids)) for column in self.columns)

    @property
    def bytes_needed(self) -> int:
        """That, and what bringing them takes for a moment."""
        return self.bytes_held + min(self.bytes_held, 2 * _PART)

    def load(self, threads: int | None) -> None:
        """Decodes the split and brings it to the device, a part at a time.

        Raises:
            InvalidError: the device has too little memory left; nothing has been decoded.
            CorruptError: a block is not what was written.
        """
        need, free = self.bytes_needed, _free_bytes(self.device)
        if need > free:
            raise InvalidError(
                f"{self.store.path}: split {self.split}, {len(self.ids)} records decoded, needs "
                f"{need / 2**30:.2f} GiB on {self.device}, which has {free / 2**30:.2f} GiB left: use "
                "DataLoader, which keeps a few batches"
            )
        fields = [column for column in self.columns if isinstance(column, Column)]
        for field in fields:
            field.allocate(len(self.ids))
        self._fill(fields, threads)
        for column in self.columns:
            if isinstance(column, Ids):
                column.values = torch.from_numpy(self.ids.astype(np.int64)).to(self.device)
            elif column.augment and column.augment.crops:
                column.values = column.augment.windows(column.values)

    def _fill(self, columns: list[Column], threads: int | None) -> None:
        names = list(dict.fromkeys(column.name for column in columns))
        step = max(1, _PART // max(1, sum(column.bytes_of(1) for column in columns)))
        for first in range(0, len(self.ids) if names else 0, step):
            batch = self.store.get(self.ids[first : first + step], names, threads)
            for column in columns:
                column.fill(first, from_dlpack(batch.column(column.name)))

    # ------------------------------------------------------------------------------------------- batches

    @property
    def placing(self) -> list[dict[str, Any]]:
        """The transforms that need placements, in the order of their columns."""
        return [
            column.augment.settings for column in self.columns if column.augment and column.augment.places
        ]

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """Where the records `ids` lie in the columns: int32[n]."""
        rows = ids - self.ids[0] if self._dense else np.searchsorted(self.ids, ids)
        return rows.astype(np.int32)

    def take(self, rows: torch.Tensor, places: list[Places | None]) -> Any:
        """A batch: the records `rows` (int64[n]), with the placements of each column."""
        pairs = zip(self.columns, places, strict=True)
        return self._tuple._make([column.take(rows, place) for column, place in pairs])
