"""Boxes and what has an element for each of them, beside transforms of other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import CenterCrop, Field, InvalidError, Loader, PerPicture, SanitizeBoundingBoxes, Writer
from apldata.kinds import Boxes, Label, Plain

BOXES = np.array([[0, 0, 5, 5], [30, 20, 60, 40]])
RECORD: dict[str, tuple[Field, Any]] = {
    "image": (Field("image", "u8", (3, 48, 64)), np.arange(3 * 48 * 64).reshape(3, 48, 64) % 200),
    "boxes": (Field("boxes", "f32", (-1, 4), "target", kind=Boxes()), BOXES),
    "labels": (Field("labels", "i64", (-1,), "target", kind=Label(per="boxes")), [0, 1]),
    "words": (Field("words", "i32", (-1, -1), "target", kind=Plain(per="boxes")), np.ones((2, 7))),
}


def store(db: Path, *names: str) -> Path:
    with Writer(db, [RECORD[name][0] for name in names]) as writer:
        writer.append(**{name: RECORD[name][1] for name in names})
    return db


def first(db: Path, transforms: Any, **options: Any) -> Any:
    with Loader(db, transforms=transforms, **options) as loader:
        return next(iter(loader))


def test_older_transforms_are_told_of_v2(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    v1 = pytest.importorskip("torchvision.transforms")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = store(tmp_path / "a", "image", "boxes")
    told = r"RandomRotation of torchvision.transforms takes an image alone, .* leave boxes as it is: .*v2 has the same"
    old = v1.Compose([v1.RandomInvert(0), v1.RandomRotation(5)])
    for step in (old, PerPicture(old)):
        with pytest.raises(InvalidError, match=told):
            first(db, step)
    for step in (PerPicture(v2.RandomHorizontalFlip(p=1)), v1.RandomHorizontalFlip(p=1)):  # in C
        assert np.array_equal(first(db, step)["boxes"][0][0], [59, 0, 64, 5])


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
    retyped = v2.ToDtype({tv_tensors.BoundingBoxes: torch.float64, "others": None})
    assert first(db, retyped)["boxes"][0].dtype == np.float64


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


def test_words_go_with_their_boxes(tmp_path: Path) -> None:
    """In C and in Python."""
    db = store(tmp_path / "a", "image", "boxes", "labels", "words")
    batch = first(db, [CenterCrop(20), SanitizeBoundingBoxes()])
    assert [len(batch[name][0]) for name in ("boxes", "labels", "words")] == [1, 1, 1]
    v2 = pytest.importorskip("torchvision.transforms.v2")
    batch = first(db, [v2.RandomInvert(0), v2.CenterCrop(20), v2.SanitizeBoundingBoxes()])
    assert [len(batch[name][0]) for name in ("boxes", "labels", "words")] == [1, 1, 1]


def test_words_go_with_the_boxes_of_albumentations(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    db = store(tmp_path / "a", "image", "boxes", "labels", "words")
    for labels in ([], ["labels"], ["labels", "words"]):
        params = A.BboxParams("pascal_voc", label_fields=labels)
        batch = first(db, A.Compose([A.CenterCrop(20, 20)], bbox_params=params))
        assert [len(batch[name][0]) for name in ("boxes", "labels", "words")] == [1, 1, 1]
