"""Whose a transform is, told without importing the library that it is of."""

from __future__ import annotations

import functools
import types
from typing import Any

from ._translation import LIBRARIES, altered


def library_of(transform: Any) -> str | None:
    """The library that a transform is of: "torchvision", "albumentations", or None: neither."""
    if isinstance(transform, functools.partial):
        return library_of(transform.func)
    if isinstance(transform, (types.FunctionType, types.BuiltinFunctionType)):
        modules = [getattr(transform, "__module__", None) or ""]
    elif isinstance(transform, type):
        return None
    else:
        modules = [base.__module__ for base in type(transform).__mro__]
        if "torch.nn.modules.container" in modules and any(library_of(part) for part in _parts(transform)):
            return "torchvision"
    return next((one for one in LIBRARIES for module in modules if module.split(".")[0] == one), None)


def _parts(transform: Any) -> list[Any]:
    """What a container applies one after the other."""
    return list(transform.transforms) if hasattr(transform, "transforms") else list(transform)


def _is_sequence(transform: Any) -> bool:
    """Does it apply parts one after the other, and no more?"""
    known = type(transform).__name__ in ("Compose", "Sequential") and library_of(transform) == "torchvision"
    return known and not altered(transform)


def steps_of(transform: Any) -> list[Any]:
    """A transform of torchvision as a list without containers."""
    if not _is_sequence(transform):
        return [transform]
    return [step for part in _parts(transform) for step in steps_of(part)]
