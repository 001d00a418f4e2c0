"""Transforms of torchvision beside masks and boxes: one draw for all of a record, and nothing left behind."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_tools import MEAN, STD, to_float

pytest.importorskip("torchvision")
v1 = pytest.importorskip("torchvision.transforms")
v2 = pytest.importorskip("torchvision.transforms.v2")

import apldata  # noqa: E402
from apldata import Loader, PerPicture  # noqa: E402
from apldata.kinds import Boxes, Image, Map, Mask, Plain  # noqa: E402


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Images, and masks that are their first channels; a box around the brightest pixel."""
    path = str(tmp_path_factory.mktemp("scenes") / "s")
    random = np.random.default_rng(3)
    image = random.integers(0, 200, (64, 3, 16, 16), dtype=np.uint8)
    at = random.integers(2, 14, (64, 2))
    image[np.arange(64), :, at[:, 0], at[:, 1]] = 250
    boxes = np.stack([at[:, 1], at[:, 0], at[:, 1] + 1, at[:, 0] + 1], 1).astype(np.float32)[:, None]
    fields = {
        "image": ("u8", (3, 16, 16)),
        "mask": apldata.Field("mask", "u8", (1, 16, 16), "target", kind=Mask()),
        "segmentation": apldata.Field("segmentation", "i64", (16, 16), "target", kind=Mask()),
        "boxes": apldata.Field("boxes", "f32", (1, 4), kind=Boxes()),
    }
    with apldata.Writer(path, fields) as writer:
        writer.extend(image=image, mask=image[:, :1], segmentation=image[:, 0], boxes=boxes)
    return path


JOINT = [
    lambda: v2.RandomHorizontalFlip(),
    lambda: v2.RandomCrop(12, padding=2),
    lambda: v2.Compose([v2.RandomVerticalFlip(), v2.RandomRotation(90), v2.RandomHorizontalFlip()]),
    lambda: v2.RandomResizedCrop(12, interpolation=v2.InterpolationMode.NEAREST),
    lambda: v2.RandomAffine(30),
]


@pytest.mark.parametrize("make", JOINT)
@pytest.mark.parametrize("masks", [["mask"], ["mask", "segmentation"]])
def test_image_and_mask_are_one_draw(scenes: str, make: Any, masks: list[str]) -> None:
    with Loader(scenes, batch_size=64, fields=["image", *masks], transforms=make()) as loader:
        batch = next(iter(loader))
        for name in masks:
            mask = batch[name] if name == "segmentation" else batch[name][:, 0]
            assert np.array_equal(batch["image"][:, 0], mask)


@pytest.mark.parametrize("shape", [(20, 24), (1, 20, 24), (20, 24, 1)])
@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_a_mask_keeps_its_shape_wherever_it_is_moved(tmp_path: Path, shape: Any, library: str) -> None:
    pixels = np.random.default_rng(1).integers(0, 200, (40, 20, 24), dtype=np.uint8)
    mask = apldata.Field("mask", "u8", shape, "target", kind=Mask())
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (20, 24)), "mask": mask}) as writer:
        writer.extend(image=pixels, mask=pixels.reshape(40, *shape))
    flip: Any = v2.RandomHorizontalFlip(1)
    in_c, in_python = [flip], [flip, v2.RandomInvert(p=0)]
    if library == "albumentations":
        a = pytest.importorskip("albumentations")
        in_c, in_python = [a.HorizontalFlip(p=1)], [a.Compose([a.HorizontalFlip(p=1), a.Blur(p=0)])]
    for steps in ([], in_c, in_python):
        expected = pixels[..., ::-1] if steps else pixels
        with Loader(tmp_path / "s", batch_size=40, shuffle=False, transforms=steps) as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch["mask"], expected.reshape(40, *shape))
            assert np.array_equal(np.squeeze(batch["image"]), expected)


