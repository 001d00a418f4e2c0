"""What the fields of a record are to transforms of other libraries: images, masks, boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arguments import choice, names, optional_text, shown
from ._arrays import numpy_dtype
from ._errors import InvalidError, NotFoundError
from .schema import AN_IMAGE, Field, Schema, channels_last, listed, plain, warn_unclear
from .transforms import BOX_FORMATS

_WHOLE = {"u8", "i8", "u16", "i16", "i32", "i64", "bool"}
_PIXELS = {"u8", "u16", "f16", "f32"}
_FLOATING = {"f16", "bf16", "f32", "f64"}
_TRIED, _BOXES_TRIED = 256, 2  # pixels of a side that varies, and boxes, where a transform is tried out
_ALL_VARY = (-1, -1, -1)  # of image files of any size: the channels come first


def planes_of(field: Field) -> tuple[int, ...] | None:
    """Height and width, which may be -1, of what may be an image; None: it cannot be one."""
    shape = field.shape
    if len(shape) == 2:
        return shape
    if len(shape) != 3:
        return None
    if (1 <= shape[0] <= 16 or shape == _ALL_VARY) and not channels_last(shape):
        return shape[1:]
    return shape[:2] if 1 <= shape[2] <= 4 else None


def _named(field: Field, *words: str) -> bool:
    return any(word in field.name.lower() for word in words)


def _is_mask(field: Field) -> bool:
    named = _named(field, "mask", "segm")
    if field.is_photo:
        return named or field.mark == "target"
    return field.dtype in _WHOLE and planes_of(field) is not None and (named or field.mark == "target")


def _is_boxes(field: Field) -> bool:
    return _named(field, "box") and len(field.shape) == 2 and field.shape[1] == 4


def _is_points(field: Field) -> bool:
    """Are they pairs of numbers, any number of times, such as polygons?"""
    return -1 in field.shape and field.shape[-1] == 2


def _is_map(field: Field) -> bool:
    """May it have a number for each pixel of an image of any size? Of inputs, wide whole numbers are tokens,
    and several planes of floats are features, if their names don't say otherwise."""
    if planes_of(field) != (-1, -1) or field.dtype == "utf8" or _is_points(field):
        return False
    flat = len(field.shape) == 2
    if field.dtype in _FLOATING:
        plane = flat or field.shape[0] == 1
    else:
        plane = field.shape[0] <= 4 if not flat else field.dtype in ("u8", "i8", "u16", "i16", "bool")
    return plane or field.mark == "target" or _named(field, "mask", "segm")


def _is_image(field: Field) -> bool:
    if field.is_photo:
        return field.mark == "input"
    if field.dtype not in _PIXELS or field.mark != "input" or planes_of(field) is None:
        return False
    if field.dtype in _FLOATING and (field.shape == _ALL_VARY or _is_points(field)):
        return False  # features of any shape
    return len(field.shape) == 3 or field.dtype in ("u8", "u16")


@dataclass(frozen=True)
class Roles:
    """The names of the fields that are images, masks and boxes. Those of one record are transformed in one
    draw."""

    images: tuple[Field, ...]
    masks: tuple[Field, ...] = ()
    boxes: Field | None = None
    box_format: str | None = None
    follow: bool = False  # do masks and boxes follow the images in C?

    @property
    def all(self) -> tuple[Field, ...]:
        return (*self.images, *self.masks, *([self.boxes] if self.boxes else []))

    def shares(self, other: Roles) -> bool:
        """Is an image in both?"""
        return not set(self.images).isdisjoint(other.images)


@dataclass(frozen=True)
class Declared:
    """What a caller declares about masks and boxes."""

    masks: tuple[str, ...] = ()
    boxes: str | None = None
    box_format: str = "XYXY"

    def __bool__(self) -> bool:
        return bool(self.masks) or self.boxes is not None


NOTHING_SAID = Declared()


