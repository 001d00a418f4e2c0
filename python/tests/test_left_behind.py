"""What moves with an image is not left in place: it follows, or the transform is refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apldata import (
    CenterCrop,
    CutMix,
    Field,
    InvalidError,
    Loader,
    MixUp,
    NotFoundError,
    PerPicture,
    RandomChoice,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    RandomRotation,
    ToFloat32,
    Writer,
)

SIDES = 16, 20
BOX, FLIPPED = [2, 3, 9, 12], [11, 3, 18, 12]
Y, X = np.mgrid[: SIDES[0], : SIDES[1]]
PIXELS = np.stack([X * 9, Y * 9, X * 9]).astype("u1")


def photo() -> bytes:
    Image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    Image.fromarray(PIXELS.transpose(1, 2, 0)).save(out, "JPEG", quality=95)
    return out.getvalue()


def make(path: Path, image: Field, **others: tuple[Field, Any]) -> Path:
    with Writer(path, {image.name: image, **{name: field for name, (field, _) in others.items()}}) as writer:
        for _ in range(3):
            values = {name: value for name, (_, value) in others.items()}
            writer.append(**{image.name: photo() if image.media else PIXELS}, **values)
    return path


def mask(name: str, dtype: str = "i64", shape: Any = SIDES, mark: str = "target") -> tuple[Field, Any]:
    return Field(name, dtype, shape, mark), X if len(shape) == 2 else X[None]


BOXES = Field("boxes", "f32", (-1, 4), "target"), [BOX]


def flips(library: str) -> list[tuple[str, Any]]:
    """What flips in C, in Python, and within containers."""
    if library == "torchvision":
        v2 = pytest.importorskip("torchvision.transforms.v2")
        flip, python = v2.RandomHorizontalFlip(1), v2.RandomPosterize(8, p=0)
        return [
            ("C", flip), ("Python", v2.Compose([python, flip])), ("choice", v2.RandomChoice([flip, flip])),
            ("apply", v2.RandomApply([python, flip], p=1)),
        ]  # fmt: skip
    A = pytest.importorskip("albumentations")
    flip, python = A.HorizontalFlip(p=1), A.RandomGamma(p=0)
    params = A.BboxParams("pascal_voc", label_fields=[])
    return [
        ("C", flip), ("Python", A.Compose([python, flip])), ("one-of", A.OneOf([flip, A.Transpose()], p=1)),
        ("boxes", A.Compose([python, flip], bbox_params=params)),
    ]  # fmt: skip


@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_naming_one_does_not_leave_the_others(tmp_path: Path, library: str) -> None:
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), mask=mask("mask"), boxes=BOXES)
    for _, step in flips(library):
        with pytest.raises(InvalidError, match=r"leave boxes as it is: .*masks=\['mask'\], boxes='boxes'"):
            Loader(db, transforms=step, masks="mask")
        with pytest.raises(InvalidError, match=r"leave mask as it is: .*masks=\['mask'\], boxes='boxes'"):
            Loader(db, transforms=step, boxes="boxes")
        Loader(db, fields=["image", "mask"], transforms=step, masks="mask").close()
        Loader(db, transforms=PerPicture(step, field="image")).close()  # of that field alone
    for where, step in flips(library):
        if where in ("C", "Python") and not (library == "albumentations" and where == "Python"):
            with Loader(db, transforms=step, masks="mask", boxes="boxes") as loader:
                batch = next(iter(loader))
                assert np.array_equal(batch["mask"][0], X[:, ::-1])
                assert batch["boxes"][0].tolist() == [FLIPPED]


@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_per_picture_leaves_nothing_unsaid(tmp_path: Path, library: str) -> None:
    """Without `field=` it is refused, with all that it would leave; masks and boxes may be named to it."""
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), mask=mask("mask"), boxes=BOXES)
    plain = make(tmp_path / "plain", Field("image", "u8", (3, *SIDES)))
    for where, step in flips(library):
        told = (
            r"leave mask, boxes as it is: .*PerPicture\(\.\.\., masks=\['mask'\], boxes='boxes', box_format="
        )
        with pytest.raises(InvalidError, match=told):
            Loader(db, transforms=PerPicture(step))
        with pytest.raises(
            InvalidError, match=r"leave mask as it is: .*PerPicture\(\.\.\., masks=\['mask'\]\)"
        ):
            Loader(db, fields=["image", "mask"], transforms=PerPicture(step))
        with pytest.raises(InvalidError, match="leave boxes as it is"):
            Loader(db, transforms=PerPicture(step, masks="mask"))
        with Loader(db, fields=["image", "mask"], transforms=PerPicture(step, masks="mask")) as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch["mask"][0], batch["image"][0][0] // 9), where
        Loader(plain, transforms=PerPicture(step)).close()


def test_per_picture_in_python_moves_what_the_loader_is_told(tmp_path: Path) -> None:
    """Masks and boxes that the loader is told follow in C alone."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), mask=mask("mask"), boxes=BOXES)
    steps = v2.Compose([v2.RandomPosterize(8, p=0), v2.RandomHorizontalFlip(1)])
    told = (
        r"leave mask, boxes as it is: name to PerPicture, too, .*: masks=\['mask'\], boxes='boxes', box_form"
    )
    for field in (None, "image"):
        with pytest.raises(InvalidError, match=told):
            Loader(db, transforms=PerPicture(steps, field=field), masks="mask", boxes="boxes")
    each = PerPicture(steps, masks="mask", boxes="boxes", box_format="XYXY")
    for step in (each, PerPicture(v2.RandomHorizontalFlip(1))):
        with Loader(db, transforms=step, masks="mask", boxes="boxes") as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch["mask"][0], X[:, ::-1])
            assert batch["boxes"][0].tolist() == [FLIPPED]
    with Loader(db, transforms=PerPicture(v2.RandomInvert(1)), masks="mask", boxes="boxes") as loader:
        assert np.array_equal(next(iter(loader))["mask"][0], X)  # moves nothing


