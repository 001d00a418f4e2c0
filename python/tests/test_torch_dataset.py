"""apldata.torch.Dataset: against NumPy, and under torch's own DataLoader in every kind of worker process."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import apldata

torch = pytest.importorskip("torch")
Dataset = pytest.importorskip("apldata.torch").Dataset


def brighten(image: Any) -> Any:
    return image.float() + 1


def negative(label: int) -> int:
    return -label


def whole(loader: Any) -> tuple[np.ndarray, np.ndarray]:
    images, labels = zip(*loader, strict=True)
    return torch.cat(images).numpy(), torch.cat(labels).numpy()


def test_samples(store_path: str, drawn: dict[str, Any]) -> None:
    for split in ("train", "test"):
        dataset = Dataset(store_path, split)
        assert len(dataset) == len(drawn[split]["label"])
        for i in (0, 17, 63, 64, -1, -len(dataset), np.int64(5), torch.tensor(9)):
            image, label = dataset[i]
            assert image.dtype == torch.uint8 and type(label) is int
            assert np.array_equal(image.numpy(), drawn[split]["image"][int(i)])
            assert label == drawn[split]["label"][int(i)]


def test_a_misspelt_argument_is_told(store_path: str) -> None:
    with pytest.raises(
        apldata.InvalidTypeError, match="Dataset has no argument 'transforms': did you mean 'transform'"
    ):
        Dataset(store_path, transforms=[brighten])


def test_many_at_once(store_path: str, drawn: dict[str, Any]) -> None:
    dataset = Dataset(store_path)
    indices = [3, 999, 3, 500, -1]
    samples = dataset.__getitems__(indices)
    assert len(samples) == 5
    for i, (image, label) in zip(indices, samples, strict=True):
        assert (
            np.array_equal(image.numpy(), drawn["train"]["image"][i]) and label == drawn["train"]["label"][i]
        )
    assert dataset.__getitems__([]) == []


def test_each_block_is_decoded_once(store_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    get = apldata.Store.get
    monkeypatch.setattr(
        apldata.Store, "get", lambda self, ids, *rest: calls.append(ids) or get(self, ids, *rest)
    )
    dataset = Dataset(store_path, "test")
    dataset.__getitems__([5, 1, 7])
    assert calls == [[1005, 1001, 1007]]


def test_outside_is_an_index_error(store_path: str) -> None:
    dataset = Dataset(store_path)
    for index in (1000, -1001):
        with pytest.raises(IndexError, match="has no sample"):
            dataset[index]
    with pytest.raises(TypeError):
        dataset[1.5]
    assert sum(1 for _ in dataset) == 1000  # Python stops there by itself


def test_no_such_split_or_field(store_path: str) -> None:
    with pytest.raises(apldata.NotFoundError):
        Dataset(store_path, "nonesuch")
    with pytest.raises(apldata.NotFoundError):
        Dataset(store_path, fields=["nonesuch"])[0]


def test_transforms(store_path: str, drawn: dict[str, Any]) -> None:
    image, label = Dataset(store_path, transform=brighten, target_transform=negative)[4]
    assert np.array_equal(image.numpy(), drawn["train"]["image"][4].astype(np.float32) + 1)
    assert label == -int(drawn["train"]["label"][4])
    with pytest.raises(apldata.InvalidError, match="one member"):
        Dataset(store_path, fields=["image"], target_transform=negative)


def test_fields_and_classes(store_path: str, drawn: dict[str, Any]) -> None:
    dataset = Dataset(store_path, fields=["label"])
    assert dataset[5] == (drawn["train"]["label"][5],)
    assert dataset.classes is not None and dataset.classes[0] == "plane"
    assert "1000 samples of label" in repr(dataset)


def test_a_split_from_a_file(store_path: str, tmp_path: Any, drawn: dict[str, Any]) -> None:
    store = apldata.Store(store_path, split_directory=tmp_path)
    store.split("val", 0.2, "train", seed=1)
    ids = store.split_ids("train-val")
    dataset = pickle.loads(pickle.dumps(Dataset(store, "train-val")))
    assert len(dataset) == len(ids)
    assert np.array_equal(dataset[10][0].numpy(), drawn["train"]["image"][ids[10]])


def test_is_pickled_small(store_path: str) -> None:
    dataset = Dataset(store_path)
    dataset[0]
    data = pickle.dumps(dataset)
    assert len(data) < 2000
    assert torch.equal(pickle.loads(data)[3][0], dataset[3][0])


def test_in_memory(store_path: str, drawn: dict[str, Any]) -> None:
    dataset = Dataset(store_path, "test", in_memory=True)
    for i in (0, 299, -1):
        image, label = dataset[i]
        assert np.array_equal(image.numpy(), drawn["test"]["image"][i]) and label == drawn["test"]["label"][i]
        image.zero_()  # a copy of what is held
    assert np.array_equal(dataset[-1][0].numpy(), drawn["test"]["image"][-1])
    with pytest.raises(IndexError):
        dataset[300]


@pytest.mark.parametrize(
    ("context", "workers", "in_memory"), [("fork", 2, False), ("forkserver", 1, False), ("spawn", 1, True)]
)
def test_in_workers(
    store_path: str, drawn: dict[str, Any], context: str, workers: int, in_memory: bool
) -> None:
    """Of those that import torch in a new process, which takes seconds, one will do."""
    dataset = Dataset(store_path, in_memory=in_memory)
    dataset[0]  # the store is in use before the fork
    loader = torch.utils.data.DataLoader(
        dataset, 64, num_workers=workers, multiprocessing_context=context, persistent_workers=True
    )
    for _ in range(2):
        images, labels = whole(loader)
        assert np.array_equal(images, drawn["train"]["image"]) and np.array_equal(
            labels, drawn["train"]["label"]
        )


def test_shuffled_by_torch(store_path: str, drawn: dict[str, Any]) -> None:
    generator = torch.Generator().manual_seed(3)
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(3))
    sampler = torch.utils.data.SubsetRandomSampler(range(1000), generator=generator)
    images, labels = whole(torch.utils.data.DataLoader(Dataset(store_path), 100, sampler=sampler))
    assert np.array_equal(images, drawn["train"]["image"][order])
    assert np.array_equal(labels, drawn["train"]["label"][order])


def test_subsets(store_path: str, drawn: dict[str, Any]) -> None:
    subset = torch.utils.data.Subset(Dataset(store_path), [5, 900])
    _, labels = whole(torch.utils.data.DataLoader(subset, 2))
    assert labels.tolist() == drawn["train"]["label"][[5, 900]].tolist()
