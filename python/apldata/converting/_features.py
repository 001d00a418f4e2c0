"""What Hugging Face's datasets, and stores that have been exported, write about columns into the metadata of
Arrow schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .._arrays import numpy_dtype, store_dtype
from .._errors import Error
from ..kinds import Kind, Label, kind_of
from ._told import Told

OWN = b"apldata"  # the key of what `export()` writes
_FILES = ("Image", "Audio", "Video", "Pdf")
_LISTS = ("List", "LargeList", "Sequence")


def _names(names: Any) -> tuple[str, ...] | None:
    good = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
    return tuple(names) if good and len(set(names)) == len(names) else None


def _shape(shape: Any) -> tuple[int, ...] | None:
    if not isinstance(shape, (list, tuple)):
        return None
    found = tuple(-1 if size is None else size for size in shape)
    return found if all(isinstance(size, int) and size >= -1 for size in found) else None


def _of_feature(name: str, feature: Any) -> Iterator[tuple[str, Told]]:
    if isinstance(feature, list) and len(feature) == 1:  # a list of ...
        feature = {"_type": "List", "feature": feature[0]}
    if not isinstance(feature, Mapping):
        return
    kind = feature.get("_type")
    if kind == "ClassLabel":
        yield name, Told(classes=_names(feature.get("names")), kind=Label(), kind_origin="source")
    elif kind in _FILES:
        yield name, Told(is_file=True)
    elif isinstance(kind, str) and kind.startswith("Array") and kind.endswith("D"):
        dtype = _dtype(feature.get("dtype"))
        yield name, Told(dtype, _shape(feature.get("shape")))
    elif kind in _LISTS:
        for inside, of in _of_feature(name, feature.get("feature")):
            if names := of.classes or of.inside:
                yield inside, Told(inside=names)
    elif kind is None or not isinstance(kind, str):
        for inside, of in feature.items():
            yield from _of_feature(f"{name}.{inside}", of)


def _dtype(name: Any) -> str | None:
    try:
        return store_dtype(name) if isinstance(name, str) and name not in ("u8", "u4", "u2", "u1") else None
    except Error:
        return None


def told_of_features(features: Mapping[str, Any]) -> dict[str, Told]:
    """Of `Features.to_dict()`."""
    return {
        name: told for column, feature in features.items() for name, told in _of_feature(str(column), feature)
    }


def _of_store(field: Mapping[str, Any]) -> Told | None:
    dtype, shape, media = field.get("dtype"), _shape(field.get("shape")), field.get("media")
    mark = field.get("mark")
    if dtype != "utf8":
        try:
            numpy_dtype(str(dtype))
        except TypeError:
            return None
    if shape is None or not isinstance(media, str | None) or mark not in ("input", "target", "name"):
        return None
    shapeless, kind = field.get("shaped") is False, _kind(field.get("kind"))
    return Told(
        dtype, shape, _names(field.get("classes")), mark, media is not None, media, shapeless=shapeless,
        kind=kind, kind_origin="source" if kind else None,
    )  # fmt: skip


def _kind(words: Any) -> Kind | None:
    try:
        return kind_of("", words) if isinstance(words, str) else None
    except Error:
        return None


def _json(metadata: Mapping[bytes, bytes] | None, key: bytes) -> Any:
    try:
        return json.loads((metadata or {}).get(key, b"{}"))
    except ValueError:
        return {}


def told_of_metadata(metadata: Mapping[bytes, bytes] | None) -> dict[str, Told]:
    """What a schema's metadata says of its columns; nothing of what it does not say in the known way."""
    info = _json(metadata, b"huggingface")
    features = (
        info.get("info", {}).get("features")
        if isinstance(info, dict) and isinstance(info.get("info"), dict)
        else None
    )
    told = told_of_features(features) if isinstance(features, dict) else {}
    return told | _of_fields(metadata)


def _of_fields(metadata: Mapping[bytes, bytes] | None) -> dict[str, Told]:
    """What `export()` says of the fields of a store."""
    fields = _own(metadata).get("fields")
    told = {}
    for field in fields if isinstance(fields, list) else []:
        if isinstance(field, dict) and isinstance(field.get("name"), str) and (said := _of_store(field)):
            told[field["name"]] = said
    return told


def told_of_fields(schema: Any) -> dict[str, Told]:
    """What the metadata of each column, which renaming keeps, says of it."""
    found = {field.name: _of_store(_json(field.metadata, OWN)) for field in schema if field.metadata}
    return {name: told for name, told in found.items() if told is not None}


def fields_of(schema: Any) -> frozenset[str]:
    """The columns that are fields of an exported store."""
    return frozenset(_of_fields(schema.metadata) | told_of_fields(schema))


def _own(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    own = _json(metadata, OWN)
    return own if isinstance(own, dict) else {}


def split_column(schema: Any) -> str | None:
    """The column that names each record's split, of an exported store."""
    for field in schema:
        if _own(field.metadata).get("is_split") is True:
            return str(field.name)
    name = _own(schema.metadata).get("split")
    return name if isinstance(name, str) and name in schema.names else None


def split_lost(schema: Any) -> str | None:
    """A column of splits that the metadata names, and that is not there."""
    name = _own(schema.metadata).get("split")
    return name if isinstance(name, str) and split_column(schema) is None else None


def split_name(metadata: Mapping[bytes, bytes] | None) -> str | None:
    """The one split that was exported."""
    own = _own(metadata)
    name = own.get("name") if own.get("split") is None else None
    return name if isinstance(name, str) else None


def splits_told(metadata: Mapping[bytes, bytes] | None) -> dict[str, int]:
    """The splits that were exported, and how many records each had, in their order."""
    told = _own(metadata).get("splits")
    pairs = told.items() if isinstance(told, dict) else ()
    return {name: count for name, count in pairs if isinstance(count, int)}


def classes_lost(schema: Any) -> tuple[list[str], list[str]]:
    """The columns with classes that an exported store's metadata names and that are not there, and those that
    it does not name."""
    told = _of_fields(schema.metadata)
    renamed = {_own(field.metadata).get("name") for field in schema}
    gone = [name for name, one in told.items() if one.classes and name not in {*schema.names, *renamed}]
    known = {*told, *told_of_fields(schema), split_column(schema)}
    return gone, [name for name in schema.names if name not in known]
