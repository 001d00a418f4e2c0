"""Datasets of Hugging Face, by their tables of Arrow: nothing is decoded on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-not-found, import-untyped, unused-ignore]

from .._arguments import brief
from .._errors import SourceError
from ._features import told_of_features
from ._tables import chunks, pieces, rows_at_once, told_of_schema
from ._told import Part, Told, Wishes
from ._valid import checked


def _is_by_rows(dataset: Any) -> bool:
    """Does it make a table of each row, of the types that the row tells? That is where it has been filtered,
    or its rows come from a function. Of several rows, `iter()` makes a table only if these types agree; of
    one, a table with the types of its features."""
    rows = getattr(dataset, "_ex_iterable", None)
    return rows is not None and getattr(rows, "iter_arrow", None) is None


def _tables(dataset: Any, step: int, known: bool) -> Iterator[Any]:
    arrow = dataset.with_format("arrow")
    if not known or not _is_by_rows(dataset):
        yield from arrow.iter(step)
        return
    rows = arrow.iter(1)
    while some := list(islice(rows, step)):
        yield pa.concat_tables(some).combine_chunks()


def _batches(dataset: Any, step: int, known: bool) -> Iterator[Any]:
    """`known`: its features are given, and not those of its first rows."""
    try:
        for table in _tables(dataset, step, known):
            yield from pieces(checked(table))
    except (pa.ArrowInvalid, ValueError) as error:
        if "Schema at index" not in str(error) and type(error).__name__ != "CastError":
            raise
        advice = "convert iter(dataset)" if dataset.features else "give the dataset its features"
        raise SourceError(
            "later rows have columns or types that its first do not tell, such as lists, of which the first "
            f"is empty: {advice}, or convert what makes its rows: {brief(str(error), 200)}"
        ) from None


def _told(dataset: Any, wishes: Wishes) -> dict[str, Told]:
    features = dataset.features
    if features is None:
        return {}
    told = told_of_schema(features.arrow_schema, wishes)
    for name, more in told_of_features(features.to_dict()).items():
        if name in told:
            told[name] = more.over(told[name])
    return told


def _feature(column: Any) -> Any:
    """That of a column of a dataset, or of a struct in one; None: it has none, or its values are made by a
    function of the caller's."""
    source, names = column, []
    while isinstance(getattr(source, "column_name", None), str) and hasattr(source, "source"):
        names.append(source.column_name)
        source = source.source
    feature = None if getattr(source, "format", {}).get("type") == "custom" else source.features
    for name in reversed(names):
        feature = feature.get(name) if isinstance(feature, Mapping) else None
    return feature


def _classes(features: Mapping[str, Any]) -> dict[str, Told]:
    """The names of classes alone that features tell."""
    import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]

    told = told_of_features(datasets.Features(features).to_dict())
    return {column: Told(classes=of.classes, inside=of.inside) for column, of in told.items()}


def told_of_column(name: str, column: Any) -> dict[str, Told]:
    """The names of classes of a column of a Dataset, by the name that it is to have; none if its values are
    made by a function of the caller's."""
    feature = _feature(column)
    return {} if feature is None else _classes({name: feature})


def told_of_rows(name: str, column: Any) -> dict[str, Told]:
    """As `told_of_column()`, of a column whose values are rows: `name` is that of a row's one value; members
    of structs have their own."""
    feature = _feature(column)
    return _classes(feature) if isinstance(feature, Mapping) else told_of_column(name, column)


def _modes(dataset: Any, wishes: Wishes) -> list[str]:
    """Of images that the library would turn into others when it decodes them."""
    modes = {name: getattr(feature, "mode", None) for name, feature in (dataset.features or {}).items()}
    return [
        f"column {name}: images have the colours of their files: the feature's mode, {mode!r}, is left aside"
        for name, mode in modes.items()
        if mode and wishes.wants(name)
    ]


def _resolved(dataset: Any) -> Any:
    """With its features; None: its rows hold what Arrow does not, such as images of Pillow."""
    if dataset.features is not None or not hasattr(dataset, "_resolve_features"):
        return dataset
    try:
        return dataset._resolve_features()
    except pa.ArrowInvalid:
        return None


def _formatted(dataset: Any) -> Any:
    """With the columns alone that its rows have, as `with_format(columns=[...])` says."""
    form = getattr(dataset, "format", {})
    columns = form.get("columns")
    if columns is None or form.get("output_all_columns") or set(columns) == set(dataset.column_names):
        return dataset
    return dataset.select_columns([name for name in dataset.column_names if name in columns])


def open_dataset(split: str, dataset: Any, wishes: Wishes) -> Part | None:
    """A Dataset or IterableDataset; None: its rows are made by a function of the caller's."""
    if not hasattr(dataset, "with_format") or not hasattr(dataset, "iter"):
        return None
    rows, step, known = None, 256, dataset.features is not None
    if hasattr(dataset, "__len__"):
        if getattr(dataset, "format", {}).get("type") == "custom":
            return None
        dataset = _formatted(dataset)
        rows, table = len(dataset), dataset.data
        step = rows_at_once(table.nbytes, max(1, len(table)))
    elif (dataset := _resolved(dataset)) is None:
        return None
    told, notes = _told(dataset, wishes), _modes(dataset, wishes)
    return Part(split, lambda: chunks(_batches(dataset, step, known), wishes), told, rows, notes=notes)


def _load_split(path: Path) -> Any:
    """A split that was saved; the library itself cannot load one without rows, which has no files."""
    import datasets  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if json.loads((path / "state.json").read_text())["_data_files"]:
        return datasets.load_from_disk(str(path))
    info = json.loads((path / "dataset_info.json").read_text())
    features = datasets.Features.from_dict(info["features"])
    return datasets.Dataset.from_dict({name: [] for name in features}, features=features)


def load_saved(path: Path) -> dict[str, Any]:
    """What `save_to_disk()` wrote: datasets by split."""
    listing = path / "dataset_dict.json"
    if not listing.is_file():
        return {"train": _load_split(path)}
    return {split: _load_split(path / split) for split in json.loads(listing.read_text())["splits"]}
