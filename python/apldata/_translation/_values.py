"""From pixels to the values of a batch: conversion, normalisation, mixing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import _core
from ..transforms import CutMix, MixUp, Normalize, RandomChoice, ToBFloat16, ToFloat16, ToFloat32
from ._state import State
from ._steps import altered, library_of_class

_TO_FLOAT = {"torch.float32": ToFloat32, "torch.float16": ToFloat16, "torch.bfloat16": ToBFloat16}
_WHOLE = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}


class Values(State):
    """Steps that convert, normalise or mix."""

    def _mixing_of(self, step: Any) -> Any:
        """Ours that does the same; None: none."""
        kinds: dict[str, Any] = {"MixUp": MixUp, "CutMix": CutMix}
        kind = kinds.get(type(step).__name__) if library_of_class(step) == "torchvision" else None
        classes = step.num_classes if kind else None
        if (
            kind is None
            or self._label is None
            or self._label.dtype not in _WHOLE
            or altered(step)
            or not (classes or self._label.classes)
        ):
            return None
        getter = getattr(step._labels_getter, "__name__", "")
        return kind(float(step.alpha), classes) if getter == "_find_labels_default_heuristic" else None

    def _mix(self, make: Callable[[], Any], floats: bool) -> bool:
        roles = self._roles
        if roles.masks or roles.boxes is not None or len(roles.images) > 1:
            return False  # which torchvision refuses
        if (floats and self._floats is None) or self._touched:
            return False
        try:
            made = make()
            made = made and replace(made, field=self._names)
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._mixing = made
        return made is not None

    def _take_MixUp(self, step: Any) -> bool:
        return self._mix(lambda: self._mixing_of(step), True)

    def _take_CutMix(self, step: Any) -> bool:
        return self._mix(lambda: self._mixing_of(step), False)

    def _take_RandomChoice(self, step: Any) -> bool:
        def make() -> Any:
            parts = [self._mixing_of(part) for part in step.transforms]
            p = list(map(float, step.p)) if step.p is not None else None
            return None if None in parts else RandomChoice(parts, p)

        return self._mix(make, True)

    def _convert(self, dtype: Any, scale: bool) -> bool:
        kind = _TO_FLOAT.get(str(dtype))
        if kind is None:
            return str(dtype) == "torch.uint8" and self._floats is None and not self._touched
        if self._touched:
            return False
        if self._floats is None:
            self._floats, self._scaled = kind, scale
            return True
        if self._floats is not ToFloat32:  # rounded twice
            return False
        self._floats = kind
        return True

    def _take_ToTensor(self, step: Any) -> bool:
        return self._floats is None and self._convert("torch.float32", True)

    _take_to_tensor = _take_ToTensor

    def _take_ConvertImageDtype(self, step: Any) -> bool:
        return self._convert(step.dtype, True)

    def _take_ToDtype(self, step: Any) -> bool:
        return self._convert(step.dtype, step.scale)

    def _take_albumentations_ToFloat(self, step: Any) -> bool:
        return (
            step.p == 1
            and step.max_value in (None, 255)
            and self._floats is None
            and self._convert("torch.float32", True)
        )

    def _take_Normalize(self, step: Any) -> bool:
        return self._can_normalize() and self._set_normalize(step.mean, step.std)

    def _take_albumentations_Normalize(self, step: Any) -> bool:
        if getattr(step, "normalization", "standard") != "standard" or step.max_pixel_value != 255:
            return False
        if step.p != 1 or self._floats is not None or not self._convert("torch.float32", True):
            return False
        if self._can_normalize() and self._set_normalize(step.mean, step.std):
            return True
        self._floats = None  # it converts too, and is left as a whole
        return False

    def _can_normalize(self) -> bool:
        if self._floats is not ToFloat32 or not self._scaled or self._normalised:
            return False
        return self._settings.get("erase") != _core.APL_ERASE_NOISE  # which would be normalised too

    def _set_normalize(self, mean: Any, std: Any) -> bool:
        try:
            mean, std = (list(v) if hasattr(v, "__iter__") else [v] for v in (mean, std))
            if any(len(mean) not in (1, field.channels) for field in self._roles.images) or len(mean) != len(
                std
            ):
                return False
            if self._settings.get("grey_plane") and len(mean) != 1:
                return False
            Normalize(mean, std)
        except (ValueError, TypeError):  # such as ours does not take
            return False
        self._normalize = lambda names: Normalize(mean, std, field=names)
        self._normalised = True
        return True
