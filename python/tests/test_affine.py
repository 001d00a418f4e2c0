"""Rotations and affine maps in C: the pixels, masks and boxes of torchvision's v2 for the same parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from image_tools import transformed

import apldata
from apldata import (
    AlternatingFlip,
    CenterCrop,
    ColorJitter,
    Field,
    InvalidError,
    Loader,
    RandAugment,
    RandomAffine,
    RandomFlip,
    RandomRotation,
    Resize,
    Writer,
)
from apldata.kinds import Boxes, Mask

SOME = 30
FILL = [9.0, 200.0, 50.0]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def images(drawn: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    return drawn["test"]["image"]


def off(mine: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The share of values that are not within a level, of each image."""
    assert mine.shape == there.shape
    return (np.abs(mine.astype(int) - there) > 1).mean(axis=(1, 2, 3))


CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("RandomRotation", {"degrees": (30, 30)}, {}),
    ("RandomRotation", {"degrees": (-77.5, -77.5), "center": (5, 20), "fill": FILL}, {}),
    ("RandomRotation", {"degrees": (90, 90), "fill": 7}, {}),
    ("RandomRotation", {"degrees": (41, 41), "fill": None}, {}),
    ("RandomAffine", {"degrees": (13, 13)}, {}),
    ("RandomAffine", {"degrees": (13, 13), "scale": (0.7, 0.7), "fill": None}, {}),
    ("RandomAffine", {"degrees": 0, "scale": (0.6, 0.6), "fill": FILL}, {}),
    ("RandomAffine", {"degrees": (-20, -20), "scale": (1.4, 1.4), "shear": (12, 12)}, {}),
    (
        "RandomAffine",
        {"degrees": (140, 140), "shear": (12, 12, -25, -25), "center": (3.5, 30), "fill": 255},
        {},
    ),
]


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join([case[0], *map(str, case[1].values())]))
def test_pixels_are_those_of_torchvision(
    store: apldata.Store, images: np.ndarray, case: Any, interpolation: str
) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    name, given, _ = case
    step = getattr(v2, name)(**given, interpolation=v2.InterpolationMode(interpolation))
    there = step(torch.from_numpy(images[:SOME])).numpy()
    mine = transformed(store, getattr(apldata, name)(**given, interpolation=interpolation))[:SOME]
    assert off(mine, there).max() <= 0.004  # pixels between two


def test_moves_are_those_of_torchvision(store: apldata.Store, images: np.ndarray) -> None:
    """Every image is moved by a whole number of pixels, at most a tenth of a side."""
    functional = pytest.importorskip("torchvision.transforms.v2.functional")
    torch = pytest.importorskip("torch")
    mine = transformed(store, RandomAffine(0, translate=(0.1, 0.05), fill=FILL), seed=3)
    seen = set()
    found = np.zeros(len(images), bool)
    for right in range(-3, 4):
        for down in range(-2, 3):
            there = functional.affine(
                torch.from_numpy(images), 0, [right, down], 1.0, [0, 0], fill=FILL
            ).numpy()
            same = (there == mine).all(axis=(1, 2, 3))
            found |= same
            seen |= {(right, down)} if same.any() else set()
    assert found.all() and len(seen) > 25


def test_nothing_but_the_record_matters(store: apldata.Store) -> None:
    steps = [RandomFlip(), RandomAffine(20, (0.1, 0.1), (0.8, 1.2), 10, "bilinear", p=0.7), RandAugment()]
    alone = transformed(store, *steps, seed=9, threads=0)
    assert np.array_equal(transformed(store, *steps, seed=9, threads=3, batch_size=7), alone)
    with Loader(store, split="test", batch_size=33, seed=9, transforms=steps) as loader:
        state = None
        for number, batch in enumerate(loader):
            assert np.array_equal(batch["image"], alone[np.asarray(batch.ids) - 1000])
            if number == 1:
                state = loader.state_dict()
    with Loader(store, split="test", batch_size=33, seed=9, transforms=steps) as loader:
        loader.load_state_dict(state)
        batch = next(iter(loader))
        assert np.array_equal(batch["image"], alone[np.asarray(batch.ids) - 1000])


