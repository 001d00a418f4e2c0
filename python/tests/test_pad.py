"""Padding in C: the pixels, masks and boxes of torchvision's v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_tools import transformed

import apldata
from apldata import (
    CenterCrop,
    Field,
    InvalidError,
    Loader,
    Normalize,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Writer,
)
from apldata.kinds import Boxes, Mask
from apldata.transforms import Pad

FILL = [9.0, 200.0, 50.0]
MODES = ["constant", "edge", "reflect", "symmetric"]


@pytest.fixture(scope="module")
def images(drawn: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    return drawn["test"]["image"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [3, (5, 0), (1, 2, 30, 4)])
def test_pixels_are_those_of_torchvision(
    store: apldata.Store, images: np.ndarray, padding: Any, mode: str
) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    some = torch.from_numpy(images)
    for fill in [0, 7, FILL] if mode == "constant" else [0]:
        step = v2.Pad(padding, fill, mode)
        assert np.array_equal(transformed(store, Pad(padding, fill, mode)), step(some).numpy())
        cropped = v2.CenterCrop(20)(step(some)).numpy()
        assert np.array_equal(transformed(store, Pad(padding, fill, mode), CenterCrop(20)), cropped)


def windows(padded: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """All crops of one image: by top and left."""
    return np.lib.stride_tricks.sliding_window_view(padded, size, axis=(1, 2)).transpose(1, 2, 0, 3, 4)


@pytest.mark.parametrize("mode", MODES)
def test_random_crops_of_what_is_padded(store: apldata.Store, images: np.ndarray, mode: str) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    padding, fill, size = (20, 1, 6, 30), 5 if mode == "constant" else 0, (14, 11)
    mine = transformed(store, RandomCrop(size, padding, mode, fill=fill), seed=2)
    assert np.array_equal(transformed(store, Pad(padding, fill, mode), RandomCrop(size), seed=2), mine)
    places = set()
    for image, crop in zip(images, mine, strict=True):
        padded = v2.Pad(padding, fill, mode)(torch.from_numpy(image)).numpy()
        found = np.argwhere((windows(padded, size) == crop).all(axis=(2, 3, 4)))
        assert len(found)
        places |= {tuple(found[0])}
    assert len(places) > len(images) / 4
    assert np.array_equal(
        transformed(store, RandomCrop(size, padding, mode, fill=fill), seed=2, threads=3, batch_size=9), mine
    )


def test_nothing_else_changes(store: apldata.Store) -> None:
    """A crop with the same zeros on all sides is made as ever; flips and floats come after padding."""
    torch = pytest.importorskip("torch")
    assert np.array_equal(transformed(store, Pad(0)), transformed(store))
    assert RandomCrop(32, (4, 4)).settings() == RandomCrop(32, 4).settings()
    flipped = transformed(store, RandomFlip(), Pad((3, 1), 4), Normalize(0.5, 0.5))
    assert np.array_equal(transformed(store, Pad((3, 1), 4), RandomFlip(), Normalize(0.5, 0.5)), flipped)
    assert flipped.shape[1:] == (3, 34, 38) and torch.from_numpy(flipped).min() >= -1


FIELDS: dict[str, Any] = {
    "image": Field("image", "u8", (3, -1, -1)),
    "mask": Field("mask", "u8", (-1, -1), "target", kind=Mask()),
    "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
}


def record(number: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(number)
    height, width = 40 + number, 52 - 2 * number
    return {
        "image": rng.integers(0, 256, (3, height, width), np.uint8),
        "mask": rng.integers(0, 21, (height, width), np.uint8),
        "boxes": (np.sort(rng.random((3, 2, 2)), axis=1) * [width, height]).reshape(-1, 4).astype(np.float32),
    }


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scenes") / "db"
    with Writer(path, FIELDS) as writer:
        for number in range(6):
            writer.append(**record(number))
    return path


@pytest.mark.parametrize("mode", MODES)
def test_masks_and_boxes_follow(scenes: Path, mode: str) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    names = ["image", "mask", "boxes"] if mode == "constant" else ["image", "mask"]
    padding, fill = (9, 2, 4, 1), 6 if mode == "constant" else 0
    options: dict[str, Any] = {"fields": names, "shuffle": False, "batch_size": 6}
    for ours, theirs in (
        ([Resize((30, 34)), Pad(padding, fill, mode)], [v2.Resize((30, 34)), v2.Pad(padding, fill, mode)]),
        ([Pad(padding, fill, mode), CenterCrop(34)], [v2.Pad(padding, fill, mode), v2.CenterCrop(34)]),
    ):
        with Loader(scenes, transforms=ours, **options) as loader:
            batch = next(iter(loader))
            for number in range(6):
                it = record(number)
                sample = {
                    "image": tv_tensors.Image(torch.from_numpy(it["image"])),
                    "mask": tv_tensors.Mask(torch.from_numpy(it["mask"])),
                }
                if mode == "constant":
                    sample["boxes"] = tv_tensors.BoundingBoxes(
                        torch.from_numpy(it["boxes"]), format="XYXY", canvas_size=it["mask"].shape
                    )
                there = {name: value.numpy() for name, value in v2.Compose(theirs)(sample).items()}
                assert np.array_equal(batch["mask"][number], there["mask"])
                assert np.abs(batch["image"][number].astype(int) - there["image"]).max() <= 1
                if mode == "constant":
                    assert np.abs(np.array(batch["boxes"][number]) - there["boxes"]).max() < 1e-3


def test_refusals(store: apldata.Store, scenes: Path) -> None:
    for make, text in (
        (lambda: Pad((1, 2, 3)), "padding must be a number of pixels, or two or four"),
        (lambda: Pad(-1), "padding must be"),
        (lambda: Pad(1, 0.5), "fill must be whole numbers"),
        (lambda: Pad(1, 0, "wrap"), "padding_mode must be"),
        (lambda: Loader(store, transforms=Pad(32, 0, "reflect")), "too small to be padded by reflections"),
        (lambda: Loader(store, transforms=[CenterCrop(8), Pad(1)]), r"Pad.* after CenterCrop"),
        (lambda: Loader(store, transforms=[RandomFlip(), Pad((1, 0, 2, 0))]), r"Pad.* after RandomFlip"),
        (lambda: Loader(store, transforms=[Pad(1), Resize(9)]), r"Resize.* after Pad"),
        (lambda: Loader(store, transforms=[Pad(1), RandomResizedCrop(9)]), "neither padded"),
        (lambda: Loader(store, transforms=Pad(1, (1, 2))), "2 fill values for 3 channels"),
        (lambda: Loader(scenes, transforms=[Pad(3)], fields=["image"]), "may have any size"),
        (
            lambda: Loader(scenes, transforms=[Pad(3, 0, "edge"), CenterCrop(8)]),
            "pad with a constant",
        ),
    ):
        with pytest.raises(InvalidError, match=text), make() as loader:
            next(iter(loader))


def test_those_of_torchvision_become_ours(store: apldata.Store) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from apldata._foreign import Wrapped, resolved

    names = ("image",)
    assert resolved(v2.Pad((1, 2), 7), store) == [Pad([1, 2], 7, field=names)]
    both = resolved([v2.RandomHorizontalFlip(), v2.Pad(3, FILL, "symmetric")], store)
    assert both == [RandomFlip(field=names), Pad(3, FILL, "symmetric", field=names)]
    unequal = [v2.RandomHorizontalFlip(), v2.Pad((1, 0, 2, 0))]
    assert isinstance(resolved(unequal, store)[-1], Wrapped)


@pytest.mark.parametrize(("size", "shape"), [(10, (10, 15)), (45, (45, 67)), (20, (20, 30))])
def test_images_of_one_size_are_resized_by_their_shorter_side(
    tmp_path: Path, size: int, shape: tuple[int, int]
) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    import torch

    image = np.random.default_rng(1).integers(0, 256, (3, 20, 30), np.uint8)
    with Writer(tmp_path / "db", {"image": Field("image", "u8", (3, 20, 30))}) as writer:
        writer.append(image=image)
    out = next(iter(Loader(tmp_path / "db", transforms=[Resize(size)])))["image"][0]
    same = v2.Resize(size)(torch.from_numpy(image)).numpy()
    assert out.shape == (3, *shape) == same.shape
    assert np.abs(out.astype(int) - same).max() <= 1
