"""apldata.convert() of files of images: by the rules of folders, so that all is as aplingest makes it."""

from __future__ import annotations

import io
import struct
import tarfile
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import apldata
from apldata.transforms import RandomResizedCrop

Image = pytest.importorskip("PIL.Image")
FILES = Path(__file__).resolve().parents[2] / "tests/ingest/images/images.tar.xz"
ABSENT = "which this build does not read"


def notes_of(call: Any) -> list[str]:
    """What is told, without the names of sources and options, and without what convert() alone says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", apldata.IngestWarning)
        call()
    told = [str(one.message).partition(": ")[2].replace(" (--orient does)", "") for one in caught]
    return sorted(one for one in told if not one.startswith("column "))


def both(files: dict[str, bytes], place: Path, **options: Any) -> tuple[apldata.Store, list[str]]:
    """The store that convert() makes of files, which is the one that aplingest makes of their folder; and the
    notes, which are the same."""
    (place / "in" / "c").mkdir(parents=True)
    for name, data in files.items():
        (place / "in" / "c" / name).write_bytes(data)
    rows = [{"image": {"bytes": files[name], "path": f"c/{name}"}, "label": 0} for name in sorted(files)]
    try:
        theirs = notes_of(lambda: apldata.ingest(place / "in", place / "a", **options))
    except apldata.UnsupportedError as error:
        if ABSENT in str(error):
            pytest.skip(str(error))
        raise
    mine = notes_of(lambda: apldata.convert(rows, place / "b", classes={"label": ["c"]}))
    a, b = apldata.Store(place / "a"), apldata.Store(place / "b")
    assert [(f.name, f.type, f.mark, f.media) for f in b.schema] == [
        (f.name, f.type, f.mark, f.media) for f in a.schema
    ]
    assert b.content_digest == a.content_digest
    assert mine == theirs
    return b, mine


def drawn(channels: int = 3, dtype: str = "u1", width: int = 13) -> np.ndarray:
    """[height, width, channels], of all of the type's range."""
    image = np.random.default_rng(channels).integers(
        0, np.iinfo(dtype).max, (9, width, channels), dtype, True
    )
    return image.squeeze(-1) if channels == 1 else image


def saved(pixels: np.ndarray, kind: str = "PNG", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, kind, **more)
    return out.getvalue()


def png(pixels: np.ndarray, **chunks: bytes) -> bytes:
    """Of 8 or 16 bits, with such chunks before the pixels; Pillow writes no colours of 16 bits."""
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    rows = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(len(pixels), -1)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8 * pixels.dtype.itemsize, kind, 0, 0, 0)
    all = [(b"IHDR", head), *((name.encode(), data) for name, data in chunks.items())]
    all += [(b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in all
    )


def tiff(pixels: np.ndarray, order: str = "<", **tags: int) -> bytes:
    """A TIFF of one strip, not compressed; `tags` by their numbers, as t274=6."""
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    data = pixels.astype(pixels.dtype.newbyteorder(order)).tobytes()
    shorts = {256: pixels.shape[1], 257: pixels.shape[0], 259: 1, 262: 2 if channels > 2 else 1,
              277: channels, 278: pixels.shape[0],
              339: {"u": 1, "i": 2, "f": 3}[pixels.dtype.kind]}  # fmt: skip
    shorts |= {int(name[1:]): value for name, value in tags.items()}
    many = {258: [8 * pixels.dtype.itemsize] * channels, 339: [shorts.pop(339)] * channels}
    longs = {273: 8, 279: len(data)}
    numbers = sorted([*shorts, *many, *longs])
    at = 8 + len(data) + len(data) % 2
    spare = at + 2 + 12 * len(numbers) + 4
    entries, behind = b"", b""
    for number in numbers:
        if number in longs:
            entries += struct.pack(order + "HHII", number, 4, 1, longs[number])
            continue
        values = many.get(number) or [shorts[number]]
        packed = struct.pack(f"{order}{len(values)}H", *values)
        if len(packed) > 4:
            packed, behind = struct.pack(order + "I", spare + len(behind)), behind + packed
        entries += struct.pack(order + "HHI", number, 3, len(values)) + packed.ljust(4, b"\0")
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, at)
    body = data + b"\0" * (len(data) % 2) + struct.pack(order + "H", len(numbers)) + entries
    return head + body + b"\0\0\0\0" + behind


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[274] = orientation
    return bytes(tags.tobytes())


def planes(pixels: np.ndarray) -> np.ndarray:
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)


def genuine() -> dict[str, bytes]:
    """The files that C's decoders are tested with."""
    with tarfile.open(FILES) as archive:
        return {one.name.lstrip("./"): archive.extractfile(one).read() for one in archive if one.isfile()}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", sorted(name for name in genuine() if not name.endswith(".raw")))
