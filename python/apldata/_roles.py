"""Which fields of a record transforms of other libraries are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._errors import InvalidError
from .schema import Field


@dataclass(frozen=True)
class Roles:
    """The fields that are images, masks (or maps) and boxes, and those that have an element for each box.
    Those of one record are transformed in one draw."""

    images: tuple[Field, ...]
    masks: tuple[Field, ...] = ()
    boxes: Field | None = None
    form: str = ""  # of the boxes
    per_box: tuple[Field, ...] = ()

    @property
    def all(self) -> tuple[Field, ...]:
        return (*self.images, *self.masks, *([self.boxes] if self.boxes else []))

    def shares(self, other: Roles) -> bool:
        """Is an image in both?"""
        return not set(self.images).isdisjoint(other.images)


def elements_at(name: str, values: Any, rows: list[int], boxes: int) -> Any:
    """Those elements of a value that are left with their boxes, of which there were so many."""
    if isinstance(values, str) or getattr(values, "ndim", 1) == 0:
        raise InvalidError(
            f"field {name}: per boxes, of which some are removed, and it has no element for each"
        )
    if len(values) != boxes:
        raise InvalidError(f"field {name}: {len(values)} elements per boxes, of which there are {boxes}")
    return [values[row] for row in rows] if isinstance(values, list) else values[rows]
