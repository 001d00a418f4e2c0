"""What can be done in C of transforms of torchvision and Albumentations."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import _core
from ._roles import Roles
from .schema import Field
from .transforms import (
    CenterCrop,
    ColorJitter,
    CutMix,
    ElasticTransform,
    GaussianBlur,
    Grayscale,
    MixUp,
    Normalize,
    Pad,
    RandAugment,
    RandomAffine,
    RandomChoice,
    RandomCrop,
    RandomErasing,
    RandomFlip,
    RandomGrayscale,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
    SanitizeBoundingBoxes,
    ToBFloat16,
    ToFloat16,
    ToFloat32,
    Transform,
    TrivialAugmentWide,
)

LIBRARIES = ("torchvision", "albumentations")
_TO_FLOAT = {"torch.float32": ToFloat32, "torch.float16": ToFloat16, "torch.bfloat16": ToBFloat16}
# Settings of what changes pixels, in the order in which C does it.
_PIXELS = (
    "affine_p", "perspective_p", "elastic_p", "policy", "jitter_p", "grey_p", "blur_p", "erase_p"
)  # fmt: skip
_WHOLE = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}
_NOTHING = {"ToImage", "ToPureTensor", "Identity", "PILToTensor", "pil_to_tensor", "to_image", "NoOp"}


def altered(transform: Any) -> bool:
    """Does this one do more than its class, by a hook of torch's or a method replaced on it?"""
    if isinstance(transform, types.FunctionType):
        return False
    own = getattr(transform, "__dict__", {})
    hooks = own.get("_forward_hooks"), own.get("_forward_pre_hooks")
    return any(hooks) or any(callable(getattr(type(transform), name, None)) for name in own)


def name_of(transform: Any) -> str:
    """The name of its class, or of the function."""
    return str(getattr(transform, "__name__", type(transform).__name__))


