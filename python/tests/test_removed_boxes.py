"""Where a transform in Python removes boxes, what has an element for each box stays in step, or the transform
is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import Field, InvalidError, Loader, PerPicture, SanitizeBoundingBoxes, Writer
from apldata.kinds import Boxes, Label, Mask, Plain

LARGE = 900_100_187_793  # an id of COCO's: more than a float32 holds
RECORDS, SIDES = 24, (48, 64)
BOXES = Field("boxes", "f32", (-1, 4), "target", kind=Boxes())


def make(path: Path, *extra: str) -> Path:
    """A store of images with 0 to 4 boxes, each of a colour of its own, which the fields of their elements
    tell: "labels", and those of `extra`."""
    fields = [
        Field("image", "u8", (3, *SIDES)), BOXES,
        *(Field(name, "i64", (-1,), "target", kind=Label(per="boxes")) for name in ("labels", *extra)),
    ]  # fmt: skip
    random = np.random.default_rng(1)
    with Writer(path, fields, replace=True) as writer:
        for record in range(RECORDS):
            image, many = np.zeros((3, *SIDES), np.uint8), record % 5
            colours = np.arange(1, many + 1) * 50
            left, top = np.arange(many) * 16 + 2, random.integers(1, 30, many)
            boxes = np.stack([left, top, left + 12, top + 16], 1).astype(np.float32).reshape(-1, 4)
            for (x, y, right, bottom), colour in zip(boxes.astype(int), colours, strict=True):
                image[:, y:bottom, x:right] = colour
            more = dict.fromkeys(extra, colours)
            writer.append(image=image, boxes=boxes, labels=colours, **more)
    return path


def removed(db: Any, transforms: Any, *names: str, labels: Any = np.asarray, **options: Any) -> int:
    """How many boxes are gone; the others have the colour that the fields `names` tell."""
    left = 0
    with Loader(db, batch_size=8, shuffle=False, transforms=transforms, **options) as loader:
        for batch in loader:
            for row in range(batch.rows):
                image, boxes = batch["image"][row], batch["boxes"][row]
                assert boxes.dtype == np.float32 and boxes.shape == (len(boxes), 4)
                x, y = ((boxes[:, :2] + boxes[:, 2:]) / 2).astype(int).T
                colours = image[0, y, x]
                colours = (colours * 255).round() if image.dtype == np.float32 else colours
                for name in names:
                    assert labels(batch[name][row]).tolist() == colours.tolist(), (name, row)
                left += len(boxes)
    return sum(record % 5 for record in range(RECORDS)) - left


# ------------------------------------------------------------------------------------------ Albumentations


def crops(*names: str, **more: Any) -> Any:
    A = pytest.importorskip("albumentations")
    params = A.BboxParams("pascal_voc", label_fields=list(names), min_visibility=0.6)
    return A.Compose([A.RandomCrop(40, 40), A.HorizontalFlip()], bbox_params=params, **more)


def test_label_fields_of_albumentations(tmp_path: Path) -> None:
    """There may be any number of them, and of boxes."""
    db = make(tmp_path / "db", "iscrowd")
    crop = crops("labels", "iscrowd")
    assert removed(db, crop, "labels", "iscrowd") > 10


@pytest.mark.parametrize(
    ("dtype", "shape", "of"),
    [
        ("int64", (-1,), lambda colours: colours + LARGE), ("uint8", (-1,), lambda colours: colours),
        ("uint16", (-1,), lambda colours: colours), ("float64", (-1,), lambda colours: colours * 1e300),
        ("int32", (-1, 3), lambda colours: np.stack([colours, colours + 1, colours + 2**24], 1)),
    ],
)  # fmt: skip
def test_labels_come_through_albumentations_as_they_are(
    tmp_path: Path, dtype: str, shape: tuple[int, ...], of: Any
) -> None:
    """Also those that it would round to a float32, and rows of numbers, which it does not take."""
    fields = [
        Field("image", "u8", (3, *SIDES)), BOXES, Field("kinds", dtype, shape, "target", kind=Plain(per="boxes")),
    ]  # fmt: skip
    known = {}
    with Loader(make(tmp_path / "plain"), batch_size=RECORDS, shuffle=False) as loader:
        batch = next(iter(loader))
        with Writer(tmp_path / "db", fields) as writer:
            for image, boxes, labels in zip(batch["image"], batch["boxes"], batch["labels"], strict=True):
                kinds = of(labels).astype(dtype)
                known |= {kind.tobytes(): colour for kind, colour in zip(kinds, labels, strict=True)}
                writer.append(image=image, boxes=boxes, kinds=kinds)
    back = lambda kinds: np.array([known[kind.tobytes()] for kind in kinds])  # noqa: E731
    assert removed(tmp_path / "db", crops(), "kinds", labels=back) > 10


@pytest.mark.parametrize("form", ["yolo", "albumentations", "coco"])
def test_formats_of_albumentations(tmp_path: Path, form: str) -> None:
    """Those that measure in parts of the sides too."""
    A = pytest.importorskip("albumentations")
    forms = {"yolo": "cxcywh-rel", "albumentations": "xyxy-rel", "coco": "xywh"}
    boxes = Field("boxes", "f32", (-1, 4), "target", kind=Boxes(forms[form]))
    fields = [Field("image", "u8", (3, 40, 80)), boxes]
    box = [40, 20, 20, 10] if form == "coco" else [0.25, 0.25, 0.5, 0.5]
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 40, 80)), boxes=[box])
    step = A.Compose([A.Resize(20, 40)], bbox_params=A.BboxParams(form, label_fields=[]))
    with Loader(tmp_path / "db", transforms=step) as loader:
        boxes = next(iter(loader))["boxes"][0]
    assert np.allclose(boxes, [[20, 10, 10, 5]] if form == "coco" else [box], atol=1e-3)
    other = A.Compose([A.Resize(20, 40)], bbox_params=A.BboxParams("pascal_voc", label_fields=[]))
    with pytest.raises(InvalidError, match=rf"of the form {forms[form]}: give .*BboxParams\('{form}'\)"):
        Loader(tmp_path / "db", transforms=other)


def test_albumentations_leaves_no_labels(tmp_path: Path) -> None:
    """Whether or not it is told of them; and none go that are not said to."""
    A = pytest.importorskip("albumentations")
    db = make(tmp_path / "db", "iscrowd")
    silent = A.Compose([A.RandomCrop(40, 40)], bbox_params=A.BboxParams("pascal_voc"))
    for steps in (silent, crops("labels"), [crops("labels", "iscrowd"), crops()], PerPicture(silent)):
        assert removed(db, steps, "labels", "iscrowd") > 10
    assert removed(db, silent, fields=["image", "boxes"]) > 10
    plain = {"labels": Plain(), "iscrowd": Plain()}
    with Loader(db, batch_size=24, shuffle=False, transforms=silent, kinds=plain) as loader:
        assert [len(labels) for labels in next(iter(loader))["labels"]] == [
            record % 5 for record in range(RECORDS)
        ]
    assert removed(db, crops("iscrowd"), "iscrowd", kinds=plain) > 10


# -------------------------------------------------------------------------------------------- torchvision


def ssd(v2: Any, **sanitize: Any) -> list[Any]:
    """torchvision's preset for the detector SSD; colours stay, as they tell which box it is."""
    import torch

    return [
        v2.RandomPhotometricDistort(p=0), v2.RandomZoomOut(), v2.RandomIoUCrop(), v2.RandomHorizontalFlip(),
        v2.SanitizeBoundingBoxes(**sanitize), v2.ToDtype(torch.float32, scale=True),
    ]  # fmt: skip