# --------------------------------------------------------------------------------------- masks and boxes

FIELDS: dict[str, Any] = {
    "image": Field("image", "u8", (3, -1, -1)),
    "mask": Field("mask", "u8", (-1, -1), "target", kind=Mask()),
    "parts": Field("parts", "i32", (2, -1, -1), "target", kind=Mask()),
    "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
}


def record(number: int, box_format: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(number)
    corners = np.sort(rng.random((1 + number % 4, 2, 2)), axis=1) * [84, 72] - 12  # also beyond the image
    boxes = corners.reshape(-1, 4).astype(np.float32)
    if box_format == "XYWH":
        boxes[:, 2:] -= boxes[:, :2]
    if box_format == "CXCYWH":
        boxes = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)
    return {
        "image": rng.integers(0, 256, (3, 48, 60), np.uint8),
        "mask": rng.integers(0, 21, (48, 60), np.uint8),
        "parts": rng.integers(-1, 100000, (2, 48, 60), np.int32),
        "boxes": boxes,
    }


@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
def test_masks_and_boxes_follow(box_format: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    form = Field("boxes", "f32", (-1, 4), "target", kind=Boxes(box_format.lower()))
    with Writer(tmp_path / "db", FIELDS | {"boxes": form}) as writer:
        for number in range(6):
            writer.append(**record(number, box_format))
    given: dict[str, Any] = {"degrees": (33, 33), "scale": (0.8, 0.8), "shear": (10, 10), "fill": 4}
    cases: list[tuple[list[Any], list[Any]]] = [
        (
            [CenterCrop((40, 44)), RandomFlip(1.0), RandomAffine(**given)],
            [v2.CenterCrop((40, 44)), v2.RandomHorizontalFlip(1), v2.RandomAffine(**given)],
        ),
        (
            [Resize((24, 30)), RandomRotation((-15, -15), center=(4, 9))],
            [v2.Resize((24, 30)), v2.RandomRotation((-15, -15), center=(4, 9))],
        ),
        (
            [Resize((48, 60)), RandomFlip(1.0), RandomRotation((40, 40))],
            [v2.RandomHorizontalFlip(1), v2.RandomRotation((40, 40))],
        ),
    ]
    options: dict[str, Any] = {"shuffle": False}
    for ours, theirs in cases:
        step = v2.Compose(theirs)
        with Loader(tmp_path / "db", batch_size=6, threads=1, transforms=ours, **options) as loader:
            batch = next(iter(loader))
            for number in range(6):
                it = record(number, box_format)
                sample = {
                    "image": tv_tensors.Image(torch.from_numpy(it["image"])),
                    "mask": tv_tensors.Mask(torch.from_numpy(it["mask"])),
                    "parts": tv_tensors.Mask(torch.from_numpy(it["parts"])),
                    "boxes": tv_tensors.BoundingBoxes(
                        torch.from_numpy(it["boxes"]), format=box_format, canvas_size=(48, 60)
                    ),
                }
                there = {name: value.numpy() for name, value in step(sample).items()}
                for name in ("mask", "parts"):
                    assert (batch[name][number] != there[name]).mean() < 0.004, name
                assert np.abs(np.array(batch["boxes"][number]) - there["boxes"]).max() < 2e-3
                assert off(batch["image"][number][None], there["image"][None]).max() < 0.004


def test_masks_are_filled_as_asked(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", FIELDS) as writer:
        writer.append(**record(1, "XYXY"))

    def corner(name: str, **given: Any) -> int:
        steps = [CenterCrop(40), RandomRotation((45, 45), **given)]
        with Loader(tmp_path / "db", fields=list(FIELDS)[:3], transforms=steps) as loader:
            return int(np.array(next(iter(loader))[name]).flat[0])

    assert corner("mask") == 0 and corner("mask", fill=5) == 5 and corner("mask", fill=FILL) == 0
    assert corner("mask", fill=5, mask_fill=255) == 255 and corner("image", fill=5, mask_fill=255) == 5
    with pytest.raises(InvalidError, match="field mask: u8 cannot hold affine_mask_fill -1 exactly"):
        corner("mask", mask_fill=-1)


# ------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: RandomRotation(10, expand=True), "expand makes images of different sizes"),
        (lambda: RandomRotation(-1), "degrees must be a number from 0 to 360"),
        (lambda: RandomRotation((5, 400)), "degrees must be a pair"),
        (lambda: RandomRotation(5, "cubic"), "interpolation must be"),
        (lambda: RandomRotation(5, center=4), "center must be a point"),
        (lambda: RandomAffine(5, translate=(0.1, 2)), "translate must be a probability"),
        (lambda: RandomAffine(5, translate=0.1), "translate must be a pair of fractions"),
        (lambda: RandomAffine(5, scale=(0, 1)), "scale must be a pair"),
        (lambda: RandomAffine(5, shear=90), "shear must be a number from 0 to 80"),
        (lambda: RandomAffine(5, shear=(1, 2, 3)), "shear must be a pair"),
        (lambda: RandomAffine(5, fill=-1), "fill must be numbers from 0 to 255"),
    ],
)
def test_wrong_arguments(make: Any, text: str) -> None:
    with pytest.raises(InvalidError, match=text):
        make()