def declared(schema: Schema, masks: str | Iterable[str], boxes: str | None, box_format: str) -> Declared:
    """What the arguments of a loader say, checked."""
    found = names("masks", (masks,) if isinstance(masks, str) else masks) or []
    optional_text("boxes", boxes)
    choice("box_format", box_format, BOX_FORMATS)
    for name in (*found, *([boxes] if boxes is not None else [])):
        if name not in schema.names:
            what = "boxes" if name == boxes else "masks"
            raise NotFoundError(f"{what}: there is no field {name!r}: there are {listed(schema.names)}")
    return Declared(tuple(found), boxes, box_format)


def is_image_alone(field: Field) -> bool:
    """Is it an image that C takes, and does not look like a mask?"""
    return (field.is_picture or field.is_photo) and not _is_mask(field)


def is_instances(field: Field, images: Iterable[Field]) -> bool:
    """Are these masks of an image, one for each instance?"""
    varies = len(field.shape) == 3 and field.shape[0] == -1 and field.shape != _ALL_VARY
    named = _named(field, "mask", "segm")
    return named and varies and any(field.shape[1:] == planes_of(image) for image in images)


def is_follower(field: Field, image: Field) -> bool:
    """Does it look like a mask or the boxes of an image, which a crop of that must not leave as they are?"""
    return looks_like_boxes(field) or (image.is_photo and (_is_map(field) or _is_mask(field)))


def looks_like_boxes(field: Field) -> bool:
    """By its name, or as a target of some rows of floats: boxes, or one box, of any numbers, which may have
    a class or a score or both in the same row."""
    if field.dtype == "utf8" or len(field.shape) > 2 or field.shape[-1:] not in ((4,), (5,), (6,)):
        return False
    if _named(field, "box", "rois"):
        return True
    told = field.mark == "target" or _named(field, "annot", "target")
    return told and len(field.shape) == 2 and field.shape[0] == -1 and field.dtype in _FLOATING


def looks_like_keypoints(field: Field) -> bool:
    """By its name, and its last dimension: coordinates in the image, two or three of each; of keypoints and
    landmarks also all in one row."""
    if field.dtype in ("utf8", "bool") or not field.shape:
        return False
    last, words = field.shape[-1], re.split("[^a-z]+", field.name.lower())
    if _named(field, "keypoint", "landmark"):
        return last == -1 or (last > 1 and (last % 2 == 0 or last % 3 == 0))
    return ("points" in words or "joints" in words) and last in (2, 3)


def can_follow_as_boxes(field: Field) -> bool:
    """Does C take it for boxes?"""
    return field.dtype == "f32" and field.shape == (-1, 4)


def _alike(images: list[Field]) -> list[Field]:
    """Beside images of whole numbers, floats are images only if they have a number for each of their pixels:
    else they are matrices, features or points."""
    sure = [image for image in images if image.dtype in ("u8", "u16") or image.is_photo]
    planes = {planes_of(image) for image in sure}
    return [image for image in images if image in sure or planes_of(image) in planes] if sure else images


def roles_of(schema: Schema, wanted: Iterable[str] | None, transform: Any, said: Declared) -> Roles:
    """As the loader is told, or else as the fields' names, types and shapes have it: see docs/PYTHON.md.

    Raises:
        NotFoundError: none of the fields is an image.
    """
    fields = [field for field in schema if wanted is None or field.name in set(wanted)]
    if said:
        boxes = [field for field in fields if field.name == said.boxes]
        masks = [field for field in fields if field.name in said.masks]
    else:
        boxes = [field for field in fields if _is_boxes(field)]
        masks = [field for field in fields if field not in boxes and _is_mask(field)]
    images = [field for field in fields if field not in boxes + masks and _is_image(field)]
    images = _alike([image for image in images if not _is_mask(image)] or images)
    if not images:
        seen = listed(f"{plain(f.name)}: {f.type}" for f in fields)
        raise NotFoundError(
            f"{shown(transform)}: no field is an image, which is {AN_IMAGE}; the fields are {seen}"
        )
    for image in images:
        warn_unclear(image)
    if said:
        return Roles(
            tuple(images), tuple(masks), boxes[0] if boxes else None, said.box_format if boxes else None, True
        )
    planes = {planes_of(image) for image in images}
    masks = [mask for mask in masks if planes_of(mask) in planes or images[0].is_photo]
    return Roles(tuple(images), tuple(masks), boxes[0] if boxes else None)


