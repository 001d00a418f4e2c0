"""Boxes are removed with what has an element for each of them, by its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import CenterCrop, Field, Loader, SanitizeBoundingBoxes, Writer
from apldata.kinds import Boxes, Image, Label, Plain

BOXES = np.array([[0, 0, 5, 5], [30, 20, 50, 40], [70, 50, 80, 60]], np.float32)  # the middle one is kept


def make(path: Path, *names: str) -> Path:
    """A store with a number for each box in these fields."""
    fields = {
        "image": Field("image", "u8", (3, 60, 80)), "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
        "count": Field("count", "i64", (), "target"),
        **{name: Field(name, "i64", (-1,), "target", kind=Label(per="boxes")) for name in names},
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
    with Loader(db, batch_size=2, transforms=transforms, **options) as loader:
        batch = next(iter(loader))
        assert batch["boxes"][0].tolist() == [[10, 5, 30, 25]]
        return batch


@pytest.mark.parametrize("library", ["own", "torchvision"])
@pytest.mark.parametrize("names", [["labels"], ["category_id"], ["iscrowd", "labels", "x"]], ids=str)
def test_all_of_them_go_whatever_their_name(tmp_path: Path, library: str, names: list[str]) -> None:
    batch = first(make(tmp_path / "db", *names), crops(library))
    assert all(batch[name][0].tolist() == [20] for name in names)
    kinds = {name: Plain() for name in names}
    kept = first(tmp_path / "db", crops(library), kinds=kinds)
    assert all(kept[name][0].tolist() == [10, 20, 30] for name in names)


def test_boxes_alone(tmp_path: Path) -> None:
    first(make(tmp_path / "db"), crops("own"))


@pytest.mark.parametrize("named", [None, "image"])
def test_boxes_are_removed_beside_several_images(tmp_path: Path, named: Any) -> None:
    """They follow the one that they are of."""
    fields = {name: Field(name, "u8", (3, 60, 80), kind=Image()) for name in ("image", "right")}
    fields["boxes"] = Field("boxes", "f32", (-1, 4), "target", kind=Boxes(of="image"))
    fields["labels"] = Field("labels", "i64", (-1,), kind=Label(per="boxes"))
    with Writer(tmp_path / "db", fields) as writer:
        for _ in range(2):
            pixels = np.zeros((3, 60, 80))
            writer.append(image=pixels, right=pixels, boxes=BOXES, labels=[10, 20, 30])
    crop = CenterCrop((30, 40), field=["image", "right"])
    batch = first(tmp_path / "db", [crop, SanitizeBoundingBoxes(field=named)])
    assert batch["labels"][0].tolist() == [20]
