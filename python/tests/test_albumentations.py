"""Transforms of Albumentations given to a loader: they do what they do there, or are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from foreign_tools import MEAN, STD, epoch

A = pytest.importorskip("albumentations")

import apldata  # noqa: E402
from apldata import Loader, Normalize, PerPicture, RandomCrop, RandomFlip, RandomVerticalFlip, ToFloat32  # noqa: E402
from apldata._foreign import Wrapped, resolved  # noqa: E402
from apldata.kinds import Boxes, Image, Label, Mask  # noqa: E402

BRIGHT = A.RandomBrightnessContrast(p=1.0)


def test_those_with_an_equal_run_in_c(store: apldata.Store, images: np.ndarray) -> None:
    names = ("image",)
    given = [A.RandomCrop(28, 24), A.HorizontalFlip(p=0.3), A.VerticalFlip(), A.Normalize(MEAN, STD)]
    expected = [
        RandomCrop((28, 24), 0, field=names),
        RandomFlip(0.3, field=names),
        RandomVerticalFlip(0.5, field=names),
        Normalize(list(MEAN), list(STD), field=names),
    ]
    assert resolved(A.Compose(given), store) == resolved(given, store) == expected
    assert resolved(A.ToFloat(max_value=255), store) == [ToFloat32(field=names)]
    there = A.Normalize(MEAN, STD)
    expected_images = np.stack(
        [there(image=x.transpose(1, 2, 0))["image"].transpose(2, 0, 1) for x in images]
    )
    assert np.abs(epoch(store, there) - expected_images).max() < 1e-5


@pytest.mark.parametrize(
    "make",
    [
        lambda: A.RandomCrop(28, 28, p=0.5),
        lambda: A.Compose([A.HorizontalFlip()], p=0.5),
        lambda: A.CenterCrop(29, 29),  # whose middle is rounded in another way
        lambda: A.Normalize(MEAN, STD, normalization="image"),
        lambda: A.Compose([A.Compose([A.HorizontalFlip()], p=0.5)]),
    ],
)
def test_others_do_not(store: apldata.Store, make: Any) -> None:
    (made,) = resolved(make(), store)
    assert isinstance(made, Wrapped)


SAME_NAMES = {  # as classes of torchvision, which C knows
    "GaussianBlur": lambda: A.GaussianBlur(p=1.0),
    "ElasticTransform": lambda: A.ElasticTransform(p=1.0),
    "ColorJitter": lambda: A.ColorJitter(p=1.0),
    "Pad": lambda: A.Pad((2, 3), fill=7),
    "Resize": lambda: A.Resize(20, 24),
    "RandomResizedCrop": lambda: A.RandomResizedCrop((24, 24)),
    "RandomCrop": lambda: A.RandomCrop(40, 40, pad_if_needed=True),
    "CenterCrop": lambda: A.CenterCrop(40, 40, pad_if_needed=True),
    "Normalize": lambda: A.Normalize(MEAN, STD, max_pixel_value=100.0),
    "RandomOrder": lambda: A.RandomOrder([A.GaussianBlur(p=1.0), A.Solarize(p=1.0)], p=1.0),
}


@pytest.mark.parametrize("name", SAME_NAMES)
def test_one_of_another_librarys_name_is_itself(store: apldata.Store, images: np.ndarray, name: str) -> None:
    (made,) = resolved(A.Compose([A.HorizontalFlip(p=1.0), SAME_NAMES[name]()]), store)[1:]
    assert isinstance(made, Wrapped)
    assert len(epoch(store, [A.HorizontalFlip(p=1.0), SAME_NAMES[name]()])) == len(images)


@pytest.mark.parametrize(
    "step",
    [
        A.GaussianBlur(blur_limit=(5, 5), sigma_limit=(1.5, 1.5), p=1.0),
        A.ColorJitter((0.7, 0.7), (1, 1), (1, 1), (0, 0), p=1.0),
        A.Pad((2, 3), fill=7),
        A.Resize(20, 24),
        A.CenterCrop(40, 40, pad_if_needed=True),
        A.CenterCrop(24, 20),
        A.Normalize(MEAN, STD, max_pixel_value=100.0),
    ],
    ids=lambda step: type(step).__name__,
)
def test_one_of_another_librarys_name_does_what_it_does(
    store: apldata.Store, images: np.ndarray, step: Any
) -> None:
    flipped = [A.HorizontalFlip(p=1.0), step]
    there = A.Compose(flipped)
    expected = np.stack([there(image=x.transpose(1, 2, 0))["image"].transpose(2, 0, 1) for x in images])
    assert np.array_equal(epoch(store, A.Compose(flipped)), expected)
    assert np.array_equal(epoch(store, flipped), expected)


def test_one_that_normalises_in_another_way_converts_itself(tmp_path: Path) -> None:
    pixels = np.arange(2 * 32 * 32, dtype=np.uint8).reshape(2, 1, 32, 32)
    apldata.convert({"image": pixels}, tmp_path / "db")
    step = A.Normalize(MEAN, STD)  # of three channels
    expected = np.stack([step(image=x.transpose(1, 2, 0))["image"].transpose(2, 0, 1) for x in pixels])
    with Loader(tmp_path / "db", transforms=step, shuffle=False) as loader:
        (batch,) = loader
        assert np.array_equal(batch["image"], expected)


def test_the_first_that_differ_come_to_c(store: apldata.Store) -> None:
    first, second = resolved(A.Compose([A.HorizontalFlip(), BRIGHT, A.VerticalFlip()]), store)
    assert first == RandomFlip(0.5, field=("image",)) and isinstance(second, Wrapped)
    assert [type(part) for part in second.transforms[0].transforms] == [type(BRIGHT), A.VerticalFlip]


def test_what_is_not_random_is_as_there(store: apldata.Store, images: np.ndarray) -> None:
    step = A.Compose([A.Resize(20, 24), A.ToGray(p=1.0), A.Normalize(MEAN, STD)])
    expected = np.stack([step(image=x.transpose(1, 2, 0))["image"].transpose(2, 0, 1) for x in images])
    assert np.array_equal(epoch(store, step), expected)


RANDOM = {
    "bright": lambda: BRIGHT,
    "several": lambda: A.Compose([A.Affine(rotate=(-30, 30), p=1.0), A.GaussNoise(p=1.0)]),
    "one-of": lambda: A.OneOf([A.HueSaturationValue(p=1.0), A.RandomGamma(p=1.0)], p=1.0),
    "resized": lambda: A.RandomResizedCrop((24, 24)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_randomness_is_keyed_by_the_record(store: apldata.Store, name: str) -> None:
    some = {"ids": range(1000, 1040)}
    first = epoch(store, RANDOM[name](), seed=3, threads=1, **some)
    assert len({image.tobytes() for image in first}) > 30
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, batch_size=11, threads=3, **some), first)
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, batch_size=40, threads=3, **some), first)
    assert np.array_equal(epoch(store, RANDOM[name](), seed=3, shuffle=True, **some), first)
    assert not np.array_equal(epoch(store, RANDOM[name](), seed=3, first_epoch=1, **some), first)
    assert not np.array_equal(epoch(store, RANDOM[name](), seed=4, **some), first)


def test_parts_draw_apart(tmp_path: Path) -> None:
    """One seed for all parts would tie the flips to each other."""
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (3, 8, 8))}) as writer:
        writer.begin("test")
        writer.extend(image=np.tile(np.arange(192, dtype=np.uint8).reshape(1, 3, 8, 8), (64, 1, 1, 1)))
    seen = epoch(
        tmp_path / "s", A.Compose([A.NoOp(p=0.5), A.HorizontalFlip(), A.VerticalFlip(), A.Transpose(p=0.0)])
    )
    assert len({image.tobytes() for image in seen}) == 4


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Images, masks that are their first channels, a box around the brightest pixel, and its class."""
    path = str(tmp_path_factory.mktemp("scenes") / "s")
    random = np.random.default_rng(3)
    image = random.integers(0, 200, (64, 3, 16, 16), dtype=np.uint8)
    at = random.integers(2, 14, (64, 2))
    image[np.arange(64), :, at[:, 0], at[:, 1]] = 250
    fields = {
        "image": ("u8", (3, 16, 16)),
        "mask": apldata.Field("mask", "u8", (1, 16, 16), "target", kind=Mask()),
        "segmentation": apldata.Field("segmentation", "u8", (16, 16), "target", kind=Mask()),
        "boxes": apldata.Field("boxes", "f32", (1, 4), kind=Boxes()),
        "kinds": apldata.Field("kinds", "u8", (1,), kind=Label(per="boxes")),
    }
    boxes = np.stack([at[:, 1], at[:, 0], at[:, 1] + 1, at[:, 0] + 1], 1).astype(np.float32)[:, None]
    with apldata.Writer(path, fields) as writer:
        writer.extend(
            image=image, mask=image[:, :1], segmentation=image[:, 0], boxes=boxes, kinds=np.full((64, 1), 3)
        )
    return path


