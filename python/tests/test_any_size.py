"""Transforms of other libraries, on images of any size and after what changes their size in C."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import CenterCrop, Field, InvalidError, Loader, PerPicture, RandomResizedCrop, Resize, Writer
from apldata.kinds import Boxes, Mask

KEPT = Field("image", "u8", media="image/jpeg")
ANY = Field("image", "u8", (-1, -1, -1))
FIXED = Field("image", "u8", (3, 40, 50))
BOX = [10.0, 12.0, 20.0, 30.0]


def photo(pixels: np.ndarray) -> bytes:
    Image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(out, "JPEG", quality=100, subsampling=0)
    return out.getvalue()


def make(path: Path, image: Field) -> Path:
    """Images of slopes, masks that are their first channels, and a box."""
    mask = Field("mask", "u8", (40, 50) if image == FIXED else (-1, -1, -1), "target", kind=Mask())
    boxes = Field("boxes", "f32", (-1, 4), "target", kind=Boxes())
    with Writer(path, {"image": image, "mask": mask, "boxes": boxes}) as writer:
        for k in range(4):
            y, x = np.mgrid[: 40 if image == FIXED else 40 + 2 * k, :50].astype("u1")
            pixels = np.stack([x * 5, y * 5, x * 5])
            value = photo(pixels) if image.media else pixels
            writer.append(image=value, mask=pixels[0] if image == FIXED else pixels[:1], boxes=[BOX])
    return path


def check(batch: Any) -> None:
    for image, mask in zip(batch["image"], batch["mask"], strict=True):
        assert np.abs(image[0].astype(int) - np.squeeze(mask)).max() <= 9


@pytest.mark.parametrize("image", [FIXED, ANY, KEPT])
def test_albumentations_after_a_crop_in_c(tmp_path: Path, image: Field) -> None:
    A = pytest.importorskip("albumentations")
    db = make(tmp_path / "db", image)
    rest = [A.RandomGamma(p=0), A.HorizontalFlip(p=1)]
    for steps in (
        [RandomResizedCrop(24, field="image"), A.Compose(rest)],
        [CenterCrop(24), A.Compose(rest)],
        A.Compose([A.RandomCrop(24, 24), *rest]),
    ):
        with Loader(db, fields=["image", "mask"], transforms=steps) as loader:
            batch = next(iter(loader))
        assert batch["image"].shape == (4, 3, 24, 24) and batch["mask"].shape == (4, 24, 24)
        check(batch)
        assert (batch["image"][:, 0, :, 0] > batch["image"][:, 0, :, -1]).all()


def test_albumentations_of_any_channels(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    db = make(tmp_path / "db", ANY)
    for step in (A.HorizontalFlip(p=1), A.Compose([A.RandomGamma(p=0), A.HorizontalFlip(p=1)])):
        with Loader(db, fields=["image", "mask"], transforms=step) as loader:
            batch = next(iter(loader))
        check(batch)
        assert all(value[0, 0, 0] == 245 and value[0, 0, -1] == 0 for value in batch["image"])


@pytest.mark.parametrize("image", [ANY, KEPT])
def test_per_picture_after_a_crop_in_c(tmp_path: Path, image: Field) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db", image)
    options: dict[str, Any] = {"shuffle": False, "batch_size": 4}
    size = Resize((40, 50))
    for posterize in (PerPicture(v2.RandomPosterize(3, p=1)), v2.RandomPosterize(3, p=1)):
        with Loader(db, transforms=[size, posterize], **options) as loader:
            assert not (next(iter(loader))["image"] & 31).any()
    flip, python = v2.RandomHorizontalFlip(1), v2.RandomPosterize(8, p=0)
    for steps in ([flip], [python, flip]):
        joint = PerPicture(v2.Compose(steps))
        with Loader(db, transforms=[size, joint], **options) as loader:
            batch = next(iter(loader))
        check(batch)
        assert batch["boxes"][0].tolist() == [[30, 12, 40, 30]]
        assert (batch["image"][:, 0, :, 0] > batch["image"][:, 0, :, -1]).all()


def test_per_picture_of_any_size(tmp_path: Path) -> None:
    """By itself, of what is decoded; files must have a size first."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    step = PerPicture(v2.RandomInvert(1))
    with Loader(make(tmp_path / "any", ANY), batch_size=4, shuffle=False, transforms=step) as loader:
        batch = next(iter(loader))
        assert [value.shape[1] for value in batch["image"]] == [40, 42, 44, 46]
        assert batch["image"][0][0, 0, :3].tolist() == [255, 250, 245]
    with pytest.raises(InvalidError, match=r"image keeps JPEG files.*begin with RandomResizedCrop"):
        Loader(make(tmp_path / "kept", KEPT), transforms=step)
