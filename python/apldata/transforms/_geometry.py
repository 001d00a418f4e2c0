"""Crops and flips: transforms that put pixels in other places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from .._arguments import choice, flag, whole, wrong_value
from ._base import (
    BLUR,
    MOVE,
    PAD,
    WIDEST,
    Transform,
    fills,
    interval,
    mask_fill_of,
    pair,
    probability,
)

_PAD_MODES = {
    "constant": _core.APL_PAD_ZERO,
    "edge": _core.APL_PAD_EDGE,
    "reflect": _core.APL_PAD_REFLECT,
    "symmetric": _core.APL_PAD_SYMMETRIC,
}


def _sides(name: str, padding: int | Sequence[int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom: of one number, a pair of the first two, or all four."""
    wanted = "a number of pixels, or two or four of them"
    several = isinstance(padding, Sequence) and not isinstance(padding, (str, bytes))
    given: list[Any] = list(padding) if several else [padding]  # type: ignore[arg-type]
    if len(given) not in (1, 2, 4):
        raise wrong_value(name, wanted, padding)
    sides = [whole(name, side, 0, WIDEST) for side in given]
    left, top, right, bottom = sides * (4 // len(sides))
    return left, top, right, bottom


def _fill(name: str, fill: float | Sequence[float]) -> dict[str, Any]:
    filled = fills(f"{name}: fill", fill)
    if any(value % 1 for value in filled):
        raise wrong_value(f"{name}: fill", "whole numbers from 0 to 255", fill)
    return {"pad_fill": filled} if any(filled) else {}


@dataclass(frozen=True)
class Pad(Transform):
    """Adds pixels on the sides of images, after they are resized; masks and boxes follow. Without a crop
    after it, the result is the whole padded image. Not `apldata.Pad`, which collates values of different
    lengths.

    Args:
        padding: a number of pixels, for all sides; a pair, for left and right, and for top and bottom; or
            four, for left, top, right and bottom.
        fill: the pixels that are added: a whole number from 0 to 255, or one for each channel.
        padding_mode: "constant" pixels (`fill`); copies of the "edge"; or reflections, "reflect" without the
            edge, "symmetric" with it.
        mask_fill: what masks have there; None: `fill` if that is one number, otherwise 0.
    """

    STAGE: ClassVar[int] = PAD
    LATEST: ClassVar[int] = PAD
    ORDERED: ClassVar[bool] = True

    padding: int | Sequence[int]
    fill: float | Sequence[float] = 0
    padding_mode: str = "constant"
    mask_fill: float | None = field(default=None, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    @property
    def mirrored(self) -> bool:
        left, top, right, bottom = _sides("Pad: padding", self.padding)
        return left == right and top == bottom

    def settings(self) -> dict[str, Any]:
        left, top, right, bottom = _sides("Pad: padding", self.padding)
        return {
            "pad_left": left,
            "pad_top": top,
            "pad_right": right,
            "pad_bottom": bottom,
            "pad_mode": choice("Pad: padding_mode", self.padding_mode, _PAD_MODES),
            **_fill("Pad", self.fill),
            **mask_fill_of("Pad", "pad", self.fill, self.mask_fill),
        }


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Pads by `padding` pixels, then cuts out `size` (a side, or height and width) at a random place. Images
    of any size that are smaller than that are an error, or, with `pad_if_needed`, padded on both sides.

    Args:
        padding, padding_mode, fill, mask_fill: as for `Pad`.
    """

    STAGE: ClassVar[int] = MOVE
    LATEST: ClassVar[int] = MOVE

    size: int | Sequence[int]
    padding: int | Sequence[int] = 0
    padding_mode: str = "constant"
    pad_if_needed: bool = field(default=False, kw_only=True)
    fill: float | Sequence[float] = field(default=0, kw_only=True)
    mask_fill: float | None = field(default=None, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    @property
    def mirrored(self) -> bool:
        left, top, right, bottom = _sides("RandomCrop: padding", self.padding)
        return left == right and top == bottom

    @property
    def _padding(self) -> dict[str, Any]:
        """As one number where all sides are alike, which takes less time."""
        left, top, right, bottom = _sides("RandomCrop: padding", self.padding)
        if left == top == right == bottom:
            return {"pad": left}
        return {"pad_left": left, "pad_top": top, "pad_right": right, "pad_bottom": bottom}

    def settings(self) -> dict[str, Any]:
        height, width = pair("RandomCrop: size", self.size)
        mode = choice("RandomCrop: padding_mode", self.padding_mode, _PAD_MODES)
        if_needed = flag("RandomCrop: pad_if_needed", self.pad_if_needed)
        padding = self._padding
        if any(padding.values()) or if_needed:
            padding |= {"pad_mode": mode, **_fill("RandomCrop", self.fill)}
            padding |= mask_fill_of("RandomCrop", "pad", self.fill, self.mask_fill)
        else:
            padding = {}
        return {
            **padding,
            "pad_if_needed": int(if_needed),
            "crop_height": height,
            "crop_width": width,
        }


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """A random box of an image, resized to `size` (a side, or height and width): `scale` of the image's area,
    with a width of `ratio` times its height; as torchvision draws it. Of a JPEG file only what the box needs
    is decoded. Resizing is antialiased and bilinear.

    Args:
        exact_chroma: interpolate colours before resizing, as torchvision does, which costs about a fifth more
            time; False: resize luma and chroma each at its own resolution (the results agree to 51 dB). In
            either case, JPEG files that shrink to a quarter or less are decoded at a smaller scale.
    """

    STAGE: ClassVar[int] = MOVE
    LATEST: ClassVar[int] = MOVE

    size: int | Sequence[int]
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3 / 4, 4 / 3)
    exact_chroma: bool = field(default=False, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = pair("RandomResizedCrop: size", self.size)
        scale = interval("RandomResizedCrop: scale", self.scale, 1)
        ratio = interval("RandomResizedCrop: ratio", self.ratio, 1000)
        return {
            "sizing": _core.APL_SIZING_RANDOM,
            "crop_height": height,
            "crop_width": width,
            "area_least": scale[0],
            "area_most": scale[1],
            "ratio_least": ratio[0],
            "ratio_most": ratio[1],
            "exact_chroma": int(flag("RandomResizedCrop: exact_chroma", self.exact_chroma)),
        }


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes images: the shorter side to `size`, or both to a (height, width). A crop is applied after it,
    wherever the list has it. Of a JPEG file only what the crop needs is decoded. Antialiased and bilinear.

    Args:
        exact_chroma: as for `RandomResizedCrop`.
    """

    size: int | Sequence[int]
    exact_chroma: bool = field(default=False, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = pair("Resize: size", self.size)
        if isinstance(self.size, Sequence):
            sides = {"resize_height": height, "resize_width": width}
        else:
            sides = {"resize_short": height}
        exact = int(flag("Resize: exact_chroma", self.exact_chroma))
        return {"sizing": _core.APL_SIZING_RESIZE, **sides, "exact_chroma": exact}


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts `size` (a side, or height and width) out of the middle, which is rounded as torchvision does."""

    STAGE: ClassVar[int] = MOVE
    LATEST: ClassVar[int] = MOVE

    size: int | Sequence[int]
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = pair("CenterCrop: size", self.size)
        return {"crop_height": height, "crop_width": width, "crop_centre": 1}


@dataclass(frozen=True)
class RandomFlip(Transform):
    """Flips images left to right with probability `p`, drawn each epoch. Also called `RandomHorizontalFlip`,
    as in torchvision."""

    LATEST: ClassVar[int] = BLUR  # which gives the same
    FLIPS: ClassVar[bool] = True

    p: float = 0.5
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        p = probability(f"{type(self).__name__}: p", self.p)
        return {"flip": _core.APL_FLIP_RANDOM, "flip_p": p} if p else {"flip": _core.APL_FLIP_NONE}


RandomHorizontalFlip = RandomFlip


@dataclass(frozen=True)
class RandomVerticalFlip(Transform):
    """Flips images top to bottom with probability `p`, drawn each epoch."""

    LATEST: ClassVar[int] = BLUR  # which gives the same
    FLIPS: ClassVar[bool] = True

    p: float = 0.5
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"vertical_flip_p": probability("RandomVerticalFlip: p", self.p)}


@dataclass(frozen=True)
class AlternatingFlip(Transform):
    """Flips images left to right: half of the records in even epochs, the other half in odd ones, so that two
    consecutive epochs show each record once in either orientation."""

    LATEST: ClassVar[int] = BLUR  # which gives the same
    FLIPS: ClassVar[bool] = True

    def settings(self) -> dict[str, Any]:
        return {"flip": _core.APL_FLIP_ALTERNATING}


CROPS = (
    Pad, RandomCrop, RandomResizedCrop, Resize, CenterCrop, RandomFlip, RandomVerticalFlip, AlternatingFlip
)  # fmt: skip
