"""Operations drawn for each image, with the parameters and the tables of torchvision's v2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from .._arguments import choice, whole
from ._affine import AFFINES
from ._base import INTERPOLATIONS, POLICY, Transform, fills
from ._geometry import CROPS
from ._warp import WARPS


def _common(name: str, bins: int, interpolation: str, fill: float | Sequence[float] | None) -> dict[str, Any]:
    return {
        "policy_bins": whole(f"{name}: num_magnitude_bins", bins, 2, 1024),
        "policy_interpolation": choice(f"{name}: interpolation", interpolation, INTERPOLATIONS),
        "policy_fill": fills(f"{name}: fill", fill),
        "policy_blend": int(fill is not None),
    }


@dataclass(frozen=True)
class RandAugment(Transform):
    """Applies `num_ops` operations, each drawn from a table of 14: shear, translate, rotate, brightness,
    color, contrast, sharpness, posterize, solarize, autocontrast, equalize, or none.

    Args:
        magnitude: how far they go: one of 0 ... num_magnitude_bins - 1.
        interpolation: "nearest" or "bilinear", for operations that shear or rotate.
        fill: the pixels beyond the edges: a number from 0 to 255, or one for each channel; None: 0. With
            bilinear interpolation the pixels at the edges are darker with 0 than with None, as in
            torchvision.
    """

    STAGE: ClassVar[int] = POLICY
    LATEST: ClassVar[int] = POLICY
    ORDERED: ClassVar[bool] = True

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        common = _common("RandAugment", self.num_magnitude_bins, self.interpolation, self.fill)
        ops = whole("RandAugment: num_ops", self.num_ops, 0, 64)
        return {
            **common,
            "policy": _core.APL_POLICY_RAND if ops else _core.APL_POLICY_NONE,
            "policy_ops": ops,
            "policy_magnitude": whole("RandAugment: magnitude", self.magnitude, 0, common["policy_bins"] - 1),
        }


@dataclass(frozen=True)
class TrivialAugmentWide(Transform):
    """Applies one operation from the table of `RandAugment`, with a random magnitude and wider ranges.

    Args:
        interpolation, fill: as for `RandAugment`.
    """

    STAGE: ClassVar[int] = POLICY
    LATEST: ClassVar[int] = POLICY
    ORDERED: ClassVar[bool] = True

    num_magnitude_bins: int = 31
    interpolation: str = "nearest"
    fill: float | Sequence[float] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        common = _common("TrivialAugmentWide", self.num_magnitude_bins, self.interpolation, self.fill)
        return {**common, "policy": _core.APL_POLICY_TRIVIAL_WIDE}


# Those that put pixels in other places.
MOVING = (*CROPS, *AFFINES, *WARPS, RandAugment, TrivialAugmentWide)
