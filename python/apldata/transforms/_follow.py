"""Masks and boxes, which follow the images through crops and flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .. import _core
from .._arguments import choice, names, number, optional_text
from ._base import ERASE, Transform

BOX_FORMATS = {"XYXY": _core.APL_BOX_XYXY, "XYWH": _core.APL_BOX_XYWH, "CXCYWH": _core.APL_BOX_CXCYWH}


@dataclass(frozen=True)
class SanitizeBoundingBoxes(Transform):
    """Removes boxes that are outside the crop or of which too little is left in it, with the labels that
    belong to them. It applies to the field that the loader's ``boxes=`` names; boxes are clamped to the crop
    first. Masks keep all their planes, also if there is one for each box.

    Args:
        min_size: of either side, in pixels of the crop.
        min_area: in pixels of the crop.
        labels: the name of a field that has a number, or a row of numbers, for each box, or a list of such
            names; None: the field called "labels", or with "label" in its name, if there is one; then it is
            an error if another field that is read may have a number, or numbers, for each box. Those whose
            lengths vary, such as words, are removed by torchvision's ``v2.SanitizeBoundingBoxes`` alone.
    """

    LATEST: ClassVar[int] = ERASE

    min_size: float = 1.0
    min_area: float = 1.0
    labels: str | Sequence[str] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        labels = (self.labels,) if isinstance(self.labels, str) else self.labels
        wanted = "a number of at least 0"
        least = number("SanitizeBoundingBoxes: min_size", self.min_size, wanted, 0)
        area = number("SanitizeBoundingBoxes: min_area", self.min_area, wanted, 0)
        return {
            # with 0 and 0, C would keep those that lie outside
            "box_min_size": least if least or area else 1e-30,
            "box_min_area": area,
            "box_fields": tuple(names("SanitizeBoundingBoxes: labels", labels) or ()),
        }


@dataclass(frozen=True)
class Follow(Transform):
    """What a loader is told by ``masks=`` and ``boxes=``: made by the loader."""

    LATEST: ClassVar[int] = ERASE

    masks: tuple[str, ...] = ()
    boxes: str | None = None
    box_format: str = "XYXY"
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        if self.boxes is None:
            return {"masks": self.masks}
        return {
            "masks": self.masks,
            "boxes": optional_text("boxes", self.boxes),
            "box_format": choice("box_format", self.box_format, BOX_FORMATS),
        }
