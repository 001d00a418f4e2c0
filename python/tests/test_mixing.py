"""MixUp and CutMix in C: with the share that was drawn, what torchvision's v2 makes of the same batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import (
    CutMix,
    InvalidError,
    Loader,
    MixUp,
    RandomChoice,
    RandomFlip,
    ToBFloat16,
    ToFloat16,
    ToFloat32,
)

RECORDS, CLASSES = 50, 5


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mixing") / "db"
    label = apldata.Field("label", "u8", mark="target", classes=tuple("abcde"))
    rng = np.random.default_rng(1)
    with apldata.Writer(path, {"image": ("u8", (3, 12, 10)), "label": label}) as writer:
        for i in range(RECORDS):
            writer.append(image=rng.integers(0, 256, (3, 12, 10), np.uint8), label=i % CLASSES)
    return path


def epoch(db: Path, transforms: Any, **options: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    with Loader(db, batch_size=12, transforms=transforms, seed=4, **{"threads": 2, **options}) as loader:
        return [(np.array(batch["image"]), np.array(batch["label"])) for batch in loader]


def shares(labels: np.ndarray, soft: np.ndarray) -> tuple[np.float32, np.float32]:
    """What is left of each image, and what is another's, as f32."""
    assert soft.dtype == np.float32 and soft.shape == (len(labels), CLASSES)
    k = next(k for k in range(len(labels)) if labels[k] != labels[k - 1])
    return soft[k, labels[k]], soft[k, labels[k - 1]]


@pytest.mark.parametrize("to", [ToFloat32, ToFloat16])
def test_mixup_is_v2s(db: Path, to: Any) -> None:
    plain, mixed = epoch(db, [RandomFlip(), to()]), epoch(db, [RandomFlip(), to(), MixUp(0.8)])
    drawn = set()
    for (image, labels), (got, soft) in zip(plain, mixed, strict=True):
        if len(set(labels)) == 1:
            continue  # of a batch of one class, soft labels say nothing
        own, other = shares(labels, soft)
        drawn.add(float(own))
        one_hot = np.eye(CLASSES, dtype=np.float32)[labels]
        assert np.array_equal(soft, np.roll(one_hot, 1, 0) * other + one_hot * own)
        wide = image.astype(np.float32)
        assert np.array_equal(got, (np.roll(wide, 1, 0) * other + wide * own).astype(image.dtype))
    assert len(drawn) == sum(len(set(labels)) > 1 for _, labels in plain)  # drawn for each batch


@pytest.mark.parametrize("steps", [[], [ToFloat32()], [ToBFloat16(), apldata.ChannelsLast()]])
def test_cutmix_is_v2s(db: Path, steps: list[Any]) -> None:
    pytest.importorskip("ml_dtypes")
    last = len(steps) == 2
    for (image, labels), (got, soft) in zip(epoch(db, steps), epoch(db, [*steps, CutMix()]), strict=True):
        assert got.dtype == image.dtype
        own, _ = shares(labels, soft)
        was, now = (np.moveaxis(v, -1, 1) if last else v for v in (image, got))
        changed = (was != now).any((0, 1))  # pixels of some image: those of the box
        rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
        box = np.zeros_like(changed)
        if len(rows):
            box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
        assert np.array_equal(now, np.where(box, np.roll(was, 1, 0), was))
        assert own == np.float32(1 - box.sum() / box.size)


def test_choices_are_drawn_for_each_batch(db: Path) -> None:
    choice = RandomChoice([MixUp(0.4), CutMix()], p=[1, 2])
    kinds = []
    plain = epoch(db, [ToFloat32()], reuse=8)
    mixed = epoch(db, [ToFloat32(), choice], reuse=8)
    for (image, _), (got, _) in zip(plain, mixed, strict=True):
        either = (got == image) | (got == np.roll(image, 1, 0))
        kinds.append(bool(either.all()))
    assert 0.4 < np.mean(kinds) < 0.95
    for p, kind in (([0, 1], MixUp(0.4)), ([1, 0], CutMix())):
        parts = [CutMix(), MixUp(0.4)]
        for one, other in zip(
            epoch(db, [ToFloat32(), RandomChoice(parts, p)]), epoch(db, [ToFloat32(), kind]), strict=True
        ):
            assert np.array_equal(one[0], other[0]) and np.array_equal(one[1], other[1])


