"""Steps in Python of several image fields: each field by itself, and yet in one draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import Field, PerPicture
from apldata.kinds import Image


def steps(library: str) -> Any:
    if library == "torchvision":
        v2 = pytest.importorskip("torchvision.transforms.v2")
        return v2.Compose([v2.Lambda(lambda image: image), v2.RandomCrop(12), v2.RandomHorizontalFlip()])
    albumentations = pytest.importorskip("albumentations")
    return albumentations.Compose([
        albumentations.Transpose(p=0.0), albumentations.RandomCrop(12, 12), albumentations.HorizontalFlip()
    ])  # fmt: skip


@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_each_field_by_itself_is_drawn_as_the_others(library: str, tmp_path: Path) -> None:
    fields = [Field(name, "u8", (3, 20, 20), kind=Image()) for name in ("left", "right")]
    with apldata.Writer(tmp_path / "s", fields) as writer:
        image = np.arange(1200).astype(np.uint8).reshape(3, 20, 20)
        writer.extend(left=[image] * 60, right=[image] * 60)
    each = [PerPicture(steps(library), field=name) for name in ("left", "right")]
    again = [PerPicture(steps(library), field=name) for name in ("left",)]
    with apldata.Loader(tmp_path / "s", batch_size=60, transforms=each) as loader:
        (batch,) = loader
        assert np.array_equal(batch["left"], batch["right"])
        assert len({value.tobytes() for value in batch["left"]}) > 30
        once = batch["left"].copy()
    with apldata.Loader(tmp_path / "s", batch_size=60, transforms=again) as loader:
        (batch,) = loader
        assert np.array_equal(batch["left"], once)
