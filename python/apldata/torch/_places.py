"""Which members of a sample are its image and its label, where torchvision's datasets have just these two."""

from __future__ import annotations

from collections.abc import Sequence

from .._errors import InvalidError
from ..schema import Field, Schema


def label_place(schema: Schema, names: Sequence[str], what: str) -> int:
    """The place of the label among the fields of a sample: of the first target with classes, the only target,
    or the second of two.

    Args:
        what: asks for it, for errors.

    Raises:
        InvalidError: there is none, or it may be several.
    """
    if len(names) < 2:
        raise InvalidError(f"{what}: samples have one member, {names[0]!r}")
    fields = [schema[name] for name in names]
    targets = [place for place, field in enumerate(fields) if field.mark == "target"]
    named = [place for place in targets if fields[place].classes]
    if named or len(targets) == 1:
        return (named or targets)[0]
    if len(names) == 2:
        return 1
    several = ", ".join(names[place] for place in targets) or ", ".join(names)
    raise InvalidError(f"{what}: the label may be any of {several}: choose two by fields=[..., ...]")


def image_place(schema: Schema, names: Sequence[str]) -> int:
    """The place of the first image; where there is none, of the first member that is not the label."""
    fields = [schema[name] for name in names]
    pictures = [place for place, field in enumerate(fields) if _is_image(field)]
    if pictures or len(names) < 2:
        return pictures[0] if pictures else 0
    targets = [field.mark == "target" for field in fields]
    return next((place for place, target in enumerate(targets) if not target), 0)


def _is_image(field: Field) -> bool:
    return field.mark == "input" and (field.is_photo or (field.is_picture and len(field.shape) == 3))