def test_files_of_all_kinds_are_aplingests(name: str, tmp_path: Path) -> None:
    both({name: genuine()[name]}, tmp_path)


@pytest.mark.parametrize("name", sorted(name for name in genuine() if name.endswith(".tif")))
def test_tiffs_are_as_they_are_or_refused(name: str, tmp_path: Path) -> None:
    """By Pillow too, where the package was built without libtiff."""
    head, _, raw = genuine()[f"{name}.raw"].partition(b"\n")
    channels, height, width, bits, slack = map(int, head.split())
    try:
        notes_of(lambda: apldata.convert([{"image": genuine()[name]}], tmp_path / "db"))
    except apldata.InvalidTypeError as error:
        assert ABSENT in str(error)
        return
    (image,) = [record["image"] for record in apldata.Store(tmp_path / "db")]
    expected = np.frombuffer(raw, f"u{bits // 8}").reshape(channels, height, width)
    assert image.dtype == expected.dtype and image.shape == expected.shape
    assert np.abs(image.astype(int) - expected).max() <= slack


TIFFS = {
    "rgb of 16 bits": (tiff(drawn(3, "u2")), drawn(3, "u2"), 1),
    "the same, big-endian": (tiff(drawn(3, "u2"), ">"), drawn(3, "u2"), 1),
    "grey of 16 bits, big-endian": (tiff(drawn(1, "u2"), ">"), drawn(1, "u2"), 1),
    "a fourth band": (tiff(drawn(4), t338=0), drawn(4), 1),
    "alpha": (tiff(drawn(4), t338=2), drawn(4), 1),
    "an orientation": (tiff(drawn(3), t274=6), drawn(3), 6),
}


@pytest.mark.parametrize("kind", TIFFS)
def test_tiffs_keep_their_samples(kind: str, tmp_path: Path) -> None:
    file, pixels, orientation = TIFFS[kind]
    try:
        notes = notes_of(lambda: apldata.convert([{"image": file}], tmp_path / "db"))
    except apldata.InvalidTypeError as error:
        assert "row 0, column image: " in str(error)
        assert ABSENT in str(error) or "by which Pillow would turn it" in str(error)
        return
    store = apldata.Store(tmp_path / "db")
    assert store[0]["image"].dtype == pixels.dtype
    assert np.array_equal(store[0]["image"], planes(pixels))
    assert store[0].get("image_orientation", 1) == orientation
    assert bool(notes) == (orientation > 1)
    both({"0.tif": file}, tmp_path / "both")


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "f4", "u4", "f8"])
def test_tiffs_of_numbers_are_as_they_are_or_refused(dtype: str, tmp_path: Path) -> None:
    numbers = (np.arange(60).reshape(6, 10) - 10).astype(dtype)
    if dtype in ("i1", "u4", "f8"):
        with pytest.raises(apldata.InvalidTypeError, match=r"row 0, column image: .*TIFF"):
            apldata.convert([{"image": tiff(numbers)}], tmp_path / "db")
        return
    notes_of(lambda: apldata.convert([{"image": tiff(numbers)}], tmp_path / "db"))
    assert np.array_equal(apldata.Store(tmp_path / "db")[0]["image"], numbers[None])


def test_samples_and_alpha_of_pngs_are_kept(tmp_path: Path) -> None:
    deep = drawn(3, "u2")
    store, notes = both({"0.png": png(deep)}, tmp_path / "deep")
    assert np.array_equal(store[0]["image"], planes(deep)) and not notes
    for channels, colour in ((1, (7,)), (3, (7, 8, 9))):
        pixels = drawn(channels)
        pixels[3, 4] = colour[0] if channels == 1 else colour
        clear = png(pixels, tRNS=struct.pack(f">{channels}H", *colour))
        store, _ = both({"0.png": clear}, tmp_path / f"clear{channels}")
        image = store[0]["image"]
        assert len(image) == channels + 1 and np.array_equal(image[:-1], planes(pixels))
        assert image[-1, 3, 4] == 0 and image[-1].max() == 255
    store, _ = both({"0.bmp": saved(drawn(1), "BMP")}, tmp_path / "grey")
    assert np.array_equal(store[0]["image"], np.repeat(drawn(1)[None], 3, 0))


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_orientations_are_recorded(kind: str, tmp_path: Path) -> None:
    files = {f"{n}.{kind}".lower(): saved(drawn(), kind, exif=exif(n), lossless=True) for n in range(1, 9)}
    store, notes = both(files, tmp_path)
    assert [record["image_orientation"] for record in store] == list(range(1, 9))
    assert notes == ["images that their EXIF says to turn, which was not done: 7"]
    assert all(np.array_equal(record["image"], planes(drawn())) for record in store)


