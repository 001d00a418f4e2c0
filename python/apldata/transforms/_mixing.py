"""Images of a batch, mixed with each other, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._arguments import number, optional_text, whole, wrong_type, wrong_value
from .._errors import InvalidError
from ._base import ERASE, Transform, probability

_LEAST, _MOST = 1e-3, 1e3  # of alpha


@dataclass(frozen=True)
class _Mixing(Transform):
    STAGE: ClassVar[int] = ERASE + 1
    LATEST: ClassVar[int] = ERASE + 1
    ORDERED: ClassVar[bool] = True

    alpha: float = 1.0
    num_classes: int | None = None
    p: float = field(default=1.0, kw_only=True)
    label: str | None = field(default=None, kw_only=True)
    label_smoothing: float = field(default=0.0, kw_only=True)
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    _KEY: ClassVar[str] = ""

    def settings(self) -> dict[str, Any]:
        name = type(self).__name__
        alpha = number(f"{name}: alpha", self.alpha, "a number above 0")
        if not _LEAST <= alpha <= _MOST:
            raise wrong_value(f"{name}: alpha", f"a number from {_LEAST:g} to {_MOST:g}", self.alpha)
        classes = (
            0 if self.num_classes is None else whole(f"{name}: num_classes", self.num_classes, 1, 1 << 20)
        )
        p, smoothing = (
            probability(f"{name}: p", self.p),
            probability(f"{name}: label_smoothing", self.label_smoothing),
        )
        if not p or smoothing == 1:
            raise wrong_value(
                f"{name}: p and label_smoothing", "p above 0, smoothing below 1", (p, smoothing)
            )
        blend = {"classes": classes, "p": p, "smoothing": smoothing, self._KEY: alpha}
        return {"blend": {**blend, "label": optional_text(f"{name}: label", self.label)}}


@dataclass(frozen=True)
class MixUp(_Mixing):
    """Mixes each image of a batch with the one before it, the first with the last, and their labels:
    ``lambda * own + (1 - lambda) * other``, with lambda drawn for each batch from Beta(alpha, alpha). The
    labels become float32[batch, num_classes]. As in torchvision's v2; images must be floats.

    Args:
        num_classes: the number of classes, above all labels; None: as many as the label's field has class
            names.
        p: the probability that a batch is mixed; labels are vectors in any case.
        label: the field of the labels; None: the only target of a single whole number.
        label_smoothing: smooths the labels by s: 1 becomes 1 - s + s / num_classes, and 0 becomes s /
            num_classes.
    """

    _KEY: ClassVar[str] = "mixup_alpha"


@dataclass(frozen=True)
class CutMix(_Mixing):
    """Replaces a rectangle of each image of a batch by that of the image before it (of the first by that of
    the last), and mixes their labels by area. The rectangle is drawn for each batch, and covers about 1 -
    lambda of the image, with lambda from Beta(alpha, alpha). As in torchvision's v2.

    Args:
        num_classes, p, label, label_smoothing: as for `MixUp`.
    """

    _KEY: ClassVar[str] = "cutmix_alpha"


@dataclass(frozen=True)
class RandomChoice(Transform):
    """For each batch, either a `MixUp` or a `CutMix`, drawn with the probabilities `p` (None: equal ones)."""

    STAGE: ClassVar[int] = ERASE + 1
    LATEST: ClassVar[int] = ERASE + 1
    ORDERED: ClassVar[bool] = True

    transforms: Sequence[Transform]
    p: Sequence[float] | None = None
    field: str | Sequence[str] | None = field(default=None, kw_only=True)

    def settings(self) -> dict[str, Any]:
        wanted = "a MixUp and a CutMix"
        if isinstance(self.transforms, (str, bytes)) or not isinstance(self.transforms, Sequence):
            raise wrong_type("RandomChoice: transforms", wanted, self.transforms)
        if sorted(type(one).__name__ for one in self.transforms) != ["CutMix", "MixUp"]:
            raise wrong_value("RandomChoice: transforms", wanted, list(self.transforms))
        first, second = (dict(one.settings()["blend"]) for one in self.transforms)
        if {**first, **second} != {**second, **first} or any(one.field for one in self.transforms):
            raise InvalidError(
                "RandomChoice: MixUp and CutMix differ in num_classes, label, p or label_smoothing: give "
                "both the same, and `field` to RandomChoice"
            )
        weights = (
            [1.0, 1.0] if self.p is None else [number("RandomChoice: p", p, "numbers", 0) for p in self.p]
        )
        if len(weights) != 2 or sum(weights) <= 0:
            raise wrong_value("RandomChoice: p", "two numbers of at least 0, of which one is above", self.p)
        cut = weights[type(self.transforms[1]).__name__ == "CutMix"] / sum(weights)
        blend = {**first, **second, "cutmix_p": cut}
        if cut in (0, 1):  # which C takes for a half, or needs no draw
            del blend["cutmix_p"], blend["mixup_alpha" if cut else "cutmix_alpha"]
        return {"blend": blend}


MIXING = (MixUp, CutMix, RandomChoice)


def taken_blend(in_c: list[dict[str, Any]]) -> dict[str, Any] | None:
    """How batches are mixed, taken out of the transforms of fields; None: not at all."""
    blend = None
    for settings in in_c:
        if "blend" in settings:
            if blend is not None:
                raise InvalidError("images of one field are mixed with each other, not of several")
            blend = {**settings.pop("blend"), "field": settings["field"]}
    return blend
