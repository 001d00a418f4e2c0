"""Boxes that come to Albumentations from what runs before it, empty ones too, which it does not take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_removed_boxes import make, removed

A = pytest.importorskip("albumentations")

from apldata import Field, InvalidError, Loader, RandomFlip, RandomResizedCrop, Writer  # noqa: E402
from apldata.kinds import Boxes, Label  # noqa: E402

RIGHT = {"pascal_voc": "xyxy", "coco": "xywh"}
LABELS = Field("labels", "i64", (-1,), "target", kind=Label(per="boxes"))


def after(form: str, **more: Any) -> Any:
    params = A.BboxParams(form, label_fields=["labels"], **more)
    return A.Compose([A.Transpose(p=1.0), A.HorizontalFlip()], bbox_params=params)


def test_boxes_that_a_crop_in_c_leaves_empty(tmp_path: Path) -> None:
    """They are removed with their labels, as where Albumentations crops."""
    db = make(tmp_path / "db", "iscrowd")
    params = A.BboxParams("pascal_voc", label_fields=["labels", "iscrowd"], min_visibility=0.9)
    steps = [
        RandomResizedCrop(40, scale=(0.2, 0.3)),
        RandomFlip(),
        A.Compose([A.Transpose(p=1.0)], bbox_params=params),
    ]
    gone = 0
    for seed in range(3):
        gone += removed(db, steps, seed=seed)
        with Loader(db, batch_size=24, transforms=steps, seed=seed) as loader:
            (batch,) = loader
        for boxes, *others in zip(batch["boxes"], batch["labels"], batch["iscrowd"], strict=True):
            assert ((boxes[:, 2:] - boxes[:, :2]) > 0).all() and np.array_equal(*others)
            assert len(boxes) == len(others[0])
    assert gone > 30


@pytest.mark.parametrize("form", RIGHT)
def test_formats(tmp_path: Path, form: str) -> None:
    fields = [
        Field("image", "u8", (3, 40, 80)),
        Field("boxes", "f32", (-1, 4), "target", kind=Boxes(RIGHT[form])), LABELS,
    ]  # fmt: skip
    stored = np.array([[0, 0, 6, 6], [30, 10, 50, 30], [74, 34, 80, 40]], np.float32)
    if form == "coco":
        stored[:, 2:] -= stored[:, :2]
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 40, 80)), boxes=stored, labels=[1, 2**40, 3])
    from apldata import CenterCrop

    steps = [CenterCrop(20), after(form)]
    with Loader(tmp_path / "db", transforms=steps) as loader:
        batch = next(iter(loader))
    assert batch["boxes"][0].tolist() == [[0, 0, 20, 20]] and batch["labels"][0].tolist() == [2**40]


def test_boxes_that_a_step_in_python_leaves_empty(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db")
    steps = [v2.RandomAdjustSharpness(1.0), v2.RandomCrop(24), after("pascal_voc")]
    assert removed(db, steps) > 10


def stored(path: Path, box: list[float]) -> Path:
    """Three records of a box each, of which the last is this one, which a writer of boxes might refuse."""
    fields = [
        Field("image", "u8", (3, 40, 40)), Field("boxes", "f32", (-1, 4), "target"), LABELS,
    ]  # fmt: skip
    with Writer(path, fields) as writer:
        for one in ([1, 1, 9, 9], [2, 2, 9, 9], box):
            writer.append(image=np.zeros((3, 40, 40)), boxes=[one], labels=[5])
    return path


@pytest.mark.parametrize("box", [[5, 5, 5, 9], [-20, 3, 9, 9], [9, 9, 4, 4]])
def test_stored_boxes_that_it_refuses(tmp_path: Path, box: list[float]) -> None:
    """The error names the record, and its advice works."""
    db, told = stored(tmp_path / "db", box), r"clip=True, filter_invalid_bboxes=True"
    with (
        Loader(db, shuffle=False, transforms=after("pascal_voc"), kinds={"boxes": Boxes()}) as loader,
        pytest.raises(InvalidError, match=f"^record 2: .* a box of field boxes: .*{told}") as caught,
    ):
        next(iter(loader))
    assert caught.value.records == range(2, 3)
    step = after("pascal_voc", clip=True, filter_invalid_bboxes=True)
    with Loader(db, shuffle=False, transforms=step, kinds={"boxes": Boxes()}) as loader:
        batch = next(iter(loader))
    assert len(batch["boxes"][2]) == len(batch["labels"][2]) == (box[0] < 0)
