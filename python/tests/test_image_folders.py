"""Folders of images that are no JPEG files: what is stored is what Pillow decodes, and loaders resize it."""

from pathlib import Path

import numpy as np
import pytest

import apldata
from apldata import Loader
from apldata.transforms import CenterCrop, Normalize, RandomResizedCrop, Resize

Image = pytest.importorskip("PIL.Image")


def picture(height: int, width: int, channels: int = 3) -> np.ndarray:
    y, x, c = np.mgrid[:height, :width, :channels]
    return ((x * (3 + c) + y * (5 - c) + 50 * c) % 256).astype("u1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(12):
        path = tmp_path / "photos" / ("cat" if i % 2 else "dog") / f"{i:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(picture(40 + i, 70 - 2 * i))
        (image.convert("L") if i == 5 else image.quantize(99) if i == 6 else image).save(path)
    return tmp_path / "photos"


def test_what_is_stored_is_what_pillow_decodes(folder: Path, tmp_path: Path) -> None:
    apldata.ingest(folder, tmp_path / "db")
    with apldata.Store(tmp_path / "db") as store:
        assert store.schema["image"].type == "u8[-1,-1,-1]"
        assert not store.verify()
        for record in store:
            image = Image.open(folder / record["path"])
            want = np.asarray(image if image.mode == "L" else image.convert("RGB"))
            want = want[None] if want.ndim == 2 else want.transpose(2, 0, 1)
            assert np.array_equal(record["image"], want)


@pytest.mark.parametrize("form", [None, "raw"])
def test_a_store_in_its_own_source_is_no_source(folder: Path, form: str | None) -> None:
    """It was a class without images, or a record, when the store was made again."""
    digests = []
    for _ in range(2):
        apldata.ingest(folder, folder / "db", format=form, replace=True)
        with apldata.Store(folder / "db") as store:
            digests.append((len(store), store.content_digest, store.info["source_digest"]))
    assert digests[0] == digests[1] and digests[0][0] == 12


def test_a_folder_that_becomes_a_store_is_read(folder: Path) -> None:
    """It has no store yet."""
    apldata.ingest(folder, folder / "cat")
    with apldata.Store(folder / "cat") as store:
        assert len(store) == 12


def test_loaders_resize_what_is_stored(folder: Path, tmp_path: Path) -> None:
    apldata.ingest(folder, tmp_path / "db")
    loader = Loader(tmp_path / "db", batch_size=12, shuffle=False, transforms=[Resize(32), CenterCrop(32)])
    (batch,) = loader
    with apldata.Store(tmp_path / "db") as store:
        for k in range(12):
            image = Image.open(folder / store[k]["path"]).convert("RGB")
            size = (32 * image.width // min(image.size), 32 * image.height // min(image.size))
            small = np.asarray(image.resize(size, Image.Resampling.BILINEAR)).transpose(2, 0, 1).astype(int)
            top, left = round((size[1] - 32) / 2), round((size[0] - 32) / 2)
            want = small[:, top : top + 32, left : left + 32]
            assert np.abs(batch["image"][k].astype(int) - want).max() <= 1
    crops = Loader(tmp_path / "db", batch_size=4, transforms=[RandomResizedCrop(24), Normalize()])
    assert all(b["image"].shape == (4, 3, 24, 24) and b["image"].dtype == np.float32 for b in crops)


def test_images_of_one_size_make_arrays_and_are_resized(tmp_path: Path) -> None:
    for i in range(6):
        path = tmp_path / "small" / f"c{i % 2}" / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture(20, 24)).save(path)
    apldata.ingest(tmp_path / "small", tmp_path / "db")
    (batch,) = Loader(tmp_path / "db", batch_size=6, transforms=[RandomResizedCrop(16), Normalize()])
    assert batch["image"].shape == (6, 3, 16, 16)
    with apldata.Store(tmp_path / "db") as store:
        assert store.schema["image"].type == "u8[3,20,24]"


def test_files_that_were_skipped_are_listed(folder: Path, tmp_path: Path) -> None:
    (folder / "cat" / "zz.png").write_bytes(b"nothing")
    with pytest.warns(apldata.IngestWarning, match="is not a known image"):
        apldata.ingest(folder, tmp_path / "db", skip_bad=3, images="jpeg")
    with apldata.Store(tmp_path / "db") as store:
        (left,) = store.skipped
        assert left.path == "cat/zz.png" and left.why == "is not a known image"
        assert store.info["skipped"] == 1 and store.schema["image"].media == "image/jpeg"
    with pytest.warns(apldata.IngestWarning, match="at the quality asked for"):
        apldata.ingest(folder, tmp_path / "db", skip_bad=3, jpeg=50, replace=True)


def test_links_are_followed_if_asked_for(folder: Path, tmp_path: Path) -> None:
    subset = tmp_path / "subset"
    (subset / "dog").mkdir(parents=True)
    (subset / "cat").symlink_to(folder / "cat")
    (subset / "dog" / "1.png").symlink_to(folder / "dog" / "00.png")
    with pytest.raises(apldata.SourceError, match=r"cat is a symbolic link.*follow_links=True"):
        apldata.ingest(subset, tmp_path / "db")
    assert apldata.ingest(subset, tmp_path / "db", follow_links=True).records == 7