def test_an_orientation_that_comes_late_is_told_of(tmp_path: Path) -> None:
    """Which fields there are is decided by the first rows."""
    rows = [{"image": saved(drawn())}] * 256 + [{"image": saved(drawn(), exif=exif(3))}]
    notes = notes_of(lambda: apldata.convert(rows, tmp_path / "db"))
    assert "image_orientation" not in apldata.Store(tmp_path / "db").schema.names
    assert len(notes) == 2 and notes[0].startswith("images that their EXIF says to turn")
    assert notes[1] == (
        "none of the first rows has an orientation, so none is stored of images that have one: 1"
    )


def test_a_column_of_orientations_is_kept(tmp_path: Path) -> None:
    """As by aplingest: it takes the place of what the files say."""
    rows = [{"image": saved(drawn(), exif=exif(6)), "image_orientation": 5}] * 2
    notes = notes_of(lambda: apldata.convert(rows, tmp_path / "db"))
    assert apldata.Store(tmp_path / "db")[0]["image_orientation"] == 5
    assert notes == ["images that their EXIF says to turn, which was not done: 2"]


def test_16_bits_among_8_become_8(tmp_path: Path) -> None:
    deep, plain = drawn(1, "u2"), drawn(1)
    files = {"0.png": png(deep), "1.png": saved(plain), "2.png": png(deep)}
    store, notes = both(files, tmp_path / "files")
    assert notes == ["images of 16 bits, reduced to 8: 2"] and store.schema["image"].type == "u8[1,9,13]"
    assert np.array_equal(store[0]["image"][0], np.rint(deep / 257))
    rows = [{"image": Image.fromarray(each)} for each in (deep, plain)]
    assert notes_of(lambda: apldata.convert(rows, tmp_path / "b")) == ["images of 16 bits, reduced to 8: 1"]
    assert np.array_equal(apldata.Store(tmp_path / "b")[0]["image"], np.rint(deep / 257))


def test_8_bits_after_16_are_refused(tmp_path: Path) -> None:
    for name, first, last in (
        ("files", png(drawn(1, "u2")), saved(drawn(1))),
        ("pillow", Image.fromarray(drawn(1, "u2")), Image.fromarray(drawn(1))),
    ):
        with pytest.raises(apldata.SourceError, match=r"row 256, column image: has .*all others (16|u16)"):
            notes_of(lambda: apldata.convert([{"image": first}] * 256 + [{"image": last}], tmp_path / name))  # noqa: B023


def test_a_jpeg_among_images_of_16_bits(tmp_path: Path) -> None:
    files = {"0.png": png(drawn(1, "u2")), "1.png": png(drawn(1, "u2")), "2.jpg": saved(drawn(), "JPEG")}
    assert both(files, tmp_path)[1] == ["images of 16 bits, reduced to 8: 2"]


def test_what_is_lost_among_jpegs_is_told(tmp_path: Path) -> None:
    """And the JPEGs are the same."""
    files = {f"{n}.jpg": saved(drawn(width=20 + n), "JPEG", exif=exif(n)) for n in range(1, 5)}
    files |= {"5.png": saved(drawn(4)), "6.png": png(drawn(4, "u2")), "7.png": png(drawn(1, "u2"))}
    notes = both(files, tmp_path)[1]
    assert notes == [
        "images of 16 bits, reduced to 8: 2",
        "images that are not JPEGs, re-encoded as JPEG at quality 100 (lossy): 3",
        "images that their EXIF says to turn, which was not done: 3",
        "images whose alpha was left out: 2",
    ]


def test_bands_are_no_alpha(tmp_path: Path) -> None:
    """Loaders drop the alpha of images, and refuse what would drop a band."""
    crop = [RandomResizedCrop(6)]
    images = [{"image": Image.fromarray(drawn(4, width=width))} for width in (13, 14)]
    notes_of(lambda: apldata.convert(images, tmp_path / "alpha"))
    assert apldata.Store(tmp_path / "alpha").schema["image"].type == "u8[-1,9,-1]"
    (batch,) = apldata.Loader(tmp_path / "alpha", batch_size=2, transforms=crop)
    assert batch["image"].shape == (2, 3, 6, 6)
    for channels in (2, 4):
        with apldata.Writer(
            tmp_path / "bands", {"image": ("u8", (channels, -1, -1))}, replace=True
        ) as writer:
            writer.append(image=planes(drawn(channels)))
        with pytest.raises(
            apldata.InvalidError, match=rf"field image: images of {channels} channels and of any"
        ):
            apldata.Loader(tmp_path / "bands", batch_size=1, transforms=crop)
        (batch,) = apldata.Loader(tmp_path / "bands", batch_size=1)
        assert np.array_equal(batch["image"][0], planes(drawn(channels)))


