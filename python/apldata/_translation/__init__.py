"""Which transforms of torchvision and Albumentations can run in C, and as what."""

from __future__ import annotations

from typing import Any

from ._geometry import Geometry
from ._pixels import Pixels
from ._steps import altered, library_of_class, name_of
from ._values import Values

__all__ = ["LIBRARIES", "Translation", "altered", "library_of_class", "name_of"]

LIBRARIES = ("torchvision", "albumentations")
_NOTHING = {"ToImage", "ToPureTensor", "Identity", "PILToTensor", "pil_to_tensor", "to_image", "NoOp"}


class Translation(Geometry, Pixels, Values):
    """The longest beginning of a sequence of transforms that can run in C.

    A row of mixins over `State`: each takes the steps of its kind, those of torchvision in `_take_CLASS()`,
    those of Albumentations, where other classes have the same names, in `_take_albumentations_CLASS()`.
    """

    def take(self, step: Any) -> bool:
        """False: this one, and all after it, must be done in Python."""
        name, library = name_of(step), library_of_class(step)
        if library not in LIBRARIES or altered(step):  # a namesake, somebody's subclass
            return False
        if name in _NOTHING:
            return True
        if self._mixing is not None:
            return False
        prefix = "_take_" if library == "torchvision" else f"_take_{library}_"
        known = getattr(self, prefix + name, None)
        self.why = ""
        return known is not None and bool(known(step))
