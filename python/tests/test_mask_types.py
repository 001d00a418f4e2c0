"""Masks of all types and shapes follow their images, such as u16[*,*,*] of aplingest --mask."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata import CenterCrop, Field, InvalidError, Loader, RandomFlip, Resize, Writer
from apldata.kinds import Map, Mask

COUNT = 3
SHAPES = [(-1, -1, -1), (1, -1, -1), (-1, -1)]
KEPT = Field("image", "u8", media="image/jpeg")


def pixels(k: int) -> np.ndarray:
    y, x = np.mgrid[: 24 + 4 * k, :40].astype("u1")
    return np.stack([x * 5, y * 5, x * 5])


def photo(image: np.ndarray) -> bytes:
    Image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    Image.fromarray(image.transpose(1, 2, 0)).save(out, "JPEG", quality=100, subsampling=0)
    return out.getvalue()


def make(path: Path, image: Field, mask: Field) -> Path:
    with Writer(path, {"image": image, mask.name: mask}) as writer:
        for k in range(COUNT):
            values = pixels(k)[0].astype(int) * (200 if mask.dtype != "u8" else 1)
            value = values if len(mask.shape) == 2 else values[None]
            writer.append(image=photo(pixels(k)) if image.media else pixels(k), **{mask.name: value})
    return path


def check(batch: Any, name: str, dtype: str, flipped: bool = True) -> None:
    """Is each mask where its image is?"""
    for image, mask in zip(batch["image"], batch[name], strict=True):
        assert mask.dtype == np.dtype(dtype)
        mask = np.squeeze(mask).astype(int) // (200 if dtype != "u1" else 1)
        assert mask.shape == image.shape[1:]
        assert np.abs(image[0].astype(int) - mask).max() <= 7  # nearest beside bilinear
        assert (image[0, 5, 5] > image[0, 5, -6]) == flipped


def steps(library: str) -> list[tuple[str, Any]]:
    """What runs in C and in Python, after a crop in C or by itself."""
    if library == "own":
        return [("sized", [Resize((24, 40)), RandomFlip(1.0)]), ("sized", [CenterCrop(20), RandomFlip(1.0)])]
    if library == "torchvision":
        v2 = pytest.importorskip("torchvision.transforms.v2")
        flip, python = v2.RandomHorizontalFlip(1), v2.RandomPosterize(8, p=0)
        return [
            ("any", [flip]), ("any", [python, v2.Pad(2), flip]), ("sized", [v2.Resize((24, 40)), flip]),
            ("sized", [v2.CenterCrop(20), python, flip]),
        ]  # fmt: skip
    A = pytest.importorskip("albumentations")
    flip, python = A.HorizontalFlip(p=1), A.RandomGamma(p=0)
    return [
        ("any", [A.Compose([flip])]), ("sized", [A.Compose([A.CenterCrop(20, 20), flip])]),
        ("sized", [A.Compose([A.CenterCrop(20, 20), python, flip])]),
    ]  # fmt: skip


@pytest.mark.parametrize("library", ["own", "torchvision", "albumentations"])
@pytest.mark.parametrize(("dtype", "numpy"), [("u8", "u1"), ("u16", "<u2"), ("i32", "<i4"), ("f32", "<f4")])
@pytest.mark.parametrize("shape", SHAPES)
def test_masks_of_any_type_follow(
    tmp_path: Path, library: str, dtype: str, numpy: str, shape: tuple[int, ...]
) -> None:
    """Declared to the loader they follow; otherwise the transform is refused."""
    decoded = [Field("image", "u8", (channels, -1, -1)) for channels in (-1, 3)]
    for number, image in enumerate([KEPT, *decoded]):
        for name in ("gt", "mask"):
            db = make(tmp_path / f"{number}{name}", image, Field(name, dtype, shape, "target"))
            for sizes, transforms in steps(library):
                if sizes == "any" and (image.media or (library == "albumentations" and dtype == "i32")):
                    continue  # files need a size, OpenCV flips no i32
                kind = Map() if dtype == "f32" else Mask()
                with Loader(db, batch_size=COUNT, transforms=transforms, kinds={name: kind}) as loader:
                    check(next(iter(loader)), name, numpy)
                with pytest.raises(InvalidError, match=f"what is '{name}'"):
                    Loader(db, batch_size=COUNT, transforms=transforms)


@pytest.mark.parametrize("dtype", ["u16", "u32"])
def test_masks_that_torch_cannot_flip_keep_their_type(tmp_path: Path, dtype: str) -> None:
    v2, torch = pytest.importorskip("torchvision.transforms.v2"), pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    values = np.arange(4 * 6 * 8).reshape(4, 6, 8) * 300
    fields = {"image": ("u8", (3, 6, 8)), "mask": Field("mask", dtype, (6, 8), "target", kind=Mask())}
    with Writer(tmp_path / "db", fields) as writer:
        writer.extend(image=np.zeros((4, 3, 6, 8)), mask=values)
    flip = [v2.RandomInvert(0), v2.RandomHorizontalFlip(1)]
    to_int = v2.ToDtype({tv_tensors.Mask: torch.int32, "others": None})
    for transforms, wanted in ((flip, np.dtype(dtype.replace("u", "uint"))), ([*flip, to_int], np.int32)):
        options: dict[str, Any] = {"batch_size": 4, "shuffle": False}
        with Loader(tmp_path / "db", transforms=transforms, **options) as loader:
            batch = next(iter(loader))
        assert batch["mask"].dtype == wanted and np.array_equal(batch["mask"], values[..., ::-1])


def test_instances_are_no_channels(tmp_path: Path) -> None:
    """Masks of which each image has another number: their first dimension is not the height."""
    v2 = pytest.importorskip("torchvision.transforms.v2")
    masks = Field("masks", "i32", (-1, 16, 20), "target", kind=Mask())
    x = np.mgrid[:16, :20][1]
    with apldata.Writer(tmp_path / "db", {"image": ("u8", (3, 16, 20)), "masks": masks}) as writer:
        for count in range(1, 4):
            writer.append(image=np.stack([x] * 3), masks=np.stack([x] * count))
    steps = [v2.RandomInvert(0), v2.RandomHorizontalFlip(1)]
    with Loader(tmp_path / "db", batch_size=3, shuffle=False, transforms=steps) as loader:
        for count, value in enumerate(next(iter(loader))["masks"], 1):
            assert np.array_equal(value, np.stack([x[:, ::-1]] * count))


@pytest.mark.parametrize("library", ["own", "torchvision", "albumentations"])
def test_many_planes_are_no_rows(tmp_path: Path, library: str) -> None:
    """Of more than 16 planes in a mask, such as heatmaps of joints, the first dimension is not the height."""
    y, x = np.mgrid[:24, :40]
    planes = np.stack([y * 40 + x] * 17)
    fields = {"image": ("u8", (3, 24, 40)), "heat": Field("heat", "f32", planes.shape, "target", kind=Map())}
    with Writer(tmp_path / "db", fields) as writer:
        writer.append(image=np.zeros((3, 24, 40)), heat=planes)
    with Loader(tmp_path / "db", transforms=steps(library)[-1][1]) as loader:
        assert np.array_equal(next(iter(loader))["heat"][0], planes[:, 2:22, 10:30][..., ::-1])
