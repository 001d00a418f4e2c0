"""What errors about masks and boxes advise is accepted, and what moves nothing is not refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import (
    CenterCrop,
    Field,
    InvalidError,
    Loader,
    PerPicture,
    RandomFlip,
    SanitizeBoundingBoxes,
    Writer,
)

BOXES = np.array([[0, 0, 5, 5], [30, 20, 60, 40]])
RECORD: dict[str, tuple[Field, Any]] = {
    "image": (Field("image", "u8", (3, 48, 64)), np.arange(3 * 48 * 64).reshape(3, 48, 64) % 200),
    "depth": (Field("depth", "f32", (48, 64), "target"), np.zeros((48, 64))),
    "mask": (Field("mask", "u8", (48, 64), "target"), np.zeros((48, 64))),
    "boxes": (Field("boxes", "f32", (-1, 4), "target"), BOXES),
    "labels": (Field("labels", "i64", (-1,), "target"), [0, 1]),
    "words": (Field("words", "i32", (-1, -1), "target"), np.ones((2, 7))),
}


def store(db: Path, *names: str) -> Path:
    with Writer(db, [RECORD[name][0] for name in names]) as writer:
        writer.append(**{name: RECORD[name][1] for name in names})
    return db


def first(db: Path, transforms: Any, **options: Any) -> Any:
    with Loader(db, transforms=transforms, **options) as loader:
        return next(iter(loader))


def test_only_what_c_takes_is_to_move_alike(tmp_path: Path) -> None:
    with pytest.raises(InvalidError, match=r"masks=\['depth'\]\), or say field='image'$"):
        first(store(tmp_path / "a", "image", "depth"), RandomFlip())
    with pytest.raises(InvalidError, match=r"boxes='boxes'\), or say field='image'$"):
        first(store(tmp_path / "b", "image", "boxes"), RandomFlip())
    with pytest.raises(InvalidError, match=r"alike, as in field=\['image', 'mask'\]"):
        first(store(tmp_path / "c", "image", "mask"), RandomFlip())
    first(tmp_path / "c", RandomFlip(field=["image", "mask"]))
    first(tmp_path / "a", RandomFlip(), masks=["depth"])


def test_older_transforms_are_told_of_v2(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    v1 = pytest.importorskip("torchvision.transforms")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = store(tmp_path / "a", "image", "boxes")
    named: dict[str, Any] = {"field": "image", "boxes": "boxes", "box_format": "XYXY"}
    told = (
        r"PerPicture\(v2\.RandomHorizontalFlip\(\.\.\.\), field='image', boxes='boxes', box_format='XYXY'\)"
    )
    for step in (v1.RandomHorizontalFlip(), PerPicture(v1.RandomHorizontalFlip(), **named)):
        with pytest.raises(InvalidError, match=told):
            first(db, step)
    moved = first(db, PerPicture(v2.RandomHorizontalFlip(p=1), **named))["boxes"][0]
    assert np.array_equal(moved[0], [59, 0, 64, 5])


@pytest.mark.parametrize("older", [False, True])
def test_what_moves_nothing_leaves_boxes(tmp_path: Path, older: bool) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    from torchvision import transforms as v1
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    db = store(tmp_path / "a", "image", "boxes")
    steps = (
        [v1.ColorJitter(0.5), v1.ConvertImageDtype(torch.float32), v1.RandomErasing(p=1.0)]
        if older
        else [v2.ColorJitter(0.5), v2.ToDtype(torch.float32, scale=True), v2.RandomErasing(p=1.0)]
    )
    for some in (*[[step] for step in steps], steps, (v1 if older else v2).Compose(steps)):
        assert np.array_equal(first(db, some)["boxes"][0], BOXES)
    for moving in (v2.RandomHorizontalFlip(), v2.Lambda(lambda x: x), v2.RandomIoUCrop()):
        with pytest.raises(InvalidError, match="boxes='boxes', box_format='XYXY'"):
            first(db, [v2.ToDtype(torch.float32, scale=True), moving])
    retyped = v2.ToDtype({tv_tensors.BoundingBoxes: torch.float64, "others": None})
    with pytest.raises(InvalidError, match="boxes='boxes', box_format='XYXY'"):
        first(db, retyped)


def test_albumentations_beside_a_pipeline_with_boxes(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    db = store(tmp_path / "a", "image", "boxes", "labels")
    params = A.BboxParams("pascal_voc", label_fields=["labels"])
    moving = A.Compose([A.HorizontalFlip(p=1)], bbox_params=params)
    bright = A.RandomBrightnessContrast((0.2, 0.2), (0, 0), p=1)
    alone = first(db, [moving])
    for steps in ([moving, bright], [bright, moving], [bright, moving, A.Compose([bright])]):
        batch = first(db, steps)
        assert np.array_equal(batch["boxes"][0], alone["boxes"][0])
        assert np.array_equal(batch["labels"][0], [0, 1]) and (batch["image"] > alone["image"]).any()
    with pytest.raises(InvalidError, match=r"^Transpose\(.*: field boxes is boxes.*bbox_params"):
        first(db, [moving, A.Transpose()])


def test_words_of_boxes_are_not_left_without_them(tmp_path: Path) -> None:
    db = store(tmp_path / "a", "image", "boxes", "labels", "words")
    crop = CenterCrop(20)
    with pytest.raises(
        InvalidError, match=r"leave words as it is: .*i32\[-1,-1\].*, sample\['words'\]\)\); if"
    ):
        first(db, [crop, SanitizeBoundingBoxes()], boxes="boxes")
    few = ["image", "boxes", "labels"]
    batch = first(db, [crop, SanitizeBoundingBoxes()], boxes="boxes", fields=few)
    assert len(batch["boxes"][0]) == len(batch["labels"][0]) == 1
    first(db, [crop, SanitizeBoundingBoxes(labels="labels")], boxes="boxes")
    pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    with pytest.raises(InvalidError, match="leave words as it is"):
        first(db, [crop, v2.SanitizeBoundingBoxes()], boxes="boxes")
    clean = v2.SanitizeBoundingBoxes(labels_getter=lambda sample: (sample["labels"], sample["words"]))
    batch = first(db, [crop, clean], boxes="boxes")
    assert [len(batch[name][0]) for name in ("boxes", "labels", "words")] == [1, 1, 1]


def test_words_are_label_fields(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    db = store(tmp_path / "a", "image", "boxes", "labels", "words")
    crop = [A.CenterCrop(20, 20)]
    with pytest.raises(InvalidError, match=r"leave words as it is: .*label_fields=\['labels', 'words'\]"):
        first(db, A.Compose(crop, bbox_params=A.BboxParams("pascal_voc", label_fields=["labels"])))
    params = A.BboxParams("pascal_voc", label_fields=["labels", "words"])
    batch = first(db, A.Compose(crop, bbox_params=params))
    assert [len(batch[name][0]) for name in ("boxes", "labels", "words")] == [1, 1, 1]