def test_some_batches_stay(db: Path) -> None:
    plain = epoch(db, [ToFloat32()], reuse=8)
    mixed = epoch(db, [ToFloat32(), MixUp(p=0.5, label_smoothing=0.1)], reuse=8)
    stayed = [np.array_equal(a, b) for (a, _), (b, _) in zip(plain, mixed, strict=True)]
    assert 0.2 < np.mean(stayed) < 0.8
    for (_, labels), (_, soft), same in zip(plain, mixed, stayed, strict=True):
        assert np.allclose(soft.sum(1), 1, atol=1e-6)
        if same:
            assert np.allclose(soft[range(len(labels)), labels], 0.9 + 0.1 / CLASSES)


def test_states_and_threads_change_nothing(db: Path) -> None:
    steps = [ToFloat32(), RandomChoice([MixUp(), CutMix()])]
    whole = epoch(db, steps, threads=0)
    with Loader(db, batch_size=12, transforms=steps, seed=4) as loader:
        batches = iter(loader)
        for _ in range(2):
            next(batches)
        state = loader.state_dict()
    with Loader(db, batch_size=12, transforms=steps, seed=4, threads=3) as loader:
        loader.load_state_dict(state)
        for (image, soft), batch in zip(whole[2:], loader, strict=True):
            assert np.array_equal(batch["image"], image) and np.array_equal(batch["label"], soft)


def test_torchvisions_run_in_c(db: Path) -> None:
    torch, v2 = pytest.importorskip("torch"), pytest.importorskip("torchvision.transforms.v2")
    to_float = v2.ToDtype(torch.float32, scale=True)
    pairs: list[tuple[Any, Any]] = [
        (v2.MixUp(alpha=0.3, num_classes=CLASSES), MixUp(0.3)),
        (v2.CutMix(num_classes=CLASSES), CutMix(num_classes=CLASSES)),
        (
            v2.RandomChoice([v2.CutMix(num_classes=CLASSES), v2.MixUp(num_classes=CLASSES)], p=[0.3, 0.7]),
            RandomChoice([CutMix(num_classes=CLASSES), MixUp(num_classes=CLASSES)], p=[0.3, 0.7]),
        ),
    ]
    for theirs, own in pairs:
        with Loader(db, transforms=[to_float, theirs]) as loader:
            assert not loader._functions
        one, other = epoch(db, [to_float, theirs]), epoch(db, [ToFloat32(), own])
        for a, b in zip(one, other, strict=True):
            assert np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])
    from apldata.torch import DataLoader

    with DataLoader(db, 12, transforms=[to_float, pairs[0][0]]) as loader:
        images, labels = next(iter(loader))
        assert labels.dtype == torch.float32 and labels.shape == (12, CLASSES) and images.shape[0] == 12


def test_what_cannot_be_mixed_is_refused(db: Path) -> None:
    with pytest.raises(InvalidError, match=r"MixUp is of floats: .*ToFloat32"):
        Loader(db, transforms=[MixUp()])
    with pytest.raises(InvalidError, match=r"ToFloat32.* after MixUp"):
        Loader(db, transforms=[MixUp(), ToFloat32()])
    with pytest.raises(InvalidError, match="sets the same"):
        Loader(db, transforms=[ToFloat32(), MixUp(), CutMix()])
    with pytest.raises(InvalidError, match="alpha"):
        MixUp(0)
    with pytest.raises(InvalidError, match="differ in num_classes"):
        RandomChoice([MixUp(num_classes=5), CutMix(num_classes=6)])
    with pytest.raises(InvalidError, match=r"record .*, field label: class \d, where there are 3"):
        epoch(db, [CutMix(num_classes=3)])
