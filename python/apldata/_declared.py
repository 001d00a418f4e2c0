"""The fields of a new store, as users declare them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._arguments import names, optional_text, shown, text, whole, wrong_type, wrong_value
from ._arrays import store_dtype
from ._errors import InvalidError
from .kinds import Image, kind_of
from .schema import Field, channels_last

MARKS = {"input": _core.APL_INPUT, "target": _core.APL_TARGET, "name": _core.APL_NAME}


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    """-1 in it, "varies", is left to the library."""
    if not isinstance(shape, (tuple, list)) or len(shape) > _core.APL_MAX_DIMS:
        raise wrong_type(
            f"field {name}: the shape", f"a tuple of at most {_core.APL_MAX_DIMS} integers", shape
        )
    return tuple(
        whole(f"field {name}: shape[{at}]", size, -1, _core.APL_MAX_VALUE) for at, size in enumerate(shape)
    )


def _classes(name: str, classes: Any) -> tuple[str, ...] | None:
    if isinstance(classes, (set, frozenset)):
        raise wrong_type(f"field {name}: classes", "a list of names, which has an order", classes)
    found = names(f"field {name}: classes", classes)
    seen: dict[str, int] = {}
    for number, one in enumerate(found or ()):
        if seen.setdefault(one, number) != number:
            raise InvalidError(
                f"field {name}: classes {seen[one]} and {number} are both called {one!r}: give each "
                "a name of its own"
            )
    return tuple(found) if found else None


def _checked(field: Field) -> Field:
    """A field that can be told to the extension."""
    name = text("the name of a field", field.name)
    if field.mark not in MARKS:
        raise wrong_value(f"field {name}: the mark", "'input', 'target' or 'name'", field.mark)
    dtype = store_dtype(field.dtype, f"field {name}: the dtype")
    shape = _shape(name, field.shape)
    media = optional_text(f"field {name}: the media type", field.media)
    if shape == () and (dtype == "utf8" or (media is not None and dtype == "u8")):
        shape = (-1,)
    if field.layout not in (None, "HWC", "CHW"):
        raise wrong_value(f"field {name}: the layout", "'HWC', 'CHW' or None", field.layout)
    if field.layout is not None and len(shape) != 3:
        raise InvalidError(f"field {name}: a layout needs a shape of three dimensions; it has {shape}")
    kind = None if field.kind is None else kind_of(name, field.kind)
    few = field.layout == "CHW" and 0 < shape[0] <= _core.APL_MAX_CHANNELS
    if kind is None and few and dtype == "u8" and channels_last(shape):
        kind = Image("chw")
    return dataclasses.replace(
        field, dtype=dtype, shape=shape, classes=_classes(name, field.classes), kind=kind
    )


def _field(name: str, spec: Any) -> Field:
    """A `Field`, from one, or from a dtype, or from (dtype, shape)."""
    if isinstance(spec, Field):
        if spec.name != name:
            raise InvalidError(
                f"schema: {shown(name)} stands for a Field that is called {shown(spec.name)}: give both the "
                "same name"
            )
        return spec
    dtype, shape = spec if isinstance(spec, tuple) and len(spec) == 2 else (spec, ())
    return Field(name, dtype, shape, "target" if name == "label" else "input")


def declared(schema: Mapping[str, Any] | Iterable[Field]) -> list[Field]:
    """The fields that a new store is to have, checked."""
    wanted = "a mapping from names to dtypes, or a list of apldata.Field"
    if isinstance(schema, Mapping):
        schema = [_field(name, spec) for name, spec in schema.items()]
    elif isinstance(schema, (str, bytes)) or not isinstance(schema, Iterable):
        raise wrong_type("schema", wanted, schema)
    fields = list(schema)
    for field in fields:
        if not isinstance(field, Field):
            raise wrong_type("schema", wanted, schema)
    return [_checked(field) for field in fields]
