"""Which transforms of torchvision and Albumentations can run in C, and as what."""

from __future__ import annotations

import types
from typing import Any

from ._geometry import Geometry
from ._pixels import Pixels
from ._steps import altered, name_of
from ._values import Values

__all__ = ["LIBRARIES", "Translation", "altered", "name_of"]

LIBRARIES = ("torchvision", "albumentations")
_NOTHING = {"ToImage", "ToPureTensor", "Identity", "PILToTensor", "pil_to_tensor", "to_image", "NoOp"}


class Translation(Geometry, Pixels, Values):
    """The longest beginning of a sequence of transforms that can run in C.

    A row of mixins over `State`: each takes the steps of its kind, in `_take_CLASS()`.
    """

    def take(self, step: Any) -> bool:
        """False: this one, and all after it, must be done in Python."""
        name, of = name_of(step), step if isinstance(step, types.FunctionType) else type(step)
        if of.__module__.split(".")[0] not in LIBRARIES or altered(step):  # a namesake, somebody's subclass
            return False
        if name in _NOTHING:
            return True
        if self._mixing is not None:
            return False
        known = getattr(self, f"_take_{name}", None)
        self.why = ""
        return known is not None and bool(known(step))
