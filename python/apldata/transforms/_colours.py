"""Transforms that change the colours of pixels, with the parameters and the results of torchvision's v2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._arguments import number, whole, wrong_value
from .._errors import InvalidError
from ._base import BLUR, GREY, JITTER, Transform, interval, probability

_MOST = 100  # the largest factor


def _factors(name: str, value: float | Sequence[float]) -> tuple[float, float]:
    """{least, most} of a factor: a number stands for 1 - number ... 1 + number, from 0."""
    if isinstance(value, Sequence):
        return interval(name, value, _MOST, 0)
    spread = number(name, value, "a number of at least 0, or a pair of them", 0)
    if spread > _MOST - 1:
        raise wrong_value(name, f"at most {_MOST - 1}", value)
    return max(0.0, 1 - spread), 1 + spread


def _turns(name: str, value: float | Sequence[float]) -> tuple[float, float]:
    if isinstance(value, Sequence):
        return interval(name, value, 0.5, -0.5)
    spread = number(name, value, "a number from 0 to 0.5, or a pair of them from -0.5", 0)
    if spread > 0.5:
        raise wrong_value(name, "a number from 0 to 0.5", value)
    return -spread, spread


@dataclass(frozen=True)
class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue, each by a uniform factor, in random order.

    Args:
        brightness, contrast, saturation: a number v, for factors from max(0, 1 - v) to 1 + v, or a pair of
            the least and the most.
        hue: a number from 0 to 0.5, for turns from -hue to hue of the circle, or a pair of the least and
            the most.
        p: the probability that anything is done; torchvision's RandomApply.
    """

    STAGE: ClassVar[int] = JITTER
    LATEST: ClassVar[int] = JITTER
    ORDERED: ClassVar[bool] = True

    brightness: float | Sequence[float] = 0
    contrast: float | Sequence[float] = 0
    saturation: float | Sequence[float] = 0
    hue: float | Sequence[float] = 0
    p: float = field(default=1.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        p = probability("ColorJitter: p", self.p)
        settings: dict[str, Any] = {"jitter_p": p}
        for name in ("brightness", "contrast", "saturation"):
            factors = _factors(f"ColorJitter: {name}", getattr(self, name))
            if factors == (0, 0):
                raise InvalidError(
                    f"ColorJitter: {name} of (0, 0) would make all images the same: leave it out"
                )
            if p and factors != (1, 1):
                settings[name] = factors
        turns = _turns("ColorJitter: hue", self.hue)
        if p and turns != (0, 0):
            settings["hue"] = turns
        return settings


@dataclass(frozen=True)
class RandomGrayscale(Transform):
    """Makes images grey with probability `p`; they keep three channels."""

    STAGE: ClassVar[int] = GREY
    LATEST: ClassVar[int] = GREY
    ORDERED: ClassVar[bool] = True

    p: float = 0.1
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        return {"grey_p": probability("RandomGrayscale: p", self.p)}


@dataclass(frozen=True)
class Grayscale(Transform):
    """Makes all images grey, with one channel or, with ``num_output_channels=3``, three equal ones, for which
    images must have three: of images with one channel, torchvision's ``v2.Grayscale(3)`` makes three."""

    STAGE: ClassVar[int] = GREY
    LATEST: ClassVar[int] = GREY
    ORDERED: ClassVar[bool] = True

    num_output_channels: int = 1
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        channels = whole("Grayscale: num_output_channels", self.num_output_channels, 1, 3)
        if channels == 2:
            raise wrong_value("Grayscale: num_output_channels", "1 or 3", channels)
        return {"grey_p": 1.0, "grey_plane": int(channels == 1)}


@dataclass(frozen=True)
class GaussianBlur(Transform):
    """Blurs images, reflected at their edges.

    Args:
        kernel_size: an odd number of pixels, or a pair: width and height.
        sigma: the standard deviation in pixels, or a pair of the least and the most, between which it is
            drawn uniformly.
        p: the probability that anything is done; torchvision's RandomApply.
    """

    STAGE: ClassVar[int] = BLUR
    LATEST: ClassVar[int] = BLUR
    ORDERED: ClassVar[bool] = True

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)
    p: float = field(default=1.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        name, size, sigma = "GaussianBlur: kernel_size", self.kernel_size, self.sigma
        sides = list(size) if isinstance(size, Sequence) and not isinstance(size, str) else [size, size]
        if len(sides) != 2 or any(whole(name, side, 1, 255) % 2 == 0 for side in sides):
            raise wrong_value(name, "an odd number up to 255, or a pair of them", size)
        if not isinstance(sigma, Sequence):
            sigma = (sigma, sigma)
        p = probability("GaussianBlur: p", self.p)
        return {
            "blur_width": sides[0] if p else 0,
            "blur_height": sides[1] if p else 0,
            "blur_sigma": interval("GaussianBlur: sigma", sigma, 1000),
            "blur_p": p,
        }
