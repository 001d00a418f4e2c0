"""Files of masks become what `aplingest --mask` makes of them."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from convert_tools import made
from mask_tools import file_of, numbers, with_palette

import apldata

Image = pytest.importorskip("PIL.Image")


def png_of(samples: np.ndarray, depth: int) -> bytes:
    """A grey PNG of so many bits, which Pillow does not write."""
    bits = np.unpackbits(samples[..., None], axis=-1)[..., 8 - depth :].reshape(len(samples), -1)
    rows = np.pad(np.packbits(bits, axis=1), ((0, 0), (1, 0)))
    head = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], depth, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    chunks = (struct.pack(">I", len(b)) + a + b + struct.pack(">I", zlib.crc32(a + b)) for a, b in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def mask_files() -> dict[str, bytes]:
    """Masks of all kinds and modes, of 8 x 9 pixels, and some files that are none."""
    grey, wide = Image.fromarray(numbers(8, 9)), Image.fromarray(numbers(8, 9).astype("u2") * 200)
    palette, bit = with_palette(numbers(8, 9)), Image.fromarray(numbers(8, 9) % 2 * 255).convert("1")
    turned = Image.Exif()
    turned[274] = 6
    files: dict[str, bytes] = {}
    for bits in (1, 2, 4, 8):
        few = numbers(8, 9) & (2**bits - 1)
        files |= {
            f"{bits}.png": png_of(few, bits),
            f"palette{bits}.png": file_of(with_palette(few), bits=bits),
        }
    for kind in ("PNG", "TIFF", "BMP", "GIF"):
        for name, image in {"grey": grey, "palette": palette, "bit": bit}.items():
            files[f"{name}.{kind.lower()}"] = file_of(image, kind)
    files |= {
        "clear.png": file_of(palette, transparency=3),
        "clear.gif": file_of(palette, "GIF", transparency=3),
    }
    files |= {"wide.png": file_of(wide), "wide.tiff": file_of(wide, "TIFF")}
    white = {"tiffinfo": {262: 0}}  # levels of grey of which 0 is white
    files |= {f"white_{name}.tiff": file_of(one, "TIFF", **white) for name, one in (("l", grey), ("1", bit))}
    for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        files[f"{compression}.tiff"] = file_of(grey, "TIFF", compression=compression)
    files["fax.tiff"] = file_of(bit, "TIFF", compression="group4")
    files["pages.tiff"] = file_of(grey, "TIFF", save_all=True, append_images=[palette])
    files["frames.gif"] = file_of(palette, "GIF", save_all=True, append_images=[bit.convert("P")])
    files |= {"turned.png": file_of(grey, exif=turned), "turned.tiff": file_of(grey, "TIFF", exif=turned)}
    for most in (7, 255, 65535):
        samples = numbers(8, 9) % 8 if most == 7 else numbers(8, 9).astype("u2")
        files[f"{most}.pgm"] = b"P5 9 8 %d\n" % most + samples.astype(">u2" if most > 255 else "u1").tobytes()
    for mode in ("RGB", "LA", "RGBA", "CMYK"):
        files[mode] = file_of(Image.new(mode, (9, 8)), "TIFF" if mode == "CMYK" else "PNG")
    files |= {"jpeg.png": file_of(grey, "JPEG"), "webp.png": file_of(grey, "WEBP", lossless=True)}
    return files | {"cut.png": files["grey.png"][:70], "cut.tiff": files["grey.tiff"][:100]}


@pytest.fixture(scope="module")
def of_all_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masks")
    Image.new("RGB", (9, 8)).save(folder / "image.png")
    for name, data in mask_files().items():
        (folder / name).write_bytes(data)
        (folder / f"{name}.csv").write_text(f"image,mask\nimage.png,{name}\n")
    return folder


def outcome(make: Any) -> Any:
    """The mask of the one record, with its type, or why there is none."""
    try:
        store = make()
    except apldata.Error as error:
        return re.sub(r".*(row 2: [^:]*|row 0, column mask): | \(--skip-bad.*", "", str(error))
    return store.schema["mask"].type, np.array(store[0]["mask"]).tolist()


@pytest.mark.filterwarnings("ignore::apldata.IngestWarning")
@pytest.mark.parametrize("name", mask_files())
@pytest.mark.parametrize("how", ["bytes", "path"])
def test_convert_takes_files_of_masks_as_tables_do(
    of_all_kinds: Path, tmp_path: Path, name: str, how: str
) -> None:
    def by_ingest() -> apldata.Store:
        apldata.ingest(of_all_kinds / f"{name}.csv", tmp_path / "a", image="image", mask="mask")
        return apldata.Store(tmp_path / "a")

    def by_convert() -> apldata.Store:
        mask: Any = str(of_all_kinds / name) if how == "path" else (of_all_kinds / name).read_bytes()
        return made([{"mask": mask}], tmp_path / "b", types={"mask": "mask"})

    of_table = outcome(by_ingest)
    if "which this build does not read" in of_table:
        pytest.skip(of_table)
    assert outcome(by_convert) == of_table


@pytest.mark.parametrize("name", [name for name in mask_files() if name.endswith(".tiff")])
def test_pillow_gives_the_same_numbers_or_none(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the package was built without libtiff."""
    rows = [{"mask": mask_files()[name]}]
    of_c = outcome(lambda: made(rows, tmp_path / "a", types={"mask": "mask"}))

    class WithoutTiff:
        @staticmethod
        def mask_decode(data: bytes, header: bool, allow_warnings: bool) -> Any:
            raise apldata.UnsupportedError("holds TIFF, which this build does not read")

    monkeypatch.setattr("apldata.converting._decoding.load_extension", lambda: WithoutTiff)
    of_pillow = outcome(lambda: made(rows, tmp_path / "b", types={"mask": "mask"}))
    refused = isinstance(of_pillow, str) and (isinstance(of_c, str) or "does not read" in of_pillow)
    assert refused or of_pillow == of_c
