"""What the library does to images, done by torch where they lie: all rows of a batch at once, equal bit by
bit."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from .. import _core

_DTYPES = {
    _core.APL_U8: torch.uint8,
    _core.APL_F16: torch.float16,
    _core.APL_BF16: torch.bfloat16,
    _core.APL_F32: torch.float32,
}
PLACES = 5  # int32 of a placement: top, left, flip, cut_top, cut_left
_LEFT_RIGHT, _TOP_BOTTOM = 1, 2  # bits of flip


class Places(NamedTuple):
    """Where crop, flip and square of n rows fall, as tensors on the device. None: of what is not done."""

    top: torch.Tensor | None  # int64[n]
    left: torch.Tensor | None
    flip: torch.Tensor | None  # bool[n, 1, 1, 1]: left and right
    vertical_flip: torch.Tensor | None  # top and bottom
    rows: torch.Tensor | None  # bool[n, height] of the result: is the row within the square's?
    columns: torch.Tensor | None  # bool[n, width]

    def cut(self, start: int, stop: int) -> Places:
        """Those of the rows from `start` to `stop`."""
        return Places(*(None if t is None else t[start:stop] for t in self))


def reflected(length: int, pad: int, device: torch.device) -> torch.Tensor:
    """Indices that pad a side of `length` by reflections that do not repeat the edge: int64[length + 2 *
    pad]."""
    at = torch.arange(-pad, length + pad, device=device).abs()
    return torch.where(at >= length, 2 * (length - 1) - at, at)


def _bit(numbers: torch.Tensor, bit: int) -> torch.Tensor:
    return (numbers & bit).bool()[:, None, None, None]


class Augment:
    """A completed transform (see ``apl_transform_complete()``), for images u8 (channels, height, width)
    that lie padded on a device.

    Args:
        settings: the transform, nothing left to defaults.
        shape: of an image as stored.
        device: where the images lie.
        nhwc: do they lie there with channels last?
        by_table: look results up in a table of all 256 values instead of computing them. Slower by itself; a
            compiler may fuse it with the rest, and not round the other way.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        shape: tuple[int, ...],
        device: torch.device,
        *,
        nhwc: bool,
        by_table: bool = False,
    ) -> None:
        self.channels, height, width = shape
        self.settings, self.nhwc = settings, nhwc
        self.pad, self.cutout = settings["pad"], settings["cutout"]
        self.reflects = settings["pad_mode"] == _core.APL_PAD_REFLECT
        self.height, self.width = settings["crop_height"], settings["crop_width"]
        self.padded = height + 2 * self.pad, width + 2 * self.pad
        self.crops = (self.height, self.width) != self.padded
        self.flips = settings["flip"] != _core.APL_FLIP_NONE
        self.flips_vertically = settings["vertical_flip_p"] > 0
        self.dtype = _DTYPES[settings["dtype"]]
        self._prepare(device, by_table)

    @property
    def places(self) -> bool:
        """Does anything depend on the row's placement?"""
        return self.crops or self.flips or self.flips_vertically or self.cutout > 0

    @property
    def padded_shape(self) -> tuple[int, int, int]:
        """Of an image as it lies on the device."""
        return (*self.padded, self.channels) if self.nhwc else (self.channels, *self.padded)

    def _prepare(self, device: torch.device, by_table: bool) -> None:
        """The numbers that values are multiplied by and to which they are added, and what comes of all 256
        values; in float32, as the library has them."""
        channels = self.channels
        mean, std = (np.array(self.settings[key], np.float32) for key in ("mean", "std"))
        scaled = self.settings["scale"]
        if scaled == _core.APL_SCALE_NORMALISE:
            scale, bias = np.float32(1) / std, -mean / std
        else:
            scale = np.full(
                channels, 1 / np.float32(255) if scaled == _core.APL_SCALE_UNIT else 1, np.float32
            )
            bias = np.zeros(channels, np.float32)
        across = (channels,) if self.nhwc else (channels, 1, 1)
        self.scale, self.bias = (torch.from_numpy(n).reshape(across).to(device) for n in (scale, bias))
        self.biased = bool(bias.any())
        self.table = None
        if by_table and self.dtype != torch.uint8:
            values = np.arange(256, dtype=np.float32) * scale[:, None] + bias[:, None]
            self.table = torch.from_numpy(values).to(self.dtype).to(device)
            self.channel = torch.arange(channels, device=device).reshape(across)

    def place(self, drawn: torch.Tensor) -> Places:
        """The placements `drawn`, int32[n, 5] on the device, as what apply() takes."""
        top, left, flip, cut_top, cut_left = drawn.t()
        rows = columns = None
        if self.cutout:
            rows, columns = (
                (torch.arange(size, device=drawn.device, dtype=torch.int32) - first[:, None])
                for size, first in ((self.height, cut_top), (self.width, cut_left))
            )
            rows, columns = ((at >= 0) & (at < self.cutout) for at in (rows, columns))
        return Places(
            top.long() if self.crops else None,
            left.long() if self.crops else None,
            _bit(flip, _LEFT_RIGHT) if self.flips else None,
            _bit(flip, _TOP_BOTTOM) if self.flips_vertically else None,
            rows,
            columns,
        )

    def windows(self, images: torch.Tensor) -> torch.Tensor:
        """All crops of all images as a view: indexed by image, top and left it is a batch of crops."""
        across, down = self.padded[1] - self.width + 1, self.padded[0] - self.height + 1
        strides = images.stride()
        if self.nhwc:
            n, y, x, c = strides
            shape, inner = (self.height, self.width, self.channels), (y, x, c)
        else:
            n, c, y, x = strides
            shape, inner = (self.channels, self.height, self.width), (c, y, x)
        return images.as_strided((images.shape[0], down, across, *shape), (n, y, x, *inner))

    def apply(self, images: torch.Tensor, rows: torch.Tensor, places: Places) -> torch.Tensor:
        """The images `rows` (int64[n]), augmented and converted; `images` are windows() where the
        transform crops."""
        if places.top is not None and places.left is not None:
            batch = images[rows, places.top, places.left]
        else:
            batch = images.index_select(0, rows)
        for flip, side in ((places.flip, 3), (places.vertical_flip, 2)):
            if flip is not None:
                batch = torch.where(flip, batch.flip(side - self.nhwc), batch)
        batch = self._convert(batch)
        if places.rows is None or places.columns is None:
            return batch
        square = places.rows[:, :, None] & places.columns[:, None, :]
        return batch.masked_fill_(square[:, :, :, None] if self.nhwc else square[:, None], 0)

    def _convert(self, batch: torch.Tensor) -> torch.Tensor:
        if self.dtype == torch.uint8:
            return batch
        if self.table is not None:
            return self.table[self.channel, batch.int()]
        batch = torch.mul(batch, self.scale)  # two kernels: rounded after either step, as the library rounds
        if self.biased:
            batch.add_(self.bias)
        return batch.to(self.dtype)
