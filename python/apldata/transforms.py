"""What is done to pictures on their way into a batch.

These run in C, fused into one pass, on the library's threads. They apply to a u8 field of the shape
(channels, height, width), in this order, whatever the order they are given in: pad, crop, flip, cut out,
scale, convert. Randomness is keyed by seed, epoch and record: a record is augmented the same way in whatever
batch, thread or rank it comes.

Any other callable given among the transforms is a function over a whole batch (see `Loader`); `PerPicture`
makes one from a function over single pictures.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._arguments import choice, number, optional_text, whole, wrong_type, wrong_value
from ._errors import InvalidError, InvalidTypeError
from .schema import Schema

_PAD_MODES = {"constant": _core.APL_PAD_ZERO, "reflect": _core.APL_PAD_REFLECT}
_DTYPES = {"f16": _core.APL_F16, "bf16": _core.APL_BF16, "f32": _core.APL_F32}
_WIDEST, _LARGEST = 1 << 15, 1 << 20  # pixels to pad or cut out; of a side
_CHANNELS = _core.APL_MAX_CHANNELS


def _pair(name: str, size: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, (str, bytes)) or not isinstance(size, Sequence):
        side = whole(name, size, 1, _LARGEST)
        return side, side
    if len(size) != 2:
        raise wrong_value(name, "a side, or a pair of height and width", size)
    height, width = (whole(name, side, 1, _LARGEST) for side in size)
    return height, width


def _numbers(name: str, values: Any) -> list[float]:
    """A number for each channel."""
    wanted = "a list of numbers, one for each channel"
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise wrong_type(name, wanted, values)
    found = [number(f"{name}[{channel}]", value) for channel, value in enumerate(values)]
    if not 1 <= len(found) <= _CHANNELS:
        raise wrong_value(name, f"{wanted}, of which there are at most {_CHANNELS}", values)
    return found


@dataclass(frozen=True, kw_only=True)
class Transform:
    """A transform that runs in C. `field` names the pictures; None: the one field that is a picture."""

    field: str | None = None

    def settings(self) -> dict[str, Any]:
        """The members of ``apl_transform`` (see ``apl.h``) that it sets."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Pads all sides by `padding` pixels (zeros, or by "reflect"ing the picture), then cuts out `size` (a
    side, or height and width) at a random place."""

    size: int | Sequence[int]
    padding: int = 0
    padding_mode: str = "constant"
    field: str | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = _pair("RandomCrop: size", self.size)
        return {
            "pad": whole("RandomCrop: padding", self.padding, 0, _WIDEST),
            "pad_mode": choice("RandomCrop: padding_mode", self.padding_mode, _PAD_MODES),
            "crop_height": height,
            "crop_width": width,
        }


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Cuts `size` (a side, or height and width) out of the middle."""

    size: int | Sequence[int]
    field: str | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = _pair("CenterCrop: size", self.size)
        return {"crop_height": height, "crop_width": width, "crop_centre": 1}


@dataclass(frozen=True)
class RandomFlip(Transform):
    """Turns left and right round, with probability one half, anew each epoch."""

    def settings(self) -> dict[str, Any]:
        return {"flip": _core.APL_FLIP_RANDOM}


@dataclass(frozen=True)
class AlternatingFlip(Transform):
    """Turns left and right round: one half of the records in even epochs, the other half in odd ones, so that
    two epochs show each record once either way."""

    def settings(self) -> dict[str, Any]:
        return {"flip": _core.APL_FLIP_ALTERNATING}


@dataclass(frozen=True)
class Cutout(Transform):
    """Sets a square with sides of `size` pixels at a random place to 0; its middle is uniform over the
    picture, so that it may stick out."""

    size: int
    field: str | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"cutout": whole("Cutout: size", self.size, 0, _WIDEST)}


@dataclass(frozen=True)
class Normalize(Transform):
    """(v / 255 - mean) / std, of each channel: mean and std are of pictures from 0 to 1. Without `mean` and
    `std`, those of the split "train" are taken, which stores know (of the split that is read, if there is no
    "train"). The result is float32 unless another type is asked for."""

    mean: Sequence[float] | None = None
    std: Sequence[float] | None = None
    field: str | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        if (self.mean is None) != (self.std is None):
            raise InvalidError(
                f"Normalize: mean and std go together; got mean={self.mean!r}, std={self.std!r}"
            )
        if self.mean is None or self.std is None:
            return {"scale": _core.APL_SCALE_NORMALISE}
        mean, std = _numbers("Normalize: mean", self.mean), _numbers("Normalize: std", self.std)
        if any(s <= 0 for s in std) or len(mean) != len(std):
            wanted = f"{len(mean)} numbers above 0, as many as mean has"
            raise wrong_value("Normalize: std", wanted, self.std)
        if any(m > 1 for m in mean):
            raise InvalidError(
                f"Normalize: a mean of {max(mean):.4g}, where pictures go from 0 to 1: divide mean and "
                "std by 255, or say Normalize() for those that the store knows"
            )
        return {
            "scale": _core.APL_SCALE_NORMALISE,
            "mean": [255 * m for m in mean],
            "deviation": [255 * s for s in std],
        }


