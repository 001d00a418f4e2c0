"""apldata.convert() of datasets of Hugging Face and torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import file, made, types_of

import apldata

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JPEG images in folders by class."""
    path = tmp_path_factory.mktemp("images")
    for number, name in enumerate(("cat/1", "cat/2", "dog/1", "eel/9")):
        (path / name).parent.mkdir(exist_ok=True)
        (path / f"{name}.jpg").write_bytes(file(number, width=20 + number))
    return path


def same_as_ingested(folder: Path, store: apldata.Store, db: Path) -> None:
    """Content, schema and names of classes are those that aplingest makes of the folder."""
    apldata.ingest(folder, db)
    ingested = apldata.Store(db)
    assert store.content_digest == ingested.content_digest
    assert store.classes == ingested.classes == ("cat", "dog", "eel")
    for mine, other in zip(store.schema, ingested.schema, strict=True):
        told = [(f.name, f.type, f.mark, f.media) for f in (mine, other)]
        assert told[0] == told[1]
    assert (store.to_numpy()["image_shape"] == ingested.to_numpy()["image_shape"]).all()


# -------------------------------------------------------------------------------------------- Hugging Face


def hub(rows: int = 6) -> Any:
    datasets = pytest.importorskip("datasets")
    features = {
        "image": datasets.Image(),
        "label": datasets.ClassLabel(names=["a", "b"]),
        "boxes": datasets.Sequence(datasets.Sequence(datasets.Value("float32"), 4)),
        "grid": datasets.Array2D((2, 2), "int32"),
    }
    given = {
        "image": [{"bytes": file(n), "path": None} for n in range(rows)],
        "label": [n % 2 for n in range(rows)],
        "boxes": [[[1, 2, 3, 4]] * (n % 3) for n in range(rows)],
        "grid": [[[n, 1], [2, 3]] for n in range(rows)],
    }
    return datasets.Dataset.from_dict(given, features=datasets.Features(features))


def test_hugging_face(tmp_path: Path) -> None:
    dataset = hub()
    store = made(dataset, tmp_path / "a")
    assert types_of(store) == {"image": "u8[-1]", "label": "u8", "boxes": "f32[-1,4]", "grid": "i32[2,2]",
                               "image_shape": "u32[3]"}  # fmt: skip
    assert store.classes == ("a", "b") and [bytes(one["image"]) for one in store] == [
        file(n) for n in range(6)
    ]
    streamed = made(dataset.to_iterable_dataset(), tmp_path / "b")
    dataset.to_parquet(str(tmp_path / "x.parquet"))
    assert streamed.content_digest == store.content_digest
    assert made(tmp_path / "x.parquet", tmp_path / "c").content_digest == store.content_digest
    shuffled = dataset.shuffle(seed=3).select(range(2))
    part = made(shuffled, tmp_path / "d")
    assert [one["grid"].tolist() for one in part] == shuffled["grid"][:]


