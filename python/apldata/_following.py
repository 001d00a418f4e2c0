"""What becomes of the fields of a record when images are moved: the library says it, by their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from . import _core
from ._arguments import names, shown
from ._errors import InvalidError, NotFoundError
from ._roles import Roles
from ._store import Store
from ._translation import altered, library_of_class, name_of
from .kinds import Boxes, Image, Keypoints, Kind, Map, Mask, Pinned, of_words, texts_of
from .schema import AN_IMAGE, Field, listed, plain

# Of torchvision, and of Albumentations those that are no ImageOnlyTransform: they leave all pixels where they are. Whatever
# else there is may move them: fields that cannot follow are then refused.
_STAY = {
    "AutoContrast", "ClampBoundingBoxes", "ClampKeyPoints", "ColorJitter", "ConvertBoundingBoxFormat", "ConvertImageDtype",
    "GaussianBlur", "GaussianNoise", "Grayscale", "Identity", "JPEG", "LinearTransformation", "Normalize", "PILToTensor",
    "RandomAdjustSharpness", "RandomAutocontrast", "RandomChannelPermutation", "RandomEqualize", "RandomErasing",
    "RandomGrayscale", "RandomInvert", "RandomPhotometricDistort", "RandomPosterize", "RandomSolarize", "RGB",
    "SanitizeBoundingBoxes", "SanitizeKeyPoints", "ToDtype", "ToImage", "ToPILImage", "ToPureTensor", "ToTensor",
    "ToTensorV2", "NoOp",
    "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation", "adjust_sharpness",
    "autocontrast", "convert_image_dtype", "equalize", "erase", "gaussian_blur", "invert", "normalize", "pil_to_tensor",
    "posterize", "rgb_to_grayscale", "solarize", "to_dtype", "to_grayscale", "to_image", "to_pil_image", "to_tensor",
}  # fmt: skip


_MIXING = ("MixUp", "CutMix")


def parts_of(transform: Any) -> Iterator[Any]:
    """What a transform of another library applies, however deep it is; one that has no parts is one."""
    parts = getattr(transform, "transforms", None)
    if parts is None and type(transform).__name__ in ("Sequential", "ModuleList"):
        parts = list(transform)
    if parts is None:
        yield getattr(transform, "func", transform)  # a partial of a function
    for part in parts or ():
        yield from parts_of(part)


def _stays(part: Any) -> bool:
    """Does it leave all pixels where they are? Of classes and functions of users nobody can know that."""
    library = library_of_class(part)
    if library == "albumentations":
        bases = {(base.__module__.split(".")[0], base.__name__) for base in type(part).__mro__}
        return ("albumentations", "ImageOnlyTransform") in bases or name_of(part) in _STAY
    return library == "torchvision" and name_of(part) in _STAY and not altered(part)


def first_moving(transforms: Iterable[Any]) -> Any:
    """The first part of transforms of another library that moves pixels, or may; None: none does."""
    parts = (part for transform in transforms for part in parts_of(transform))
    return next((part for part in parts if not _stays(part) and name_of(part) not in _MIXING), None)


def first_mixing(transforms: Iterable[Any]) -> Any:
    """The first part of transforms of torchvision that mixes the images of a batch; None: none does."""
    parts = (part for transform in transforms for part in parts_of(transform))
    return next((part for part in parts if name_of(part) in _MIXING), None)


@dataclass(frozen=True)
class Fate:
    """A field, its kind, and what becomes of it: one of _core.APL_STAYS, APL_MOVES and APL_REFUSED."""

    field: Field
    kind: Kind | None
    action: int


class Following:
    """What the library says of the fields that a loader reads.

    Args:
        wanted: their names; None: all.
        kinds: what the loader is told of them.
    """

    def __init__(self, store: Store, wanted: Iterable[str] | None, kinds: Mapping[str, Any] | None) -> None:
        self._store, self.schema = store, store.schema
        self._wanted, self._texts = names("fields", wanted), texts_of(kinds)

    def fates(self, images: Iterable[str] = ()) -> list[Fate]:
        """Of each field, where these images are moved; none: all that are images."""
        asked = {
            "fields": self._wanted,
            "kinds": self._texts,
            "transforms": [{"field": name} for name in images],
        }
        told = [one for one in self._store._actions(asked) if self._wanted is None or one[0] in self._wanted]
        kinds = [None if words is None else of_words(words) for _, words, _ in told]
        return [
            Fate(replace(self.schema[name], kind=kind), kind, action)
            for (name, _, action), kind in zip(told, kinds, strict=True)
        ]

    def reads(self, name: str) -> bool:
        return name in self.schema.names and (self._wanted is None or name in self._wanted)

    def images(self) -> list[str]:
        """The names of the images: as declared, or the only field that C takes for one."""
        return [fate.field.name for fate in self.fates() if isinstance(fate.kind, Image) and not fate.kind.of]

    def roles(self, transform: Any, image: str | None = None) -> Roles:
        """Of all images, or of the one that is named, and what moves with them."""
        fates = self.fates([] if image is None else [image])
        images = [one.field for one in fates if isinstance(one.kind, Image) and not one.kind.of]
        if image is not None:
            images = [field for field in images if field.name == image]
        if not images:
            seen = listed(f"{plain(one.field.name)}: {one.field.type}" for one in fates)
            raise NotFoundError(
                f"{shown(transform, 200)}: no field is an image, which is {AN_IMAGE} of an input, or "
                f"several may be: the fields are {seen}; kinds={{NAME: Image()}} says which are"
            )
        moved = [one for one in fates if one.action == _core.APL_MOVES]
        masks = [one.field for one in moved if isinstance(one.kind, (Mask, Map))]
        boxes = [one for one in moved if isinstance(one.kind, Boxes) and one.kind.per is None]
        if len(boxes) > 1:
            raise InvalidError(
                f"{shown(transform, 200)}: fields {listed(one.field.name for one in boxes)} are boxes: "
                "torchvision and Albumentations move those of one field: leave the others out of fields="
            )
        form = boxes[0].kind.form if boxes and isinstance(boxes[0].kind, Boxes) else ""
        of = boxes[0].field if boxes else None
        per_box = [one.field for one in fates if of is not None and one.kind and one.kind.per == of.name]
        return Roles(tuple(images), tuple(masks), of, form, tuple(per_box))

    def check(self, transform: Any, images: list[str], others: Iterable[str]) -> None:
        """Refuses a transform that moves these images beside what can neither follow nor stay. `others`:
        images that have transforms of their own."""
        fates = self.fates([*images, *(name for name in others if name not in images)])
        refused = next((one for one in fates if one.action == _core.APL_REFUSED), None)
        if refused is not None:
            known = library_of_class(transform) in ("apldata", "torchvision", "albumentations")
            does = "moves" if known and name_of(transform) != "Lambda" else "may move"
            _refuse(name_of(transform), does, images[0], refused)

    def check_alone(self, loader: str) -> None:
        """Refuses what would have to move with images, for a loader that moves these alone."""
        for one in self.fates():
            if one.action == _core.APL_MOVES and not isinstance(one.kind, Image):
                raise InvalidError(
                    f"{loader} moves images alone, and field {one.field.name} would have to move with them "
                    "(leave it out of fields=, or use DataLoader)"
                )

    def check_mixed(self, transform: Any, images: Iterable[str]) -> None:
        """Refuses to mix images with each other beside what lies in them: nothing but labels can be mixed."""
        images = list(images)
        for one in self.fates(images):
            if one.action != _core.APL_STAYS and not isinstance(one.kind, Image):
                _refuse(name_of(transform), "mixes", images[0], one)


def _refuse(step: str, does: str, image: str, fate: Fate) -> NoReturn:
    name, way = fate.field.name, "leave it out of fields=, or move both in a function of yours"
    likely = _likely(fate.field) if fate.kind is None else None
    if fate.kind is None and likely is None:
        raise InvalidError(
            f"{step} {does} {image!r}, but what is {name!r} ({fate.field.type})? kinds={{{name!r}: "
            "Label(per=...)} if it has one for each box or the like, Pinned() if it lies in the image, Plain() if "
            "it has nothing to do with it"
        )
    if fate.kind is None:
        raise InvalidError(
            f"{step} {does} {image!r}, but what is {name!r} ({fate.field.type})? "
            f"kinds={{{name!r}: {likely!r}}} if it lies in the image, Pinned() if it cannot be "
            "moved, Plain() if it has nothing to do with it"
        )
    if does == "mixes":
        why, way = f"nothing that lies in {image!r} can be mixed with it", "leave it out of fields="
    elif isinstance(fate.kind, Pinned):
        why = f"it is pinned to {image!r}"
    else:
        why = f"{type(fate.kind).__name__.lower()} cannot be moved yet"
    raise InvalidError(f"{step} cannot be used beside {name!r}: {why} ({way})")


def _likely(field: Field) -> Kind | None:
    """An example of a kind for a message, that such an array may have; None: none that moves."""
    last = field.shape[-1]
    if field.media:
        return Mask()
    if len(field.shape) <= 2 and last == 4:
        return Boxes()
    if len(field.shape) < 2:
        return None
    if last in (2, 3):
        return Keypoints("xy" if last == 2 else "xyv")
    return Map() if field.dtype in ("f16", "bf16", "f32", "f64") else Mask()
