"""Masks and boxes follow the images: with the crop that was drawn, they are what torchvision's v2 makes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import (
    CenterCrop,
    Field,
    InvalidError,
    Loader,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    SanitizeBoundingBoxes,
    Writer,
)
from apldata.kinds import Boxes, Label, Mask

RECORDS = 14
FIELDS: dict[str, Any] = {
    "image": Field("image", "u8", (3, -1, -1)),
    "mask": Field("mask", "u8", (-1, -1), "target", kind=Mask()),
    "parts": Field("parts", "i32", (7, -1, -1), "target", kind=Mask()),
    "boxes": Field("boxes", "f32", (-1, 4), "target", kind=Boxes()),
    "labels": Field("labels", "i64", (-1,), "target", kind=Label(per="boxes")),
}


def record(number: int, box_format: str = "XYXY") -> dict[str, Any]:
    rng = np.random.default_rng(number)
    width, height = 40 + 3 * (number % 11), 36 + 5 * (number % 7)
    corners = np.sort(rng.random((1 + number % 5, 2, 2)), axis=1) * [width, height] // 0.25 * 0.25
    boxes = corners.reshape(-1, 4).astype(np.float32)
    boxes[0] = [width / 2 - 1.25, height / 2 - 1.75, width / 2 + 1.25, height / 2 + 1.75]  # in most crops
    if box_format == "XYWH":
        boxes[:, 2:] -= boxes[:, :2]
    if box_format == "CXCYWH":
        boxes = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)
    return {
        "image": rng.integers(0, 256, (3, height, width), np.uint8),
        "mask": rng.integers(0, 21, (height, width), np.uint8),
        "parts": rng.integers(-1, 100000, (7, height, width), np.int32),  # never as many as boxes
        "boxes": boxes,
        "labels": np.arange(len(boxes)) + 10 * number,
    }


def make(path: Path, box_format: str = "XYXY") -> Path:
    boxes = Field("boxes", "f32", (-1, 4), "target", kind=Boxes(box_format.lower()))
    with Writer(path, FIELDS | {"boxes": boxes}) as writer:
        for number in range(RECORDS):
            writer.append(**record(number, box_format))
    return path


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("follow") / "db")


def rows(db: Path, transforms: Any, **options: Any) -> dict[int, dict[str, np.ndarray]]:
    """Each record's, by its id."""
    found: dict[int, dict[str, np.ndarray]] = {}
    with Loader(db, batch_size=7, threads=1, transforms=transforms, **options) as loader:
        for batch in loader:
            for k, number in enumerate(batch.ids):
                found[int(number)] = {name: np.array(batch[name][k]) for name in loader.store.schema.names}
    assert sorted(found) == list(range(RECORDS))
    return found


def of_v2(number: int, transform: Any, box_format: str = "XYXY") -> dict[str, np.ndarray]:
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    import torch

    given = record(number, box_format)
    canvas = given["mask"].shape
    sample = {
        "image": tv_tensors.Image(torch.from_numpy(given["image"])),
        "mask": tv_tensors.Mask(torch.from_numpy(given["mask"])),
        "parts": tv_tensors.Mask(torch.from_numpy(given["parts"])),
        "boxes": tv_tensors.BoundingBoxes(
            torch.from_numpy(given["boxes"]), format=box_format, canvas_size=canvas
        ),
        "labels": torch.from_numpy(given["labels"]),
    }
    return {name: value.numpy() for name, value in transform(sample).items()}


def check(got: dict[str, np.ndarray], wanted: dict[str, np.ndarray], image: bool = True) -> None:
    for name in ("mask", "parts", "labels"):
        assert np.array_equal(got[name], wanted[name]), name
    assert got["boxes"].shape == wanted["boxes"].shape
    assert np.allclose(got["boxes"], wanted["boxes"], atol=1e-4)
    if image:
        assert np.abs(got["image"].astype(int) - wanted["image"]).max() <= 1


