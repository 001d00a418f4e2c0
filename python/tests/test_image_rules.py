"""Images that are resized, turned and re-encoded at ingest, as Pillow does it."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest

import apldata

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
ORIENTATION = 0x0112


def picture(height: int, width: int, channels: int = 3) -> np.ndarray:
    y, x, c = np.mgrid[:height, :width, :channels]
    return (128 + 100 * np.sin(x * 0.08 * (c + 1)) * np.cos(y * 0.05 + c)).astype("u1")


def put(path: Path, pixels: np.ndarray, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def ingest(source: Path, db: Path, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        apldata.ingest(source, db, replace=True, **options)
    return [str(note.message).split(": ", 1)[1] for note in notes]


def planes(image) -> np.ndarray:
    pixels = np.asarray(image).astype(int)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Images of several sizes and orientations: PNG and JPEG, with a profile."""
    for i in range(9):
        exif = Image.Exif()
        exif[ORIENTATION] = i
        put(tmp_path / "png" / "a" / f"{i}.png", picture(60 + i, 70 + 5 * i), exif=exif if i else None)
        put(tmp_path / "jpeg" / "a" / f"{i}.jpg", picture(60 + i, 70 + 5 * i), quality=95, subsampling=0,
            icc_profile=b"profile" * 9, **({"exif": exif} if i else {}))  # fmt: skip
    return tmp_path


@pytest.mark.parametrize("size", [{"resize": 32}, {"resize": 90}, {"resize": (20, 50)}, {"max_side": 48}])
def test_pixels_are_resized_as_pillow_does(folder: Path, size: dict) -> None:
    notes = ingest(folder / "png", folder / "db", **size)
    assert any(note == "images resized: 9" for note in notes)
    with apldata.Store(folder / "db") as store:
        for record in store:
            image = Image.open(folder / "png" / record["path"])
            channels, height, width = record["image"].shape
            want = planes(image.resize((width, height), Image.Resampling.BILINEAR))
            assert channels == 3 and np.abs(record["image"].astype(int) - want).max() <= 1
            assert record["image_shape"].tolist() == [3, height, width]
            if "max_side" in size:
                assert max(height, width) == 48 and min(height, width) == 48 * min(image.size) // max(
                    image.size
                )
            elif isinstance(size["resize"], int):
                assert min(height, width) == size["resize"]
            else:
                assert (height, width) == size["resize"] and store.schema["image"].type == "u8[3,20,50]"
        assert store.info["tool"].endswith(
            {32: "--resize short=32", 90: "--resize short=90", (20, 50): "--resize 50x20"}.get(
                size.get("resize"), "--max-side 48"
            )
        )


