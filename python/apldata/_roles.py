"""What the fields of a record are to transforms of other libraries: images, masks, boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arguments import choice, names, optional_text, shown
from ._arrays import numpy_dtype
from ._belonging import ALL_VARY, Kind, is_picture, kind_of, planes_of
from ._errors import InvalidError, NotFoundError
from .schema import AN_IMAGE, Field, Schema, channels_last, listed, plain, told_last, warn_unclear
from .transforms import BOX_FORMATS

_TRIED, _BOXES_TRIED = 256, 2  # pixels of a side that varies, and boxes, where a transform is tried out


@dataclass(frozen=True)
class Roles:
    """The names of the fields that are images, masks and boxes. Those of one record are transformed in one
    draw."""

    images: tuple[Field, ...]
    masks: tuple[Field, ...] = ()
    boxes: Field | None = None
    box_format: str | None = None
    follow: bool = False  # do masks and boxes follow the images in C?
    guessed: bool = False  # nothing but names, types and shapes tell which they are

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


def in_c(fields: Iterable[Field]) -> list[Field]:
    """The images among them that C takes."""
    return [field for field in fields if kind_of(field) is Kind.IMAGE and is_picture(field)]


def image_of(schema: Schema, fields: list[Field], transform: Any, said: Declared) -> Field:
    """The image among them that one of ours is applied to, if it is not told.

    Raises:
        InvalidError, NotFoundError: there are several, or none: what belongs to an image is not taken for it.
    """
    left = [field for field in fields if field.name not in said.masks]
    found = in_c(left) or [f for f in left if said and f.mark == "input" and is_picture(f)]
    pictures = [field for field in fields if field.mark in ("input", "target") and is_picture(field)]
    if found or not pictures:
        others = [f.name for f in left if f in found or not is_picture(f)]
        return schema.image(others)  # which says what there is instead
    why = "; ".join(_why_not(field, said) for field in pictures)
    frames = [plain(f.name) for f in left if kind_of(f, pictures) is Kind.FRAMES]
    why += f"; {listed(frames)} has four dimensions: move it in a function over batches" if frames else ""
    seen = listed(f"{plain(f.name)}: {f.type}" for f in fields)
    raise NotFoundError(
        f"{shown(transform, 200)}: no field is an image that it can be applied to, which is {AN_IMAGE}: {why}"
        f"; field= chooses one all the same; the fields are {seen}{told_last(left)}"
    )


def _why_not(field: Field, said: Declared) -> str:
    if field.name in said.masks:
        return f"{plain(field.name)} is one of masks="
    what = "a mask" if kind_of(field) is Kind.MASK else "no image"
    return f"{plain(field.name)} looks like {what}"


def _images_of(fields: list[Field]) -> list[Field]:
    """Those that are images by themselves, and beside the surest of them: not matrices, points or maps."""
    images = [field for field in fields if kind_of(field).role == "image"]
    sure = in_c(images) or [image for image in images if image.dtype in ("u8", "u16")] or images
    beside = {image: [other for other in sure if other is not image] for image in images}
    return [image for image in images if kind_of(image, beside[image]).role == "image"] or sure


def roles_of(schema: Schema, wanted: Iterable[str] | None, transform: Any, said: Declared) -> Roles:
    """As the loader is told, or else as the fields' names, types and shapes have it: see docs/PYTHON.md.

    Raises:
        NotFoundError: none of the fields is an image.
    """
    fields = [field for field in schema if wanted is None or field.name in set(wanted)]
    masks = [field for field in fields if field.name in said.masks]
    boxes = [field for field in fields if field.name == said.boxes]
    others = [field for field in fields if field not in masks + boxes]
    images = _images_of(others)
    if not images and said:  # such as are called masks
        images = [field for field in others if field.mark == "input" and is_picture(field)]
    if not images:
        seen = listed(f"{plain(f.name)}: {f.type}" for f in fields)
        raise NotFoundError(
            f"{shown(transform)}: no field is an image, which is {AN_IMAGE}; the fields are {seen}"
        )
    for image in images:
        warn_unclear(image)
    if not said:
        found = {field: kind_of(field, images).role for field in fields if field not in images}
        masks = [field for field, role in found.items() if role == "mask"]
        boxes = [field for field, role in found.items() if role == "boxes"]
    form = said.box_format if said and boxes else None
    found_boxes = boxes[0] if boxes else None
    return Roles(tuple(images), tuple(masks), found_boxes, form, follow=bool(said), guessed=not said)


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


def check_sides(roles: Roles, columns: Mapping[str, Any], ids: Any) -> None:
    """Refuses guessed masks that are not as large as their images, as lists of tokens or relations are not.

    Args:
        columns: the values of all rows, with channels first; as a list where their shapes differ.
        ids: of the rows; None: they are in no store.
    """
    image = roles.images[0]
    for mask in roles.masks if roles.guessed else ():
        masks, images = columns[mask.name], columns[image.name]
        if not isinstance(masks, list) and not isinstance(images, list):
            masks, images = masks[:1], images[:1]  # all rows are alike
        for row, (value, of) in enumerate(zip(masks, images, strict=True)):
            sides, wanted = tuple(value.shape[-2:]), tuple(of.shape[-2:])
            if sides != wanted:
                record = row if ids is None else int(ids[row])
                has = f"{sides[0]} x {sides[1]} numbers, of an image of {wanted[0]} x {wanted[1]}"
                raise InvalidError(
                    f"record {record}, field {plain(mask.name)}: it looks like a mask ({mask.type}), but has "
                    f"{has}: if it has nothing to do with the image, leave it out of fields, or say "
                    f"PerPicture(..., field={image.name!r})"
                )


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
                are_boxes = field == boxes or kind_of(field).role == "boxes"
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
    planes = [] if field.shape == ALL_VARY else list(field.shape[:-2])
    if all(sides):
        return (planes if settings.get("follows") or not field.is_photo else [3]) + sides
    if field.shape == ALL_VARY:
        return [1 if kind_of(field).role == "mask" else 3, -1, -1]
    return list(field.shape)


def _made_up(field: Field, settings: dict[str, Any], many: int, are_boxes: bool) -> Any:
    """`many`: the length of a side that varies."""
    shape, dtype = _made_up_shape(field, settings), numpy_dtype(field.dtype.replace("bf16", "f32"))
    varies = -1 in shape
    shape = [many if side == -1 else side for side in shape]
    if are_boxes:
        values = np.broadcast_to([1, 1, 4, 4], (2, *shape)).astype(dtype)
    else:
        most = 200 if kind_of(field).role == "image" else 2
        values = (np.arange(2 * int(np.prod(shape))) * 7 % most).reshape(2, *shape)
        values = values.astype(dtype)
        made = _float_of(settings)
        if made is not None:
            values = (values / 255).astype(numpy_dtype(made))
    return list(values) if varies else values