def test_only_the_image_is_normalised(scenes: str) -> None:
    steps = [v2.RandomHorizontalFlip(), to_float(), v2.Normalize(MEAN, STD)]
    with Loader(scenes, batch_size=64, fields=["image", "mask"], transforms=steps) as loader:
        batch = next(iter(loader))
        assert batch["image"].dtype == np.float32 and batch["mask"].dtype == np.uint8
        back = batch["image"][:, 0] * STD[0] + MEAN[0]
        assert np.array_equal((back * 255).round(), batch["mask"][:, 0])


def test_boxes_move_with_the_image(scenes: str) -> None:
    steps = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomVerticalFlip()])
    for step in (steps, PerPicture(steps), v2.Compose([v2.RandomInvert(0), steps])):
        with Loader(scenes, batch_size=64, fields=["image", "mask", "boxes"], transforms=step) as loader:
            batch = next(iter(loader))
            x, y = np.stack(batch["boxes"])[:, 0, :2].astype(int).T
            assert (batch["image"][np.arange(64), 0, y, x] == 250).all()
            assert np.array_equal(batch["image"][:, 0], batch["mask"][:, 0])


def test_to_tensor_leaves_masks(scenes: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = [v2.RandomRotation(30), v2.ToTensor(), v1.ToTensor()]
    with Loader(scenes, batch_size=64, fields=["image", "mask"], transforms=steps) as loader:
        batch = next(iter(loader))
        assert batch["image"].dtype == np.float32 and batch["mask"].dtype == np.uint8
        assert np.array_equal((batch["image"][:, :1] * 255).round(), batch["mask"])


def test_v1_would_leave_the_mask_behind(scenes: str) -> None:
    with pytest.raises(apldata.InvalidError, match=r"RandomRotation.*would leave mask as it is: .*v2"):
        Loader(scenes, fields=["image", "mask"], transforms=[v1.RandomInvert(0), v1.RandomRotation(10)])
    still = {"mask": Plain()}
    with Loader(
        scenes, batch_size=64, fields=["image", "mask"], transforms=v1.RandomRotation(90), kinds=still
    ) as loader:
        assert not np.array_equal(next(iter(loader))["image"][:, :1], next(iter(loader))["mask"])


def test_mixing_leaves_no_mask_behind(tmp_path: Path) -> None:
    mask = apldata.Field("mask", "u8", (8, 8), "target", kind=Mask())
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, 8, 8)), "mask": mask, "label": "u8"}) as writer:
        writer.extend(image=np.zeros((4, 3, 8, 8)), mask=np.zeros((4, 8, 8)), label=[0] * 4)
    steps = [to_float(), v2.CutMix(num_classes=10)]
    with pytest.raises(
        apldata.InvalidError,
        match="CutMix cannot be used beside 'mask': .* be mixed .*leave it out of fields",
    ):
        Loader(tmp_path / "s", transforms=steps)
    Loader(tmp_path / "s", transforms=steps, fields=["image", "label"]).close()


DEPTH = apldata.Field("depth", "u16", (8, 8), kind=Image())


def test_what_helps_beside_numbers_that_torch_cannot_flip(tmp_path: Path) -> None:
    values = np.arange(4 * 8 * 8).reshape(4, 8, 8) * 200
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, 8, 8)), "depth": DEPTH}) as writer:
        writer.extend(image=np.zeros((4, 3, 8, 8)), depth=values)
    flip = v2.RandomHorizontalFlip(1)
    with pytest.raises(apldata.InvalidError, match=r"uint16: put v2.ToDtype\(torch.int32\) first"):
        next(iter(Loader(tmp_path / "s", transforms=flip, fields=["depth"])))
    options: dict[str, Any] = {"batch_size": 4, "shuffle": False}
    with Loader(tmp_path / "s", transforms=flip, kinds={"depth": Map()}, **options) as loader:
        assert np.array_equal(next(iter(loader))["depth"], values[..., ::-1])
    import torch

    with Loader(
        tmp_path / "s", transforms=[v2.ToDtype(torch.int32), flip], fields=["depth"], **options
    ) as loader:
        assert np.array_equal(np.squeeze(next(iter(loader))["depth"]), values[..., ::-1])
