"""Batches as mappings and as trees, for those who take containers apart: Python, JAX, PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._core import Batch
from ._ragged import RaggedArray

Mapping.register(Batch)


def _flatten(batch: Batch) -> tuple[list[Any], tuple[str, ...]]:
    names = tuple(batch)
    return [batch[name] for name in names], names


def _unflatten(names: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def _with_keys(key: Callable[[str], Any]) -> Callable[[Batch], Any]:
    def flatten(batch: Batch) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
        values, names = _flatten(batch)
        return list(zip(map(key, names), values, strict=True)), names

    return flatten


def _flatten_ragged(array: RaggedArray) -> tuple[list[Any], None]:
    return [array.values, array.offsets], None


def _unflatten_ragged(nothing: None, parts: Iterable[Any]) -> RaggedArray:
    return RaggedArray(*parts)


def _register_with_jax(tree: Any) -> None:
    tree.register_pytree_node(RaggedArray, _flatten_ragged, _unflatten_ragged)
    tree.register_pytree_with_keys(Batch, _with_keys(tree.DictKey), _unflatten, _flatten)


def _register_with_torch(tree: Any) -> None:
    tree.register_pytree_node(
        RaggedArray,
        _flatten_ragged,
        lambda parts, nothing: _unflatten_ragged(nothing, parts),
        serialized_type_name="apldata.RaggedArray",
    )
    tree.register_pytree_node(
        Batch,
        _flatten,
        lambda values, names: _unflatten(names, values),
        serialized_type_name="apldata.Batch",
        flatten_with_keys_fn=_with_keys(tree.MappingKey),
    )


# What is missing, by the module that has it once its framework is imported.
_waiting: dict[str, Callable[[Any], None]] = {
    "jax.tree_util": _register_with_jax,
    "torch.utils._pytree": _register_with_torch,
}


def register() -> None:
    """Makes batches trees for the frameworks that are imported by now: their leaves are the fields, and what
    is made of them is a dict. Costs nothing where that is done."""
    for name in list(_waiting):
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            begin = _waiting.pop(name, None)  # another thread may have been faster
            if begin is not None:
                begin(module)
