"""Masks of tables and of convert(): numbers that stay as they are, and follow their images."""

import io
import json
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made, types_of
from mask_tools import file_of, grey_png, numbers, with_palette

import apldata
from apldata import Loader
from apldata.transforms import RandomFlip, RandomResizedCrop

Image = pytest.importorskip("PIL.Image")
SIZES = ((90, 120), (64, 64), (100, 70), (80, 130))


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """A folder of images whose red is the mask's number, their masks, and tables of them."""
    folder = tmp_path / "scenes"
    folder.mkdir()
    rows = []
    for k, (height, width) in enumerate(SIZES):
        mask = numbers(height, width)
        colours = np.stack([mask, np.full_like(mask, 7), 255 - mask], -1)
        Image.fromarray(colours).save(folder / f"{k}.jpg", quality=100, subsampling=0)
        Image.fromarray(colours).save(folder / f"{k}.bmp")
        with_palette(mask).save(folder / f"{k}.png")
        rows.append({"image": f"{k}.jpg", "mask": f"{k}.png", "other": f"{k}.bmp", "label": k % 2})
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]
    return [{k: str(folder / v) if k != "label" else v for k, v in row.items()} for row in rows]


def test_tables_and_convert_make_the_same(scenes: Path, tmp_path: Path) -> None:
    apldata.ingest(scenes / "t.jsonl", tmp_path / "a", image=["image", "other"], mask="mask")
    table = apldata.Store(tmp_path / "a")
    types = {
        "image": "file",
        "other": "file",
        "mask": "mask",
        "label": apldata.Field("label", "u8", (), "target"),
    }
    store = made(rows_of(scenes), tmp_path / "b", types=types)
    assert types_of(table) == types_of(store)
    assert list(table.schema.names) == list(store.schema.names)
    assert [field.mark for field in table.schema] == [field.mark for field in store.schema]
    for k, size in enumerate(SIZES):
        assert np.array_equal(table[k]["mask"], numbers(*size)[None])
        assert np.array_equal(store[k]["mask"], numbers(*size)[None])
        assert np.array_equal(store[k]["other"], table[k]["other"])
        assert bytes(store[k]["image"]) == bytes(table[k]["image"])


@pytest.mark.filterwarnings("ignore:.*names images too")
@pytest.mark.parametrize(("column", "image"), [("image", "image"), ("other", "other_image")])
def test_masks_follow_their_images_in_training(scenes: Path, tmp_path: Path, column: str, image: str) -> None:
    """Red is the number: but for what resampling smooths, and a row or column more or less."""
    apldata.ingest(scenes / "t.jsonl", tmp_path / "db", image=column, mask=["mask"])
    steps = [RandomResizedCrop(48), RandomFlip()]
    flips: set[bool] = set()
    with Loader(
        tmp_path / "db",
        batch_size=4,
        transforms=steps,
        kinds={"mask": "mask"},
        fields=[image, "mask"],
        seed=3,
    ) as loader:
        for _ in range(10):
            for batch in loader:
                red, mask = batch[image][:, 0].astype(int), np.array(batch["mask"]).reshape(-1, 48, 48)
                assert np.abs(red - mask).max() <= 8
                flips |= {bool(one[24, 0] > one[24, -1]) for one in mask}
    assert flips == {False, True}


def test_numbers_are_kept_where_0_is_white(scenes: Path, tmp_path: Path) -> None:
    black = file_of(Image.fromarray(numbers(*SIZES[0])), "TIFF")
    tag = struct.pack("<HHII", 262, 3, 1, 1)  # 1: 0 is black
    assert black.count(tag) == 1
    (scenes / "0.tif").write_bytes(black.replace(tag, struct.pack("<HHII", 262, 3, 1, 0)))
    (scenes / "t.csv").write_text("image,mask\n0.jpg,0.tif\n")
    try:
        with pytest.warns(UserWarning, match="masks that show 0 as white, .*: 1"):
            apldata.ingest(scenes / "t.csv", tmp_path / "db", mask="mask")
    except apldata.SourceError as error:
        assert "this build does not read" in str(error)
        pytest.skip("this build has no libtiff")
    assert np.array_equal(apldata.Store(tmp_path / "db")[0]["mask"][0], numbers(*SIZES[0]))