def roles_named(
    schema: Schema, image: str, masks: Iterable[str], boxes: str | None, box_format: str | None
) -> Roles:
    """As the user says."""
    for name in (image, *masks, *([boxes] if boxes else [])):
        if name not in schema.names:
            raise NotFoundError(f"PerPicture: there is no field {name!r}: there are {listed(schema.names)}")
    if planes_of(schema[image]) is None and not schema[image].is_photo:
        raise InvalidError(f"PerPicture: field {plain(image)} is {schema[image].type}, which is not an image")
    warn_unclear(schema[image])
    return Roles(
        (schema[image],), tuple(schema[mask] for mask in masks), schema[boxes] if boxes else None, box_format
    )


def has_channels_last(field: Field) -> bool:
    """Is it stored as (height, width, channels)?"""
    if len(field.shape) != 3 or field.is_photo:
        return False
    many, height, width = field.shape
    return channels_last(field.shape) or many > 16 >= width > 0 or (many == height == -1 != width)


class Trial(dict[str, Any]):
    """A made-up batch of two records, as a reader would hand it out, to try a transform on.

    Args:
        settings: of each field, what is done to it in C.
        boxes: the field of the boxes.
        rows: the fields that may have an element for each box.
    """

    epoch = position = 0
    copies = None

    def __init__(
        self,
        schema: Schema,
        wanted: Iterable[str] | None,
        settings: dict[str, dict[str, Any]],
        boxes: Field | None,
        rows: Iterable[Field],
    ) -> None:
        self.ids = np.arange(2, dtype=np.uint64)
        per_box = {field.name for field in rows}
        self.bfloat16: list[str] = []  # fields that are that, and f32 here, as NumPy may not know it
        for field in schema:
            if field.dtype != "utf8" and (wanted is None or field.name in set(wanted)):
                are_boxes = field == boxes or _is_boxes(field)
                side = _BOXES_TRIED if are_boxes or field.name in per_box else _TRIED
                done = settings.get(field.name, {})
                self[field.name] = _made_up(field, done, side, are_boxes)
                if field.dtype == "bf16" or done.get("dtype") == _core.APL_BF16:
                    self.bfloat16.append(field.name)


_FLOATS = {_core.APL_F16: "f16", _core.APL_BF16: "f32", _core.APL_F32: "f32"}


def _float_of(settings: dict[str, Any]) -> str | None:
    """The dtype of floats that C makes; None: it leaves integers."""
    if "dtype" not in settings and settings.get("scale") == _core.APL_SCALE_NORMALISE:
        return "f32"
    return _FLOATS.get(settings.get("dtype", _core.APL_U8))


def _made_up_shape(field: Field, settings: dict[str, Any]) -> list[int]:
    """That of a value, with -1 for sides that vary."""
    sides = [
        settings.get(f"crop_{side}") or settings.get(f"resize_{side}", 0) for side in ("height", "width")
    ]
    planes = [] if field.shape == _ALL_VARY else list(field.shape[:-2])
    if all(sides):
        return (planes if settings.get("follows") or not field.is_photo else [3]) + sides
    return [1 if _is_mask(field) else 3, -1, -1] if field.shape == _ALL_VARY else list(field.shape)


def _made_up(field: Field, settings: dict[str, Any], many: int, are_boxes: bool) -> Any:
    """`many`: the length of a side that varies."""
    shape, dtype = _made_up_shape(field, settings), numpy_dtype(field.dtype.replace("bf16", "f32"))
    varies = -1 in shape
    shape = [many if side == -1 else side for side in shape]
    if are_boxes:
        values = np.broadcast_to([1, 1, 4, 4], (2, *shape)).astype(dtype)
    else:
        most = 200 if _is_image(field) and not _is_mask(field) else 2
        values = (np.arange(2 * int(np.prod(shape))) * 7 % most).reshape(2, *shape)
        values = values.astype(dtype)
        made = _float_of(settings)
        if made is not None:
            values = (values / 255).astype(numpy_dtype(made))
    return list(values) if varies else values
