"""apldata.convert() of classes that come as numbers, which sources name differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of

import apldata

TRAIN, TEST = ["ant", "bee", "cat", "bee"], ["cat", "bee", "eel"]


def labelled(names: list[str], labels: list[str], column: str = "label") -> Any:
    """A dataset of Hugging Face whose classes are called `names`."""
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset.from_dict({column: [names.index(label) for label in labels]})
    return given.cast_column(column, datasets.ClassLabel(names=names))


def train() -> Any:
    return labelled(["ant", "bee", "cat"], TRAIN)


def test() -> Any:
    return labelled(["bee", "cat", "dog", "eel"], TEST)


test.__test__ = False  # type: ignore[attr-defined]


def labels(store: apldata.Store, split: str) -> list[str]:
    assert store.classes is not None
    return [store.classes[number] for number in store.to_numpy(split)["label"]]


def check(store: apldata.Store) -> None:
    assert store.classes == ("ant", "bee", "cat", "dog", "eel")
    assert labels(store, "train") == TRAIN and labels(store, "test") == TEST


def test_splits_that_name_classes_differently(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    both = datasets.DatasetDict(train=train(), test=test())
    told = r"column label: classes have different names .* as ant, bee, cat, dog, eel$"
    with pytest.warns(apldata.IngestWarning, match=told):
        apldata.convert(both, tmp_path / "a")
    check(apldata.Store(tmp_path / "a"))
    check(made({"train": train(), "test": test().to_iterable_dataset()}, tmp_path / "b"))
    both.save_to_disk(tmp_path / "saved")
    check(made(tmp_path / "saved", tmp_path / "c"))


def test_files_that_name_classes_differently(tmp_path: Path) -> None:
    for split, dataset in (("train", train()), ("test", test())):
        dataset.to_parquet(str(tmp_path / f"{split}.parquet"))
        dataset.to_parquet(str(tmp_path / f"shard-{split}.parquet"))
    files = [tmp_path / "train.parquet", tmp_path / "test.parquet"]
    check(made(files, tmp_path / "a"))
    (tmp_path / "shards").mkdir()
    shards = [(tmp_path / "shards" / f"{k}.parquet") for k in range(2)]
    for file, shard in zip(files, shards, strict=True):
        file.rename(shard)
    with pytest.warns(apldata.IngestWarning, match="classes have different names in different sources"):
        apldata.convert(shards, tmp_path / "b")
    assert labels(apldata.Store(tmp_path / "b"), "train") == TRAIN + TEST
    order = ["eel", "dog", "cat", "bee", "ant"]
    given = made(shards, tmp_path / "c", classes={"label": order})
    assert given.classes == tuple(order) and labels(given, "train") == TRAIN + TEST


def test_names_that_are_given_stand_for_numbers_or_match(tmp_path: Path) -> None:
    renamed = made(train(), tmp_path / "a", classes={"label": ["x", "y", "z"]})
    assert labels(renamed, "train") == ["x", "y", "z", "y"]
    turned = made(train(), tmp_path / "b", classes={"label": ["cat", "bee", "ant"]})
    assert labels(turned, "train") == TRAIN and turned.to_numpy()["label"].tolist() == [2, 1, 0, 1]
    with pytest.raises(apldata.InvalidError, match=r"has the class 'bee' in train, which is not given"):
        made({"train": train(), "test": test()}, tmp_path / "c", classes={"label": ["ant", "cat"]})


def test_names_at_other_places_are_refused_unless_all_are_given(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"label": datasets.ClassLabel(names=["ant", "bee", "cat"])})
    source = datasets.Dataset.from_dict({"label": [0, 1, 0]}, features=features)
    for number, names in enumerate((["bee", "ant"], ["bee", "ant", "x"], ["cat", "bee", "dog"])):
        with pytest.raises(apldata.InvalidError, match=r"column label has the class .*at another place"):
            apldata.convert(source, tmp_path / str(number), classes={"label": names})
    for names in (["ant", "bee"], ["ant", "bee", "dog"], ["x", "y", "z"]):
        apldata.convert(source, tmp_path / "s", classes={"label": names}, replace=True)
        assert apldata.Store(tmp_path / "s").to_numpy()["label"].tolist() == [0, 1, 0]


def test_numbers_without_names_among_names_that_differ(tmp_path: Path) -> None:
    parts = {"train": train(), "test": test(), "more": {"label": np.array([1, 0])}}
    with pytest.raises(apldata.InvalidError, match=r"more, row 0, column label: 1 is the number of a class"):
        made(parts, tmp_path / "a")
    parts["more"] = {"label": np.array(["eel", "ant"])}
    assert labels(made(parts, tmp_path / "b"), "more") == ["eel", "ant"]
    with pytest.raises(apldata.InvalidError, match=r"one and two name classes differently, and plain"):
        made({"plain": {"label": np.array([1])}, "one": train(), "two": test()}, tmp_path / "c")
    same = {"train": train(), "more": {"label": np.array([2, 0])}}
    assert labels(made(same, tmp_path / "d"), "more") == ["cat", "ant"]


def test_missing_classes_and_numbers_of_none_stay(tmp_path: Path) -> None:
    parts = {"train": train(), "test": test().map(lambda row, at: {"label": -at}, with_indices=True)}
    with pytest.raises(apldata.InvalidError, match=r"test, row 2, column label: -2 is no class: .* 0 to 3"):
        made(parts, tmp_path / "a")
    parts["test"] = parts["test"].select(range(2))
    with pytest.raises(apldata.InvalidError, match=r"test, row 1, column label: a missing value"):
        made(parts, tmp_path / "b")
    assert labels(made(parts, tmp_path / "c", missing={"label": "eel"}), "test") == ["bee", "eel"]


def test_categories_of_frames_have_the_names_of_all(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frames = {
        split: pd.DataFrame({"label": pd.Categorical(values)})
        for split, values in (("train", TRAIN), ("test", TEST))
    }
    store = made(frames, tmp_path / "a")
    assert labels(store, "test") == TEST and store.classes == ("ant", "bee", "cat", "eel")


def test_numbers_in_lists_follow_their_names_too(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")

    def tagged(names: list[str], rows: list[list[int]]) -> Any:
        features = {"tags": datasets.Sequence(datasets.ClassLabel(names=names))}
        return datasets.Dataset.from_dict({"tags": rows}, datasets.Features(features))

    parts = {"train": tagged(["O", "PER"], [[0, 1], []]), "test": tagged(["LOC", "O"], [[1], [0, 1]])}
    told = r"column tags: .* not their names: write .* they are 0 O, 1 PER, 2 LOC$"
    with pytest.warns(apldata.IngestWarning, match=told):
        apldata.convert(parts, tmp_path / "a")
    store = apldata.Store(tmp_path / "a")
    assert types_of(store) == {"tags": "i64[-1]"}
    assert [row.tolist() for row in store.to_numpy("test")["tags"]] == [[0], [2, 0]]


def test_names_for_numbers_in_lists_are_refused_with_advice(tmp_path: Path) -> None:
    """However they are given: they were taken for those of single numbers."""
    datasets = pytest.importorskip("datasets")
    tags, names = [[0, 1], [1]], ["O", "PER"]
    feature = datasets.Sequence(datasets.ClassLabel(names=names))
    rows = [{"tags": one} for one in tags]
    field = apldata.Field("tags", "u8", (-1,), "target", classes=tuple(names))
    for source in (
        rows,
        [{"tags": np.array(one)} for one in tags],
        [{"tags": ["O", "PER"]}],
        {"tags": np.array([[0, 1], [1, 0]])},
        datasets.Dataset.from_dict({"tags": tags}, datasets.Features({"tags": feature})),
    ):
        for option in ({"classes": {"tags": names}}, {"types": {"tags": field}}):
            with pytest.raises(apldata.InvalidError, match=r"field tags holds lists.*a file of the store's"):
                made(source, tmp_path / "a", **option)


def test_names_beside_a_store_stay_there(tmp_path: Path) -> None:
    """As docs/DATA.md advises."""
    made([{"tags": [0, 1]}], tmp_path / "a", types={"tags": ("u8", (-1,))})
    (tmp_path / "a/tags.json").write_text('["O", "PER"]')
    apldata.Store(tmp_path / "a").verify()
    made([{"tags": [1]}], tmp_path / "a", types={"tags": ("u8", (-1,))}, replace=True)
    assert (tmp_path / "a/tags.json").read_text() == '["O", "PER"]'


def test_a_warning_tells_the_names_of_all_of_cocos_categories(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    names = [f"category {number}" for number in range(80)]
    feature = {"category": datasets.Sequence(datasets.ClassLabel(names=names))}
    dataset = datasets.Dataset.from_dict({"category": [[0, 79]]}, datasets.Features(feature))
    with pytest.warns(apldata.IngestWarning, match=r"they are 0 category 0, .*, 79 category 79$"):
        apldata.convert(dataset, tmp_path / "a")


def _without_one(kind: str) -> Any:
    """A rating from 1 to 5 in each row but the last."""
    ratings = ["1", "2", "3", "4", "5", None]
    if kind == "pandas":
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({"label": pd.Categorical(ratings)})
    if kind == "polars":
        pl = pytest.importorskip("polars")
        return pl.DataFrame({"label": ratings}, schema={"label": pl.Categorical})
    pa = pytest.importorskip("pyarrow")
    return pa.table({"label": pa.array(ratings).dictionary_encode()})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_class_takes_the_place_of_missing_ones(tmp_path: Path, kind: str) -> None:
    store = made(_without_one(kind), tmp_path / "a", missing={"label": "3"})
    assert labels(store, "train") == ["1", "2", "3", "4", "5", "3"]
    store = made(_without_one(kind), tmp_path / "b", missing={"label": 0})
    assert labels(store, "train")[5] == "1"
    rows = [{"label": one} for one in ("cat", None, "dog")]
    for fill, name in (("dog", "dog"), (0, "cat")):
        store = made(rows, tmp_path / name, classes=["label"], missing={"label": fill})
        assert labels(store, "train") == ["cat", name, "dog"]


def test_rows_that_name_and_number_classes(tmp_path: Path) -> None:
    store = made([{"label": 1}, {"label": "2"}], tmp_path / "a", classes={"label": ["1", "2", "0"]})
    assert labels(store, "train") == ["2", "2"]


def test_numbers_beside_names_of_classes(tmp_path: Path) -> None:
    plain = {"label": np.array([2, 0])}
    told = r"column label: a field of the classes that test names, ant, bee, cat: numbers in train stand for"
    with pytest.warns(apldata.IngestWarning, match=told):
        apldata.convert({"train": plain, "test": train()}, tmp_path / "a")
    store = apldata.Store(tmp_path / "a")
    assert labels(store, "train") == ["cat", "ant"] and labels(store, "test") == TRAIN
    text = made({"train": {"label": np.array(["cat", "ant"])}, "test": train()}, tmp_path / "b")
    assert labels(text, "train") == ["cat", "ant"] and labels(text, "test") == TRAIN
    with pytest.raises(apldata.InvalidError, match=r"train, row 0: field label must be a class from 0 to 2"):
        made({"train": {"label": np.array([3])}, "test": train()}, tmp_path / "c")


def test_concatenated_datasets_of_torch(tmp_path: Path) -> None:
    data = pytest.importorskip("torch.utils.data")
    turned = labelled(["cat", "bee", "ant"], TEST[:2])
    apart = data.ConcatDataset([train(), data.Subset(turned, [1, 0])])
    told = r"name the classes of column label differently, ant, bee, cat and cat, bee, ant: number them alike"
    with pytest.raises(apldata.InvalidError, match=told):
        made(apart, tmp_path / "a")
    with pytest.raises(apldata.InvalidError, match=r"differently, ant, bee, cat and none"):
        made(data.ConcatDataset([train(), [{"label": 1}]]), tmp_path / "a")
    given = made(apart, tmp_path / "b", classes={"label": ["x", "y", "z"]})
    assert labels(given, "train") == ["x", "y", "z", "y", "y", "x"]
    alike = made(data.ConcatDataset([train(), data.Subset(train(), [2])]), tmp_path / "c")
    assert labels(alike, "train") == [*TRAIN, "cat"]


def test_columns_of_lists_have_no_classes_to_find(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    for source in (
        [{"tags": ["a", "b"]}],
        [{"tags": "a"}, {"tags": ["b"]}],
        {"tags": np.array([["a", "b"]])},
        {"tags": np.array([[1, 2]])},
        pa.table({"tags": [["a"], ["b"]]}),
    ):
        with pytest.raises(apldata.InvalidError, match="classes: field tags holds lists, of which"):
            made(source, tmp_path / "db", classes=["tags"])
    with pytest.raises(apldata.InvalidError, match="classes: column tags is not text"):
        made([{"tags": {"a": 1}}], tmp_path / "db", classes=["tags"], types={"tags": "json"})