class Translation:
    """What can be done in C of a sequence of transforms: as long as one after the other has an equal there.

    Args:
        settings: what is done to the images in C already.
        label: the one field of labels that may be mixed.
    """

    def __init__(self, roles: Roles, settings: dict[str, Any], label: Field | None = None) -> None:
        self._label = label
        self._roles, self._settings = roles, dict(settings)
        self._image = roles.images[0]
        self._floats: type[Transform] | None = None
        self._scaled, self._normalised = True, False
        self._touched = "scale" in settings or "dtype" in settings
        self._moves: list[Callable[[tuple[str, ...]], Transform]] = []
        self._colours: list[Transform] = []
        self._normalize: Any = None
        self._erasing: Any = None  # made of the scale of its value
        self._erased_pixels = self._erased_normalised = False  # what was done when it was erased
        self._mixing: Transform | None = None
        self._any_size = any(field.is_photo for field in roles.images)
        self.why = ""  # the last step cannot be done in C; "": no more is known than that

    @property
    def possible(self) -> bool:
        """Are the fields such as C takes?"""
        roles = self._roles
        if not all(field.is_picture or field.is_photo for field in roles.images):
            return False
        if roles.follow:
            return roles.boxes is None or (roles.boxes.dtype == "f32" and roles.boxes.shape == (-1, 4))
        return roles.boxes is None and all(field.is_picture for field in roles.masks)

    @property
    def sized(self) -> bool:
        """Do the images come to one size in C, which those of any size must?"""
        return not self._any_size or bool({"crop_height", "resize_height"} & self._settings.keys())

    def transforms(self) -> list[Transform]:
        """Those that run in C."""
        names = tuple(field.name for field in self._roles.images)
        moved = names
        if not self._roles.follow:
            moved += tuple(field.name for field in self._roles.masks)
        done = [move(moved) for move in self._moves] + self._colours
        converted: list[Transform] = []
        if self._normalize is not None:
            converted.append(self._normalize(names))
        if self._floats is not None and not (self._normalised and self._floats is ToFloat32):
            converted.append(self._floats(scale=self._scaled, field=names))  # type: ignore[call-arg]
        mixed = [] if self._mixing is None else [self._mixing]
        return [*self._with_erased(done, converted), *mixed]

    def _with_erased(self, done: list[Transform], converted: list[Transform]) -> list[Transform]:
        if self._erasing is None:
            return done + converted
        if self._erased_pixels:
            return [*done, self._erasing(1), *converted]
        if self._normalised and not self._erased_normalised:
            return [*done, self._erasing(255), *converted]
        return [*done, *converted, self._erasing(1)]

    def take(self, step: Any) -> bool:
        """False: this one, and all after it, must be done in Python."""
        name, of = name_of(step), step if isinstance(step, types.FunctionType) else type(step)
        if of.__module__.split(".")[0] not in LIBRARIES or altered(step):  # a namesake, somebody's subclass
            return False
        if name in _NOTHING:
            return True
        if self._mixing is not None:
            return False
        known = getattr(self, f"_take_{name}", None)
        self.why = ""
        return known is not None and bool(known(step))

    def _set(self, key: str, value: Any, move: Callable[[tuple[str, ...]], Transform]) -> bool:
        self._settings[key] = value
        self._moves.append(move)
        return True

    def _flip(self, key: str, kind: Any, p: float) -> bool:
        if key in self._settings or self._settings.get("cutout") or "erase_p" in self._settings:
            return False
        if not all(done.mirrored for done in self._colours):
            return False
        return self._set(key, p, lambda names: kind(p, field=names))

    def _take_RandomHorizontalFlip(self, step: Any) -> bool:
        return self._flip("flip", RandomFlip, float(step.p))

    def _take_RandomVerticalFlip(self, step: Any) -> bool:
        return self._flip("vertical_flip_p", RandomVerticalFlip, float(step.p))

    def _take_HorizontalFlip(self, step: Any) -> bool:
        return self._take_RandomHorizontalFlip(step)

    def _take_VerticalFlip(self, step: Any) -> bool:
        return self._take_RandomVerticalFlip(step)

    def _can_crop(self, pad: int, mode: str, height: int, width: int) -> bool:
        """Does the crop fit, and is nothing done before that would have to come after it?"""
        if {"crop_height", "pad", "pad_left"} & self._settings.keys() or self._settings.get("cutout"):
            return False
        if self._any_size or "sizing" in self._settings:
            fits = mode == "constant" and not (pad and (self._touched or self._floats is not None))
            return fits and height > 0 and width > 0 and not any(key in self._settings for key in _PIXELS)
        if any(key in self._settings for key in _PIXELS):
            return False
        if pad and (self._touched or self._floats is not None):  # what is padded would not be 0
            return False
        sides = [field.shape[-2:] for field in (*self._roles.images, *self._roles.masks)]
        if any(side != sides[0] for side in sides) or (mode == "reflect" and pad >= min(sides[0])):
            return False
        return 0 < height <= sides[0][0] + 2 * pad and 0 < width <= sides[0][1] + 2 * pad

    def _take_Pad(self, step: Any) -> bool:
        if not hasattr(step, "padding_mode"):  # Albumentations
            return False
        mode = getattr(step.padding_mode, "value", step.padding_mode)
        done = ("crop_height", "pad", "pad_left", "cutout", *_PIXELS)
        if any(self._settings.get(key) for key in done) or self._touched or self._floats is not None:
            return False
        single = isinstance(step.fill, (int, float))
        if (self._roles.masks and not single) or (self._roles.boxes is not None and mode != "constant"):
            return False  # which torchvision refuses
        if any(field.channels not in (1, 3) for field in self._roles.images):
            return False
        fill = step.fill if single else list(step.fill or [0])
        sides = step.padding if isinstance(step.padding, int) else list(step.padding)

        def make(names: tuple[str, ...]) -> Transform:
            return Pad(sides, fill, mode, field=names)

        try:
            pad = make(self._names)
            flipped = {"flip", "vertical_flip_p"} & self._settings.keys()
            if flipped and not pad.mirrored:
                return False
            settings = pad.settings()
        except (ValueError, TypeError):  # such as ours does not take
            return False
        left, top, right, bottom = (settings[f"pad_{side}"] for side in ("left", "top", "right", "bottom"))
        spare = {"reflect": 1, "symmetric": 0}.get(mode)
        if spare is not None and not self._any_size:
            height, width = self._image.shape[-2:]
            if max(left, right) + spare > width or max(top, bottom) + spare > height:
                return False
        self._settings |= settings
        self._moves.append(make)
        return True

    def _random_crop(self, size: tuple[int, int], pad: int, mode: str, more: bool = False) -> bool:
        if not self._can_crop(pad, mode, *size):
            return False
        return self._crop(size, lambda names: RandomCrop(size, pad, mode, pad_if_needed=more, field=names))

    def _crop(self, size: tuple[int, int], make: Callable[[tuple[str, ...]], Transform]) -> bool:
        self._settings["crop_width"] = size[1]
        return self._set("crop_height", size[0], make)

    # -------------------------------------------------------------------------------------------- sizes

    def _can_resize(self, step: Any) -> bool:
        """May it be scaled by C, which does it first?"""
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        if type(step).__module__.split(".")[0] != "torchvision":
            return False
        if interpolation not in ("bilinear", 2):
            self.why = f"its interpolation is {interpolation}, and C has bilinear alone"
            return False
        if getattr(step, "antialias", True) in (False, None):
            self.why = "it has no antialiasing, and C always has"
            return False
        if any(field.channels not in (1, 3) for field in self._roles.images):
            return False
        done = ("crop_height", "pad", "pad_left", "sizing", "cutout", *_PIXELS)
        return not (any(key in self._settings for key in done) or self._touched or self._floats is not None)

    def _take_RandomResizedCrop(self, step: Any) -> bool:
        if not hasattr(step, "interpolation") or not self._can_resize(step):
            return False
        height, width = (int(side) for side in step.size)
        scale, ratio = tuple(map(float, step.scale)), tuple(map(float, step.ratio))

        def make(names: tuple[str, ...]) -> Transform:
            return RandomResizedCrop((height, width), scale, ratio, exact_chroma=True, field=names)

        try:
            make(self._names)
        except (ValueError, TypeError) as error:  # such as ours does not take
            self.why = str(error)
            return False
        self._settings["sizing"] = _core.APL_SIZING_RANDOM
        return self._crop((height, width), make)

    def _take_Resize(self, step: Any) -> bool:
        if not hasattr(step, "antialias") or not self._any_size or not self._can_resize(step):
            return False  # torchvision resizes images of one size all at once
        size = [step.size] if isinstance(step.size, int) else list(step.size or [])
        if getattr(step, "max_size", None) is not None or len(size) not in (1, 2):
            self.why = "it has a max_size, which C has not"
            return False
        wanted: Any = int(size[0]) if len(size) == 1 else (int(size[0]), int(size[1]))
        self._settings |= Resize(wanted).settings()
        return self._set(
            "sizing",
            _core.APL_SIZING_RESIZE,
            lambda names: Resize(wanted, exact_chroma=True, field=names),
        )

    def _take_SanitizeBoundingBoxes(self, step: Any) -> bool:
        getter = step.labels_getter
        if not self._roles.follow or self._roles.boxes is None or not (getter is None or getter == "default"):
            return False
        labels = () if getter is None else None
        of = self._roles.images[0].name

        def make(names: tuple[str, ...]) -> Transform:
            return SanitizeBoundingBoxes(float(step.min_size), float(step.min_area), labels, field=of)

        return self._set("box_min_size", float(step.min_size), make)

    def _take_ClampBoundingBoxes(self, step: Any) -> bool:
        return self._roles.follow and self._roles.boxes is not None

    def _take_RandomCrop(self, step: Any) -> bool:
        if hasattr(step, "height"):  # Albumentations
            return step.p == 1 and self._random_crop((step.height, step.width), 0, "constant")
        pads = step.padding if isinstance(step.padding, (list, tuple)) else [step.padding or 0]
        mode = getattr(step.padding_mode, "value", step.padding_mode)
        if (
            len(set(pads)) != 1
            or mode not in ("constant", "reflect")
            or (mode == "constant" and step.fill != 0)
        ):
            return False
        more = bool(getattr(step, "pad_if_needed", False))
        return self._random_crop((int(step.size[0]), int(step.size[1])), int(pads[0]), mode, more)

    def _take_CenterCrop(self, step: Any) -> bool:
        if getattr(step, "p", 1) != 1 or getattr(step, "pad_if_needed", False):
            return False
        height, width = (step.height, step.width) if hasattr(step, "height") else step.size
        size = int(height), int(width)
        if not self._can_crop(0, "constant", *size):
            return False
        if not (self._any_size or "sizing" in self._settings):
            rest = [side - crop for side, crop in zip(self._image.shape[-2:], size, strict=True)]
            if any(side % 2 for side in rest):
                return False  # the libraries round the middle in different ways
        return self._crop(size, lambda names: CenterCrop(size, field=names))

    # ------------------------------------------------------------------------------------------- colours

    def _take_pixels(self, step: Any, key: str, make: Callable[[], Transform]) -> bool:
        """Takes a step that changes pixels of u8, unless C would do it before what was done already."""
        ours = type(step).__module__.split(".")[0] == "torchvision" and self._floats is None
        late = any(done in self._settings for done in _PIXELS[_PIXELS.index(key) :])
        if not ours or late or self._touched or any(f.channels not in (1, 3) for f in self._roles.images):
            return False
        try:
            transform = make()
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._settings.update(transform.settings())
        self._colours.append(transform)
        return True

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self._roles.images)

    def _take_ColorJitter(self, step: Any, p: float = 1.0) -> bool:
        given = {name: getattr(step, name) for name in ("brightness", "contrast", "saturation", "hue")}
        bounds = {name: tuple(map(float, value)) for name, value in given.items() if value is not None}
        return self._take_pixels(step, "jitter_p", lambda: ColorJitter(**bounds, p=p, field=self._names))

    def _take_GaussianBlur(self, step: Any, p: float = 1.0) -> bool:
        size, sigma = tuple(map(int, step.kernel_size)), tuple(map(float, step.sigma))
        sides = self._side("crop_width", -1), self._side("crop_height", -2)
        if any(length // 2 >= side for length, side in zip(size, sides, strict=True)):
            return False  # which torch refuses
        return self._take_pixels(step, "blur_p", lambda: GaussianBlur(size, sigma, p=p, field=self._names))

    def _side(self, key: str, axis: int) -> int:
        """A side of the images as they are by now."""
        resized = self._settings.get(key.replace("crop", "resize"), 0)
        if key in self._settings or resized:
            return int(self._settings.get(key, resized))
        return 1 if self._any_size else int(self._image.shape[axis])

    def _take_affine(self, step: Any, kind: Any, p: float, **settings: Any) -> bool:
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        interpolation = {0: "nearest", 2: "bilinear"}.get(interpolation, interpolation)  # as of Pillow
        single = not isinstance(step.fill, (list, tuple))
        if self._roles.masks and not (self._roles.follow and single):
            return False
        if p <= 0:
            return True
        settings |= {"interpolation": interpolation, "fill": step.fill if single else list(step.fill)}
        centre = None if step.center is None else tuple(map(float, step.center))
        degrees = tuple(map(float, step.degrees))
        return self._take_pixels(
            step,
            "affine_p",
            lambda: kind(degrees, **settings, center=centre, p=p, field=self._names),
        )

    def _take_RandomRotation(self, step: Any, p: float = 1.0) -> bool:
        return self._take_affine(step, RandomRotation, p, expand=bool(step.expand))

    def _take_RandomAffine(self, step: Any, p: float = 1.0) -> bool:
        given = {name: getattr(step, name) for name in ("translate", "scale", "shear")}
        settings = {name: tuple(map(float, value)) for name, value in given.items() if value is not None}
        return self._take_affine(step, RandomAffine, p, **settings)

    def _take_warp(self, step: Any, key: str, kind: Any, **settings: Any) -> bool:
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        interpolation = {0: "nearest", 2: "bilinear"}.get(interpolation, interpolation)  # as of Pillow
        single = not isinstance(step.fill, (list, tuple))
        if self._roles.masks and not (self._roles.follow and single):
            return False
        if settings["p"] <= 0:
            return True
        settings |= {"interpolation": interpolation, "fill": step.fill if single else list(step.fill)}
        return self._take_pixels(step, key, lambda: kind(**settings, field=self._names))

    def _take_RandomPerspective(self, step: Any) -> bool:
        distortion, p = float(step.distortion_scale), float(step.p)
        return self._take_warp(step, "perspective_p", RandomPerspective, distortion_scale=distortion, p=p)

    def _take_ElasticTransform(self, step: Any, p: float = 1.0) -> bool:
        settings = {name: tuple(map(float, getattr(step, name))) for name in ("alpha", "sigma")}
        reach = int(8 * max(settings["sigma"]) + 1) // 2
        if reach >= min(self._side("crop_width", -1), self._side("crop_height", -2)):
            return False  # which torch refuses
        return self._take_warp(step, "elastic_p", ElasticTransform, **settings, p=p)

    def _take_policy(self, step: Any, kind: Any, **settings: Any) -> bool:
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        if interpolation == 2:  # as of Pillow
            interpolation = "bilinear"
        fill = list(step.fill) if isinstance(step.fill, (list, tuple)) else step.fill
        if self._roles.masks or len(self._roles.images) > 1:
            return False  # which torchvision refuses
        settings |= {"num_magnitude_bins": step.num_magnitude_bins, "interpolation": interpolation}
        return self._take_pixels(step, "policy", lambda: kind(**settings, fill=fill, field=self._names))

    def _take_RandAugment(self, step: Any) -> bool:
        return self._take_policy(step, RandAugment, num_ops=step.num_ops, magnitude=step.magnitude)

    def _take_TrivialAugmentWide(self, step: Any) -> bool:
        return self._take_policy(step, TrivialAugmentWide)

    def _take_RandomApply(self, step: Any) -> bool:
        inner = list(step.transforms)
        known = {
            "ColorJitter": self._take_ColorJitter,
            "ElasticTransform": self._take_ElasticTransform,
            "GaussianBlur": self._take_GaussianBlur,
            "RandomAffine": self._take_RandomAffine,
            "RandomRotation": self._take_RandomRotation,
        }
        if len(inner) != 1 or name_of(inner[0]) not in known or altered(inner[0]):
            return False
        return known[name_of(inner[0])](inner[0], float(step.p))

    def _take_RandomGrayscale(self, step: Any) -> bool:
        return self._take_pixels(step, "grey_p", lambda: RandomGrayscale(float(step.p), field=self._names))

    def _take_Grayscale(self, step: Any) -> bool:
        channels = step.num_output_channels
        if any(field.channels not in (3, channels) for field in self._roles.images):
            return False  # planes are added
        return self._take_pixels(step, "grey_p", lambda: Grayscale(channels, field=self._names))

    def _take_RandomErasing(self, step: Any) -> bool:
        value = "random" if step.value is None else step.value
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        scaled = self._floats is ToFloat32 and self._scaled
        fits = all(len(values) in (1, field.channels) for field in self._roles.images)
        if type(step).__module__.split(".")[0] != "torchvision" or "erase_p" in self._settings or not fits:
            return False
        if self._touched or (self._floats is not None and not scaled) or (value == "random" and not scaled):
            return False
        if self._floats is None and any(not 0 <= float(v) <= 255 or float(v) % 1 for v in values):
            return False  # a pixel that wraps around, or is truncated

        def make(scale: float) -> RandomErasing:
            of = value if value == "random" else [scale * float(v) for v in values]
            return RandomErasing(float(step.p), tuple(step.scale), tuple(step.ratio), of, field=self._names)

        try:
            self._settings.update(make(1).settings())
        except (ValueError, TypeError):
            return False
        self._erasing, self._erased_pixels = make, self._floats is None
        self._erased_normalised = self._normalised
        return True

    # ------------------------------------------------------------------------------------------- mixing

    def _mixing_of(self, step: Any) -> Any:
        """Ours that does the same; None: there is none."""
        kinds: dict[str, Any] = {"MixUp": MixUp, "CutMix": CutMix}
        kind = kinds.get(type(step).__name__)
        classes = step.num_classes if kind else None
        if (
            kind is None
            or self._label is None
            or self._label.dtype not in _WHOLE
            or altered(step)
            or not (classes or self._label.classes)
        ):
            return None
        getter = getattr(step._labels_getter, "__name__", "")
        return kind(float(step.alpha), classes) if getter == "_find_labels_default_heuristic" else None

    def _mix(self, make: Callable[[], Any], floats: bool) -> bool:
        roles = self._roles
        if roles.masks or roles.boxes is not None or len(roles.images) > 1:
            return False  # which torchvision refuses
        if (floats and self._floats is None) or self._touched:
            return False
        try:
            made = make()
            made = made and replace(made, field=self._names)
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._mixing = made
        return made is not None

    def _take_MixUp(self, step: Any) -> bool:
        return self._mix(lambda: self._mixing_of(step), True)

    def _take_CutMix(self, step: Any) -> bool:
        return self._mix(lambda: self._mixing_of(step), False)

    def _take_RandomChoice(self, step: Any) -> bool:
        def make() -> Any:
            parts = [self._mixing_of(part) for part in step.transforms]
            p = list(map(float, step.p)) if step.p is not None else None
            return None if None in parts else RandomChoice(parts, p)

        return self._mix(make, True)

    def _convert(self, dtype: Any, scale: bool) -> bool:
        kind = _TO_FLOAT.get(str(dtype))
        if kind is None:
            return str(dtype) == "torch.uint8" and self._floats is None and not self._touched
        if self._touched:
            return False
        if self._floats is None:
            self._floats, self._scaled = kind, scale
            return True
        if self._floats is not ToFloat32:  # rounded twice
            return False
        self._floats = kind
        return True

    def _take_ToTensor(self, step: Any) -> bool:
        return self._floats is None and self._convert("torch.float32", True)

    _take_to_tensor = _take_ToTensor

    def _take_ConvertImageDtype(self, step: Any) -> bool:
        return self._convert(step.dtype, True)

    def _take_ToDtype(self, step: Any) -> bool:
        return self._convert(step.dtype, step.scale)

    def _take_ToFloat(self, step: Any) -> bool:  # Albumentations
        return (
            step.p == 1
            and step.max_value in (None, 255)
            and self._floats is None
            and self._convert("torch.float32", True)
        )

    def _take_Normalize(self, step: Any) -> bool:
        if hasattr(step, "max_pixel_value"):  # Albumentations: converts too
            if (
                step.p != 1
                or step.max_pixel_value != 255
                or getattr(step, "normalization", "standard") != "standard"
            ):
                return False
            if not self._take_ToFloat(types.SimpleNamespace(p=1, max_value=255)):
                return False
        if self._floats is not ToFloat32 or not self._scaled or self._normalised:
            return False
        if self._settings.get("erase") == _core.APL_ERASE_NOISE:
            return False  # what was erased would be normalised too
        return self._set_normalize(step.mean, step.std)

    def _set_normalize(self, mean: Any, std: Any) -> bool:
        try:
            mean, std = (list(v) if hasattr(v, "__iter__") else [v] for v in (mean, std))
            if any(len(mean) not in (1, field.channels) for field in self._roles.images) or len(mean) != len(
                std
            ):
                return False
            if self._settings.get("grey_plane") and len(mean) != 1:
                return False
            Normalize(mean, std)
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._normalize = lambda names: Normalize(mean, std, field=names)
        self._normalised = True
        return True
