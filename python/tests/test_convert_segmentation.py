"""Masks beside images, by their names or tensors: their numbers are kept, and transforms take them so."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made
from mask_tools import file_of, numbers, with_palette

import apldata
from apldata.kinds import Image as ImageKind
from apldata.kinds import Mask

Image = pytest.importorskip("PIL.Image")

CLASSES = numbers(48, 64)


def photo(form: str = "JPEG", size: tuple[int, int] = (64, 48)) -> bytes:
    file = BytesIO()
    Image.new("RGB", size, (90, 80, 70)).save(file, form)
    return file.getvalue()


def files(pixels: Any = CLASSES) -> bytes:
    return file_of(Image.fromarray(pixels))


NAMES = (
    "annotation", "annotations", "seg", "seg.png", "segmentation_mask", "label", "gt", "depth", "depth_map",
    "disparity", "human_parsing", "mask",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("first", ["image", "jpg", "rgb"])
def test_names_tell_masks_beside_images(tmp_path: Path, name: str, first: str) -> None:
    rows = [{name: files(), first: photo(), "path": "a"}] * 3
    with pytest.warns(apldata.IngestWarning, match=f"column {name}: masks, by its name.*'file'"):
        apldata.convert(rows, tmp_path / "a")
    store = apldata.Store(tmp_path / "a")
    assert store.schema[name].mark == "target" and store.schema[first].mark == "input"
    assert np.array_equal(store[0][name], CLASSES[None])
    said = made(rows, tmp_path / "b", types={name: "mask"})
    assert [(f.type, f.mark, f.kind) for f in said.schema] == [(f.type, f.mark, f.kind) for f in store.schema]
    assert np.array_equal(said[0][name], store[0][name])
    assert store.schema[name].kind_origin == "guessed" and said.schema[name].kind_origin == "declared"


@pytest.mark.filterwarnings("ignore::apldata.IngestWarning")
@pytest.mark.parametrize("mask", ["grey", "palette", "wide", "bit"])
@pytest.mark.parametrize("pillow", [False, True])
def test_of_all_kinds(tmp_path: Path, mask: str, pillow: bool) -> None:
    images = {
        "grey": Image.fromarray(CLASSES),
        "palette": with_palette(CLASSES),
        "wide": Image.fromarray(CLASSES.astype("u2") * 200),
        "bit": Image.fromarray(CLASSES % 2 * 255).convert("1"),
    }
    expected = {"wide": CLASSES.astype("u2") * 200, "bit": CLASSES % 2}.get(mask, CLASSES)
    value = images[mask] if pillow else file_of(images[mask])
    whole = Image.open(BytesIO(photo())) if pillow else photo()
    store = made([{"image": whole, "seg": value}], tmp_path / "a")
    assert store.schema["seg"].mark == "target" and np.array_equal(np.squeeze(store[0]["seg"]), expected)


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("annotation", photo("PNG"), {}),  # in colour
        ("mask", photo(), {}),
        ("depth", files(CLASSES[::2]), {}),  # of another size
        ("seg", files(), {"types": {"seg": "file"}}),
        ("gt", files(), {"types": {"gt": "file"}}),
        ("token_mask", files(), {}),
        ("second", files(), {}),
    ],
)
@pytest.mark.filterwarnings("ignore::apldata.IngestWarning")
def test_other_images_stay_such(tmp_path: Path, column: str, value: bytes, told: Any) -> None:
    rows = [{"image": photo("PNG"), column: value}]
    store = made(rows, tmp_path / "a", **told)
    assert store.schema[column].mark == "input"
    assert made([{"mask": files()}], tmp_path / "b").schema["mask"].mark == "input"  # of no image


def test_what_may_be_masks_is_named(tmp_path: Path) -> None:
    rows = [{"image": photo(), "objects": files(), "second": photo()}]
    with pytest.warns(apldata.IngestWarning, match=r"column objects: .*types=\{'objects': 'mask'\} keeps"):
        apldata.convert(rows, tmp_path / "a")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        apldata.convert([{"image": photo(), "second": photo("PNG")}], tmp_path / "b")
    assert not [one for one in told if "'mask'" in str(one.message)]


def test_arrays_of_such_names_are_targets(tmp_path: Path) -> None:
    image = np.zeros((3, 48, 64), np.uint8)
    rows = {"image": image, "seg": CLASSES, "depth": np.zeros((1, 48, 64), np.float32), "other": CLASSES}
    rows |= {"labels": np.zeros((3, 4))}
    schema = made([rows] * 2, tmp_path / "a").schema
    assert {field.name: field.mark for field in schema} == {
        "image": "input", "seg": "target", "depth": "target", "other": "input", "labels": "input",
    }  # fmt: skip


def test_tensors_of_masks_are_targets(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    image, mask = torch.zeros(3, 48, 64, dtype=torch.uint8), torch.from_numpy(CLASSES)
    rows = [{"image": tv_tensors.Image(image), "objects": tv_tensors.Mask(mask)}] * 2
    schema = made(rows, tmp_path / "a").schema
    assert schema["objects"].mark == "target" and schema["objects"].kind == Mask()
    assert schema["image"].kind == ImageKind() and schema["image"].kind_origin == "source"
    columns = {"image": image[None], "objects": tv_tensors.Mask(mask[None])}
    assert made(columns, tmp_path / "b").schema["objects"].mark == "target"
    assert made({**columns, "objects": mask[None]}, tmp_path / "c").schema["objects"].mark == "input"


@pytest.mark.filterwarnings("ignore::apldata.IngestWarning")
def test_transforms_keep_the_numbers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    v2 = pytest.importorskip("torchvision.transforms.v2")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    made([{"image": photo("PNG"), "annotation": files()}] * 2, tmp_path / "a")
    steps = [
        v2.ColorJitter(brightness=(0.5, 0.5)),
        v2.Resize((24, 32)),
        v2.ToDtype(torch.float32, scale=True),
    ]
    with apldata.Loader(tmp_path / "a", transforms=steps) as loader:
        (batch,) = loader
    assert batch["image"].dtype == np.float32 and batch["image"].max() < 0.5
    of_mask = v2.Resize((24, 32))(tv_tensors.Mask(torch.from_numpy(CLASSES[None])))
    assert np.array_equal(batch["annotation"][0], of_mask.numpy())