@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
def test_what_is_not_random_is_v2s(box_format: str, tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    db = make(tmp_path / "db", box_format)
    flip, upset = v2.RandomHorizontalFlip(1), v2.RandomVerticalFlip(1)
    cases = [
        ([Resize((31, 45))], [v2.Resize((31, 45))]),
        ([Resize(32), CenterCrop(28), RandomFlip(1.0)], [v2.Resize(32), v2.CenterCrop(28), flip]),
        # where a crop is larger than the image, torchvision's boxes are not always where its pixels are
        ([CenterCrop((30, 20)), RandomVerticalFlip(1.0)], [v2.CenterCrop((30, 20)), upset]),
        ([CenterCrop((29, 21))], [v2.CenterCrop((29, 21))]),
        ([CenterCrop((27, 19))], [v2.CenterCrop((27, 19))]),
        (
            [CenterCrop((24, 28)), RandomFlip(1.0), SanitizeBoundingBoxes(3, 20)],
            [v2.CenterCrop((24, 28)), flip, v2.SanitizeBoundingBoxes(3, 20)],
        ),
    ]  # fmt: skip
    removed = 0
    for own, theirs in cases:
        got = rows(db, own)
        translated = rows(db, v2.Compose(theirs))
        for number in range(RECORDS):
            check(got[number], of_v2(number, v2.Compose(theirs), box_format))
            for name in FIELDS:
                assert np.array_equal(got[number][name], translated[number][name])
            removed += len(record(number)["labels"]) - len(got[number]["labels"])
    assert removed > 5


def drawn(number: int, got: dict[str, np.ndarray], scale: tuple[float, float]) -> tuple[int, int]:
    """Where the crop lies, told by an edge of the middle box that is not clamped."""
    before, after = record(number)["boxes"][0], got["boxes"][0]
    found = []
    for axis, most in enumerate(got["mask"].shape[::-1]):
        edge = next(i for i in (axis, axis + 2) if 0 < after[i] < most)
        found.append(round(float(before[edge] - after[edge] / scale[axis])))
    return found[0], found[1]


def test_random_resized_crops_are_v2s(db: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    F = v2.functional
    for own in (
        RandomResizedCrop((24, 20), scale=(0.5, 0.5), ratio=(1.0, 1.0)),
        v2.RandomResizedCrop((24, 20), scale=(0.5, 0.5), ratio=(1.0, 1.0)),
    ):
        for number, got in rows(db, [own]).items():
            _, height, width = record(number)["image"].shape
            side = round(float(np.sqrt(0.5 * width * height)))
            w, h = side, side
            if side > min(width, height):  # what is drawn does not fit: the middle
                w = h = min(width, height)
            left, top = drawn(number, got, (20 / w, 24 / h))
            wanted = of_v2(
                number,
                lambda s: {
                    k: v if k == "labels" else F.resized_crop(v, top, left, h, w, [24, 20])  # noqa: B023
                    for k, v in s.items()
                },
            )
            check(got, wanted)


def test_random_crops_of_padded_images_are_v2s(db: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    F = v2.functional
    for number, got in rows(db, [RandomCrop((40, 45), padding=6)]).items():
        left, top = drawn(number, got, (1, 1))
        wanted = of_v2(
            number,
            lambda s: {
                k: v if k == "labels" else F.crop(F.pad(v, [6]), top + 6, left + 6, 40, 45)  # noqa: B023
                for k, v in s.items()
            },
        )
        check(got, wanted)


def test_boxes_are_padded_to_one_array(db: Path) -> None:
    transforms = [RandomResizedCrop(16), SanitizeBoundingBoxes()]
    collate = {"boxes": apldata.Pad(fill=-1), "labels": apldata.Pad(fill=-1)}
    plain = rows(db, transforms)
    with Loader(db, transforms=transforms, collate=collate) as loader:
        batch = next(iter(loader))
        for k, number in enumerate(batch.ids):
            kept = len(plain[int(number)]["labels"])
            assert np.array_equal(batch["boxes"][k][:kept], plain[int(number)]["boxes"])
            assert (batch["labels"][k][kept:] == -1).all()


def photo(values: np.ndarray) -> bytes:
    Image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    Image.fromarray(values).save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.mark.parametrize("kept", [False, True])
def test_files_have_masks_too(kept: bool, tmp_path: Path) -> None:
    """Images that are kept as JPEG, with masks that were decoded, of one channel, or are JPEG files too."""
    mask = (
        Field("mask", "u8", media="image/jpeg", mark="target", kind=Mask())
        if kept
        else Field("mask", "u8", (-1, -1, -1), "target", kind=Mask())
    )
    with Writer(tmp_path / "db", {"image": Field("image", "u8", media="image/jpeg"), "mask": mask}) as writer:
        for i in range(8):
            grey = np.repeat(np.arange(48 + i, dtype=np.uint8)[:, None] * 4, 64, axis=1)
            file = photo(np.repeat(grey[..., None], 3, axis=2))
            writer.append(image=file, mask=photo(grey) if kept else grey[None])
    transforms = [RandomResizedCrop(32, scale=(0.3, 0.6)), RandomVerticalFlip()]
    with Loader(tmp_path / "db", transforms=transforms) as loader:
        batch = next(iter(loader))
    assert batch["mask"].shape == (8, 32, 32)
    assert np.abs(batch["mask"].astype(int) - batch["image"][:, 0]).max() <= 12  # a row more or less


def test_masks_that_do_not_fit_name_their_record(tmp_path: Path) -> None:
    with Writer(tmp_path / "db", {key: FIELDS[key] for key in ("image", "mask")}) as writer:
        writer.append(image=np.zeros((3, 20, 30)), mask=np.zeros((20, 31)))
    told = r"record 0, field mask: a mask of 31 x 20 .* image of 30 x 20"
    loader = Loader(tmp_path / "db", transforms=[CenterCrop(8)])
    with loader, pytest.raises(InvalidError, match=told):
        next(iter(loader))


def test_what_cannot_follow_is_told(db: Path) -> None:
    with pytest.raises(InvalidError, match="box_min_size and box_min_area are for its boxes"):
        Loader(db, fields=["image"], transforms=[CenterCrop(8), SanitizeBoundingBoxes()])
    with pytest.raises(InvalidError, match="do not follow"):
        Loader(db, transforms=[CenterCrop(8), apldata.RandAugment()])
    with pytest.raises(apldata.Error, match="yxyx|xyxy, xywh or cxcywh"):
        Loader(db, transforms=[CenterCrop(8)], kinds={"boxes": "boxes,yxyx"})


def test_files_take_torchvisions_transforms(tmp_path: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2")
    path = tmp_path / "db"
    with Writer(path, {"image": Field("image", "u8", media="image/jpeg"), "label": "u8"}) as writer:
        for i in range(6):
            values = np.random.default_rng(i).integers(0, 256, (40 + i, 50 - i, 3), np.uint8)
            writer.append(image=photo(values), label=i)
    nearest, box = v2.InterpolationMode.NEAREST, RandomResizedCrop(16, exact_chroma=True)
    pairs: list[tuple[Any, Any]] = [
        ([v2.RandomResizedCrop(16), v2.RandomHorizontalFlip()], [box, RandomFlip()]),
        (v2.Compose([v2.Resize(32), v2.CenterCrop(28)]), [Resize(32, exact_chroma=True), CenterCrop(28)]),
        (v2.RandomCrop(48, pad_if_needed=True), RandomCrop(48, pad_if_needed=True)),
    ]  # fmt: skip
    for theirs, own in pairs:
        with Loader(path, transforms=theirs) as one, Loader(path, transforms=own) as other:
            assert not one._functions
            assert np.array_equal(next(iter(one))["image"], next(iter(other))["image"])
    with Loader(path, transforms=[v2.CenterCrop(30), v2.RandomInvert(1.0)]) as loader:  # the rest in Python
        inverted = next(iter(loader))["image"]
    with Loader(path, transforms=CenterCrop(30)) as loader:
        assert np.array_equal(255 - next(iter(loader))["image"], inverted)
    for wrong, why in (
        (v2.RandomResizedCrop(16, interpolation=nearest), r"JPEG files.*interpolation is nearest"),
        (v2.Resize((16, 16), antialias=False), r"JPEG files.*no antialiasing"),
        (v2.RandomHorizontalFlip(), r"JPEG files.*begin with RandomResizedCrop"),
        (v2.RandomInvert(), r"RandomInvert.*JPEG files"),
    ):
        with pytest.raises(InvalidError, match=why):
            Loader(path, transforms=[wrong])


def test_loaders_of_torch_take_the_same(db: Path) -> None:
    torch_loader = pytest.importorskip("apldata.torch").DataLoader
    transforms = [CenterCrop(16), SanitizeBoundingBoxes()]
    wanted = rows(db, transforms)
    with torch_loader(db, 5, transforms=transforms, as_dict=True) as loader:
        batch = next(iter(loader))
        for k in range(5):
            assert np.array_equal(batch["mask"][k].numpy(), wanted[k]["mask"])
            assert np.array_equal(batch["boxes"][k].numpy(), wanted[k]["boxes"])


@pytest.mark.parametrize("moved", [[Resize((50, 60))], [CenterCrop((50, 60))], [Resize((25, 30))]])
def test_boxes_that_stick_out_are_clamped(tmp_path: Path, moved: list[Any]) -> None:
    """By a fraction of a pixel, also where nothing of the image is cut off: none of them is dropped."""
    boxes = np.array([[-0.4, 10, 30, 40], [10, 10, 60.4, 40], [5, 5, 20, 20]], np.float32)
    fields = {
        "image": Field("image", "u8", (3, -1, -1)), "boxes": FIELDS["boxes"], "labels": FIELDS["labels"],
    }  # fmt: skip
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 50, 60)), boxes=boxes, labels=[0, 1, 2])
    steps = [*moved, SanitizeBoundingBoxes()]
    batch = next(iter(Loader(tmp_path / "db", transforms=steps)))
    scale = batch["image"].shape[3] / 60
    assert batch["labels"][0].tolist() == [0, 1, 2]
    assert np.allclose(batch["boxes"][0], np.clip(boxes, 0, 60) * scale)


@pytest.mark.parametrize(("dtype", "shape"), [("i64", (-1, 4)), ("f64", (-1, 4)), ("f32", (4,))])
def test_boxes_of_other_types_are_refused(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    fields = {"image": Field("image", "u8", (3, 8, 8)), "b": Field("b", dtype, shape, "target", kind=Boxes())}
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 8, 8)), b=np.ones([abs(side) for side in shape]))
    with pytest.raises(InvalidError, match=r"field b: is .*; boxes that move are f32\[\*,4\]"):
        Loader(tmp_path / "db", transforms=[RandomFlip()])


def test_flips_alone_clamp_to_the_image_in_c(tmp_path: Path) -> None:
    """Those of torchvision leave what lies outside, and do so in Python, too."""
    fields = [Field("image", "u8", (3, 50, 60)), FIELDS["boxes"]]
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 50, 60)), boxes=[[-5, 10, 20, 30]])

    def flipped(*steps: Any) -> Any:
        return next(iter(Loader(tmp_path / "db", transforms=steps)))["boxes"][0].tolist()

    assert flipped(RandomFlip(1.0)) == [[40, 10, 60, 30]]
    v2 = pytest.importorskip("torchvision.transforms.v2")
    assert flipped(v2.RandomHorizontalFlip(1)) == [[40, 10, 60, 30]]
    assert flipped(v2.RandomInvert(0), v2.RandomHorizontalFlip(1)) == [[40, 10, 65, 30]]
