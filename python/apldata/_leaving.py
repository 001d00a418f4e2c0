"""What transforms that move pixels must not leave in place: what looks like masks, boxes or their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from ._arguments import shown
from ._errors import InvalidError
from ._roles import (
    Declared,
    Roles,
    can_follow_as_boxes,
    is_follower,
    is_image_alone,
    is_instances,
    looks_like_boxes,
    looks_like_keypoints,
    planes_of,
)
from .schema import Field

_MOVES = (
    "affine", "augment", "augmix", "crop", "distortion", "elastic", "flip", "gridshuffle", "maxsize", "pad",
    "perspective", "randomscale", "resize", "rotat", "scalejitter", "shortestsize", "symmetry", "thinplate",
    "transpose", "zoomout",
)  # fmt: skip


def parts_of(transform: Any) -> Iterator[Any]:
    """What a transform of another library applies, however deep it is; one that has no parts is one."""
    parts = getattr(transform, "transforms", None)
    if parts is None and type(transform).__name__ in ("Sequential", "ModuleList"):
        parts = list(transform)
    if parts is None:
        yield getattr(transform, "func", transform)  # a partial of a function
    for part in parts or ():
        yield from parts_of(part)


def first_moving(transforms: Iterable[Any]) -> Any:
    """The first part of transforms of another library that moves pixels, by its name; None: none does."""
    parts = (part for transform in transforms for part in parts_of(transform))
    named = ((part, getattr(part, "__name__", type(part).__name__).lower()) for part in parts)
    return next((part for part, name in named if name == "d4" or any(word in name for word in _MOVES)), None)


def _may_move(field: Field, image: Field) -> bool:
    """Is it an image too, or one of another type, such as a mask of i32, that has the same pixels?"""
    return (
        field.is_picture
        or field.is_photo
        or is_follower(field, image)
        or looks_like_keypoints(field)
        or (len(field.shape) in (2, 3) and -1 not in field.shape and planes_of(image) in _planes(field))
    )


def _planes(field: Field) -> tuple[tuple[int, ...], ...]:
    """What may be its height and width, wherever its channels are."""
    return field.shape[-2:], field.shape[:2]


def left_behind(images: Iterable[Field], wanted: Iterable[Field], moved: set[str]) -> list[Field]:
    """The fields that may belong to the images, and are none of those that move."""
    return [
        field
        for field in wanted
        if field.name not in moved and field.mark in ("input", "target")
        if any(_may_move(field, image) for image in images)
    ]


def check_left(
    transforms: list[Any], roles: Roles, wanted: Iterable[Field], said: Declared, each: bool = False
) -> None:
    """Refuses transforms of another library that move images and leave in place what may belong to them.

    Args:
        wanted: the fields that are read.
        said: the masks and boxes that the loader is told, which follow the images in C.
        each: they are in a `PerPicture`, which says the roles.
    """
    step = first_moving(transforms)
    if step is None:
        return
    moved = {field.name for field in roles.all} | ({*said.masks, said.boxes or ""} if each else set())
    others = left_behind(roles.images, wanted, moved)
    for field in others:
        if is_instances(field, roles.images):
            raise InvalidError(
                f"{shown(step, 200)}: it would leave field {field.name} ({field.type}) as it is, "
                "whose number of masks varies: store one mask of (height, width) with a number for each "
                "instance, or leave the field out by fields=[...]"
            )
    if roles.boxes and not (roles.follow or each) and any(image.media for image in roles.images):
        others.append(roles.boxes)  # which follow in C alone, if they are named
    if others:
        refuse(step, roles.images[0], others, _said_by(roles, said), "PerPicture" if each else "Loader")


def _said_by(roles: Roles, said: Declared) -> Declared:
    """With the masks and boxes that move."""
    form = roles.box_format or said.box_format
    boxes = roles.boxes.name if roles.boxes else None
    return Declared(tuple(field.name for field in roles.masks), boxes, form)


def check_declared(transforms: list[Any], roles: Roles, said: Declared) -> None:
    """Refuses a `PerPicture` that moves images in Python without the masks and boxes that the loader is told,
    which follow the images in C alone."""
    step = first_moving(transforms)
    moved = [field.name for field in roles.all]
    left = [name for name in (*said.masks, *([said.boxes] if said.boxes else [])) if name not in moved]
    if step is not None and left:
        raise InvalidError(
            f"{shown(step, 200)}: it runs in Python, moves {roles.images[0].name} alone, and would leave "
            f"{', '.join(left)} as it is: name to PerPicture, too, what follows: {_named(said)}"
        )


def _named(said: Declared) -> str:
    """As arguments of a `PerPicture`."""
    named = [f"masks={list(said.masks)!r}"] * bool(said.masks)
    return ", ".join(named + [f"boxes={said.boxes!r}, box_format={said.box_format!r}"] * bool(said.boxes))


def check_alone(transform: Any, image: Field, wanted: Iterable[Field], said: Declared) -> None:
    """Refuses to leave in place what may belong to an image that one of ours moves."""
    others = left_behind([image], wanted, {image.name, *said.masks, said.boxes or ""})
    if others:
        refuse(transform, image, others, said)


def check_told(transforms: list[Any], wanted: list[Field], said: Declared) -> None:
    """The same of transforms of ours that are told which fields they move, where several fields are images:
    naming those says nothing about other fields."""
    images = [field for field in wanted if is_image_alone(field)]
    names = {name for one in transforms for name in one.fields}
    told = [field for field in wanted if field.name in names]
    moved = {*names, *(field.name for field in images), *said.masks, said.boxes or ""}
    others = left_behind(told, wanted, moved) if len(images) > 1 else []
    if others:
        refuse(transforms[0], told[0], others, said, alone="leave it out of fields")


def first_mixing(transforms: Iterable[Any]) -> Any:
    """The first part of transforms of torchvision that mixes the images of a batch; None: none does."""
    parts = (part for transform in transforms for part in parts_of(transform))
    return next((part for part in parts if type(part).__name__ in ("MixUp", "CutMix")), None)


def check_mixed(
    transform: Any, images: Iterable[Field], wanted: Iterable[Field], said: Declared, own: bool = True
) -> None:
    """Refuses to mix images with each other, and to leave in place what belongs to them: nothing but labels
    can be mixed with them.

    Args:
        wanted: the fields that are read, of which some may look as if they belonged to the images.
    """
    images = list(images)
    others = [*said.masks, *([said.boxes] if said.boxes else [])]
    found = left_behind(images, wanted, {field.name for field in images})
    others += [field.name for field in found if field.name not in others]
    if others:
        alone = f"field={images[0].name!r}" if own else f"PerPicture(..., field={images[0].name!r})"
        alone = f", or, if it has nothing to do with the image, say {alone}"
        raise InvalidError(
            f"{shown(transform, 200)}: it mixes images and their labels, and would leave {', '.join(others)} "
            f"as it is: leave it out of fields, or mix in a function of your own{alone if not said else ''}"
        )


def check_one_motion(motions: dict[str, dict[str, Any]], said: Declared) -> None:
    """Refuses masks and boxes where images are moved in different ways: they can follow only one."""
    names = list(motions)
    other = next((name for name in names[1:] if motions[name] != motions[names[0]]), None)
    if other is not None:
        raise InvalidError(
            f"{', '.join([*said.masks, *([said.boxes] if said.boxes else [])])}: masks and boxes follow one "
            f"image, and {names[0]} and {other} are moved in different ways: move them alike, as by "
            f"field=[{names[0]!r}, {other!r}], or read {other} with a loader of its own"
        )


def refuse(
    transform: Any, image: Field, others: list[Field], said: Declared, told: str = "", alone: str = ""
) -> None:
    """Refuses to move the pixels of an image, and to leave in place what may belong to them.

    Args:
        said: the masks and boxes that do follow.
        told: of a transform of another library, what is told the masks and boxes: "Loader" or "PerPicture";
            "" of one of ours, which has an argument `field`.
        alone: what helps if the others have nothing to do with the image; "": to say so by `field`.
    """
    points = [field for field in others if looks_like_keypoints(field)]
    others = [field for field in others if field not in points]
    if not others:
        _refuse_keypoints(transform, image, points, said, told, alone)
    names = [field.name for field in others]
    boxes = [field.name for field in others if can_follow_as_boxes(field)]
    fixed = [field for field in others if field.name not in boxes and looks_like_boxes(field)]
    masks = [name for name in names if name not in boxes and name not in [f.name for f in fixed]]
    if not alone:
        alone = f"field={image.name!r}"
        alone = f"leave it out of fields, or say PerPicture(..., {alone})" if told else f"say {alone}"
    if fixed:
        raise InvalidError(
            f"{shown(transform, 200)}: it would move {image.name} alone, and leave "
            f"{', '.join(f.name for f in fixed)} as it is: boxes that follow are f32[-1,4], not "
            f"{fixed[0].type}: {_as_boxes(fixed[0])}, or, if they are no boxes, {alone}"
        )
    all_masks, all_boxes = [*said.masks, *masks], [*([said.boxes] if said.boxes else []), *boxes]
    form = f", box_format={said.box_format!r}" if told == "PerPicture" else ""
    hints = [f"masks={all_masks!r}"] * bool(all_masks) + [f"boxes={name!r}{form}" for name in all_boxes[:1]]
    listed = [image.name, *(masks or names)]
    alike = "" if told else f"list images that move alike, as in field={listed!r}, or "
    raise InvalidError(
        f"{shown(transform, 200)}: it would move {image.name} alone, and leave {', '.join(names)} as it is: "
        f"name what follows the images, as in {told or 'Loader'}(..., {', '.join(hints)}), or {alike}{alone}"
    )


def _as_boxes(field: Field) -> str:
    """How they are stored as those that follow."""
    if field.shape[-1] == 4:
        return f"store them so (aplingest --type {field.name}=f32[-1,4])"
    return "store the four numbers of each so, and what else there is of it in a field of its own"


def _refuse_keypoints(
    transform: Any, image: Field, points: list[Field], said: Declared, told: str, alone: str
) -> NoReturn:
    if not alone:
        alone = f"field={image.name!r}"
        alone = f"PerPicture(..., {', '.join(filter(None, [alone, _named(said)]))})" if told else alone
        alone = f"; if it holds no positions in the image, say {alone}"
    else:
        alone = ""
    names = ", ".join(field.name for field in points)
    raise InvalidError(
        f"{shown(transform, 200)}: it would move {image.name}, and leave {names} as it is: keypoints cannot "
        f"follow: leave {names} out of fields, or move both in a function over batches{alone}"
    )


def rows_of(boxes: Field, fields: Iterable[Field]) -> list[Field]:
    """The fields that may have an element for each box: numbers, of which there may be as many."""
    return [
        field
        for field in fields
        if field.shape[:1] == boxes.shape[:1] and -1 not in field.shape[1:]
        if boxes.shape[0] == -1 or len(field.shape) < 3  # else, pixels of an image of one size
        if field.dtype != "utf8" and not field.media and field.mark in ("input", "target")
    ]


def _by_getter(names: list[str]) -> str:
    """As torchvision's SanitizeBoundingBoxes takes them."""
    found = ", ".join(f"sample[{name!r}]" for name in names)
    return "labels_getter=lambda sample: " + (found if len(names) == 1 else f"({found})")


