"""What is done to images on their way into a batch.

These run in C, fused into one pass, on the library's threads. They apply to a u8 field of the shape
(channels, height, width) or (height, width), or to a field that keeps JPEG files as they came, in this
order, whatever the order they are given in: resize (JPEG files), pad, crop, flip, cut out, scale,
convert. Randomness is keyed by seed, epoch and record: a record is augmented the same way in whatever
batch, thread or rank it comes. It is not keyed by the field: with equal transforms, an image and its mask
get the same crop and flip (``RandomFlip(field=["image", "mask"])``).

Transforms of torchvision and Albumentations may stand in the same list; see docs/PYTHON.md. Any other
callable is a function over a whole batch (see `Loader`); `PerPicture` makes one from a function over single
images.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._arguments import (
    choice,
    flag,
    names,
    number,
    optional_text,
    shown,
    text,
    whole,
    wrong_type,
    wrong_value,
)
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


def _probability(name: str, value: Any) -> float:
    wanted = "a probability, from 0 to 1"
    p = number(name, value, wanted, 0)
    if p > 1:
        raise wrong_value(name, wanted, value)
    return p


def _numbers(name: str, values: Any) -> list[float]:
    """A number for each channel; one alone stands for all of them."""
    wanted = "a number, or a list of numbers, one for each channel"
    if isinstance(values, (str, bytes)):
        raise wrong_type(name, wanted, values)
    if not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0:
        return [number(name, values, wanted)]
    found = [number(f"{name}[{channel}]", value) for channel, value in enumerate(values)]
    if not 1 <= len(found) <= _CHANNELS:
        raise wrong_value(name, f"{wanted}, of which there are at most {_CHANNELS}", values)
    return found


@dataclass(frozen=True, kw_only=True)
class Transform:
    """A transform that runs in C. Wrong arguments are refused when it is made.

    Args:
        field: the name of the images' field, or a list of several, which are transformed alike; None: the one
            field that is an image. Crops and flips want it named where another field that is read is an
            image or has the same pixels, as a mask has.
    """

    field: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        name = f"{type(self).__name__}: field"
        if isinstance(self.field, (str, type(None))):
            optional_text(name, self.field)
        elif not isinstance(self.field, Sequence) or not self.field:
            raise wrong_type(name, "a string, a list of names, or None", self.field)
        else:
            object.__setattr__(self, "field", tuple(names(name, self.field) or ()))
        self.settings()

    @property
    def fields(self) -> tuple[str | None, ...]:
        """The names of the fields that it is for; None stands for the one field that is an image."""
        return self.field if isinstance(self.field, tuple) else (self.field,)

    def settings(self) -> dict[str, Any]:
        """The members of ``apl_transform`` (see ``apl.h``) that it sets."""
        raise NotImplementedError


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Pads all sides by `padding` pixels (zeros, or by "reflect"ing the picture), then cuts out `size` (a
    side, or height and width) at a random place. JPEG images smaller than that are an error, or, with
    `pad_if_needed`, padded by zeros on both sides."""

    size: int | Sequence[int]
    padding: int = 0
    padding_mode: str = "constant"
    pad_if_needed: bool = field(default=False, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        height, width = _pair("RandomCrop: size", self.size)
        return {
            "pad": whole("RandomCrop: padding", self.padding, 0, _WIDEST),
            "pad_mode": choice("RandomCrop: padding_mode", self.padding_mode, _PAD_MODES),
            "pad_if_needed": int(flag("RandomCrop: pad_if_needed", self.pad_if_needed)),
            "crop_height": height,
            "crop_width": width,
        }


def _range(name: str, values: Any, most: float) -> tuple[float, float]:
    wanted = f"a pair of numbers, the least and the most, above 0 and at most {most:g}"
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise wrong_type(name, wanted, values)
    found = [number(name, value, wanted, 0) for value in values]
    if len(found) != 2 or not 0 < found[0] <= found[1] <= most:
        raise wrong_value(name, wanted, values)
    return found[0], found[1]


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
        height, width = _pair("RandomResizedCrop: size", self.size)
        scale = _range("RandomResizedCrop: scale", self.scale, 1)
        ratio = _range("RandomResizedCrop: ratio", self.ratio, 1000)
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
        height, width = _pair("Resize: size", self.size)
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
        height, width = _pair("CenterCrop: size", self.size)
        return {"crop_height": height, "crop_width": width, "crop_centre": 1}


@dataclass(frozen=True)
class RandomFlip(Transform):
    """Turns left and right round with probability `p`, anew each epoch. Also called `RandomHorizontalFlip`,
    as in torchvision."""

    p: float = 0.5
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        p = _probability(f"{type(self).__name__}: p", self.p)
        return {"flip": _core.APL_FLIP_RANDOM, "flip_p": p} if p else {"flip": _core.APL_FLIP_NONE}


RandomHorizontalFlip = RandomFlip


@dataclass(frozen=True)
class RandomVerticalFlip(Transform):
    """Turns top and bottom round with probability `p`, anew each epoch."""

    p: float = 0.5
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"vertical_flip_p": _probability("RandomVerticalFlip: p", self.p)}


