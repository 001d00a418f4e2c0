"""What all transforms have in common, and the checks of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .. import _core
from .._arguments import names, number, optional_text, whole, wrong_type, wrong_value

# Stages: crops and flips, then pixels, then what becomes of them in the batch.
(
    SIZE, PAD, MOVE, AFFINE, PERSPECTIVE, ELASTIC, POLICY, JITTER, GREY, BLUR, CONVERT, CUT, ERASE
) = range(13)  # fmt: skip
WIDEST, LARGEST = 1 << 15, 1 << 20  # pixels to pad or cut out; of a side
CHANNELS = _core.APL_MAX_CHANNELS


INTERPOLATIONS = {"nearest": _core.APL_NEAREST, "bilinear": _core.APL_BILINEAR}


def pair(name: str, size: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(size, (str, bytes)) or not isinstance(size, Sequence):
        side = whole(name, size, 1, LARGEST)
        return side, side
    if len(size) != 2:
        raise wrong_value(name, "a side, or a pair of height and width", size)
    height, width = (whole(name, side, 1, LARGEST) for side in size)
    return height, width


def probability(name: str, value: Any) -> float:
    wanted = "a probability, from 0 to 1"
    p = number(name, value, wanted, 0)
    if p > 1:
        raise wrong_value(name, wanted, value)
    return p


def per_channel(name: str, values: Any) -> list[float]:
    """A number for each channel; one alone stands for all of them."""
    wanted = "a number, or a list of numbers, one for each channel"
    if isinstance(values, (str, bytes)):
        raise wrong_type(name, wanted, values)
    if not hasattr(values, "__iter__") or getattr(values, "ndim", 1) == 0:
        return [number(name, values, wanted)]
    found = [number(f"{name}[{channel}]", value) for channel, value in enumerate(values)]
    if not 1 <= len(found) <= CHANNELS:
        raise wrong_value(name, f"{wanted}, of which there are at most {CHANNELS}", values)
    return found


def fills(name: str, fill: float | Sequence[float] | None) -> list[float]:
    """A number from 0 to 255 for each channel; None: 0."""
    values = per_channel(name, 0 if fill is None else fill)
    if any(not 0 <= value <= 255 for value in values):
        raise wrong_value(name, "numbers from 0 to 255", fill)
    return values * CHANNELS if len(values) == 1 else values


def mask_fill_of(
    name: str, what: str, fill: float | Sequence[float] | None, mask_fill: float | None
) -> dict[str, Any]:
    """Of "pad", say: where it is not given, that of the images if it is one number, as in torchvision."""
    if mask_fill is None:
        mask_fill = 0 if fill is None or isinstance(fill, Sequence) else fill
    of_masks = number(f"{name}: mask_fill", mask_fill)
    return {f"{what}_mask_fill": of_masks} if of_masks else {}


@dataclass(frozen=True, kw_only=True)
class Transform:
    """A transform that runs in C. Wrong arguments are refused when it is made.

    Args:
        field: the name of the images' field, or a list of several, which are transformed alike; None: the one
            field that is an image.
    """

    # When it is applied; after which stage it may be listed all the same, as that gives the same; and whether
    # a wrong order is an error with any other, or only with those of which this is said too.
    STAGE: ClassVar[int] = 0
    LATEST: ClassVar[int] = 0
    ORDERED: ClassVar[bool] = False
    FLIPS: ClassVar[bool] = False

    field: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        name = f"{type(self).__name__}: field"
        if isinstance(self.field, (str, type(None))):
            optional_text(name, self.field)
        elif not isinstance(self.field, Sequence) or not self.field:
            raise wrong_type(name, "a string, a list of names, or None", self.field)
        else:
            object.__setattr__(self, "field", tuple(names(name, self.field) or ()))
        self.settings()

    @property
    def fields(self) -> tuple[str | None, ...]:
        """The names of the fields that it is for; None stands for the one field that is an image."""
        return self.field if isinstance(self.field, tuple) else (self.field,)

    @property
    def mirrored(self) -> bool:
        """Does it give the same after a flip as before one?"""
        return True

    def settings(self) -> dict[str, Any]:
        """The members of ``apl_transform`` (see ``apl.h``) that it sets."""
        raise NotImplementedError


def interval(name: str, values: Any, most: float, least: float | None = None) -> tuple[float, float]:
    """A pair {least, most}. Without `least`, what is above 0."""
    above = "above 0" if least is None else f"from {least:g}"
    wanted = f"a pair of numbers, the least and the most, {above} and at most {most:g}"
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise wrong_type(name, wanted, values)
    found = [number(name, value, wanted, least or 0) for value in values]
    low = found and (found[0] > 0 if least is None else found[0] >= least)
    if len(found) != 2 or not low or not found[0] <= found[1] <= most:
        raise wrong_value(name, wanted, values)
    return found[0], found[1]
