"""Flips, padding, crops and resizing, and the boxes that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from ..transforms import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    SanitizeBoundingBoxes,
    Transform,
)
from ._state import PIXELS, State


class Geometry(State):
    """Steps that decide which pixels there are."""

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

    def _take_albumentations_HorizontalFlip(self, step: Any) -> bool:
        return self._take_RandomHorizontalFlip(step)

    def _take_albumentations_VerticalFlip(self, step: Any) -> bool:
        return self._take_RandomVerticalFlip(step)

    def _can_crop(self, pad: int, mode: str, height: int, width: int) -> bool:
        """Does the crop fit, and is nothing done before that would have to come after it?"""
        if {"crop_height", "pad", "pad_left"} & self._settings.keys() or self._settings.get("cutout"):
            return False
        if self._any_size or "sizing" in self._settings:
            fits = mode == "constant" and not (pad and (self._touched or self._floats is not None))
            return fits and height > 0 and width > 0 and not any(key in self._settings for key in PIXELS)
        if any(key in self._settings for key in PIXELS):
            return False
        if pad and (self._touched or self._floats is not None):  # what is padded would not be 0
            return False
        sides = [field.shape[-2:] for field in (*self._roles.images, *self._roles.masks)]
        if any(side != sides[0] for side in sides) or (mode == "reflect" and pad >= min(sides[0])):
            return False
        return 0 < height <= sides[0][0] + 2 * pad and 0 < width <= sides[0][1] + 2 * pad

    def _take_Pad(self, step: Any) -> bool:
        mode = getattr(step.padding_mode, "value", step.padding_mode)
        done = ("crop_height", "pad", "pad_left", "cutout", *PIXELS)
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

    def _can_resize(self, step: Any) -> bool:
        """May it be scaled by C, which does it first?"""
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        if interpolation not in ("bilinear", 2):
            self.why = f"its interpolation is {interpolation}, and C has bilinear alone"
            return False
        if getattr(step, "antialias", True) in (False, None):
            self.why = "it has no antialiasing, and C always has"
            return False
        if any(field.channels not in (1, 3) for field in self._roles.images):
            return False
        done = ("crop_height", "pad", "pad_left", "sizing", "cutout", *PIXELS)
        return not (any(key in self._settings for key in done) or self._touched or self._floats is not None)

    def _take_RandomResizedCrop(self, step: Any) -> bool:
        if not self._can_resize(step):
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
        if not self._any_size or not self._can_resize(step):
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
        if self._roles.boxes is None or not (step.labels_getter is None or step.labels_getter == "default"):
            return False
        of = self._roles.images[0].name

        def make(names: tuple[str, ...]) -> Transform:
            return SanitizeBoundingBoxes(float(step.min_size), float(step.min_area), field=of)

        return self._set("box_min_size", float(step.min_size), make)

    def _take_ClampBoundingBoxes(self, step: Any) -> bool:
        return self._roles.boxes is not None

    def _take_RandomCrop(self, step: Any) -> bool:
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

    def _take_albumentations_RandomCrop(self, step: Any) -> bool:
        return _crops_alone(step) and self._random_crop((step.height, step.width), 0, "constant")

    def _take_CenterCrop(self, step: Any) -> bool:
        return self._centre_crop((int(step.size[0]), int(step.size[1])))

    def _take_albumentations_CenterCrop(self, step: Any) -> bool:
        return _crops_alone(step) and self._centre_crop((step.height, step.width), rounded_down=True)

    def _centre_crop(self, size: tuple[int, int], rounded_down: bool = False) -> bool:
        if not self._can_crop(0, "constant", *size):
            return False
        if not (self._any_size or "sizing" in self._settings):
            rest = [side - crop for side, crop in zip(self._image.shape[-2:], size, strict=True)]
            if rounded_down and any(side % 4 == 3 for side in rest):
                return False  # C rounds the middle to even
            flips = "vertical_flip_p", "flip"
            if any(side % 2 and key in self._settings for side, key in zip(rest, flips, strict=True)):
                return False  # C flips after the crop: the middle would be a pixel to the side
        return self._crop(size, lambda names: CenterCrop(size, field=names))


def _crops_alone(step: Any) -> bool:
    """Does a crop of Albumentations always crop, and never pad?"""
    return step.p == 1 and not getattr(step, "pad_if_needed", False)