@dataclass(frozen=True)
class AlternatingFlip(Transform):
    """Turns left and right round: one half of the records in even epochs, the other half in odd ones, so that
    two epochs show each record once either way."""

    def settings(self) -> dict[str, Any]:
        return {"flip": _core.APL_FLIP_ALTERNATING}


# Those that put pixels in other places.
MOVING = (
    RandomCrop, RandomResizedCrop, Resize, CenterCrop, RandomFlip, RandomVerticalFlip, AlternatingFlip
)  # fmt: skip


@dataclass(frozen=True)
class Cutout(Transform):
    """Sets a square with sides of `size` pixels at a random place to 0; its middle is uniform over the
    picture, so that it may stick out."""

    size: int
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"cutout": whole("Cutout: size", self.size, 0, _WIDEST)}


@dataclass(frozen=True)
class Normalize(Transform):
    """(v / 255 - mean) / std, of each channel: mean and std are of images from 0 to 1, a number for each
    channel, or one for all. Without `mean` and `std`, those of the split "train" are taken, which stores know
    (of the split that is read, if there is no "train"). The result is float32 unless another type is asked
    for."""

    mean: float | Sequence[float] | None = None
    std: float | Sequence[float] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        if (self.mean is None) != (self.std is None):
            raise InvalidError(
                f"Normalize: mean and std go together; got mean={shown(self.mean)}, std={shown(self.std)}"
            )
        if self.mean is None or self.std is None:
            return {"scale": _core.APL_SCALE_NORMALISE, "mean": [], "deviation": []}
        mean, std = _numbers("Normalize: mean", self.mean), _numbers("Normalize: std", self.std)
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
            mean, std = mean * _CHANNELS, std * _CHANNELS
        return {
            "scale": _core.APL_SCALE_NORMALISE,
            "mean": [255 * m for m in mean],
            "deviation": [255 * s for s in std],
        }


@dataclass(frozen=True)
class _ToFloat(Transform):
    scale: bool = True
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        code = {"dtype": _DTYPES[type(self)._DTYPE]}  # type: ignore[attr-defined]
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

    def settings(self) -> dict[str, Any]:
        return {"layout": _core.APL_NHWC}


def _takes(function: Callable[..., Any], keyword: str) -> bool:
    """Has the function an argument of that name? Of those that do not tell, it is expected."""
    try:
        arguments = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return keyword in arguments or any(a.kind is a.VAR_KEYWORD for a in arguments.values())


def _channels_first(result: np.ndarray, is_tensor: bool, channels: int) -> np.ndarray:
    """An image that a function has made, with channels first. Of torch's tensors they are, of arrays they
    come last, unless only the other dimension has as many as came."""
    if result.ndim != 3:
        return result
    first, last = result.shape[0] == channels, result.shape[2] == channels
    comes_last = last if first != last else not is_tensor
    return result.transpose(2, 0, 1) if comes_last else result


