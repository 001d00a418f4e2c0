"""Boxes of which a crop leaves too little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._arguments import names_checked, number
from ._base import ERASE, Transform


@dataclass(frozen=True)
class SanitizeBoundingBoxes(Transform):
    """Removes boxes that are outside the crop or of which too little is left in it, with what has an element
    for each of them: fields whose kind says so, as `Label(per="boxes")` does. Boxes are clamped to the crop
    first.

    Args:
        min_size: of either side, in pixels of the crop.
        min_area: in pixels of the crop.
    """

    LATEST: ClassVar[int] = ERASE

    min_size: float = 1.0
    min_area: float = 1.0
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        wanted = "a number of at least 0"
        least = number("SanitizeBoundingBoxes: min_size", self.min_size, wanted, 0)
        area = number("SanitizeBoundingBoxes: min_area", self.min_area, wanted, 0)
        # with 0 and 0, C would keep those that lie outside
        return {"box_min_size": least if least or area else 1e-30, "box_min_area": area}


SanitizeBoundingBoxes.__init__ = names_checked()(SanitizeBoundingBoxes.__init__)  # type: ignore[method-assign]
