"""Changes of pixels of u8: colours, blur, maps, policies, erasing."""

from __future__ import annotations

from typing import Any

from ..transforms import (
    ColorJitter,
    ElasticTransform,
    GaussianBlur,
    Grayscale,
    RandAugment,
    RandomAffine,
    RandomErasing,
    RandomGrayscale,
    RandomPerspective,
    RandomRotation,
    ToFloat32,
    TrivialAugmentWide,
)
from ._state import State
from ._steps import altered, library_of_class, name_of


class Pixels(State):
    """Steps that change pixels."""

    def _take_ColorJitter(self, step: Any, p: float = 1.0) -> bool:
        given = {name: getattr(step, name) for name in ("brightness", "contrast", "saturation", "hue")}
        bounds = {name: tuple(map(float, value)) for name, value in given.items() if value is not None}
        return self._take_pixels("jitter_p", lambda: ColorJitter(**bounds, p=p, field=self._names))

    def _take_GaussianBlur(self, step: Any, p: float = 1.0) -> bool:
        size, sigma = tuple(map(int, step.kernel_size)), tuple(map(float, step.sigma))
        sides = self._side("crop_width", -1), self._side("crop_height", -2)
        if any(length // 2 >= side for length, side in zip(size, sides, strict=True)):
            return False  # which torch refuses
        return self._take_pixels("blur_p", lambda: GaussianBlur(size, sigma, p=p, field=self._names))

    def _take_affine(self, step: Any, kind: Any, p: float, **settings: Any) -> bool:
        interpolation = getattr(step.interpolation, "value", step.interpolation)
        interpolation = {0: "nearest", 2: "bilinear"}.get(interpolation, interpolation)  # as of Pillow
        single = not isinstance(step.fill, (list, tuple))
        if self._roles.masks and not single:
            return False
        if p <= 0:
            return True
        settings |= {"interpolation": interpolation, "fill": step.fill if single else list(step.fill)}
        centre = None if step.center is None else tuple(map(float, step.center))
        degrees = tuple(map(float, step.degrees))
        return self._take_pixels(
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
        if self._roles.masks and not single:
            return False
        if settings["p"] <= 0:
            return True
        settings |= {"interpolation": interpolation, "fill": step.fill if single else list(step.fill)}
        return self._take_pixels(key, lambda: kind(**settings, field=self._names))

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
        return self._take_pixels("policy", lambda: kind(**settings, fill=fill, field=self._names))

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
        if len(inner) != 1 or library_of_class(inner[0]) != "torchvision" or altered(inner[0]):
            return False
        if name_of(inner[0]) not in known:
            return False
        return known[name_of(inner[0])](inner[0], float(step.p))

    def _take_RandomGrayscale(self, step: Any) -> bool:
        return self._take_pixels("grey_p", lambda: RandomGrayscale(float(step.p), field=self._names))

    def _take_Grayscale(self, step: Any) -> bool:
        channels = step.num_output_channels
        if any(field.channels not in (3, channels) for field in self._roles.images):
            return False  # planes are added
        return self._take_pixels("grey_p", lambda: Grayscale(channels, field=self._names))

    def _take_RandomErasing(self, step: Any) -> bool:
        value = "random" if step.value is None else step.value
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        scaled = self._floats is ToFloat32 and self._scaled
        fits = all(len(values) in (1, field.channels) for field in self._roles.images)
        if "erase_p" in self._settings or not fits:
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