class PerPicture:
    """A function over single images, as a transform over batches.

    ``function(image=image)["image"]``, or ``function(image)`` if it has no argument of that name, is called
    for each image of the batch, as an array of the shape (height, width, channels), or (height, width) if the
    store has that, and may return another shape and dtype, the same for all: an array as it was given, or a
    tensor (channels, height, width). All of this is Python, on one thread, ahead of the training loop: it
    costs what the function costs, and about 2 µs an image more. The C transforms cost less than half a
    microsecond.

    Transforms of torchvision and Albumentations need no `PerPicture`. Within one they are applied to the
    images of `field` alone, and what moves with them if that is named; see docs/PYTHON.md.

    Args:
        function: of one image. It is called anew for each; its randomness is its own.
        field: the field of the images.
        keyword: the argument that takes the image; None: the first.
        channels_last: False: images come and go as they are stored, (channels, height, width).
        masks, boxes, box_format: for transforms of torchvision and Albumentations: the fields that are
            transformed in the same draw, and how the boxes are written ("XYXY", "XYWH" or "CXCYWH", for
            torchvision).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        field: str = "image",
        keyword: str | None = "image",
        channels_last: bool = True,
        *,
        masks: str | Sequence[str] = (),
        boxes: str | None = None,
        box_format: str | None = None,
    ) -> None:
        if not callable(function):
            raise wrong_type("PerPicture: function", "a function", function)
        if isinstance(function, type):
            raise InvalidTypeError(f"PerPicture: {function.__name__} is a class: write {function.__name__}()")
        self.function, self.channels_last = function, bool(flag("PerPicture: channels_last", channels_last))
        self.field = text("PerPicture: field", field)
        keyword = optional_text("PerPicture: keyword", keyword)
        self.keyword = keyword if keyword is None or _takes(function, keyword) else None
        masks = [masks] if isinstance(masks, str) else names("PerPicture: masks", masks) or []
        self.roles = self.field, tuple(masks), optional_text("PerPicture: boxes", boxes), box_format
        self._check_roles()

    def _check_roles(self) -> None:
        from ._foreign import library_of

        _, masks, boxes, box_format = self.roles
        if (masks or boxes) and library_of(self.function) is None:
            raise InvalidError(
                "PerPicture: masks and boxes are for transforms of torchvision and Albumentations, not "
                f"{shown(self.function)}"
            )
        formats = {"XYXY": 0, "XYWH": 1, "CXCYWH": 2}
        if box_format is not None:
            choice("PerPicture: box_format", box_format, formats)

    def _one(self, image: np.ndarray) -> np.ndarray:
        turned = self.channels_last and image.ndim == 3
        given = np.ascontiguousarray(image.transpose(1, 2, 0)) if turned else image
        result = self.function(given) if self.keyword is None else self.function(**{self.keyword: given})
        if isinstance(result, dict):
            key = self.keyword or "image"
            if key not in result:
                raise InvalidError(f"{shown(self.function)} has returned a dict without {key!r}")
            result = result[key]
        if result is None:
            raise InvalidError(f"{shown(self.function)} has returned None, not an image")
        is_tensor = hasattr(result, "detach")
        array = np.asarray(result)
        if array.ndim == 0 or array.dtype.kind not in "biufcV":
            raise wrong_type(f"what {shown(self.function)} returns", "an image", result)
        if not self.channels_last:
            return array
        return _channels_first(array, is_tensor, len(image) if turned else 1)

    def __call__(self, batch: Any) -> None:
        images = batch[self.field]
        if len(images):
            batch[self.field] = np.stack([self._one(image) for image in images])

    def __repr__(self) -> str:
        return f"PerPicture({self.function!r}, field={self.field!r})"


class _Merged:
    """What all transforms of a field set, and which of them set it."""

    def __init__(self, name: str | None) -> None:
        self._settings: dict[str, Any] = {"field": name}
        self._setters: dict[str, Transform] = {}

    def add(self, transform: Transform) -> None:
        for key, value in transform.settings().items():
            if key in self._setters:
                before = self._setters[key]
                raise InvalidError(
                    f"{shown(transform, 200)} after {shown(before, 200)}, which sets the same: give one of "
                    "them"
                )
            self._settings[key], self._setters[key] = value, transform

    def completed(self) -> dict[str, Any]:
        if self._settings.get("scale", _core.APL_SCALE_UNIT) == _core.APL_SCALE_NORMALISE:
            self._settings.setdefault("dtype", _DTYPES["f32"])
        return self._settings


def check_channels(in_c: list[dict[str, Any]], schema: Schema) -> None:
    """Are there as many means and deviations as channels?"""
    for settings in in_c:
        mean = settings.get("mean", ())
        if not mean or (len(mean) == _CHANNELS and len(set(mean)) == 1):
            continue
        if settings["field"] not in schema.names:  # which the reader tells
            continue
        field = schema[settings["field"]]
        if len(mean) != field.channels:
            raise InvalidError(
                f"Normalize: {len(mean)} means for {field.channels} channels of field {field.name}"
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
    fields: dict[str | None, _Merged] = {}
    functions: list[Callable[[Any], Any]] = []
    for transform in listed(transforms):
        if isinstance(transform, type):
            raise InvalidTypeError(f"{transform.__name__} is a class: write {transform.__name__}()")
        if isinstance(transform, Transform):
            if functions:
                raise InvalidError(
                    f"{shown(transform, 200)} runs in C, before functions of your own: put it before them"
                )
            for name in transform.fields:
                fields.setdefault(name, _Merged(name)).add(transform)
        elif callable(transform):
            functions.append(transform)
        else:
            raise wrong_type("a transform", "one of apldata.transforms, or a function", transform)
    return [merged.completed() for merged in fields.values()], functions
