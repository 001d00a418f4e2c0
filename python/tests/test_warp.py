"""Perspectives and elastic deformations in C: what torchvision's v2 makes of the same draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from draw_tools import effect_key, words
from image_tools import transformed

import apldata
from apldata import (
    CenterCrop,
    ColorJitter,
    ElasticTransform,
    Field,
    InvalidError,
    Loader,
    RandomAffine,
    RandomCrop,
    RandomFlip,
    RandomPerspective,
    RandomRotation,
    Writer,
)
from apldata.kinds import Boxes, Mask
from apldata.transforms import Pad, SanitizeBoundingBoxes

SEED = 6
FILL = [9.0, 200.0, 50.0]
# Numbers of what is drawn: see reader/effects/draws.h.
PERSPECTIVE, RIGHT, DOWN = 7, 0xC0000000, 0xE0000000


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def corners_of(number: int, height: int, width: int, distortion: float) -> tuple[Any, Any]:
    """torchvision's corners before and after."""
    drawn = words(effect_key(SEED, 0), number, PERSPECTIVE, 3).astype(np.uint64)
    right, low = int(distortion * (width // 2)) + 1, int(distortion * (height // 2)) + 1
    across, down = (drawn[1] * np.uint64(right)) >> 32, (drawn[2] * np.uint64(low)) >> 32
    corner = [(0, 0), (width - right, 0), (width - right, height - low), (0, height - low)]
    after = [[int(x + a), int(y + d)] for (x, y), a, d in zip(corner, across, down, strict=True)]
    return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], after


def displacement_of(number: int, height: int, width: int, alpha: Any, sigma: Any) -> Any:
    """torchvision's, of the noise of a record."""
    import torch
    from torchvision.transforms.v2 import functional

    planes = []
    for first, most, length, smooth in zip((RIGHT, DOWN), alpha, (width, height), sigma, strict=True):
        drawn = words(effect_key(SEED, 0), number, first, (height * width + 3) // 4)
        noise = (drawn.reshape(-1)[: height * width] >> 8) * 2.0**-23 - 1
        plane = torch.from_numpy(noise.astype(np.float32).reshape(1, 1, height, width))
        size = int(8 * smooth + 1) | 1
        if smooth > 0:
            plane = functional.gaussian_blur(plane, [size, size], list(sigma))
        planes.append(plane * most / length)
    return torch.cat(planes, 1).permute(0, 2, 3, 1)


def check(mine: np.ndarray, there: np.ndarray) -> None:
    """But for the pixels that lie between two, which torch's single precision takes either of, values are
    within a level: 2 in 1,000 on average, as corners are whole numbers, and 15 of an image."""
    assert mine.shape == there.shape
    off = (np.abs(mine.astype(int) - there.astype(int)) > 1).mean(axis=(1, 2, 3))
    assert off.mean() <= 0.002 and off.max() <= 0.015


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize(("distortion", "fill"), [(0.5, 0), (0.9, FILL), (0.3, None)])
def test_perspectives_are_those_of_torchvision(
    store: apldata.Store, drawn: Any, distortion: float, fill: Any, interpolation: str
) -> None:
    import torch

    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    images = drawn["test"]["image"][:30]
    step = RandomPerspective(distortion, 1.0, interpolation, fill)
    mine = transformed(store, step, seed=SEED)[:30]
    there = [
        functional.perspective(
            torch.from_numpy(image), *corners_of(1000 + n, *image.shape[-2:], distortion), interpolation, fill
        ).numpy()
        for n, image in enumerate(images)
    ]
    check(mine, np.stack(there))


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize(
    ("alpha", "sigma", "fill"),
    [((50, 50), (3, 3), 0), ((400, 90), (2, 3.4), FILL), ((6, 9), (0, 0), None), ((0, 30), (1, 1), 255)],
)
def test_elastic_ones_are_those_of_torchvision(
    store: apldata.Store, drawn: Any, alpha: Any, sigma: Any, fill: Any, interpolation: str
) -> None:
    import torch

    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    images = drawn["test"]["image"][:30]
    mine = transformed(store, ElasticTransform(alpha, sigma, interpolation, fill), seed=SEED)[:30]
    there = [
        functional.elastic(
            torch.from_numpy(image),
            displacement_of(1000 + n, *image.shape[-2:], alpha, sigma),
            interpolation,
            fill,
        ).numpy()
        for n, image in enumerate(images)
    ]
    check(mine, np.stack(there))


def test_as_often_as_asked(store: apldata.Store, drawn: Any) -> None:
    images = drawn["test"]["image"]
    for step in (RandomPerspective(0.8, 0.3), ElasticTransform(100, 2, p=0.3)):
        moved = (transformed(store, step) != images).any(axis=(1, 2, 3)).mean()
        assert abs(moved - 0.3) < 0.16
    for step in (RandomPerspective(0, 1), RandomPerspective(p=0), ElasticTransform(0), ElasticTransform(p=0)):
        assert np.array_equal(transformed(store, step), images)


def test_nothing_but_the_record_matters(store: apldata.Store) -> None:
    steps = [RandomFlip(), RandomAffine(20), RandomPerspective(), ElasticTransform(sigma=2), ColorJitter(0.3)]
    alone = transformed(store, *steps, seed=9, threads=0)
    assert np.array_equal(transformed(store, *steps, seed=9, threads=3, batch_size=7), alone)


FIELDS: dict[str, Any] = {
    "image": Field("image", "u8", (3, -1, -1)),
    "mask": Field("mask", "u8", (-1, -1), "target", kind=Mask()),
    "parts": Field("parts", "i32", (2, -1, -1), "target", kind=Mask()),
    "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
}
HEIGHT, WIDTH = 48, 60


def record(number: int, box_format: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(number)
    corners = np.sort(rng.random((1 + number % 4, 2, 2)), axis=1) * [WIDTH, HEIGHT]
    boxes = corners.reshape(-1, 4).astype(np.float32)
    if box_format == "XYWH":
        boxes[:, 2:] -= boxes[:, :2]
    if box_format == "CXCYWH":
        boxes = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)
    return {
        "image": rng.integers(0, 256, (3, HEIGHT, WIDTH), np.uint8),
        "mask": rng.integers(0, 21, (HEIGHT, WIDTH), np.uint8),
        "parts": rng.integers(-1, 100000, (2, HEIGHT, WIDTH), np.int32),
        "boxes": boxes,
    }


@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize(
    "moves", [("affine",), ("perspective",), ("elastic",), ("affine", "perspective", "elastic")]
)
def test_masks_and_boxes_follow(moves: Any, box_format: str, tmp_path: Path) -> None:
    import torch

    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    form = Field("boxes", "f32", (-1, 4), "target", kind=Boxes(box_format.lower()))
    with Writer(tmp_path / "db", FIELDS | {"boxes": form}) as writer:
        for number in range(6):
            writer.append(**record(number, box_format))
    size, alpha, sigma = (40, 44), (60, 90), (3, 2)
    ours: dict[str, Any] = {
        "affine": RandomAffine((9, 9), fill=4),
        "perspective": RandomPerspective(0.6, 1, "nearest", fill=4),
        "elastic": ElasticTransform(alpha, sigma, "nearest", fill=4),
    }
    options: dict[str, Any] = {"shuffle": False, "seed": SEED}
    steps = [CenterCrop(size), *(ours[move] for move in moves)]
    with Loader(tmp_path / "db", batch_size=6, threads=1, transforms=steps, **options) as loader:
        batch = next(iter(loader))
    for number in range(6):
        it = record(number, box_format)
        sample: dict[str, Any] = {
            "image": tv_tensors.Image(torch.from_numpy(it["image"])),
            "mask": tv_tensors.Mask(torch.from_numpy(it["mask"])),
            "parts": tv_tensors.Mask(torch.from_numpy(it["parts"])),
            "boxes": tv_tensors.BoundingBoxes(
                torch.from_numpy(it["boxes"]), format=box_format, canvas_size=(HEIGHT, WIDTH)
            ),
        }
        sample = v2.CenterCrop(size)(sample)
        for name, value in sample.items():
            if "affine" in moves:
                value = v2.RandomAffine((9, 9), fill=4)(value)
            if "perspective" in moves:
                value = functional.perspective(value, *corners_of(number, *size, 0.6), "nearest", 4)
            if "elastic" in moves:
                value = functional.elastic(value, displacement_of(number, *size, alpha, sigma), "nearest", 4)
            if name == "boxes":
                off = np.abs(np.array(batch["boxes"][number]) - value.numpy())
                assert np.median(off) < 2e-3 and off.max() < (2e-2 if len(moves) == 1 else 3)
            else:
                assert (batch[name][number] != value.numpy()).mean() < 0.006, name


def test_masks_are_filled_by_each_transform(tmp_path: Path) -> None:
    """As the images are, which look like them."""
    pixels = np.arange(HEIGHT * WIDTH, dtype="u4").reshape(HEIGHT, WIDTH) % 100
    fields = {
        "image": Field("image", "u8", (1, HEIGHT, WIDTH)),
        "mask": Field("mask", "u8", (HEIGHT, WIDTH), "target", kind=Mask()),
    }
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=pixels[None].astype("u1"), mask=pixels.astype("u1"))

    def values(*steps: Any) -> tuple[set[int], set[int]]:
        """That come from fills; of images, and of masks."""
        with Loader(tmp_path / "db", batch_size=1, transforms=list(steps)) as loader:
            batch = next(iter(loader))
        found = [set(np.unique(batch[name]).tolist()) - set(range(100)) for name in ("image", "mask")]
        return found[0], found[1]

    turn, bend = RandomRotation((30, 30), fill=202), RandomPerspective(0.6, 1, "nearest", fill=203)
    assert values(Pad(9, fill=201), turn, bend) == ({201, 202, 203}, {201, 202, 203})
    assert values(Pad(9), RandomRotation((30, 30), fill=202)) == ({202}, {202})
    assert values(RandomCrop(50, padding=9, fill=201), RandomRotation((30, 30))) == ({201}, {201})
    masks = RandomRotation((30, 30), fill=202, mask_fill=255)
    assert values(Pad(9, fill=201), masks, ElasticTransform(300, 0, "nearest", 204)) == (
        {201, 202, 204},
        {201, 255, 204},
    )


def test_boxes_are_left_out_after_they_moved(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", FIELDS) as writer:
        for number in range(6):
            writer.append(**record(number, "XYXY"))
    options: dict[str, Any] = {"fields": ["image", "boxes"]}
    steps = [CenterCrop(40), RandomPerspective(1.0, 1), SanitizeBoundingBoxes(5)]
    with Loader(tmp_path / "db", batch_size=6, transforms=steps, **options) as loader:
        for batch in loader:
            for boxes in batch["boxes"]:
                sides = np.array(boxes)[:, 2:] - np.array(boxes)[:, :2]
                assert (sides >= 5).all()


def test_what_cannot_be_is_refused(store: apldata.Store) -> None:
    for make, says in (
        (lambda: RandomPerspective(1.5), "distortion_scale"),
        (lambda: RandomPerspective(p=2), "RandomPerspective: p"),
        (lambda: RandomPerspective(interpolation="bicubic"), "interpolation"),
        (lambda: RandomPerspective(fill=256), "fill"),
        (lambda: ElasticTransform(-1), "alpha"),
        (lambda: ElasticTransform((1, 2, 3)), "alpha"),
        (lambda: ElasticTransform(sigma=(0, 2)), "sigma"),
        (lambda: ElasticTransform(sigma=101), "sigma"),
    ):
        with pytest.raises(InvalidError, match=says):
            make()
    with pytest.raises(InvalidError, match="smooths over 36 pixels"):
        Loader(store, transforms=ElasticTransform(sigma=9))
    with pytest.raises(InvalidError, match="2 fill values for 3 channels"):
        Loader(store, transforms=RandomPerspective(fill=(1, 2)))
    with pytest.raises(InvalidError, match=r"RandomPerspective.* after ElasticTransform"):
        Loader(store, transforms=[ElasticTransform(sigma=2), RandomPerspective()])


def test_those_of_torchvision_become_ours(store: apldata.Store) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from apldata._foreign import Wrapped, resolved

    names = ("image",)
    assert resolved(v2.RandomPerspective(0.4, 0.2, fill=3), store) == [
        RandomPerspective(0.4, 0.2, "bilinear", 3, field=names)
    ]
    elastic = v2.ElasticTransform(20, [2, 3], v2.InterpolationMode.NEAREST, None)
    assert resolved(v2.RandomApply([elastic], 0.3), store) == [
        ElasticTransform((20.0, 20.0), (2.0, 3.0), "nearest", None, p=0.3, field=names)
    ]
    steps = [v2.RandomAffine(3), v2.RandomPerspective(), v2.ElasticTransform(sigma=2.0), v2.RandAugment()]
    assert not any(isinstance(step, Wrapped) for step in resolved(steps, store))
    for wrong in (
        [v2.ElasticTransform(sigma=2.0), v2.RandomPerspective()],
        [v2.RandomPerspective(interpolation=v2.InterpolationMode.BICUBIC)],
        [v2.ColorJitter(0.5), v2.RandomPerspective()],
    ):
        assert isinstance(resolved(wrong, store)[-1], Wrapped), wrong
