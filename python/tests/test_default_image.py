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
from apldata.kinds import Mask

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
@pytest.mark.parametrize(("dtype", "shape"), [*IMAGES, *VOLUMES], ids=str)
def test_a_mask_is_not_taken_for_the_image(tmp_path: Path, dtype: str, shape: Any, name: str) -> None:
    mask = Field(name, "u8", shape[-2:] if shape[-1] > 3 else shape[:2], kind=Mask())
    db = store(tmp_path, Field("image", dtype, shape), mask)
    for step in OWN:
        with pytest.raises(NotFoundError, match="no field is an image"):
            Loader(db, transforms=step)


def test_a_target_is_not_taken_for_the_image(tmp_path: Path) -> None:
    db = store(tmp_path, Field("image", "f32", (3, 24, 32)), Field("other", "u8", (24, 32), "target"))
    with pytest.raises(NotFoundError, match="no field is an image"):
        Loader(db, transforms=RandomFlip())
    with Loader(db, transforms=ToFloat32(field="other")) as loader:
        assert next(iter(loader))["other"].dtype == np.float32


@pytest.mark.parametrize("name", ["mask", "seg"])
def test_names_say_nothing(tmp_path: Path, name: str) -> None:
    db = store(
        tmp_path, Field(name, "u8", (3, 24, 32)), Field("image", "u8", (1, 24, 32), "target", kind=Mask())
    )
    with Loader(db, transforms=[RandomFlip(1.0), ToFloat32()]) as loader:
        batch = next(iter(loader))
    assert batch[name].dtype == np.float32 and np.array_equal(batch["image"][0, 0], CLASSES[:, ::-1])
