"""Boxes are removed with their labels: with those that are found by their names, or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import CenterCrop, Field, InvalidError, Loader, SanitizeBoundingBoxes, Writer

BOXES = np.array([[0, 0, 5, 5], [30, 20, 50, 40], [70, 50, 80, 60]], np.float32)  # the middle one is kept


def make(path: Path, *names: str) -> Path:
    """A store with a number for each box in these fields."""
    fields = {
        "image": Field("image", "u8", (3, 60, 80)), "boxes": Field("boxes", "f32", (-1, 4), "target"),
        "count": Field("count", "i64", (), "target"),
        **{name: Field(name, "i64", (-1,), "target") for name in names},
    }  # fmt: skip
    with Writer(path, fields) as writer:
        for _ in range(2):
            values = {name: [10, 20, 30] for name in names}
            writer.append(image=np.zeros((3, 60, 80)), boxes=BOXES, count=3, **values)
    return path


def crops(library: str) -> list[Any]:
    if library == "own":
        return [CenterCrop((30, 40)), SanitizeBoundingBoxes()]
    v2 = pytest.importorskip("torchvision.transforms.v2")
    return [v2.CenterCrop((30, 40)), v2.SanitizeBoundingBoxes()]


def first(db: Path, transforms: Any, **options: Any) -> Any:
    with Loader(db, batch_size=2, transforms=transforms, boxes="boxes", **options) as loader:
        batch = next(iter(loader))
        assert batch["boxes"][0].tolist() == [[10, 5, 30, 25]]
        return batch


@pytest.mark.parametrize("library", ["own", "torchvision"])
@pytest.mark.parametrize("name", ["labels", "Labels", "label", "class_labels"])
def test_labels_are_found_by_their_name(tmp_path: Path, library: str, name: str) -> None:
    assert first(make(tmp_path / "db", name), crops(library))[name][0].tolist() == [20]


@pytest.mark.parametrize("library", ["own", "torchvision"])
@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["category_id"], r"leave category_id as it is: .*labels=\['category_id'\]\), or say labels=\[\]"),
        (
            ["iscrowd", "labels"],
            r"with their labels, and leave iscrowd as it is: .*\(labels=\['labels', 'iscrowd'\]\), or say "
            r"labels=\['labels'\]",
        ),
    ],
)
def test_other_fields_are_not_left_too_long(
    tmp_path: Path, library: str, names: list[str], told: str
) -> None:
    db = make(tmp_path / "db", *names)
    with pytest.raises(InvalidError, match=told):
        Loader(db, transforms=crops(library), boxes="boxes")
    crop = CenterCrop((30, 40))
    batch = first(db, [crop, SanitizeBoundingBoxes(labels=names)])
    assert all(batch[name][0].tolist() == [20] for name in names)
    assert len(first(db, [crop, SanitizeBoundingBoxes(labels=[])])[names[0]][0]) == 3
    first(db, crops(library), fields=["image", "boxes", "count"])  # nothing else is read


def test_boxes_alone(tmp_path: Path) -> None:
    first(make(tmp_path / "db"), crops("own"))


@pytest.mark.parametrize("named", [None, "image", ["image", "right"], ["right", "image"]])
def test_boxes_are_removed_beside_several_images(tmp_path: Path, named: Any) -> None:
    """They follow the first that is moved, whatever is named."""
    fields = {name: Field(name, "u8", (3, 60, 80)) for name in ("image", "right")}
    fields |= {"boxes": Field("boxes", "f32", (-1, 4), "target"), "labels": Field("labels", "i64", (-1,))}
    with Writer(tmp_path / "db", fields) as writer:
        for _ in range(2):
            pixels = np.zeros((3, 60, 80))
            writer.append(image=pixels, right=pixels, boxes=BOXES, labels=[10, 20, 30])
    crop = CenterCrop((30, 40), field=["image", "right"])
    batch = first(tmp_path / "db", [crop, SanitizeBoundingBoxes(field=named)])
    assert batch["labels"][0].tolist() == [20]