def test_a_second_mask_is_not_left(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    second = mask("mask2", "u8", mark="input")  # which its name tells from an image
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), mask=mask("mask"), mask2=second)
    for step in (v2.RandomHorizontalFlip(1), v2.RandomCrop(8), v2.RandomAffine(5)):
        with pytest.raises(InvalidError, match=r"leave mask2 as it is: .*masks=\['mask', 'mask2'\]"):
            Loader(db, transforms=step, masks=["mask"])
    with Loader(db, transforms=v2.RandomInvert(1), masks=["mask"]) as loader:  # moves nothing
        assert np.array_equal(next(iter(loader))["mask2"][0], X)


def test_what_looks_like_a_mask_is_not_left(tmp_path: Path) -> None:
    """Without any naming: a target of floats, or a picture of another size."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    other = Field("small", "u8", (3, 8, 10), "target"), PIXELS[:, ::2, ::2]
    for name, field in (("depth", mask("depth", "f32")), ("small", other)):
        db = make(tmp_path / name, Field("image", "u8", (3, *SIDES)), **{name: field})
        with pytest.raises(InvalidError, match=f"leave {name} as it is: .*fields.*PerPicture.*'image'"):
            Loader(db, transforms=v2.RandomHorizontalFlip(1))
        Loader(db, fields=["image"], transforms=v2.RandomHorizontalFlip(1)).close()
        Loader(db, transforms=v2.ColorJitter(0.1)).close()


@pytest.mark.parametrize("library", ["torchvision", "albumentations"])
def test_lists_of_numbers_are_no_masks_of_images(tmp_path: Path, library: str) -> None:
    """Only what is as large as its image is taken for a mask that does not say so."""
    fields = {"image": Field("image", "u8", (3, -1, -1)), "pairs": Field("pairs", "i64", (-1, -1), "target")}
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=PIXELS, pairs=X)
        writer.append(image=PIXELS, pairs=[[1, 2], [3, 4]])
    if library == "torchvision":
        step = pytest.importorskip("torchvision.transforms.v2").RandomHorizontalFlip(1)
    else:
        step = pytest.importorskip("albumentations").HorizontalFlip(p=1)
    told = r"record 1, field pairs: it looks like a mask \(i64\[-1,-1\]\), but has 2 x 2 .* 16 x 20"
    with Loader(tmp_path / "db", batch_size=1, shuffle=False, transforms=step) as loader:
        batches = iter(loader)
        assert np.array_equal(next(batches)["pairs"][0], X[:, ::-1])
        with pytest.raises(InvalidError, match=told):
            next(batches)
    alone = PerPicture(step, field="image")
    with Loader(tmp_path / "db", batch_size=1, shuffle=False, transforms=alone) as loader:
        assert [np.asarray(batch["pairs"][0]).tolist() for batch in loader][1] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("media", [None, "image/jpeg"])
def test_boxes_beside_a_mask_are_not_left(tmp_path: Path, media: str | None) -> None:
    """Of images of any size, whose masks follow without being named."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    image = Field("image", "u8", media=media) if media else Field("image", "u8", (3, -1, -1))
    db = make(tmp_path / "db", image, mask=mask("mask", "u8", (-1, -1)), boxes=BOXES)
    steps = [v2.Resize(SIDES), v2.RandomHorizontalFlip(1)]
    with pytest.raises(InvalidError, match="boxes"):
        Loader(db, transforms=steps)
    with Loader(db, transforms=steps, masks="mask", boxes="boxes") as loader:
        batch = next(iter(loader))
        assert batch["boxes"][0].tolist() == [FLIPPED] and np.array_equal(batch["mask"][0], X[:, ::-1])


