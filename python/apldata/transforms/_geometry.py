"""Crops and flips: transforms that put pixels in other places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from .._arguments import choice, flag, whole
from ._base import BLUR, WIDEST, Transform, interval, pair, probability

_PAD_MODES = {"constant": _core.APL_PAD_ZERO, "reflect": _core.APL_PAD_REFLECT}


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Pads all sides by `padding` pixels (zeros, or by "reflect"ing the image), then cuts out `size` (a
    side, or height and width) at a random place. JPEG images smaller than that are an error, or, with
    `pad_if_needed`, padded by zeros on both sides."""

    size: int | Sequence[int]
    padding: int = 0
    padding_mode: str = "constant"
    pad_if_needed: bool = field(default=False, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = pair("RandomCrop: size", self.size)
        return {
            "pad": whole("RandomCrop: padding", self.padding, 0, WIDEST),
            "pad_mode": choice("RandomCrop: padding_mode", self.padding_mode, _PAD_MODES),
            "pad_if_needed": int(flag("RandomCrop: pad_if_needed", self.pad_if_needed)),
            "crop_height": height,
            "crop_width": width,
        }


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """A random box of a JPEG image, resized to `size` (a side, or height and width): `scale` of the image's
    area, with a width of `ratio` times its height; as torchvision draws it. No more is decoded than the box
    needs. Resizing is antialiased and bilinear.

    Args:
        exact_chroma: interpolate colours before resizing, as torchvision does, which costs about a fifth more
            time; False: resize luma and chroma each at its own resolution (51 dB from the other).
    """

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
    """Resizes JPEG images: the shorter side to `size`, or both to a (height, width). A crop comes after it,
    wherever it stands in the list. No more is decoded than the crop needs. Antialiased and bilinear.

    Args:
        exact_chroma: as of `RandomResizedCrop`.
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
    """Cuts `size` (a side, or height and width) out of the middle."""

    size: int | Sequence[int]
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = pair("CenterCrop: size", self.size)
        return {"crop_height": height, "crop_width": width, "crop_centre": 1}


@dataclass(frozen=True)
class RandomFlip(Transform):
    """Flips images left to right with probability `p`, anew each epoch. Also called `RandomHorizontalFlip`,
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
    """Flips images top to bottom with probability `p`, anew each epoch."""

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
    RandomCrop, RandomResizedCrop, Resize, CenterCrop, RandomFlip, RandomVerticalFlip, AlternatingFlip
)  # fmt: skip