BY_GETTER, BY_NAME = _by_getter, "labels={!r}".format  # how fields are named to SanitizeBoundingBoxes


def labels_of_boxes(
    transform: Any, fields: Iterable[Field], named: Callable[[list[str]], str] = BY_NAME
) -> tuple[str, ...]:
    """Of those that may have an element for each box, the field of the labels, by torchvision's rule: the
    first called "labels", or else with "label" in its name. Others are an error: they would no longer fit."""
    names = [field.name for field in fields]
    found = [name for name in names if name.lower() == "labels"] + [n for n in names if "label" in n.lower()]
    _check_all_named(transform, found[:1], names, named)
    return tuple(found[:1])


def _check_all_named(
    transform: Any, found: list[str], names: list[str], named: Callable[[list[str]], str]
) -> None:
    others = [name for name in names if name not in found]
    if others:
        theirs = f", with their {found[0]}," if found else ""
        raise InvalidError(
            f"{shown(transform, 200)}: it would remove boxes{theirs} and "
            f"leave {', '.join(others)} as it is: name all fields that have an element for each box, as in "
            f"SanitizeBoundingBoxes({named([*found, *others])}), or say {named(found)}"
        )


def check_getters(transforms: Iterable[Any], rows: list[Field]) -> None:
    """Refuses a SanitizeBoundingBoxes of torchvision that is told of no labels, where there may be some."""
    for part in (part for transform in transforms for part in parts_of(transform)):
        if type(part).__name__ == "SanitizeBoundingBoxes" and getattr(part, "labels_getter", "") is None:
            _check_all_named(part, [], [field.name for field in rows], BY_GETTER)