def test_hugging_face_splits(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    both = datasets.DatasetDict(train=hub(), test=hub(2))
    store = made(both, tmp_path / "a")
    assert {name: one.records for name, one in store.splits.items()} == {"train": 6, "test": 2}
    both = datasets.DatasetDict(test=hub(2), train=hub())
    assert made(both, tmp_path / "turned").content_digest == store.content_digest
    both.save_to_disk(tmp_path / "saved")
    assert made(tmp_path / "saved", tmp_path / "b").content_digest == store.content_digest
    both["test"] = both["test"].select([])  # which the library saves, and cannot load
    both.save_to_disk(tmp_path / "empty")
    emptied = made(tmp_path / "empty", tmp_path / "of-empty")
    assert emptied.content_digest == made(both, tmp_path / "emptied").content_digest
    unlabelled = hub().map(lambda row: {"label": -1})
    with pytest.raises(apldata.InvalidError, match="row 0, column label: a missing value"):
        made(unlabelled, tmp_path / "c")
    assert types_of(made(unlabelled, tmp_path / "d", types={"label": "i64"}))["label"] == "i64"


def test_hugging_face_rows_of_functions(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    generated = datasets.IterableDataset.from_generator(lambda: iter([{"a": 1, "b": "x"}] * 3))
    assert types_of(made(generated, tmp_path / "a")) == {"a": "i64", "b": "utf8[-1]"}
    other = hub().with_transform(lambda batch: {"z": [np.zeros(3)] * len(batch["label"])})
    assert types_of(made(other, tmp_path / "b")) == {"z": "f64[3]"}


def test_hugging_face_imagefolder_is_aplingests(folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.load_dataset(
        "imagefolder", data_dir=str(folder), split="train", cache_dir=tmp_path / "c"
    )
    same_as_ingested(folder, made(dataset, tmp_path / "a"), tmp_path / "b")


# -------------------------------------------------------------------------------------------------- torch


def test_image_folder_is_aplingests(folder: Path, tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision")
    dataset = torchvision.datasets.ImageFolder(str(folder))
    store = made(dataset, tmp_path / "a")
    same_as_ingested(folder, store, tmp_path / "b")
    assert store[3]["path"] == "eel/9.jpg"
    several = made(dataset, tmp_path / "c", workers=2)
    assert several.content_digest == store.content_digest


@pytest.mark.parametrize("widths", [(20, 20, 20), (20, 31, 20)])
@pytest.mark.parametrize("channels", [1, 3])
def test_folders_of_png_are_aplingests(widths: tuple[int, ...], channels: int, tmp_path: Path) -> None:
    torchvision = pytest.importorskip("torchvision")
    for number, (name, width) in enumerate(zip(("cat/1", "dog/1", "eel/9"), widths, strict=True)):
        (tmp_path / "in" / name).parent.mkdir(parents=True)
        image = file(number, "PNG", width=width, channels=channels)
        (tmp_path / "in" / f"{name}.png").write_bytes(image)
    dataset = torchvision.datasets.ImageFolder(str(tmp_path / "in"))
    same_as_ingested(tmp_path / "in", made(dataset, tmp_path / "a"), tmp_path / "b")


def test_datasets_that_are_iterated_over(tmp_path: Path) -> None:
    """Though their classes have lengths and items, which they inherit, or which fail."""
    data = pytest.importorskip("torch").utils.data

    class Iterated(data.IterableDataset):  # type: ignore[misc, name-defined, unused-ignore]
        def __iter__(self) -> Any:
            return iter([{"x": 1}, {"x": 2}])

    class Counted(Iterated):
        def __len__(self) -> int:
            return 2

    for number, source in enumerate((Counted(), data.ChainDataset([Iterated(), Iterated()]))):
        assert made(source, tmp_path / str(number)).to_numpy()["x"].tolist() == [1, 2] * (number + 1)


def test_batches_are_no_records(store_path: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    dataset = torch.utils.data.TensorDataset(torch.arange(10), torch.arange(10))
    for loader, words in (
        (torch.utils.data.DataLoader(dataset, batch_size=4), r"batches, not records: give its dataset"),
        (apldata.Loader(store_path, "train"), "a loader gives batches"),
        (
            pytest.importorskip("apldata.torch").DataLoader(store_path, split="train"),
            "a loader gives batches",
        ),
    ):
        with pytest.raises(apldata.InvalidTypeError, match=words):
            apldata.convert(loader, tmp_path / "db")
    assert not (tmp_path / "db").exists()
    one_by_one = torch.utils.data.DataLoader(dataset, batch_size=None)
    assert len(apldata.Store(apldata.convert(one_by_one, tmp_path / "db").db)) == 10


def test_datasets_of_torch(folder: Path, tmp_path: Path) -> None:
    torch, torchvision = pytest.importorskip("torch"), pytest.importorskip("torchvision")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    dataset = torchvision.datasets.ImageFolder(str(folder))
    part = made(torch.utils.data.Subset(dataset, [3, 0]), tmp_path / "a")
    assert part.to_numpy()["label"].tolist() == [2, 0] and part.classes == ("cat", "dog", "eel")
    sized = v2.Compose([v2.Resize((8, 8)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    store = made(torchvision.datasets.ImageFolder(str(folder), sized), tmp_path / "b")
    assert types_of(store) == {"image": "f32[3,8,8]", "label": "u8"}
    tensors = torch.utils.data.TensorDataset(torch.arange(12.0).reshape(4, 3), torch.arange(4))
    assert types_of(made(tensors, tmp_path / "c")) == {"value": "f32[3]", "label": "i64"}
    pytest.importorskip("ml_dtypes")
    halves = made([{"x": torch.ones(3, dtype=torch.bfloat16)}], tmp_path / "d")
    assert types_of(halves) == {"x": "bf16[3]"}
