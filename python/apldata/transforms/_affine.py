"""Random affine maps of a crop, with the parameters and the results of torchvision's v2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._arguments import choice, flag, number, wrong_value
from .._errors import InvalidError
from ._base import AFFINE, INTERPOLATIONS, Transform, fills, interval, mask_fill_of, probability

_TURN, _SHEAR, _ZOOM, _FAR = 360, 80, 100, 1 << 15  # at most: degrees, degrees, a factor, pixels


def _degrees(name: str, value: float | Sequence[float], most: float) -> tuple[float, float]:
    """{least, most}: a number v stands for -v ... v."""
    if isinstance(value, Sequence):
        return interval(name, value, most, -most)
    wanted = f"a number from 0 to {most}, or a pair of them from -{most}"
    spread = number(name, value, wanted, 0)
    if spread > most:
        raise wrong_value(name, wanted, value)
    return -spread, spread


def _centre(name: str, centre: Sequence[float] | None) -> dict[str, Any]:
    if centre is None:
        return {}
    wanted = f"a point (x, y), at most {_FAR} pixels from the corner"
    if isinstance(centre, (str, bytes)) or not isinstance(centre, Sequence) or len(centre) != 2:
        raise wrong_value(name, wanted, centre)
    point = tuple(number(name, at, wanted) for at in centre)
    if any(abs(at) > _FAR for at in point):
        raise wrong_value(name, wanted, centre)
    return {"affine_about": 1, "affine_centre": point}


@dataclass(frozen=True)
class RandomAffine(Transform):
    """Turns, moves, scales and shears images, which are resampled once; masks and boxes follow.

    Args:
        degrees: clockwise: a number v, for -v to v, or a pair of the least and the most.
        translate: the largest fractions of width and height by which images are moved; None: not at all.
        scale: a pair of the least and the most; None: 1.
        shear: in degrees: a number v, for -v to v along x; a pair, of x; or four numbers, of x and of y.
        interpolation: "nearest" or "bilinear"; masks always take the nearest.
        fill: the pixels beyond the edges: a number from 0 to 255, or one for each channel; None: 0, but
            "bilinear" does not blend the pixels at the edges with it.
        center: the centre of rotation, a point (x, y) of the crop; None: the middle.
        mask_fill: the elements of masks beyond the edges; None: `fill` if that is one number, otherwise 0.
        p: the probability that anything is done; torchvision's RandomApply.
    """

    STAGE: ClassVar[int] = AFFINE
    LATEST: ClassVar[int] = AFFINE
    ORDERED: ClassVar[bool] = True

    degrees: float | Sequence[float]
    translate: Sequence[float] | None = None
    scale: Sequence[float] | None = None
    shear: float | Sequence[float] | None = None
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = 0
    center: Sequence[float] | None = None
    mask_fill: float | None = field(default=None, kw_only=True)
    p: float = field(default=1.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    @property
    def mirrored(self) -> bool:
        ranges = [_degrees("", self.degrees, _TURN), *self._shears]
        return self.center is None and all(least == -most for least, most in ranges)

    @property
    def _shears(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Of x and of y."""
        name, shear = "RandomAffine: shear", 0 if self.shear is None else self.shear
        if not isinstance(shear, Sequence) or len(shear) != 4:
            return _degrees(name, shear, _SHEAR), (0, 0)
        return _degrees(name, shear[:2], _SHEAR), _degrees(name, shear[2:], _SHEAR)

    @property
    def _moves(self) -> tuple[float, float]:
        moves = (0, 0) if self.translate is None else self.translate
        if not isinstance(moves, Sequence) or len(moves) != 2:
            raise wrong_value("RandomAffine: translate", "a pair of fractions, from 0 to 1", moves)
        across, down = (probability("RandomAffine: translate", move) for move in moves)
        return across, down

    def settings(self) -> dict[str, Any]:
        scale = (1, 1) if self.scale is None else self.scale
        shears, p = self._shears, probability("RandomAffine: p", self.p)
        settings = {
            "affine_degrees": _degrees("RandomAffine: degrees", self.degrees, _TURN),
            "affine_translate": self._moves,
            "affine_scale": interval("RandomAffine: scale", scale, _ZOOM, 1 / _ZOOM),
            "affine_shear_x": shears[0],
            "affine_shear_y": shears[1],
            "affine_interpolation": choice("RandomAffine: interpolation", self.interpolation, INTERPOLATIONS),
            "affine_fill": fills("RandomAffine: fill", self.fill),
            "affine_unblended": int(self.fill is None),
            "affine_p": p,
            **_centre("RandomAffine: center", self.center),
            **mask_fill_of("RandomAffine", "affine", self.fill, self.mask_fill),
        }
        return settings if p else {}


@dataclass(frozen=True)
class RandomRotation(Transform):
    """Turns images, which are resampled once; masks and boxes follow.

    Args:
        degrees: counterclockwise: a number v, for -v to v, or a pair of the least and the most.
        expand: must be False: batches hold images of one size, and expanded images differ in size.
        interpolation, fill, center, mask_fill, p: as for `RandomAffine`.
    """

    STAGE: ClassVar[int] = AFFINE
    LATEST: ClassVar[int] = AFFINE
    ORDERED: ClassVar[bool] = True

    degrees: float | Sequence[float]
    interpolation: str = "nearest"
    expand: bool = False
    center: Sequence[float] | None = None
    fill: float | Sequence[float] | None = 0
    mask_fill: float | None = field(default=None, kw_only=True)
    p: float = field(default=1.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    @property
    def mirrored(self) -> bool:
        least, most = _degrees("", self.degrees, _TURN)
        return self.center is None and least == -most

    def settings(self) -> dict[str, Any]:
        if flag("RandomRotation: expand", self.expand):
            raise InvalidError(
                "RandomRotation: expand makes images of different sizes, and a batch has one: leave it out"
            )
        least, most = _degrees("RandomRotation: degrees", self.degrees, _TURN)
        p = probability("RandomRotation: p", self.p)
        settings = {
            "affine_degrees": (-most, -least),
            "affine_interpolation": choice(
                "RandomRotation: interpolation", self.interpolation, INTERPOLATIONS
            ),
            "affine_fill": fills("RandomRotation: fill", self.fill),
            "affine_unblended": int(self.fill is None),
            "affine_p": p,
            **_centre("RandomRotation: center", self.center),
            **mask_fill_of("RandomRotation", "affine", self.fill, self.mask_fill),
        }
        return settings if p else {}


AFFINES = (RandomAffine, RandomRotation)