@pytest.mark.parametrize("masks", [["mask"], ["mask", "segmentation"]])
def test_image_and_mask_are_one_draw(scenes: str, masks: list[str]) -> None:
    for step in (
        A.HorizontalFlip(),
        A.Compose([A.RandomRotate90(), A.RandomCrop(12, 12), A.HorizontalFlip()]),
    ):
        with Loader(scenes, batch_size=64, fields=["image", *masks], transforms=step) as loader:
            batch = next(iter(loader))
            for name in masks:
                assert batch[name].shape[1:-2] == ((1,) if name == "mask" else ())
                assert np.array_equal(batch["image"][:, 0], batch[name].reshape(batch["image"][:, 0].shape))


def test_boxes_move_with_the_image(scenes: str) -> None:
    wanted = ["image", "boxes", "kinds"]
    params = A.BboxParams(format="pascal_voc", label_fields=["kinds"])
    step = A.Compose([A.HorizontalFlip(), A.VerticalFlip()], bbox_params=params)
    with Loader(scenes, batch_size=64, fields=wanted, transforms=step) as loader:
        batch = next(iter(loader))
        x, y = np.stack(batch["boxes"])[:, 0, :2].round().astype(int).T
        assert (batch["image"][np.arange(64), 0, y, x] == 250).all() and (np.stack(batch["kinds"]) == 3).all()
    with pytest.raises(
        apldata.InvalidError,
        match=r"boxes of the form xyxy: give A\.Compose bbox_params=A\.BboxParams\('pascal_voc'\), or leave",
    ):
        Loader(scenes, fields=wanted, transforms=A.HorizontalFlip())
    Loader(scenes, fields=wanted, transforms=BRIGHT).close()  # moves nothing