@pytest.mark.parametrize("media", ["image/jpeg", None])
@pytest.mark.parametrize("library", ["own", "torchvision", "albumentations"])
def test_features_and_tokens_are_neither_masks_nor_images(
    tmp_path: Path, library: str, media: str | None
) -> None:
    image = Field("image", "u8", media=media) if media else Field("image", "u8", (3, *SIDES))
    values = np.arange(8 * 4 * 5, dtype="f4").reshape(8, 4, 5)
    others: dict[str, tuple[Field, Any]] = {
        "features": (Field("features", "f32", (-1, -1, -1)), values),
        "pairs": (Field("pairs", "f32", (-1, -1, 2)), values[:2, :, :2]),
        "waypoints": (Field("waypoints", "f32", (-1, 2)), values[0, :, :2]),
        "joints": (Field("joints", "f32", (7,)), values[0, 0, :1].repeat(7)),
        "tokens": (Field("tokens", "i64", (-1, -1)), values[0].astype("i8")),
    }
    db = make(tmp_path / "db", image, **others)
    for name, step in [("own", RandomFlip(1.0))] if library == "own" else flips(library):
        if name == "boxes":
            continue
        with Loader(db, batch_size=3, transforms=[RandomResizedCrop(16), step]) as loader:
            batch = next(iter(loader))
            for field, (_, value) in others.items():
                assert np.array_equal(batch[field][0], value), (name, field)


KEYPOINTS = {
    "keypoints": ("f32", (-1, 2)), "Keypoints_xyv": ("i64", (-1, 17, 3)), "landmarks": ("f64", (5, 2)),
    "image_points": ("u16", (-1, 2)), "points2d": ("f16", (4, 2)), "joints": ("f32", (16, 3)),
    "keypoints_flat": ("f32", (51,)), "landmarks_align": ("i32", (10,)), "landmarks68": ("f32", (136,)),
    "keypoints_of_all": ("f32", (-1, 51)), "keypoints_of_any": ("f32", (-1,)),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYPOINTS)
@pytest.mark.parametrize("library", ["own", "torchvision", "albumentations"])
def test_keypoints_are_not_left(tmp_path: Path, name: str, library: str) -> None:
    dtype, shape = KEYPOINTS[name]
    places = np.ones([3 if side == -1 else side for side in shape])
    points = Field(name, dtype, shape, "target"), places
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), **{name: points})
    for where, step in [("own", RandomFlip(1.0))] if library == "own" else flips(library):
        if where == "boxes":
            continue
        advice = r"say field='image'$" if library == "own" else r"say PerPicture\(\.\.\., field='image'\)$"
        with pytest.raises(InvalidError, match=f"leave {name} as it is: keypoints cannot follow.*{advice}"):
            Loader(db, transforms=step)
        alone = RandomFlip(1.0, field="image") if library == "own" else PerPicture(step, field="image")
        with Loader(db, transforms=alone) as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch[name][0], places)
            assert np.array_equal(batch["image"][0], PIXELS[..., ::-1]) or where in ("apply", "one-of")
        Loader(db, transforms=step, fields=["image"]).close()


@pytest.mark.parametrize("library", ["own", "torchvision"])
def test_keypoints_beside_masks_and_boxes(tmp_path: Path, library: str) -> None:
    """These are named first; the advice leaves only the keypoints."""
    points = Field("keypoints", "f32", (-1, 2), "target"), [[2, 3]]
    image = Field("image", "u8", (3, *SIDES))
    db = make(tmp_path / "db", image, mask=mask("mask"), boxes=BOXES, keypoints=points)
    step = RandomFlip(1.0) if library == "own" else flips(library)[1][1]
    said: dict[str, Any] = {"masks": "mask", "boxes": "boxes"}
    if library == "own":
        with pytest.raises(
            InvalidError, match=r"leave mask, boxes as it is: .*masks=\['mask'\], boxes='boxes'"
        ):
            Loader(db, transforms=step)
    told = (
        "say field='image'"
        if library == "own"
        else "say PerPicture.*masks=.'mask'., boxes='boxes', box_format='XYXY'.$"
    )
    with pytest.raises(InvalidError, match=f"leave keypoints as it is: .*{told}"):
        Loader(db, transforms=step, **said)
    if library == "own":
        alone: Any = RandomFlip(1.0, field="image")
    else:
        alone, said = PerPicture(step, field="image", masks=["mask"], boxes="boxes", box_format="XYXY"), {}
    with Loader(db, transforms=alone, **said) as loader:
        batch = next(iter(loader))
        assert np.array_equal(batch["mask"][0], X[:, ::-1]) and batch["boxes"][0].tolist() == [FLIPPED]
        assert batch["keypoints"][0].tolist() == [[2, 3]]