@pytest.mark.parametrize("bits", [8, 4])
def test_masks_of_shards(tmp_path: Path, bits: int) -> None:
    """Of palettes, and of few levels of grey, which images lose."""
    with tarfile.open(tmp_path / "train-0.tar", "w") as tar:
        for k, size in enumerate(SIZES):
            mask = numbers(*size) & (1 << bits) - 1
            file = file_of(with_palette(mask)) if bits == 8 else grey_png(mask, bits)
            image = file_of(Image.fromarray(np.stack([mask] * 3, -1)), "JPEG")
            for ending, data in (("jpg", image), ("seg.png", file)):
                member = tarfile.TarInfo(f"{k}.{ending}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    with pytest.warns(UserWarning, match="field seg: 4 images with a palette .*, --mask seg stores"):
        apldata.ingest(tmp_path / "train-0.tar", tmp_path / "images")
    apldata.ingest(tmp_path / "train-0.tar", tmp_path / "db", mask="seg")
    store = apldata.Store(tmp_path / "db")
    assert store.schema["seg"].type == "u8[-1,-1,-1]" and store.schema["seg"].mark == "target"
    for k, size in enumerate(SIZES):
        assert np.array_equal(store[k]["seg"][0], numbers(*size) & (1 << bits) - 1)


def test_arguments() -> None:
    with pytest.raises(
        apldata.InvalidTypeError, match="mask must be the name of a column, or a list of names"
    ):
        apldata.ingest("t.csv", "db", mask=3)  # type: ignore[arg-type]
    with pytest.raises(apldata.InvalidTypeError, match="image must be the name of a column"):
        apldata.ingest("t.csv", "db", image=["a", 3])  # type: ignore[list-item]


@pytest.mark.filterwarnings("ignore:.*names images too")
def test_what_ingest_refuses(scenes: Path, tmp_path: Path) -> None:
    def refused(words: str, **options: Any) -> None:
        with pytest.raises(apldata.Error, match=words):
            apldata.ingest(scenes / "t.jsonl", tmp_path / "db", **options)

    refused("has no column none, for --mask", mask="none")
    refused("cannot be both image and mask", image="mask", mask="mask")
    refused(r"row 1: 0\.bmp: is in colour", image="image", mask="other")
    refused(r"row 1: 0\.jpg: is a JPEG", image="other", mask="image")
    Image.fromarray(numbers(*SIZES[0])).save(scenes / "0.png", "TIFF", compression="jpeg")
    lossy = r"row 1: 0\.png: (TIFF: is compressed as JPEG|holds TIFF, which this build does not read)"
    refused(lossy, image="image", mask="mask")


# ------------------------------------------------------------------------------------------- convert()


@pytest.mark.parametrize("kind", ["files", "paths", "pillow"])
def test_convert_keeps_levels_of_grey(tmp_path: Path, kind: str) -> None:
    """Also those of a few bits, which Pillow scales."""
    bit = numbers(8, 9) % 2
    out = {"bit.png": (Image.fromarray(bit * 255).convert("1"), {}, bit)}
    out["grey.png"] = (Image.fromarray(numbers(8, 9)), {}, numbers(8, 9))
    few = numbers(8, 9) % 8
    (tmp_path / "seven.pgm").write_bytes(b"P5 9 8 7\n" + few.tobytes())
    wanted = {"seven.pgm": few}
    for name, (image, options, pixels) in out.items():
        image.save(tmp_path / name, **options)
        wanted[name] = pixels
    values: list[Any] = [str(tmp_path / name) for name in wanted]
    if kind == "files":
        values = [Path(value).read_bytes() for value in values]
    if kind == "pillow":
        values = [Image.open(value) for value in values]
    store = made([{"mask": value} for value in values], tmp_path / "db", types={"mask": "mask"})
    for k, pixels in enumerate(wanted.values()):
        assert np.array_equal(store[k]["mask"].reshape(8, 9), pixels)


def test_convert_widens_masks_among_wide_ones(tmp_path: Path) -> None:
    wide = numbers(8, 9).astype("u2") * 200
    masks = [file_of(Image.fromarray(numbers(8, 9))), file_of(Image.fromarray(wide))]
    store = made([{"mask": mask} for mask in masks], tmp_path / "db", types={"mask": "mask"})
    assert store.schema["mask"].type == "u16[1,8,9]"
    assert np.array_equal(store[0]["mask"][0], numbers(8, 9)) and np.array_equal(store[1]["mask"][0], wide)


def refusal(mask: Any) -> Any:
    """Rows whose second mask is this one."""
    image, good = Image.new("RGB", (9, 8)), with_palette(numbers(8, 9))
    return [{"image": image, "mask": one} for one in (good, mask)]


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (Image.new("RGB", (9, 8)), "row 1, column mask: is in colour"),
        (Image.new("LA", (9, 8)), "row 1, column mask: is grey with alpha"),
        (Image.new("F", (9, 8)), "row 1, column mask: has float32 pixels"),
        (
            with_palette(numbers(9, 8)),
            "row 1, column mask: a mask of 8 x 9 pixels, and its image, of column image, has 9 x 8",
        ),
    ],
)
@pytest.mark.parametrize("files", [False, True])
def test_what_convert_refuses(tmp_path: Path, mask: Any, words: str, files: bool) -> None:
    rows = refusal(mask)
    if files:
        kind = "TIFF" if mask.mode == "F" else "PNG"
        rows = [{"image": row["image"], "mask": file_of(row["mask"], kind)} for row in rows]
    with pytest.raises(apldata.SourceError, match=words):
        made(rows, tmp_path / "db", types={"mask": "mask"})
    assert len(made(rows, tmp_path / "db", types={"mask": "mask"}, skip_bad=1)) == 1


def test_convert_refuses_jpegs_and_missing_files(tmp_path: Path) -> None:
    rows = refusal(None)
    rows[0]["mask"] = file_of(rows[0]["mask"])
    rows[1]["mask"] = file_of(Image.fromarray(numbers(8, 9)), "JPEG")
    with pytest.raises(apldata.SourceError, match="row 1, column mask: is a JPEG, which changes the numbers"):
        made(rows, tmp_path / "db", types={"mask": "mask"})
    with pytest.raises(apldata.InvalidTypeError, match="column mask: is a JPEG"):
        made(rows[1:], tmp_path / "db", types={"mask": "mask"})
    decoded = Image.open(io.BytesIO(rows[1]["mask"]))
    decoded.load()
    inside = file_of(Image.fromarray(numbers(8, 9)), "TIFF", compression="jpeg")
    for mask in (decoded, Image.open(io.BytesIO(rows[1]["mask"])), inside):
        with pytest.raises(
            apldata.InvalidTypeError, match=r"column mask: (is a JPEG|TIFF: is compressed as JPEG)"
        ):
            made([{"mask": mask}], tmp_path / "db", types={"mask": "mask"})
    with pytest.raises(apldata.InvalidTypeError, match="column mask: is in colour"):
        made([{"mask": Image.new("RGB", (9, 8))}], tmp_path / "db", types={"mask": "mask"})
    with pytest.raises(apldata.InvalidTypeError, match=r"column mask: none\.png: No such file"):
        made([{"mask": "none.png"}], tmp_path / "db", types={"mask": "mask"})