def test_tensors_keep_their_channels_first(store: apldata.Store, images: np.ndarray) -> None:
    to_tensor = pytest.importorskip("albumentations.pytorch").ToTensorV2
    assert np.array_equal(epoch(store, to_tensor()), images)
    assert np.array_equal(epoch(store, PerPicture(to_tensor())), images)
    assert np.array_equal(epoch(store, [A.ToGray(p=1.0), to_tensor()]), epoch(store, A.ToGray(p=1.0)))


def test_grey_images(tmp_path: Path) -> None:
    digits = np.random.default_rng(1).integers(0, 256, (40, 28, 28), dtype=np.uint8)
    with apldata.Writer(tmp_path / "s", {"image": ("u8", (28, 28))}) as writer:
        writer.begin("test")
        writer.extend(image=digits)
    assert np.array_equal(epoch(tmp_path / "s", A.HorizontalFlip(p=1)), digits[:, :, ::-1])
    assert np.array_equal(epoch(tmp_path / "s", A.Transpose(p=1)), digits.transpose(0, 2, 1))


def test_they_are_refused_at_the_first_batch_at_the_latest(store: apldata.Store) -> None:
    with pytest.raises(apldata.InvalidError, match=r"RandomCrop.*cannot be applied to image: u8\[3,32,32\]"):
        next(iter(Loader(store, transforms=A.RandomCrop(50, 50))))
    with pytest.raises(apldata.InvalidTypeError, match="is a class: write HorizontalFlip"):
        Loader(store, transforms=A.HorizontalFlip)


def test_channels_may_come_last_in_low_images(tmp_path: Path) -> None:
    """16 rows are not 16 channels."""
    images = np.random.default_rng(0).integers(0, 256, (4, 16, 20, 3), dtype="u1")
    apldata.convert({"image": images}, tmp_path / "s")
    (batch,) = apldata.Loader(
        tmp_path / "s",
        batch_size=4,
        shuffle=False,
        transforms=[A.HorizontalFlip(p=1.0)],
        kinds={"image": Image()},
    )
    assert np.array_equal(batch["image"], images[:, :, ::-1].transpose(0, 3, 1, 2))
