"""Facts about a transform of another library."""

from __future__ import annotations

import types
from typing import Any


def altered(transform: Any) -> bool:
    """Whether it does more than its class: it has torch hooks, or a method has been replaced on it."""
    if isinstance(transform, types.FunctionType):
        return False
    own = getattr(transform, "__dict__", {})
    hooks = own.get("_forward_hooks"), own.get("_forward_pre_hooks")
    return any(hooks) or any(callable(getattr(type(transform), name, None)) for name in own)


def library_of_class(transform: Any) -> str:
    """The library that defines its class, or the function; of a subclass, not that of its base."""
    of = transform if isinstance(transform, types.FunctionType) else type(transform)
    return str(of.__module__).split(".")[0]


def name_of(transform: Any) -> str:
    """The name of its class, or of the function."""
    return str(getattr(transform, "__name__", type(transform).__name__))