def test_keypoints_move_in_a_function_over_batches(tmp_path: Path) -> None:
    A = pytest.importorskip("albumentations")
    points = Field("keypoints", "f32", (-1, 2), "target"), [[2, 3]]
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), keypoints=points)
    pipeline = A.Compose([A.HorizontalFlip(p=1)], keypoint_params=A.KeypointParams("xy"))
    with pytest.raises(InvalidError, match="leave keypoints as it is"):
        Loader(db, transforms=pipeline)

    def augment(batch: Any) -> None:
        pairs = zip(batch["image"], batch["keypoints"], strict=True)
        made = [pipeline(image=one.transpose(1, 2, 0), keypoints=points) for one, points in pairs]
        batch["image"] = np.stack([one["image"].transpose(2, 0, 1) for one in made])
        batch["keypoints"] = [one["keypoints"] for one in made]

    with Loader(db, transforms=augment) as loader:
        batch = next(iter(loader))
    assert np.array_equal(batch["image"][0], PIXELS[..., ::-1])
    assert np.array(batch["keypoints"][0]).tolist() == [[SIDES[1] - 1 - 2, 3]]


# ------------------------------------------------------------------------------------------------ mixing


def mixed() -> list[list[Any]]:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    cut = v2.CutMix(num_classes=4)
    return [
        [CutMix(num_classes=4)],
        [ToFloat32(), RandomChoice([MixUp(num_classes=4), CutMix(num_classes=4)])],
        [cut],
        [v2.RandomChoice([cut, v2.Identity()])],
        [v2.RandomPosterize(8, p=0), cut],
    ]


OTHERS = {
    "mask": mask("mask"), "depth": mask("depth", "f32"), "boxes": BOXES,
    "keypoints": (Field("keypoints", "f32", (5, 2), "target"), np.ones((5, 2))),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_mixing_leaves_nothing_behind(tmp_path: Path, name: str) -> None:
    """Named or not: images are mixed, and what belongs to them cannot be."""
    label = Field("label", "u8", (), "target"), 1
    db = make(tmp_path / "db", Field("image", "u8", (3, *SIDES)), label=label, **{name: OTHERS[name]})
    said: dict[str, Any] = {"mask": {"masks": "mask"}, "boxes": {"boxes": "boxes"}}.get(name, {})
    for steps in mixed():
        for options in ({}, said):
            with pytest.raises(InvalidError, match=f"(would leave|mixes).* {name}|field {name} is boxes"):
                Loader(db, transforms=steps, **options)
        Loader(db, transforms=steps, fields=["image", "label"]).close()
    alone = CutMix(num_classes=4, field="image")
    Loader(db, transforms=[alone]).close()
    if said:
        with pytest.raises(InvalidError, match=f"would leave {name} as it is"):
            Loader(db, transforms=[alone], **said)


def test_masks_follow_images_that_move_alike(tmp_path: Path) -> None:
    """Of two that move in different ways it would be the first of the list."""
    image = Field("image", "u8", (3, *SIDES))
    right = Field("right", "u8", (3, *SIDES)), PIXELS
    db = make(tmp_path / "db", image, right=right, mask=mask("mask"))
    apart = [
        [CenterCrop(8, field="image"), RandomCrop(8, field="right")],
        [RandomCrop(8, field="right"), CenterCrop(8, field="image")],
        [RandomFlip(field="image"), RandomRotation(20, field="right")],
    ]
    for steps in apart:
        with pytest.raises(InvalidError, match=r"mask: masks and boxes follow one image, .* move"):
            Loader(db, transforms=steps, masks="mask")
        Loader(db, transforms=steps, fields=["image", "right"]).close()
        with pytest.raises(InvalidError, match=r"leave mask as it is: .*, or leave it out of fields$"):
            Loader(db, transforms=steps)  # naming the images does not say that nothing else moves
    for steps in (
        [RandomCrop(8, field=["image", "right"])],
        [RandomCrop(8, field=n) for n in ("image", "right")],
    ):
        with Loader(db, transforms=steps, masks="mask") as loader:
            batch = next(iter(loader))
            assert np.array_equal(batch["mask"] * 9, batch["image"][:, 0])
            assert np.array_equal(batch["image"], batch["right"])
    Loader(db, transforms=[RandomFlip(field="right")], masks="mask").close()


def test_functions_say_which_field_they_lack(tmp_path: Path) -> None:
    db = make(
        tmp_path / "db", Field("left", "u8", (3, *SIDES)), right=(Field("right", "u8", (3, *SIDES)), PIXELS)
    )
    with pytest.raises(NotFoundError, match="there is no field 'image': say field=, one of left, right"):
        Loader(db, transforms=PerPicture(lambda image: image))
