"""Which field a transform of ours is applied to if it is not told: an image, and not what belongs to one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import (
    ColorJitter,
    Cutout,
    Field,
    Loader,
    Normalize,
    NotFoundError,
    RandomErasing,
    RandomFlip,
    ToFloat32,
    Writer,
)

OWN = [
    RandomFlip(1.0),
    Normalize(0.5, 0.5),
    Cutout(8),
    RandomErasing(1.0),
    ColorJitter((0.5, 0.5)),
    ToFloat32(),
]
CLASSES = np.arange(24 * 32).reshape(24, 32) % 20


def store(path: Path, image: Field, other: Field) -> Path:
    with Writer(path / "db", {image.name: image, other.name: other}) as writer:
        pixels = np.full(image.shape, 100)
        writer.append(**{image.name: pixels, other.name: np.broadcast_to(CLASSES, other.shape)})
    return path / "db"


IMAGES = [("f32", (4, 24, 32)), ("u16", (13, 24, 32)), ("u8", (20, 24, 32)), ("u8", (24, 32, 3))]
VOLUMES = [("u8", (1, 16, 24, 32)), ("f32", (4, 16, 24, 32)), ("u8", (16, 3, 24, 32))]


@pytest.mark.parametrize("name", ["mask", "seg", "label"])
@pytest.mark.parametrize(("dtype", "shape"), IMAGES, ids=str)
def test_a_mask_is_not_taken_for_the_image(tmp_path: Path, dtype: str, shape: Any, name: str) -> None:
    mask = Field(name, "u8", (24, 32), "target" if name == "label" else "input")
    db = store(tmp_path, Field("image", dtype, shape), mask)
    for step in OWN:
        told = rf"no field is an image .*: {name} looks like a mask; field= chooses .* image: {dtype}"
        last = ".*of field image the channels come last" if shape[-1] == 3 else ""
        with pytest.raises(NotFoundError, match=told + last):
            Loader(db, transforms=step)
    with pytest.raises(NotFoundError, match=f"{name} is one of masks=; field= chooses"):
        Loader(db, transforms=Normalize(0.5, 0.5), masks=name)
    with Loader(db, transforms=ToFloat32(field=name)) as loader:
        assert next(iter(loader))[name].dtype == np.float32


@pytest.mark.parametrize("name", ["mask", "annotations", "label"])
@pytest.mark.parametrize(("dtype", "shape"), VOLUMES, ids=str)
def test_nor_are_masks_of_slices_and_frames(tmp_path: Path, dtype: str, shape: Any, name: str) -> None:
    mask = Field(name, "u8", (16, 24, 32), "target" if name == "label" else "input")
    db = store(tmp_path, Field("image", dtype, shape), mask)
    told = f"{name} looks like a mask; image has four dimensions: move it in a function over batches; field="
    for step in OWN:
        with pytest.raises(NotFoundError, match=told):
            Loader(db, transforms=step)


def test_an_image_of_one_plane_is_taken_beside_a_mask_of_three_dimensions(tmp_path: Path) -> None:
    db = store(tmp_path, Field("image", "u8", (24, 32)), Field("mask", "u8", (1, 24, 32), "target"))
    with Loader(db, transforms=[RandomFlip(1.0), ToFloat32()], masks="mask") as loader:
        batch = next(iter(loader))
    assert batch["image"].dtype == np.float32
    assert np.array_equal(batch["mask"][0, 0], CLASSES[:, ::-1])
    with Loader(db, transforms=ToFloat32()) as loader:
        batch = next(iter(loader))
    assert batch["image"].dtype == np.float32 and np.array_equal(batch["mask"][0, 0], CLASSES)


def test_an_image_that_is_called_as_a_mask_is_taken_beside_masks_that_are_named(tmp_path: Path) -> None:
    db = store(tmp_path, Field("masked", "u8", (3, 24, 32)), Field("mask", "u8", (24, 32), "target"))
    with Loader(db, transforms=[RandomFlip(1.0), ToFloat32()], masks="mask") as loader:
        batch = next(iter(loader))
    assert batch["masked"].dtype == np.float32 and np.array_equal(batch["mask"][0], CLASSES[:, ::-1])
