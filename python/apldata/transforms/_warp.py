"""Random perspectives and elastic deformations of a crop, with torchvision's parameters and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._arguments import choice, number, wrong_value
from ._base import ELASTIC, INTERPOLATIONS, PERSPECTIVE, Transform, fills, mask_fill_of, probability

_FAR, _SMOOTH = 1 << 15, 100  # at most: alpha and sigma, in pixels


@dataclass(frozen=True)
class RandomPerspective(Transform):
    """Shows images in random perspective: each corner is drawn from a box inside it; masks and boxes follow.

    Args:
        distortion_scale: the size of that box as a fraction of half the width and height, from 0 to 1.
        p: the probability that it is done.
        interpolation: "nearest" or "bilinear"; masks always take the nearest.
        fill: what lies beyond the edges: a number from 0 to 255, or one for each channel; None: 0, but
            "bilinear" does not blend the pixels at the edges with it once more.
        mask_fill: what masks have there; None: `fill` if that is one number, otherwise 0.
    """

    STAGE: ClassVar[int] = PERSPECTIVE
    LATEST: ClassVar[int] = PERSPECTIVE
    ORDERED: ClassVar[bool] = True

    distortion_scale: float = 0.5
    p: float = 0.5
    interpolation: str = "bilinear"
    fill: float | Sequence[float] | None = 0
    mask_fill: float | None = field(default=None, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        name, p = "RandomPerspective", probability("RandomPerspective: p", self.p)
        settings = {
            "perspective_distortion": probability(f"{name}: distortion_scale", self.distortion_scale),
            "perspective_p": p,
            "perspective_interpolation": choice(f"{name}: interpolation", self.interpolation, INTERPOLATIONS),
            "perspective_fill": fills(f"{name}: fill", self.fill),
            "perspective_blend": int(self.fill is not None),
            **mask_fill_of(name, "perspective", self.fill, self.mask_fill),
        }
        return settings if p and self.distortion_scale else {}


def _both_ways(name: str, value: float | Sequence[float], most: float) -> tuple[float, float]:
    """Across and down: a number stands for both."""
    wanted = f"a number from 0 to {most}, or a pair of them"
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else (value, value)
    found = [number(name, each, wanted, 0) for each in values]
    if len(found) != 2 or max(found) > most:
        raise wrong_value(name, wanted, value)
    return found[0], found[1]


@dataclass(frozen=True)
class ElasticTransform(Transform):
    """Bends images as if drawn on rubber: smoothed noise moves every pixel; masks and boxes follow.

    Args:
        alpha: twice the number of pixels by which noise moves at most, before it is smoothed: a number, or a
            pair, across and down.
        sigma: the standard deviation of the Gaussian that smooths it, in pixels, likewise; 0: not smoothed.
            Four times sigma must be less than a side of the crop.
        interpolation, fill, mask_fill: as for `RandomPerspective`.
        p: the probability that it is done; torchvision's RandomApply.
    """

    STAGE: ClassVar[int] = ELASTIC
    LATEST: ClassVar[int] = ELASTIC
    ORDERED: ClassVar[bool] = True

    alpha: float | Sequence[float] = 50.0
    sigma: float | Sequence[float] = 5.0
    interpolation: str = "bilinear"
    fill: float | Sequence[float] | None = 0
    mask_fill: float | None = field(default=None, kw_only=True)
    p: float = field(default=1.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        name, p = "ElasticTransform", probability("ElasticTransform: p", self.p)
        alpha = _both_ways(f"{name}: alpha", self.alpha, _FAR)
        sigma = _both_ways(f"{name}: sigma", self.sigma, _SMOOTH)
        if (sigma[0] > 0) != (sigma[1] > 0):
            raise wrong_value(f"{name}: sigma", "two numbers of which none, or both, are 0", self.sigma)
        settings = {
            "elastic_alpha": alpha,
            "elastic_sigma": sigma,
            "elastic_p": p,
            "elastic_interpolation": choice(f"{name}: interpolation", self.interpolation, INTERPOLATIONS),
            "elastic_fill": fills(f"{name}: fill", self.fill),
            "elastic_blend": int(self.fill is not None),
            **mask_fill_of(name, "elastic", self.fill, self.mask_fill),
        }
        return settings if p and max(alpha) else {}


WARPS = (RandomPerspective, ElasticTransform)
