"""What transforms that move pixels must not leave in place: what looks like masks, boxes or their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from ._arguments import shown
from ._belonging import Kind, is_picture, kind_of
from ._errors import InvalidError
from ._roles import Declared, Roles, has_channels_last, in_c
from ._translation import altered
from .schema import Field

_MOVES = (
    "affine", "augment", "augmix", "crop", "distortion", "elastic", "flip", "gridshuffle", "maxsize", "pad",
    "perspective", "randomscale", "resize", "rotat", "scalejitter", "shortestsize", "symmetry", "thinplate",
    "transpose", "zoomout",
)  # fmt: skip
_VALUES = {
    "ColorJitter", "ConvertImageDtype", "GaussianBlur", "GaussianNoise", "Grayscale", "Identity", "JPEG",
    "Normalize", "PILToTensor", "RGB", "RandomAdjustSharpness", "RandomAutocontrast",
    "RandomChannelPermutation", "RandomEqualize", "RandomErasing", "RandomGrayscale", "RandomInvert",
    "RandomPhotometricDistort", "RandomPosterize", "RandomSolarize", "ToDtype", "ToImage", "ToPureTensor",
    "ToTensor",
}  # fmt: skip


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


def without_unmoved(transforms: list[Any], roles: Roles) -> Roles:
    """Without boxes, which transforms of torchvision leave as they are that change only the values of
    images."""
    parts = [part for transform in transforms for part in parts_of(transform)]
    return replace(roles, boxes=None) if roles.boxes and all(map(_changes_values, parts)) else roles


def _changes_values(part: Any) -> bool:
    """Does a transform of torchvision change the values of images alone? Those of users may do anything."""
    dtype = getattr(part, "dtype", None)
    kinds = {getattr(kind, "__name__", "") for kind in dtype} if isinstance(dtype, dict) else set()
    known = type(part).__module__.startswith("torchvision.transforms.") and not altered(part)
    return known and type(part).__name__ in _VALUES and "BoundingBoxes" not in kinds


def with_boxes(roles: Roles) -> str:
    """As arguments of a `PerPicture`, which do not say yet how boxes are stored."""
    masks = f"masks={[mask.name for mask in roles.masks]!r}, " * bool(roles.masks)
    boxes = roles.boxes.name if roles.boxes else None
    return f"field={roles.images[0].name!r}, {masks}boxes={boxes!r}, box_format='XYXY'"


def refuse_old(name: str, roles: Roles) -> NoReturn:
    """Refuses one of torchvision's older transforms, which know nothing of masks and boxes."""
    others = ", ".join(field.name for field in roles.all[1:])
    how = f", in PerPicture(v2.{name}(...), {with_boxes(roles)})" if roles.boxes else ""
    raise InvalidError(
        f"{name} of torchvision.transforms takes an image alone, and would leave {others} as it is: "
        f"torchvision.transforms.v2 has the same for both{how}, PerPicture(..., field="
        f"{roles.images[0].name!r}) transforms the image alone"
    )


def left_behind(images: Iterable[Field], wanted: Iterable[Field], moved: set[str]) -> list[Field]:
    """The fields that belong to the images, and are none of those that move."""
    images = list(images)
    others = [field for field in wanted if field.name not in moved]
    return [field for field in others if kind_of(field, images) is not Kind.NOTHING]


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
    if roles.boxes and not (roles.follow or each) and any(image.media for image in roles.images):
        others.append(roles.boxes)  # which follow in C alone, if they are named
    if others:
        _refuse(step, roles.images, others, _said_by(roles, said), "PerPicture" if each else "Loader")


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
            f"{', '.join(left)} as it is: name to PerPicture, too, what follows: {', '.join(_named(said))}"
        )


def _named(said: Declared, formed: bool = True) -> list[str]:
    """As arguments of a `PerPicture`, or of a loader, which may know the format of boxes."""
    named = [f"masks={list(said.masks)!r}"] * bool(said.masks)
    form = f", box_format={said.box_format!r}" * formed
    return named + [f"boxes={said.boxes!r}{form}"] * bool(said.boxes)


def check_alone(transform: Any, image: Field, wanted: Iterable[Field], said: Declared) -> None:
    """Refuses to leave in place what may belong to an image that one of ours moves."""
    others = left_behind([image], wanted, {image.name, *said.masks, said.boxes or ""})
    if others:
        _refuse(transform, [image], others, said)