def test_orders(store: apldata.Store) -> None:
    """A flip after it gives the same as one before it if both ways are as likely."""
    for steps in (
        [RandomRotation((0, 20)), RandomFlip()],
        [RandomAffine(9, center=(1, 1)), AlternatingFlip()],
    ):
        with pytest.raises(InvalidError, match=r"Flip.* after Random"):
            Loader(store, transforms=steps)
    first = transformed(store, RandomFlip(), RandomRotation(20))
    assert np.array_equal(transformed(store, RandomRotation(20), RandomFlip()), first)
    with pytest.raises(InvalidError, match=r"RandomRotation.* after ColorJitter"):
        Loader(store, transforms=[ColorJitter(0.1), RandomRotation(5)])
    with pytest.raises(InvalidError, match="sets the same"):
        Loader(store, transforms=[RandomAffine(5), RandomRotation(5)])
    with pytest.raises(InvalidError, match="2 fill values for 3 channels"):
        Loader(store, transforms=RandomRotation(5, fill=(1, 2)))


def test_those_of_torchvision_become_ours(store: apldata.Store) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    from apldata._foreign import Wrapped, resolved

    names = ("image",)
    assert resolved(v2.RandomRotation(5), store) == [RandomRotation((-5.0, 5.0), field=names)]
    affine = v2.RandomAffine((1, 2), (0.1, 0.2), (0.5, 2), 7, v2.InterpolationMode.BILINEAR, FILL, (3, 4))
    assert resolved(v2.RandomApply([affine], 0.3), store) == [
        RandomAffine(
            (1.0, 2.0), (0.1, 0.2), (0.5, 2.0), (-7.0, 7.0), "bilinear", FILL, (3.0, 4.0), p=0.3, field=names
        )
    ]
    unblended = v2.RandomAffine(5, interpolation=v2.InterpolationMode.BILINEAR, fill=None)
    assert resolved(unblended, store) == [
        RandomAffine((-5.0, 5.0), interpolation="bilinear", fill=None, field=names)
    ]
    flip = v2.RandomHorizontalFlip()
    assert len(resolved([v2.RandomRotation(5), flip, v2.RandAugment()], store)) == 3
    for steps in (
        [v2.RandomRotation(5, expand=True)],
        [v2.RandomRotation((0, 5)), flip],
        [v2.ColorJitter(0.5), v2.RandomAffine(5)],
    ):
        assert isinstance(resolved(steps, store)[-1], Wrapped), steps