def test_the_preset_of_torchvision(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db, steps = make(tmp_path / "db", "iscrowd"), ssd(v2)
    assert removed(db, v2.Compose(steps), "labels", "iscrowd") > 0
    assert removed(db, steps, "labels", "iscrowd", threads=0) > 0
    assert removed(db, PerPicture(v2.Compose(steps)), "labels", "iscrowd") > 0
    some = v2.RandomApply([v2.Compose(steps[:-1])], p=0.9)
    assert removed(db, some, "labels", "iscrowd") > 0
    assert removed(db, ssd(v2, labels_getter=None), "labels", "iscrowd") > 0
    assert removed(db, [v2.CenterCrop(24), steps[-2]], "labels", "iscrowd") > 0  # in C
    assert removed(db, v2.Compose(steps), fields=["image", "boxes"]) > 0  # without any labels


def test_getters_of_labels_say_what_takes_their_place(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db")
    with pytest.raises(InvalidError, match=r"labels_getter: .*kinds=\{'labels': Label\(per='boxes'\)\}"):
        Loader(db, transforms=ssd(v2, labels_getter=lambda sample: sample["labels"]))


def test_masks_keep_their_planes(tmp_path: Path) -> None:
    """As many as there are boxes, which torchvision takes for one of each."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    fields = [
        Field("image", "u8", (3, 8, 8)), Field("mask", "u8", (1, 8, 8), "target", kind=Mask()), BOXES,
        Field("kinds", "u16", (-1, 2), "target", kind=Plain(per="boxes")),
    ]  # fmt: skip
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(
            image=np.zeros((3, 8, 8)), mask=np.ones((1, 8, 8)), boxes=[[8, 0, 9, 2]], kinds=[[1, 2]]
        )
        writer.append(
            image=np.zeros((3, 8, 8)), mask=np.ones((1, 8, 8)), boxes=[[0, 0, 2, 2]], kinds=[[3, 4]]
        )
    steps = [v2.RandomPosterize(8, p=0), v2.SanitizeBoundingBoxes()]
    with Loader(tmp_path / "db", batch_size=2, shuffle=False, transforms=steps) as loader:
        batch = next(iter(loader))
    assert batch["mask"].shape == (2, 1, 8, 8)
    assert [kinds.tolist() for kinds in batch["kinds"]] == [[], [[3, 4]]]
    assert batch["kinds"][0].shape == (0, 2) and batch["kinds"][0].dtype == np.uint16


def test_ours_is_not_done_before_what_is_listed_first(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    steps = [v2.RandomIoUCrop(), SanitizeBoundingBoxes()]
    told = r"in C, and so before RandomIoUCrop.*in Python: after that, say v2\.SanitizeBoundingBoxes\(\)"
    with pytest.raises(InvalidError, match=told):
        Loader(make(tmp_path / "db"), transforms=steps)


def test_a_step_of_the_users_removes_no_box_alone(tmp_path: Path) -> None:
    """It marks them, as RandomIoUCrop does."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db")

    class Without(v2.Transform):  # type: ignore[misc]
        def __init__(self, mark: bool) -> None:
            super().__init__()
            self.mark = mark

        def forward(self, sample: Any) -> Any:
            boxes = sample["boxes"]
            small = boxes[:, 0] > 30
            if self.mark:
                boxes = boxes.clone()
                boxes[small] = 0
            elif small.any():
                boxes = boxes[~small]
            return {**sample, "boxes": boxes}

    marked = [Without(mark=True), v2.SanitizeBoundingBoxes()]
    assert removed(db, marked, "labels") > 0
    for steps in ([Without(mark=False)], [Without(mark=False), *marked]):
        with pytest.raises(
            InvalidError, match=r"changed the number of boxes, and left labels.*to 0, and put v2"
        ):
            removed(db, steps, "labels")
    assert removed(db, [Without(mark=False)], fields=["image", "boxes"]) > 0