def check_told(transforms: list[Any], wanted: list[Field], said: Declared) -> None:
    """The same of transforms of ours that are told which fields they move, where several fields are images:
    naming those says nothing about other fields. What they guess could not be contradicted, and is left."""
    if not transforms:
        return
    images = in_c(wanted)
    names = {name for one in transforms for name in one.fields}
    told = [field for field in wanted if field.name in names]
    moved = {*names, *(field.name for field in images), *said.masks, said.boxes or ""}
    others = left_behind(told, wanted, moved) if len(images) > 1 else []
    others = [field for field in others if kind_of(field, told) is not Kind.LIKELY_UNFIT]
    if others:
        _refuse(transforms[0], told, others, said, related=True)


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


def _refuse(
    transform: Any,
    images: Sequence[Field],
    others: list[Field],
    said: Declared,
    told: str = "",
    related: bool = False,
) -> NoReturn:
    """Refuses to move the pixels of images, and to leave in place what belongs to them.

    Args:
        said: the masks and boxes that do follow.
        told: of a transform of another library, what is told the masks and boxes: "Loader" or "PerPicture";
            "" of one of ours, which has an argument `field`.
        related: naming the images does not say that the others have nothing to do with them.
    """
    kinds = {field: kind_of(field, images) for field in others}
    refusal = min(kinds.values(), key=list(Kind).index).refusal
    found = {field: kind for field, kind in kinds.items() if kind.refusal == refusal}
    field, image = next(iter(found)), images[0].name
    out, apart = "leave it out of fields", f"field={image!r}"
    if told:
        apart = f"PerPicture(..., {', '.join([apart, *_named(said)])})"
    why = refusal.format(
        names=", ".join(field.name for field in found),
        type=field.type,
        stored=_as_boxes(field),
        follow=_following(image, found, said, told),
        alone=out if related else f"{out}, or say {apart}" if told else f"say {apart}",
        unrelated="" if related else f"; if it has nothing to do with the image, say {apart}",
    )
    moved = " and ".join(image.name for image in images)
    raise InvalidError(f"{shown(transform, 200)}: it would move {moved} alone, and {why}")


def _following(image: str, found: dict[Field, Kind], said: Declared, told: str) -> str:
    """How these are made to follow the image, too."""
    masks, boxes = ([f.name for f in found if found[f].argument == one] for one in ("masks", "boxes"))
    all_of = replace(said, masks=(*said.masks, *masks), boxes=said.boxes or next(iter(boxes), None))
    named = ", ".join(_named(all_of, told == "PerPicture"))
    last = ", ".join(field.name for field in found if has_channels_last(field))
    first = f", with the channels of {last} stored first (Field(..., layout='HWC'))"
    images = all(is_picture(field) for field in found if field.name in masks) and not boxes
    alike = f", or list images that move alike, as in field={[image, *masks]!r}" * images
    stored = first if last and told != "PerPicture" else ""
    return f"{told or 'Loader'}(..., {named}){stored}{'' if told else alike}"


def _as_boxes(field: Field) -> str:
    """How they are stored as those that follow."""
    if field.shape[-1] == 4:
        return f"store them so (aplingest --type {field.name}=f32[-1,4])"
    if field.shape[-1] == -1:
        types = f"types={{{field.name!r}: ('f32', (-1, 4))}}"
        return f"store them so ({types} of convert(), of a list for each box)"
    return "store the four numbers of each so, and what else there is of it in a field of its own"


def rows_of(boxes: Field, fields: Iterable[Field], images: Sequence[Field]) -> list[Field]:
    """The fields that may have an element for each box: numbers, of which there may be as many. Where these
    vary in length, as words do, only those that cannot be numbers for each pixel of an image."""
    return [
        field
        for field in fields
        if field.shape[:1] == boxes.shape[:1]
        if -1 not in field.shape[1:] or kind_of(field, images) is Kind.NOTHING
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
    fields = list(fields)
    names = [field.name for field in fields]
    found = [name for name in names if name.lower() == "labels"] + [n for n in names if "label" in n.lower()]
    vary = [field for field in fields if -1 in field.shape[1:]]
    if vary and named is BY_NAME:
        raise InvalidError(
            f"{shown(transform, 200)}: it would remove boxes, and leave {vary[0].name} as it is: elements "
            f"whose lengths vary ({vary[0].type}) are removed by torchvision's v2.SanitizeBoundingBoxes("
            f"{_by_getter([*found[:1], *(f.name for f in vary)])}); if it has none for each box, say "
            f"{named(found[:1])}"
        )
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
