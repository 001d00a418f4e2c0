"""What becomes of pixels in the batch: scaled, converted, overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from .._arguments import flag, shown, whole, wrong_value
from .._errors import InvalidError
from ._base import (
    CHANNELS,
    CONVERT,
    CUT,
    ERASE,
    WIDEST,
    Transform,
    interval,
    per_channel,
    probability,
)

DTYPES = {"f16": _core.APL_F16, "bf16": _core.APL_BF16, "f32": _core.APL_F32}


@dataclass(frozen=True)
class Cutout(Transform):
    """Sets a square with sides of `size` pixels at a random place to 0; its centre is uniform over the image,
    so parts of it may lie outside."""

    STAGE: ClassVar[int] = CUT
    LATEST: ClassVar[int] = CUT

    size: int
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"cutout": whole("Cutout: size", self.size, 0, WIDEST)}


@dataclass(frozen=True)
class Normalize(Transform):
    """(v / 255 - mean) / std, for each channel: mean and std are those of images from 0 to 1, a number for
    each channel, or one for all. Without `mean` and `std`, those of the split "train" are used, from the
    store; a store without that split has them if it was extracted from one that has it, and is refused
    otherwise. The result is float32 unless another type is requested."""

    STAGE: ClassVar[int] = CONVERT
    LATEST: ClassVar[int] = ERASE

    mean: float | Sequence[float] | None = None
    std: float | Sequence[float] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        if (self.mean is None) != (self.std is None):
            raise InvalidError(
                f"Normalize: mean and std go together; got mean={shown(self.mean)}, std={shown(self.std)}"
            )
        if self.mean is None or self.std is None:
            return {"scale": _core.APL_SCALE_NORMALISE, "mean": [], "std": []}
        mean, std = per_channel("Normalize: mean", self.mean), per_channel("Normalize: std", self.std)
        if any(s <= 0 for s in std) or len(mean) != len(std):
            wanted = (
                "a number above 0" if len(mean) == 1 else f"{len(mean)} numbers above 0, as many as mean has"
            )
            raise wrong_value("Normalize: std", wanted, self.std)
        if any(m > 1 for m in mean):
            raise InvalidError(
                f"Normalize: a mean of {max(mean):.4g}, where images go from 0 to 1: divide mean and "
                "std by 255, or say Normalize() for those that the store knows"
            )
        if len(mean) == 1:
            mean, std = mean * CHANNELS, std * CHANNELS
        return {
            "scale": _core.APL_SCALE_NORMALISE,
            "mean": [255 * m for m in mean],
            "std": [255 * s for s in std],
        }


@dataclass(frozen=True)
class _ToFloat(Transform):
    STAGE: ClassVar[int] = CONVERT
    LATEST: ClassVar[int] = ERASE

    scale: bool = True
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        code = {"dtype": DTYPES[type(self)._DTYPE]}  # type: ignore[attr-defined]
        flag(f"{type(self).__name__}: scale", self.scale)
        return code if self.scale else {**code, "scale": _core.APL_SCALE_NONE}


class ToFloat32(_ToFloat):
    """float32: v / 255, or normalised; with ``scale=False``, 0 ... 255."""

    _DTYPE = "f32"


class ToFloat16(_ToFloat):
    """float16, rounded to nearest even: v / 255, or normalised; with ``scale=False``, 0 ... 255."""

    _DTYPE = "f16"


class ToBFloat16(_ToFloat):
    """bfloat16, rounded to nearest even: v / 255, or normalised; with ``scale=False``, 0 ... 255. For
    PyTorch, JAX and TensorFlow; NumPy needs the package ml_dtypes."""

    _DTYPE = "bf16"


@dataclass(frozen=True)
class ChannelsLast(Transform):
    """(height, width, channels) instead of (channels, height, width)."""

    LATEST: ClassVar[int] = ERASE

    def settings(self) -> dict[str, Any]:
        return {"layout": _core.APL_NHWC}


@dataclass(frozen=True)
class RandomErasing(Transform):
    """Overwrites a rectangle at a random place, with probability `p`: `scale` of the image's area, with a
    height of `ratio` times its width; as torchvision draws it.

    Args:
        value: the new content: a number, one for each channel, or "random": normal noise. Listed before
            `Normalize` and the conversion to a float, it is a pixel value (0 ... 255) to which these apply;
            listed after them, it is in units of the result.
    """

    STAGE: ClassVar[int] = ERASE
    LATEST: ClassVar[int] = ERASE
    ORDERED: ClassVar[bool] = True

    p: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        scale = interval("RandomErasing: scale", self.scale, 1, 0)
        ratio = interval("RandomErasing: ratio", self.ratio, 1000)
        if scale[1] == 0:
            raise wrong_value(
                "RandomErasing: scale", "a pair of numbers of which the second is above 0", self.scale
            )
        common = {
            "erase_p": probability("RandomErasing: p", self.p),
            "erase_area": scale,
            "erase_ratio": ratio,
        }
        if isinstance(self.value, str):
            if self.value != "random":
                raise wrong_value("RandomErasing: value", 'a number, numbers, or "random"', self.value)
            return {**common, "erase": _core.APL_ERASE_NOISE, "erase_value": []}
        values = per_channel("RandomErasing: value", self.value)
        filled = values * CHANNELS if len(values) == 1 else values
        return {**common, "erase": _core.APL_ERASE_RESULT, "erase_value": filled}