def test_two_sizes_are_one_step(folder: Path) -> None:
    notes = ingest(folder / "png", folder / "db", resize=90, max_side=100)
    assert "images resized: 8" in notes  # and 66 x 100 pixels stay
    with apldata.Store(folder / "db") as store:
        for record in store:
            image = Image.open(folder / "png" / record["path"])
            short, long = min(image.size), max(image.size)
            long = 90 * long // short
            wanted = (90, long) if long <= 100 else (100 * 90 // long, 100)
            _, height, width = record["image"].shape
            assert (min(height, width), max(height, width)) == wanted
            want = planes(image.resize((width, height), Image.Resampling.BILINEAR))
            assert np.abs(record["image"].astype(int) - want).max() <= 1


def test_jpegs_are_resized_unless_they_fit(folder: Path) -> None:
    notes = ingest(folder / "jpeg", folder / "db", max_side=100, keep_files=True)
    assert notes[0] == "images resized, and re-encoded as JPEG at quality 90 (lossy): 2"
    with apldata.Store(folder / "db") as store:
        for record in store:
            file = folder / "jpeg" / record["path"]
            image, stored = Image.open(file), Image.open(io.BytesIO(bytes(record["image"])))
            if max(image.size) <= 100:
                assert bytes(record["image"]) == file.read_bytes()
                continue
            assert max(stored.size) == 100
            want = planes(image.resize(stored.size, Image.Resampling.BILINEAR))
            assert np.abs(planes(stored) - want).mean() < 4
            assert stored.info["icc_profile"] == b"profile" * 9
            assert stored.getexif().get(ORIENTATION) == image.getexif().get(ORIENTATION)
    notes = ingest(folder / "jpeg", folder / "db", max_side=100, jpeg=50)
    assert notes[:2] == [
        "images re-encoded as JPEG at the quality asked for (lossy): 9",
        "images resized: 2",
    ]
    with apldata.Store(folder / "db") as store:
        assert store.info["tool"].endswith(" --max-side 100 --jpeg 50")


def test_images_are_made_upright(folder: Path) -> None:
    notes = ingest(folder / "png", folder / "db", orient=True)
    assert notes == ["images made upright: 7"]
    with apldata.Store(folder / "db") as store:
        for record in store:
            upright = ImageOps.exif_transpose(Image.open(folder / "png" / record["path"]))
            assert np.array_equal(record["image"], planes(upright))
    notes = ingest(folder / "jpeg", folder / "db", orient=True)
    assert notes == ["images made upright, and re-encoded as JPEG at quality 95 (lossy): 7"]
    with apldata.Store(folder / "db") as store:
        for record in store:
            upright = ImageOps.exif_transpose(Image.open(folder / "jpeg" / record["path"]))
            stored = Image.open(io.BytesIO(bytes(record["image"])))
            assert stored.getexif().get(ORIENTATION, 1) in (0, 1) and stored.size == upright.size
            assert np.abs(planes(stored) - planes(upright)).mean() < 4
    ingest(folder / "png", folder / "db", orient=True, resize=(30, 40))
    with apldata.Store(folder / "db") as store:
        assert store.schema["image"].type == "u8[3,30,40]" and len(store) == 9


def test_orientations_are_recorded(folder: Path) -> None:
    notes = ingest(folder / "png", folder / "db")
    assert notes == ["images that their EXIF says to turn, which was not done (--orient does): 7"]
    with apldata.Store(folder / "db") as store:
        assert store.schema.names == ["image", "label", "path", "image_shape", "image_orientation"]
        assert [record["image_orientation"] for record in store] == [1, 1, 2, 3, 4, 5, 6, 7, 8]
    table = "image,label\n" + "".join(f"png/a/{i}.png,1\n" for i in range(9))
    (folder / "list.csv").write_text(table)
    ingest(folder / "list.csv", folder / "db")
    with apldata.Store(folder / "db") as store:
        assert [record["image_orientation"] for record in store] == [1, 1, 2, 3, 4, 5, 6, 7, 8]
    ingest(folder / "list.csv", folder / "db", orient=True)
    with apldata.Store(folder / "db") as store:
        assert "image_orientation" not in store.schema.names
    assert ingest(folder / "jpeg", folder / "db") == notes  # files have their EXIF
    with apldata.Store(folder / "db") as store:
        assert "image_orientation" not in store.schema.names


def test_what_is_wrong_is_said(folder: Path) -> None:
    for options, what in (
        ({"resize": 0}, "resize"),
        ({"resize": "short=256"}, "resize"),
        ({"max_side": 70000}, "max_side"),
    ):
        with pytest.raises((ValueError, TypeError), match=what):
            ingest(folder / "png", folder / "db", **options)
    np.save(folder / "x.npy", np.zeros((4, 3)))
    with pytest.raises(ValueError, match="the format npy does not decode, resize or turn images"):
        ingest(folder / "x.npy", folder / "db", resize=20)


def test_what_is_too_large_for_a_value_can_be_made_to_fit(tmp_path: Path) -> None:
    put(tmp_path / "png" / "a" / "x.png", np.full((4000, 6000, 3), 7, "u1"))
    with pytest.raises(apldata.Error, match="more than the 67108864 of a value: --images jpeg"):
        apldata.ingest(tmp_path / "png", tmp_path / "db")
    apldata.ingest(tmp_path / "png", tmp_path / "db", max_side=300)
    assert apldata.Store(tmp_path / "db")[0]["image"].shape == (3, 200, 300)


def test_progressive_files_become_baseline(tmp_path: Path) -> None:
    """Of the same pixels and metadata, indexed, and told; all other files as they are."""
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    beside = {"exif": exif, "icc_profile": b"profile" * 9, "comment": b"seen", "dpi": (72, 144)}
    modes = ("RGB", "L", "CMYK", "RGB")
    for i, mode in enumerate(modes):
        noise = np.random.default_rng(i).integers(0, 28, (290 + i, 277, 3), "u1")
        image = Image.fromarray(picture(290 + i, 277) + noise).convert(mode)
        (tmp_path / "photos" / "a").mkdir(parents=True, exist_ok=True)
        progressive = {} if i == 3 else {"progressive": True, **beside}
        image.save(tmp_path / "photos" / "a" / f"{i}.jpg", quality=90, subsampling=i % 3, **progressive)
    files = [path.read_bytes() for path in sorted((tmp_path / "photos" / "a").iterdir())]
    plain = ingest(tmp_path / "photos", tmp_path / "db")
    with apldata.Store(tmp_path / "db") as store:
        assert store.schema["image"].indexed == 3  # but for CMYK
        assert [store[i]["image"].tobytes() for i in range(len(files))] == files
    for unchecked in (False, True):
        notes = ingest(tmp_path / "photos", tmp_path / "db", jpeg="baseline", check=not unchecked)
        more = "progressive images stored as baseline JPEGs of the same coefficients (not the same bytes): 3"
        assert sorted(notes) == sorted([more, *plain])
        store = apldata.Store(tmp_path / "db")
        assert store.schema["image"].indexed == 3  # but for CMYK
        assert store.info["tool"].endswith(" --jpeg baseline")
        for i, file in enumerate(files):
            now = store[i]["image"].tobytes()
            a, b = Image.open(io.BytesIO(file)), Image.open(io.BytesIO(now))
            assert not b.info.get("progressive")
            assert (now == file) == (i == 3)
            assert np.array_equal(np.asarray(a), np.asarray(b))
            for key in ("exif", "icc_profile", "comment", "dpi", "adobe_transform"):
                assert a.info.get(key) == b.info.get(key), key
    with pytest.raises(apldata.InvalidError, match="pixels, or baseline JPEG files, not both"):
        ingest(tmp_path / "photos", tmp_path / "db", jpeg="baseline", images="pixels")
    cut = files[0][: len(files[0]) // 2]
    (tmp_path / "photos" / "a" / "0.jpg").write_bytes(cut)
    for check in (True, False):
        with pytest.raises(apldata.CorruptError, match=r"a/0\.jpg"):
            ingest(tmp_path / "photos", tmp_path / "none", jpeg="baseline", check=check)
        assert not (tmp_path / "none").exists()
