"""What is made of a file, and the fields beside the one that it is stored in."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..schema import Field
from ._told import Column

Values = dict[str, Column]  # of each field


@dataclasses.dataclass(frozen=True, slots=True)
class OfFile:
    """What is made of a file.

    Attributes:
        value: of the field.
        shape: channels, height and width.
        why: what is wrong with it.
        orientation: that its pixels are left in.
        remarks: what was done to it, and what it has that is not used.
        warning: what its library warned of, if it is kept all the same.
    """

    value: Any
    shape: tuple[int, ...] = (0, 0, 0)
    why: str | None = None
    orientation: int = 1
    remarks: tuple[str, ...] = ()
    warning: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Beside:
    """Fields beside one of files; None: there is none.

    Attributes:
        paths: what the source calls them.
        shapes: channels, height and width.
        orientations: 1 ... 8.
    """

    paths: Field | None = None
    shapes: Field | None = None
    orientations: Field | None = None

    def fields(self) -> list[Field]:
        return [field for field in (self.paths, self.shapes, self.orientations) if field is not None]

    def values(self, files: Iterable[Any], made: list[OfFile]) -> Values:
        values: Values = {}
        if self.paths is not None:
            values[self.paths.name] = [getattr(file, "name", None) or "" for file in files]
        if self.shapes is not None:
            shapes = np.array([one.shape for one in made], np.uint32)
            values[self.shapes.name] = shapes.reshape(-1, 3)
        if self.orientations is not None:
            values[self.orientations.name] = np.array([one.orientation for one in made], np.uint8)
        return values
