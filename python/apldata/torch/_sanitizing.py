"""Steps of torchvision that remove boxes, with what has an element for each box."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from torchvision.transforms import v2  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .._arguments import shown
from .._belonging import Kind, kind_of
from .._errors import InvalidError
from .._leaving import BY_GETTER, labels_of_boxes, parts_of
from .._roles import Roles
from ..schema import Field


def is_sanitizing(step: Any) -> bool:
    """Is it SanitizeBoundingBoxes, or does it apply one?"""
    return any(isinstance(part, v2.SanitizeBoundingBoxes) for part in parts_of(step))


def _with_labels(step: Any, rows: list[Field]) -> Any:
    """A SanitizeBoundingBoxes that looks for labels among the rows alone, and needs none. Within containers,
    it stays as it is."""
    for part in parts_of(step):
        if isinstance(part, v2.SanitizeBoundingBoxes) and part.labels_getter == "default":
            names = labels_of_boxes(part, rows, BY_GETTER)
    if not isinstance(step, v2.SanitizeBoundingBoxes) or step.labels_getter != "default":
        return step
    found = copy.copy(step)
    found._labels_getter = lambda sample: tuple(sample[name] for name in names) or None
    return found


class Sanitizing:
    """A step that removes boxes. Only such steps are given the fields that have an element for each box: any
    other might change them.

    Args:
        rows: these fields.
    """

    def __init__(self, step: Any, roles: Roles, rows: Iterable[Field]) -> None:
        self._step = _with_labels(step, list(rows))
        # The planes of other masks are no instances, even if there are as many as boxes.
        kept = [mask.name for mask in roles.masks if kind_of(mask, roles.images) is not Kind.INSTANCES]
        self._hidden = kept if isinstance(step, v2.SanitizeBoundingBoxes) else []

    def __call__(self, sample: dict[str, Any], rows: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is left of a sample, and of the rows."""
        given = {name: value for name, value in sample.items() if name not in self._hidden}
        made = dict(self._step({**given, **rows}))
        left = {name: made.pop(name) for name in rows}
        return {**sample, **made}, left


def count(sample: Any, name: str) -> int:
    """How many boxes there are."""
    return len(sample[name]) if isinstance(sample, dict) and name in sample else -1


def refuse_removed(step: Any, boxes: str, rows: Iterable[str]) -> None:
    """One that is not known to remove boxes has done so."""
    raise InvalidError(
        f"{shown(step, 200)}: it has changed the number of {boxes}, and left {', '.join(rows)} as it is: let "
        "it set boxes that are to go to 0, and put v2.SanitizeBoundingBoxes() after it, which removes them"
    )