@dataclass(frozen=True)
class _ToFloat(Transform):
    scale: bool = True
    field: str | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        code = {"dtype": _DTYPES[type(self)._DTYPE]}  # type: ignore[attr-defined]
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

    def settings(self) -> dict[str, Any]:
        return {"layout": _core.APL_NHWC}


def _takes(function: Callable[..., Any], keyword: str) -> bool:
    """Has the function an argument of that name? Of those that do not tell, it is expected."""
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return keyword in arguments or any(a.kind is a.VAR_KEYWORD for a in arguments.values())


class PerPicture:
    """A function over single pictures, as a transform over batches: for Albumentations and the like.

    ``function(image=picture)["image"]``, or ``function(picture)`` if it has no argument of that name, is
    called for each picture of the batch, as an array of the shape (height, width, channels), and may return
    another shape and dtype, the same for all. All of this is Python, on one thread, ahead of the training
    loop: it costs what the function costs, and about 2 µs a picture more. The C transforms cost less than
    half a microsecond.

    Args:
        function: of one picture. It is called anew for each; its randomness is its own.
        field: the field of the pictures.
        keyword: the argument that takes the picture; None: the first.
        channels_last: False: pictures come and go as (channels, height, width).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        field: str = "image",
        keyword: str | None = "image",
        channels_last: bool = True,
    ) -> None:
        self.function, self.field, self.channels_last = function, field, channels_last
        self.keyword = keyword if keyword is None or _takes(function, keyword) else None

    def _one(self, picture: np.ndarray) -> np.ndarray:
        if self.channels_last:
            picture = np.ascontiguousarray(picture.transpose(1, 2, 0))
        result = self.function(picture) if self.keyword is None else self.function(**{self.keyword: picture})
        if isinstance(result, dict):
            result = result[self.keyword or "image"]
        if result is None:
            raise InvalidError(f"{self.function!r} has returned None, not a picture")
        return np.asarray(result).transpose(2, 0, 1) if self.channels_last else np.asarray(result)

    def __call__(self, batch: Any) -> None:
        batch[self.field] = np.stack([self._one(picture) for picture in batch[self.field]])

    def __repr__(self) -> str:
        return f"PerPicture({self.function!r}, field={self.field!r})"


def _merge(merged: dict[str, Any], transform: Transform) -> None:
    for key, value in transform.settings().items():
        if key in merged and merged[key] != value:
            raise InvalidError(f"{transform!r}: another transform has set {key} already")
        merged[key] = value


def _complete(merged: dict[str, Any]) -> dict[str, Any]:
    scaled = merged.get("scale", _core.APL_SCALE_UNIT)
    if scaled == _core.APL_SCALE_NORMALISE:
        merged.setdefault("dtype", _DTYPES["f32"])
    return merged


def check_channels(in_c: list[dict[str, Any]], schema: Schema) -> None:
    """Are there as many means and deviations as channels?"""
    for settings in in_c:
        fields = [f for f in schema if f.is_picture and settings["field"] in (None, f.name)]
        means = len(settings.get("mean", ()))
        if means and len(fields) == 1 and means != fields[0].shape[0]:
            raise InvalidError(
                f"Normalize: {means} means for {fields[0].shape[0]} channels of field {fields[0].name}"
            )


def listed(transforms: Any) -> list[Any]:
    """Some transforms, or a single one, as a list."""
    if isinstance(transforms, Transform) or callable(transforms):
        return [transforms]
    if isinstance(transforms, (str, bytes)) or not hasattr(transforms, "__iter__"):
        raise wrong_type("transforms", "a list of transforms and functions", transforms)
    return list(transforms)


def split_transforms(transforms: Any) -> tuple[list[dict[str, Any]], list[Callable[[Any], Any]]]:
    """Divides transforms (some, or a single one) into what runs in C (a dict for each field) and functions
    over batches, which come after it."""
    fields: dict[str | None, dict[str, Any]] = {}
    functions: list[Callable[[Any], Any]] = []
    for transform in listed(transforms):
        if isinstance(transform, type):
            raise InvalidTypeError(f"{transform.__name__} is a class: write {transform.__name__}()")
        if isinstance(transform, Transform):
            if functions:
                raise InvalidError(
                    f"{transform!r} runs in C, before functions of your own: put it in front of them"
                )
            name = optional_text(f"{type(transform).__name__}: field", transform.field)
            _merge(fields.setdefault(name, {"field": name}), transform)
        elif callable(transform):
            functions.append(transform)
        else:
            raise wrong_type("a transform", "one of apldata.transforms, or a function", transform)
    return [_complete(merged) for merged in fields.values()], functions
