"""apldata.convert() of datasets of Hugging Face with formats and transforms of the caller's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from convert_tools import made, types_of

import apldata

datasets = pytest.importorskip("datasets")


def labelled() -> Any:
    dataset = datasets.Dataset.from_dict({"label": [0, 1, 0], "x": [1, 2, 3]})
    return dataset.cast_column("label", datasets.ClassLabel(names=["cat", "dog"]))


def test_transforms_keep_the_names_of_labels(tmp_path: Path) -> None:
    """As long as the values are labels."""
    kept = labelled().with_transform(lambda batch: batch | {"x": [[one, one] for one in batch["x"]]})
    store = made(kept, tmp_path / "kept")
    assert types_of(store) == {"label": "u8", "x": "i64[2]"} and store.classes == ("cat", "dog")
    for number, change in enumerate(
        (lambda one: one / 2 + 0.25, lambda one: [one], lambda one: one + 7, str)
    ):
        changed = labelled().with_transform(
            lambda batch, of=change: batch | {"label": list(map(of, batch["label"]))}
        )
        assert made(changed, tmp_path / str(number)).schema["label"].classes is None


def test_formats_choose_columns(tmp_path: Path) -> None:
    chosen = labelled().with_format("numpy", columns=["x"])
    assert types_of(made(chosen, tmp_path / "a")) == {"x": "i64"}
    assert types_of(made({"test": chosen}, tmp_path / "b")) == {"x": "i64"}
    every = labelled().with_format("numpy", columns=["x"], output_all_columns=True)
    assert types_of(made(every, tmp_path / "c")) == {"label": "u8", "x": "i64"}
    named = labelled().with_format("numpy", columns=["label"])
    assert made(named, tmp_path / "d").classes == ("cat", "dog")


def test_streams_have_the_types_of_their_features(tmp_path: Path) -> None:
    """Of rows that were filtered, or that a function made, the first list was empty, and so of no type."""
    features = datasets.Features({"a": datasets.Value("int64"), "v": datasets.List(datasets.Value("int64"))})
    stored = datasets.Dataset.from_dict({"a": [0, 1, 2], "v": [[], [1], [2, 2]]}, features=features)
    filtered = stored.to_iterable_dataset().filter(lambda row: row["a"] != 1)
    for number, source in enumerate((filtered, filtered.take(2), {"test": filtered.shuffle(1)})):
        store = made(source, tmp_path / str(number))
        assert types_of(store) == {"a": "i64", "v": "i64[-1]"}
        assert sorted(record["v"].tolist() for record in store) == [[], [2, 2]]
    made_of = datasets.IterableDataset.from_generator(
        lambda: ({"a": row, "v": [row] * (row % 3)} for row in range(600)), features=features
    )
    store = made(made_of, tmp_path / "rows")
    assert len(store) == 600 and [record["v"].tolist() for record in store][597:] == [[], [598], [599] * 2]


def test_a_column_is_a_list_of_values(tmp_path: Path) -> None:
    dataset = labelled()
    store = made(dataset["x"], tmp_path / "a")
    assert types_of(store) == {"value": "i64"} and store.to_numpy()["value"].tolist() == [1, 2, 3]
    store = made({"train": dataset["x"], "test": dataset["x"][:2]}, tmp_path / "b")
    assert store.to_numpy("test")["value"].tolist() == [1, 2]
    with pytest.raises(apldata.InvalidError, match="row 1: field value must be a class from 0 to 1"):
        made({"train": dataset["x"], "test": dataset["label"]}, tmp_path / "f")
    assert types_of(made({"y": dataset["x"], "z": dataset["x"]}, tmp_path / "c")) == {"y": "i64", "z": "i64"}
    words = datasets.Dataset.from_dict({"s": ["a", "b"], "l": [[1], [2]]})
    assert types_of(made(words["s"], tmp_path / "d")) == {"text": "utf8[-1]"}
    with pytest.raises(
        apldata.SourceError, match="row 0: a list of numbers or of lists, which may be one value"
    ):
        made(words["l"], tmp_path / "e")


def test_columns_of_a_dict_keep_the_names_of_classes(tmp_path: Path) -> None:
    """They became numbers without names."""
    dataset = labelled()
    store = made({"x": dataset["x"], "y": dataset["label"]}, tmp_path / "a")
    assert store.schema["y"].classes == ("cat", "dog") and types_of(store) == {"x": "i64", "y": "u8"}
    nested = datasets.Dataset.from_dict({"s": [{"label": one} for one in (0, 1, -1)]})
    features = datasets.Features({"s": {"label": datasets.ClassLabel(names=["cat", "dog"])}})
    store = made({"y": nested.cast(features)["s"]["label"]}, tmp_path / "b", missing="skip")
    assert store.classes == ("cat", "dog") and store.to_numpy()["y"].tolist() == [0, 1]
    changed = dataset.with_transform(lambda batch: {"label": [one + 7 for one in batch["label"]]})
    assert made({"y": changed["label"]}, tmp_path / "c").to_numpy()["y"].tolist() == [7, 8, 7]
    tags = datasets.Dataset.from_dict({"tags": [[0, 1], [1]]})
    tags = tags.cast_column("tags", datasets.List(datasets.ClassLabel(names=["p", "q"])))
    with pytest.warns(apldata.IngestWarning, match="column z: a field of lists keeps the numbers of classes"):
        apldata.convert({"z": tags["tags"]}, tmp_path / "d")


def test_a_column_alone_keeps_the_names_of_classes(tmp_path: Path) -> None:
    dataset = labelled()
    column = dataset["label"]
    for number, source in enumerate((column, dataset.to_iterable_dataset()["label"], {"test": column})):
        store = made(source, tmp_path / f"{number}")
        assert store.schema["value"].classes == ("cat", "dog"), source
        assert store.to_numpy()["value"].tolist() == [0, 1, 0]
    assert made(column, tmp_path / "named", fields=["y"]).schema["y"].classes == ("cat", "dog")
    assert made(column, tmp_path / "given", classes={"value": ["a", "b"]}).classes == ("a", "b")
    struct = {"label": datasets.ClassLabel(names=["p", "q"]), "x": datasets.Value("int8")}
    nested = datasets.Dataset.from_dict({"s": [{"label": 1, "x": 2}]}, datasets.Features({"s": struct}))
    store = made(nested["s"], tmp_path / "struct")
    assert types_of(store) == {"label": "u8", "x": "i64"} and store.schema["label"].classes == ("p", "q")
    changed = dataset.with_transform(lambda batch: {"label": [one + 7 for one in batch["label"]]})
    assert made(changed["label"], tmp_path / "changed").to_numpy()["value"].tolist() == [7, 8, 7]


def test_parts_of_a_column_keep_the_names_of_classes(tmp_path: Path) -> None:
    data = pytest.importorskip("torch.utils.data")
    column = labelled()["label"]
    for number, source in enumerate((data.Subset(column, [1]), data.ConcatDataset([column, column]))):
        assert made(source, tmp_path / f"{number}").classes == ("cat", "dog")
