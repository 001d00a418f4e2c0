"""apldata.torch.DataLoader: its batches, against NumPy and the plain loader, and their memory."""

from __future__ import annotations

import copy
import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_tools import equal, flat, torch

import apldata
from apldata import Normalize, RandomCrop, RandomFlip, ToBFloat16, ToFloat16

TIGHT = 7_400_000  # bytes: all of the shared store, and some small batches

DataLoader = pytest.importorskip("apldata.torch").DataLoader


def address(view: Any) -> int:
    return view.__array_interface__["data"][0]


@pytest.fixture(scope="module")
def mixed_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with every kind of field: an input of floats, texts, a varying shape, several targets."""
    path = str(tmp_path_factory.mktemp("stores") / "mixed")
    fields = [
        apldata.Field("signal", "f32", (4,)),
        apldata.Field("wave", "u8", (-1, 2)),
        apldata.Field("class", "u16", (), "target"),
        apldata.Field("weight", "f32", (), "target"),
        apldata.Field("mask", "u8", (2, 2), "target"),
        apldata.Field("file", "utf8", (-1,), "name"),
    ]
    with apldata.Writer(path, fields, block_records=16) as writer:
        for i in range(50):
            writer.append(
                signal=np.full(4, i, np.float32),
                wave=np.full((i % 3, 2), i, np.uint8),
                weight=np.float32(i / 2),
                mask=np.full((2, 2), i, np.uint8),
                file=f"größe-{i}",
                **{"class": 1000 + i},
            )
    return path


def test_all_in_order_of_ids(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, batch_size=300)
    assert [len(labels) for _, labels in loader] == [300, 300, 300, 100]
    images, labels = (torch.cat(parts) for parts in zip(*flat(loader), strict=True))
    assert images.dtype == torch.uint8 and labels.dtype == torch.int64
    assert equal(images, drawn["train"]["image"]) and equal(labels, drawn["train"]["label"])


def test_batches_of_one_as_torch(store_path: str, drawn: dict[str, Any]) -> None:
    images, labels = next(iter(DataLoader(store_path)))
    assert images.shape == (1, 3, 32, 32) and labels.tolist() == [drawn["train"]["label"][0]]


@pytest.mark.parametrize("transforms", [[], [RandomCrop(32, 4), RandomFlip(), Normalize(), ToFloat16()]])
def test_equals_the_plain_loader(store_path: str, transforms: list[Any]) -> None:
    plain = apldata.Loader(store_path, batch_size=96, seed=5, transforms=transforms)
    loader = DataLoader(store_path, 96, True, seed=5, transforms=transforms)
    assert len(plain) == len(loader) == 11
    for _ in range(2):
        for batch, (images, labels) in zip(plain, loader, strict=True):
            assert equal(images, batch["image"]) and equal(labels, batch["label"])


def test_bfloat16(store_path: str) -> None:
    plain = apldata.Loader(store_path, batch_size=96, transforms=[Normalize(), ToBFloat16()])
    loader = DataLoader(store_path, 96, True, transforms=[Normalize(), ToBFloat16()])
    for batch, (images, _) in zip(plain, loader, strict=True):
        assert images.dtype == torch.bfloat16
        assert equal(images.view(torch.int16), np.asarray(batch.column("image").bits()).view(np.int16))


def test_tuples_know_names(store_path: str) -> None:
    batch = next(iter(DataLoader(store_path, 8)))
    assert isinstance(batch, tuple) and batch._fields == ("image", "label")
    assert batch.image is batch[0] and batch.label is batch[1]
    again = pickle.loads(pickle.dumps(batch))
    assert type(again) is type(batch) and torch.equal(again.image, batch.image)
    assert torch.equal(copy.deepcopy(batch).label, batch.label)


def test_every_kind_of_field(mixed_path: str) -> None:
    batch = next(iter(DataLoader(mixed_path, 10)))
    assert batch._fields == ("signal", "wave", "_2", "weight", "mask")  # "class" is a word of Python's
    signal_, wave, classes, weight, mask = batch
    assert signal_.dtype == torch.float32 and signal_[7].tolist() == [7.0] * 4
    assert [tuple(one.shape) for one in wave[:4]] == [(0, 2), (1, 2), (2, 2), (0, 2)] and wave[
        5
    ].unique().item() == 5
    assert classes.dtype == torch.int64 and classes.tolist() == list(range(1000, 1010))
    assert weight.dtype == torch.float32 and weight[3].item() == 1.5
    assert mask.dtype == torch.int64 and mask.shape == (10, 2, 2) and mask[9].unique().item() == 9


def test_fields_in_the_order_asked_for(mixed_path: str) -> None:
    batch = next(iter(DataLoader(mixed_path, 3, fields=["file", "class", "signal"])))
    assert batch.file == ["größe-0", "größe-1", "größe-2"] and batch[1].tolist() == [1000, 1001, 1002]
    assert batch.signal.shape == (3, 4)
    (only,) = next(iter(DataLoader(mixed_path, 3, fields="weight")))
    assert only.tolist() == [0, 0.5, 1]
    with pytest.raises(apldata.NotFoundError, match="nonesuch"):
        DataLoader(mixed_path, fields=["nonesuch"])


def test_tensors_lie_in_the_batch(store_path: str) -> None:
    seen = []

    def note(batch: Any) -> None:
        seen.append(address(batch.column("image")))

    images, _ = next(iter(DataLoader(store_path, 64, transforms=[note])))
    assert images.data_ptr() == seen[0]
    loader = DataLoader(store_path, 64)
    batch = loader._pass.source.next()
    images, labels = loader._convert(batch)
    assert images.data_ptr() == address(batch.column("image"))
    assert labels.data_ptr() != address(batch.column("label"))


def test_tensors_outlive_loader_and_batch(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 100)
    kept = [images for images, _ in loader]
    view = kept[3][50:60]
    loader.close()
    del loader
    gc.collect()
    for i, images in enumerate(kept):
        assert equal(images, drawn["train"]["image"][100 * i : 100 * i + 100])
    del kept, images
    gc.collect()
    assert equal(view, drawn["train"]["image"][350:360])


def test_held_batches_are_not_overwritten(store_path: str) -> None:
    loader = DataLoader(store_path, 50, True)
    kept = [(images, images.clone()) for (images, _), _ in zip(loader, range(8), strict=False)]
    for _ in range(20):
        for _ in loader:
            pass
    assert all(torch.equal(images, before) for images, before in kept)


def test_too_many_held_says_what_to_do(store_path: str) -> None:
    loader, kept = DataLoader(store_path, 10, memory_budget=TIGHT), []
    with pytest.raises(apldata.LentError, match="clone"):
        for images, _ in loader:
            kept.append(images)
    assert len(kept) >= 16
    assert len(list(DataLoader(store_path, 10, memory_budget=64 << 20))) == 100


def test_writing_is_harmless(store_path: str, drawn: dict[str, Any]) -> None:
    loader = DataLoader(store_path, 100)
    for _ in range(3):
        for i, (images, labels) in enumerate(loader):
            assert equal(images, drawn["train"]["image"][100 * i : 100 * i + 100])
            images.fill_(7)
            labels.fill_(-1)


def test_a_training_step(store_path: str) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(store_path, 100, True, transforms=[Normalize()])
    losses = []
    for _ in range(4):
        for images, labels in loader:
            images.requires_grad_()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert images.grad is not None and images.grad.shape == images.shape
            losses.append(loss.item())
    assert np.mean(losses[-10:]) < np.mean(losses[:10])


def test_values_of_varying_shape_are_collated(tmp_path: Any) -> None:
    from collate_tools import COUNT, make

    db = make(tmp_path / "db")
    collate = {"tokens": apldata.Ragged(), "sound": apldata.Pad(fill=-1)}
    loader = DataLoader(db, batch_size=8, collate=collate, fields=["tokens", "sound", "label"])
    count = 0
    for batch in loader:
        assert batch.tokens.is_nested and batch.tokens.layout == torch.jagged
        assert batch.tokens.offsets().dtype == torch.int64
        count += len(batch.tokens.unbind())
        assert batch.sound.shape[:2] == (len(batch.label), 2) and batch.sound_mask.dtype == torch.bool
        assert torch.equal(batch.sound_mask.sum(1), batch.sound_lengths)
    assert count == COUNT
    collate = {"tokens": apldata.Pad()}
    first = next(iter(DataLoader(db, batch_size=8, collate=collate, fields=["tokens"], as_dict=True)))
    assert set(first) == {"tokens", "tokens_lengths", "tokens_mask"}
    named = {"tokens": "input_ids", "tokens_mask": "attention_mask"}
    second = next(iter(DataLoader(db, batch_size=8, collate=collate, fields=["tokens"], as_dict=named)))
    assert set(second) == {"input_ids", "tokens_lengths", "attention_mask"}
    assert torch.equal(first["tokens_mask"], second["attention_mask"])
    for wrong in ({"tokens_masks": "mask"}, {"tokens_mask": "tokens"}):
        with pytest.raises(apldata.InvalidError, match=r"as_dict: (there is no field|two fields)"):
            DataLoader(db, batch_size=8, collate=collate, fields=["tokens"], as_dict=wrong)


def test_whole_numbers_of_targets_become_int64(tmp_path: Path) -> None:
    """Those of small columns, which are copies, and of large ones, in all types."""
    types = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
    sizes = {"small": (), "large": (100,)}
    fields = [
        apldata.Field(f"{size}_{name}", name, shape, mark="target")
        for name in types
        for size, shape in sizes.items()
    ]
    with apldata.Writer(tmp_path / "s", fields) as writer:
        for row in range(10):
            writer.append(**{f.name: np.full(f.shape, row + 100) for f in fields})
    with DataLoader(tmp_path / "s", batch_size=10, num_workers=1) as loader:
        (batch,) = list(loader)
    for field in fields:
        expected = torch.full((10, *field.shape), 100) + torch.arange(10).reshape(-1, *[1] * len(field.shape))
        assert getattr(batch, field.name).dtype == torch.int64 and getattr(batch, field.name).equal(expected)


@pytest.mark.parametrize("fields", [None, ["image"], ["label", "image"]])
def test_fields_that_functions_add_come_after_the_others(store_path: str, fields: list[str] | None) -> None:
    def adds(batch: Any) -> None:
        batch["mean"] = batch["image"].mean((1, 2, 3))

    options: dict[str, Any] = {"fields": fields, "transforms": [adds]}
    names = [*(fields or ["image", "label"]), "mean"]
    (batch, *_) = DataLoader(store_path, 10, **options)
    assert list(batch._fields) == names and torch.equal(batch.mean, batch.image.double().mean((1, 2, 3)))
    assert list(next(iter(DataLoader(store_path, 10, as_dict=True, **options)))) == names
    (samples, *_) = DataLoader(store_path, 10, collate_fn=list, **options)
    assert len(samples) == 10 and [sample[-1].item() for sample in samples] == batch.mean.tolist()


@pytest.mark.parametrize("value", [3.5, "text", {"a": 1}, np.zeros(7), np.float32(1)])
def test_samples_have_no_part_of_what_has_no_rows(store_path: str, value: Any) -> None:
    def adds(batch: Any) -> None:
        batch["more"] = value

    loader = DataLoader(
        store_path, 10, transforms=[adds], collate_fn=lambda samples: samples["label"].tolist()
    )
    assert len(next(iter(loader))) == 10
    loader = DataLoader(store_path, 10, transforms=[adds], collate_fn=list)
    with pytest.raises(
        apldata.InvalidError, match="field more, which a function has added, has no row for each"
    ):
        next(iter(loader))


@pytest.mark.parametrize(
    ("shape", "collate"),
    [
        pytest.param((), None, id="small"), pytest.param((100,), None, id="large"),
        pytest.param((-1,), None, id="varying"), pytest.param((-1,), {"hash": apldata.Ragged()}, id="ragged"),
        pytest.param((-1,), {"hash": apldata.Pad()}, id="padded"),
    ],
)  # fmt: skip
def test_targets_that_int64_cannot_hold_are_refused(
    tmp_path: Path, shape: tuple[int, ...], collate: Any
) -> None:
    """They used to become negative."""
    torch_parts = pytest.importorskip("apldata.torch")
    fields = [apldata.Field("x", "f32"), apldata.Field("hash", "u64", shape, mark="target")]
    row = np.full([max(n, 3) for n in shape], 2**63 - 1, np.uint64)
    with apldata.Writer(tmp_path / "s", fields) as writer:
        writer.append(x=0, hash=row)
        writer.begin("test")
        writer.append(x=0, hash=row + np.uint64(2))
    (batch,) = DataLoader(tmp_path / "s", 1, split="train", collate=collate)
    assert batch.hash[0].dtype == torch.int64 and batch.hash[0].eq(2**63 - 1).all()
    refused = "field hash: 9223372036854775809 does not fit int64, .*: leave the field out"
    with pytest.raises(apldata.InvalidError, match=refused):
        next(iter(DataLoader(tmp_path / "s", 1, split="test", collate=collate)))
    with pytest.raises(apldata.InvalidError, match=refused):
        torch_parts.Dataset(tmp_path / "s", "test")[0]
    if shape != (-1,):  # which no device takes
        with pytest.raises(apldata.InvalidError, match=refused):
            torch_parts.DeviceLoader(tmp_path / "s", "test", 1, device="cpu")