@pytest.mark.parametrize("kind", ["GIF", "PNG"])
def test_of_animations_the_first_frame_is_stored(kind: str, tmp_path: Path) -> None:
    frames = [Image.fromarray(np.roll(drawn(), k)) for k in range(3)]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:])
    assert Image.open(out).n_frames == 3
    store, notes = both({f"0.{kind}".lower(): out.getvalue()}, tmp_path)
    assert notes == ["images of several frames or pages, only the first of which was stored: 1"]
    assert np.array_equal(store[0]["image"], planes(np.asarray(Image.open(out).convert("RGB"))))


@pytest.mark.parametrize("most", [15, 200, 1023, 4095, 65535])
def test_samples_of_pgms_are_fractions_of_their_maximum(most: int, tmp_path: Path) -> None:
    """So they are scaled, rounded, as by Pillow, and none become equal."""
    bits, values = 8 if most < 256 else 16, np.arange(most + 1)
    samples = values.astype("u1" if bits == 8 else ">u2").tobytes()
    store, notes = both({"0.pgm": b"P5 %d 1 %d\n" % (most + 1, most) + samples}, tmp_path)
    image = store[0]["image"]
    assert image.dtype == f"u{bits // 8}" and not notes
    assert np.array_equal(image[0, 0], (2 * values * (2**bits - 1) + most) // (2 * most))
    assert len(set(image[0, 0].tolist())) == most + 1


def test_pgms_and_ppms_are_images(tmp_path: Path) -> None:
    store, _ = both({"0.ppm": saved(drawn(), "PPM"), "1.pgm": saved(drawn(1), "PPM")}, tmp_path / "files")
    assert np.array_equal(store[0]["image"], planes(drawn()))
    text = [{"data": b"P5 is what they call it"}]
    assert notes_of(lambda: apldata.convert(text, tmp_path / "text")) == []
    assert apldata.Store(tmp_path / "text").schema["data"].media == "application/octet-stream"


def test_hugging_face_imagefolder_is_aplingests(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    files = {"ant/0.png": png(drawn(3, "u2")), "ant/1.png": saved(drawn(), exif=exif(6)),
             "bee/2.png": png(drawn(1), tRNS=b"\0\7"), "bee/3.webp": saved(drawn(4), "WEBP", lossless=True),
             "bee/4.bmp": saved(drawn(1), "BMP"), "cat/5.gif": saved(drawn(1), "GIF")}  # fmt: skip
    for name, data in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    dataset = datasets.load_dataset(
        "imagefolder", data_dir=str(tmp_path / "in"), cache_dir=str(tmp_path / "c")
    )
    mine = notes_of(lambda: apldata.convert(dataset, tmp_path / "b"))
    assert mine == notes_of(lambda: apldata.ingest(tmp_path / "in", tmp_path / "a"))
    a, b = apldata.Store(tmp_path / "a"), apldata.Store(tmp_path / "b")
    assert a.content_digest == b.content_digest and a.classes == b.classes
    assert set(a.schema.names) == {"image", "label", "path", "image_shape", "image_orientation"}


def encoded(kind: str) -> bytes:
    try:
        return saved(drawn(3), kind, **({"irreversible": False} if kind == "JPEG2000" else {"quality": 100}))
    except (KeyError, OSError):
        pytest.skip(f"this Pillow writes no {kind}")


def deepened(kind: str) -> list[bytes]:
    """The same files, if their headers were true, with samples of 12 and 16 bits, and signed ones."""
    file = encoded(kind)
    at = file.index(b"\xff\x4f\xff\x51") + 42 if kind == "JPEG2000" else file.index(b"av1C") + 6
    made = []
    for depth in (11, 15, 135) if kind == "JPEG2000" else (0x40,):
        deep = bytearray(file)
        deep[at : at + 9 : 3] = bytes([depth] * 3)
        made.append(bytes(deep))
    return made


@pytest.mark.parametrize("kind", ["JPEG2000", "AVIF"])
def test_what_pillow_would_change_is_refused(kind: str, tmp_path: Path) -> None:
    """Of kinds that C does not read."""
    file = encoded(kind)
    notes_of(lambda: apldata.convert([{"image": file}], tmp_path / "plain"))
    expected = np.asarray(Image.open(io.BytesIO(file)))
    assert np.array_equal(apldata.Store(tmp_path / "plain")[0]["image"], planes(expected))
    for deep in deepened(kind):
        with pytest.raises(apldata.Error, match="row 0, column image: has samples of which Pillow would"):
            apldata.convert([{"image": deep}], tmp_path / "deep")
