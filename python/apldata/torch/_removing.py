"""Steps of torchvision that remove boxes, with what has an element for each box."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torchvision.transforms import v2  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .._arguments import shown
from .._errors import InvalidError
from .._following import parts_of
from .._roles import elements_at

_NUMBERS = "apldata's numbers of boxes"  # a key of samples


def removes(step: Any) -> bool:
    """Is it SanitizeBoundingBoxes, or does it apply one?"""
    return any(isinstance(part, v2.SanitizeBoundingBoxes) for part in parts_of(step))


class Removing:
    """A step that removes boxes, or applies one that does: it is given the numbers of the boxes for their
    labels, and what is left of these says what is left of all that has an element for each box.

    Args:
        masks: fields of the sample that have.
    """

    def __init__(self, step: Any, boxes: str, masks: list[str]) -> None:
        self._step, self._boxes, self._masks = copy.deepcopy(step), boxes, masks
        for part in parts_of(self._step):
            if isinstance(part, v2.SanitizeBoundingBoxes):
                if part.labels_getter not in (None, "default"):
                    raise InvalidError(
                        f"{shown(step, 200)}: labels_getter: what has an element for each box says so by its "
                        f"kind: kinds={{'labels': Label(per={boxes!r})}}"
                    )
                part._labels_getter = lambda sample: sample[_NUMBERS]
                part.forward = self._alone(part.forward)

    def _alone(self, forward: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Of boxes and their numbers: torchvision would take planes of other masks for those of objects."""
        names = self._boxes, _NUMBERS
        return lambda sample: {**sample, **forward({name: sample[name] for name in names})}

    def __call__(
        self, sample: dict[str, Any], per_box: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is left of a sample, and of the fields with an element for each box."""
        numbers = torch.arange(len(sample[self._boxes]))
        made = dict(self._step({**sample, _NUMBERS: numbers}))
        left = made.pop(_NUMBERS).tolist()
        if len(left) < len(numbers):
            made |= {name: made[name][left] for name in self._masks}
            per_box = {name: elements_at(name, values, left, len(numbers)) for name, values in per_box.items()}
        return made, per_box
