"""Transforms of other libraries, and of users, where something lies in the image that cannot move: what is not known to leave pixels where they are
is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import Field, InvalidError, Loader, Writer
from apldata.kinds import Keypoints, Plain

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")
v2 = pytest.importorskip("torchvision.transforms.v2")


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kinds") / "db"
    fields = [Field("image", "u8", (3, 32, 32)), Field("kps", "f32", (5, 2), "target", kind=Keypoints("xy"))]
    with Writer(path, fields) as writer:
        for i in range(4):
            image = np.random.default_rng(i).integers(0, 256, (3, 32, 32)).astype(np.uint8)
            writer.append(image=image, kps=np.ones((5, 2), np.float32))
    return path


class OwnTransform(v2.Transform):
    """Seldom moves anything, which no trial would show."""

    def transform(self, image: Any, params: Any) -> Any:
        return image.flip(-1) if torch.rand(1) < 0.01 else image


class OwnModule(torch.nn.Module):
    def forward(self, image: Any) -> Any:
        return image


def flipped(image: Any) -> Any:
    return image.flip(-1)


def run(db: Path, transform: Any, **options: Any) -> None:
    with Loader(db, batch_size=4, transforms=[transform], **options) as loader:
        for _ in loader:
            pass


MOVING = {
    "RandomHorizontalFlip": v2.RandomHorizontalFlip(), "Lambda": v2.Lambda(flipped), "OwnTransform": OwnTransform(),
    "RandomCrop": v2.Compose([v2.ToImage(), v2.RandomCrop(16)]), "OwnModule": v2.Compose([OwnModule()]),
    "OwnTransform in another": v2.RandomApply([OwnTransform()], 0.5),
}  # fmt: skip
STAYING = [
    v2.ColorJitter(0.1, 0.1), v2.RandomErasing(), v2.GaussianBlur(3), v2.RandomApply([v2.ColorJitter(0.1)], 0.5),
    v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.5] * 3)]),
]  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_what_may_move_is_refused(db: Path, name: str) -> None:
    with pytest.raises(InvalidError, match=f"^{name.split()[0]} cannot be used beside 'kps': keypoints"):
        run(db, MOVING[name])
    run(db, MOVING[name], fields=["image"])
    run(db, MOVING[name], kinds={"kps": Plain()})


@pytest.mark.parametrize("transform", STAYING, ids=lambda one: type(one).__name__)
def test_colours_run(db: Path, transform: Any) -> None:
    run(db, transform)


def test_what_a_step_of_ones_own_may_do_is_said(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", [Field("image", "u8", (3, 32, 32)), Field("pose", "f32", (4,), "target")]) as writer:
        writer.append(image=np.zeros((3, 32, 32), np.uint8), pose=np.zeros(4, np.float32))
    with pytest.raises(InvalidError, match=re.escape("OwnTransform may move 'image', but what is 'pose' (f32[4])?")):
        run(tmp_path / "db", OwnTransform())


def test_albumentations(db: Path) -> None:
    A = pytest.importorskip("albumentations")

    class OwnColours(A.ImageOnlyTransform):  # as it calls itself
        def apply(self, image: Any, **params: Any) -> Any:
            return image[:, ::-1]

    for moving in (A.HorizontalFlip(), A.Compose([A.D4()]), A.Lambda(image=flipped), OwnColours(p=1.0)):
        with pytest.raises(InvalidError, match="cannot be used beside 'kps'"):
            run(db, moving)
    run(db, A.Compose([A.GaussianBlur(), A.RandomBrightnessContrast(), A.Normalize()]))


def test_elements_per_box_are_as_many_as_boxes(tmp_path: Path) -> None:
    """As C refuses them: a store may have been told so after it was made."""
    A = pytest.importorskip("albumentations")
    fields = [
        Field("image", "u8", (3, 32, 32)), Field("boxes", "f32", (-1, 4), "target", kind="boxes,xyxy"),
        Field("labels", "i64", (-1,), "target"),
    ]  # fmt: skip
    boxes = np.array([[2, 2, 30, 30], [0, 0, 3, 3]], np.float32)
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 32, 32), np.uint8), boxes=boxes, labels=np.arange(3))
    clipped = A.BboxParams("pascal_voc", clip=True, filter_invalid_bboxes=True)
    for step in (v2.Compose([v2.RandomPhotometricDistort(), v2.CenterCrop(20), v2.SanitizeBoundingBoxes()]),
                 A.Compose([A.Transpose(), A.CenterCrop(20, 20)], clipped)):  # fmt: skip
        with pytest.raises(InvalidError, match="field labels: 3 elements per boxes, of which there are 2"):
            run(tmp_path / "db", step, kinds={"labels": "label,per=boxes"})
