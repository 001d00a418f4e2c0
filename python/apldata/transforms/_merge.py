"""The transforms of a loader, divided into what runs in C and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._arguments import shown, wrong_type
from .._errors import InvalidError, InvalidTypeError
from ..schema import Field, Schema, warn_unclear
from ._base import AFFINE, CHANNELS, Transform
from ._result import DTYPES, RandomErasing


class _Merged:
    """What all transforms of a field set, and which of them set it."""

    def __init__(self, name: str | None) -> None:
        self._settings: dict[str, Any] = {"field": name}
        self._setters: dict[str, Transform] = {}
        self._given: list[Transform] = []

    def _check_order(self, transform: Transform) -> None:
        """Refuses a transform that is applied before one that is listed before it, where that would show."""
        late = [
            before
            for before in self._given
            if (before.STAGE > transform.LATEST and (before.ORDERED or transform.ORDERED))
            or (before.STAGE >= AFFINE and transform.FLIPS and not before.mirrored)
            or (before.FLIPS and transform.STAGE < AFFINE and not transform.mirrored)
        ]
        if late:
            raise InvalidError(
                f"{shown(transform, 200)} after {shown(late[0], 200)}: it is always applied before that: "
                "list it first"
            )
        self._given.append(transform)

    def add(self, transform: Transform) -> None:
        self._check_order(transform)
        settings = transform.settings()
        if isinstance(transform, RandomErasing) and not self._converted and transform.value != "random":
            settings["erase"] = _core.APL_ERASE_PIXEL
        for key, value in settings.items():
            if key in self._setters:
                before = self._setters[key]
                raise InvalidError(
                    f"{shown(transform, 200)} after {shown(before, 200)}, which sets the same: give one of "
                    "them"
                )
            self._settings[key], self._setters[key] = value, transform

    @property
    def _converted(self) -> bool:
        return "scale" in self._settings or "dtype" in self._settings

    def completed(self) -> dict[str, Any]:
        if self._settings.get("scale", _core.APL_SCALE_UNIT) == _core.APL_SCALE_NORMALISE:
            self._settings.setdefault("dtype", DTYPES["f32"])
        return self._settings


def _check_numbers(settings: dict[str, Any], key: str, text: str, channels: int, name: str) -> None:
    values = settings.get(key, ())
    if values and len(values) != channels and not (len(values) == CHANNELS and len(set(values)) == 1):
        raise InvalidError(f"{text.format(len(values))} for {channels} channels of field {name}")


def _check_grey(settings: dict[str, Any], field: Field) -> None:
    if settings.get("grey_plane") == 0 and field.channels == 1:
        raise InvalidError(
            f"Grayscale(3): images of field {field.name} have one channel, and C adds none: torchvision's "
            "v2.Grayscale(3) makes three of it, before Normalize()"
        )


def check_channels(in_c: list[dict[str, Any]], schema: Schema) -> None:
    """Are there as many means and deviations as channels, and three channels where there must be?"""
    for settings in in_c:
        if settings["field"] not in schema.names:  # which the reader tells
            continue
        field = schema[settings["field"]]
        warn_unclear(field)
        _check_grey(settings, field)
        channels = 1 if settings.get("grey_plane") else field.channels
        _check_numbers(settings, "mean", "Normalize: {} means", channels, field.name)
        _check_numbers(settings, "erase_value", "RandomErasing: {} values", channels, field.name)
        _check_numbers(settings, "policy_fill", "a policy: {} fill values", field.channels, field.name)
        _check_numbers(settings, "pad_fill", "padding: {} fill values", field.channels, field.name)
        _check_numbers(settings, "affine_fill", "an affine map: {} fill values", field.channels, field.name)
        for key in ("perspective_fill", "elastic_fill"):
            _check_numbers(settings, key, key[:-5] + ": {} fill values", field.channels, field.name)


def listed(transforms: Any) -> list[Any]:
    """Some transforms, a single one, or None, as a list."""
    if transforms is None:
        return []
    if isinstance(transforms, Transform) or callable(transforms):
        return [transforms]
    if isinstance(transforms, (str, bytes)) or not hasattr(transforms, "__iter__"):
        raise wrong_type("transforms", "a list of transforms and functions", transforms)
    return list(transforms)


def split_transforms(transforms: Any) -> tuple[list[dict[str, Any]], list[Callable[[Any], Any]]]:
    """Divides transforms (some, or a single one) into what runs in C (a dict for each field) and functions
    over batches, which come after it."""
    fields: dict[str | None, _Merged] = {}
    functions: list[Callable[[Any], Any]] = []
    for transform in listed(transforms):
        if isinstance(transform, type):
            raise InvalidTypeError(f"{transform.__name__} is a class: write {transform.__name__}()")
        if isinstance(transform, Transform):
            if functions:
                raise InvalidError(
                    f"{shown(transform, 200)} runs in C, before functions of your own: put it before them"
                )
            for name in transform.fields:
                fields.setdefault(name, _Merged(name)).add(transform)
        elif callable(transform):
            functions.append(transform)
        else:
            raise wrong_type("a transform", "one of apldata.transforms, or a function", transform)
    return [merged.completed() for merged in fields.values()], functions
