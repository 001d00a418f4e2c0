"""Makes tests/ingest/images/warned.tar.xz: files that libraries decode though something is wrong with them, and beside each FILE a
FILE.raw of what Pillow makes of it, as make_images.py describes it.
Usage: make_warned.py warned.tar.xz
"""

import io
import struct
import sys
import tarfile
import zlib

import numpy as np
from PIL import Image

files = {}
WIDTH, HEIGHT = 48, 36
TINY = np.random.default_rng(7).integers(0, 255, (9, 12, 3)).astype("u1")
PHOTO = Image.fromarray(TINY).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
NOISE = np.random.default_rng(8).integers(-12, 12, (HEIGHT, WIDTH, 3))
PHOTO = Image.fromarray((np.asarray(PHOTO, int) + NOISE).clip(0, 255).astype("u1"))


def saved(kind, image=PHOTO, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def warned(name, data, slack=0):
    """As Pillow reads it."""
    image = Image.open(io.BytesIO(data))
    pixels = np.asarray(image.convert("RGB") if image.mode == "P" else image)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    height, width, channels = pixels.shape
    head = f"{channels} {height} {width} {8 * pixels.itemsize} {slack}\n".encode()
    files[name] = data
    files[name + ".raw"] = head + np.ascontiguousarray(pixels.transpose(2, 0, 1)).tobytes()


def zeroed(data, size, at=2):
    begin = len(data) // at
    assert begin + size + 40 < len(data), (len(data), size)
    return data[:begin] + bytes(size) + data[begin + size :]


# ----------------------------------------------------------------------------------------------------- JPEG

JPEGS = {
    "420": (PHOTO, {"subsampling": 2}),
    "422": (PHOTO, {"subsampling": 1}),
    "444": (PHOTO, {"subsampling": 0}),
    "grey": (PHOTO.convert("L"), {}),
    "restarts": (PHOTO, {"subsampling": 0, "restart_marker_rows": 1}),
}
for name, (image, options) in JPEGS.items():
    whole = saved("JPEG", image, quality=92, **options)
    warned(f"zeros-{name}.jpeg", zeroed(whole, 200), slack=3)
    warned(f"half-{name}.jpeg", whole[: len(whole) // 2] + bytes(len(whole) // 2) + whole[-2:], slack=3)
whole = saved("JPEG", quality=92)
warned("stray.jpeg", whole[:-2] + b"stray bytes, more than libjpeg holds" + whole[-2:], slack=3)

# ------------------------------------------------------------------------------------------------------ PNG


def png_chunks(data):
    at, found = 8, []
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        found.append([data[at + 4 : at + 8], data[at + 8 : at + 8 + size], None])
        at += 12 + size
    return found


def png_file(chunks):
    """A checksum of None is the right one."""
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data, sum_ in chunks:
        right = struct.pack(">I", zlib.crc32(kind + data))
        out += struct.pack(">I", len(data)) + kind + data + (sum_ or right)
    return out


def png(name, change, image=PHOTO):
    chunks = png_chunks(saved("PNG", image, dpi=(72, 72)))
    change(chunks, next(one for one in chunks if one[0] == b"IDAT"))
    warned(name, png_file(chunks))


def more_rows(chunks, image):
    image[1] = zlib.compress(zlib.decompress(image[1]) + bytes(3 * WIDTH + 1))


deep = Image.fromarray(np.asarray(PHOTO)[:, :, 0].astype("u2") * 257)
png("no-end.png", lambda chunks, image: chunks.pop())
png("sum-behind.png", lambda chunks, image: chunks.insert(-1, [b"tEXt", b"a\0b", b"abcd"]))
png("more-rows.png", more_rows)
png("more-data.png", lambda chunks, image: image.__setitem__(1, image[1] + b"more"))
png("no-sum.png", lambda chunks, image: image.__setitem__(1, image[1][:-4]))
png("deep-more-data.png", lambda chunks, image: image.__setitem__(1, image[1] + b"more"), deep)

# ------------------------------------------------------------------------------------------- GIF, WebP, TIFF

warned("no-end.gif", saved("GIF", PHOTO.quantize(64))[:-1])
warned("zeros-lossless.webp", zeroed(saved("WEBP", lossless=True), 400))
warned("zeros.webp", zeroed(saved("WEBP", quality=95), 300), slack=1)


def with_entries(data, change):
    (at,) = struct.unpack("<I", data[4:8])
    (count,) = struct.unpack("<H", data[at : at + 2])
    entries = [data[at + 2 + 12 * i : at + 14 + 12 * i] for i in range(count)]
    return data[: at + 2] + b"".join(change(entries)) + data[at + 2 + 12 * count :]


def value(tag, count, number):
    """Sets count and value of a tag."""

    def change(entries):
        known = struct.pack("<H", tag)
        return [
            one if one[:2] != known else one[:4] + struct.pack("<I", count) + struct.pack("<I", number)
            for one in entries
        ]

    return change


PAGE_NUMBER, STRIP_OFFSETS, STRIP_BYTES = 297, 273, 279
warned("odd-count.tif", with_entries(saved("TIFF", tiffinfo={PAGE_NUMBER: (0, 1)}), value(PAGE_NUMBER, 1, 0)))
warned("not-ascending.tif", with_entries(saved("TIFF"), lambda all_: [*all_[:-2], all_[-1], all_[-2]]))
warned("odd-bytes.tif", with_entries(saved("TIFF"), value(STRIP_BYTES, 1, 7)))
deflated = saved("TIFF", compression="tiff_adobe_deflate")  # one strip
strip = zlib.compress(np.asarray(PHOTO).tobytes() + b"more")[:-4] + b"none"
moved = with_entries(deflated, value(STRIP_BYTES, 1, len(strip)))
warned("wrong-sum-deflate.tif", with_entries(moved, value(STRIP_OFFSETS, 1, len(deflated))) + strip)
warned("zeros-jpeg.tif", zeroed(saved("TIFF", compression="jpeg", quality=95), 100), slack=3)

with tarfile.open(sys.argv[1], "w:xz") as archive:
    for name, data in files.items():
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
print(len(files) // 2, "files")
