"""Makes tests/ingest/images/images.tar.xz: files of many kinds, and beside each FILE a FILE.raw of what it decodes to.

FILE.raw is u8 or u16 [channels, height, width], behind a line "channels height width bits slack", where slack
is how far a sample may be off: lossy kinds. By Pillow, and by hand what Pillow does not write.
Usage: make_images.py images.tar.xz
"""

import io
import struct
import sys
import tarfile
import zlib

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 11, 19
files = {}


def draw(channels, bits=8):
    y, x, c = np.mgrid[:HEIGHT, :WIDTH, :channels]
    return ((x * (7 + 3 * c) + y * (11 - 2 * c) + 40 * c) * (257 if bits == 16 else 1) % (1 << bits)).astype(
        f"u{bits // 8}"
    )


def add(name, data, pixels, slack=0):
    pixels = np.asarray(pixels)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    height, width, channels = pixels.shape
    head = f"{channels} {height} {width} {8 * pixels.itemsize} {slack}\n".encode()
    files[name] = data
    files[name + ".raw"] = head + np.ascontiguousarray(pixels.transpose(2, 0, 1)).tobytes()


def save(name, image, mode=None, slack=0, **options):
    out = io.BytesIO()
    image.save(out, name.split(".")[-1].replace("tif", "tiff").replace("pgm", "ppm"), **options)
    back = Image.open(io.BytesIO(out.getvalue()))
    add(name, out.getvalue(), back.convert(mode) if mode else back, slack)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_rows(pixels):
    return b"".join(b"\0" + row.astype(f">u{row.itemsize}").tobytes() for row in pixels)


def png(name, pixels, colour, interlaced=False, extra=b"", expected=None):
    height, width = pixels.shape[:2]
    rows = png_rows(pixels)
    if interlaced:
        passes = [
            (0, 8, 0, 8),
            (0, 8, 4, 8),
            (4, 8, 0, 4),
            (0, 4, 2, 4),
            (2, 4, 0, 2),
            (0, 2, 1, 2),
            (1, 2, 0, 1),
        ]
        parts = [pixels[y::dy, x::dx] for y, dy, x, dx in passes]
        rows = b"".join(png_rows(p) for p in parts if p.size)
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, colour, 0, 0, int(interlaced))
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + extra
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    add(name, data, pixels if expected is None else expected)


def make_png():
    rgb, image = draw(3), Image.fromarray(draw(3))
    save("rgb.png", image)
    save("grey.png", image.convert("L"))
    save("bit.png", image.convert("1"), "L")
    save("palette.png", image.quantize(200), "RGB")
    save("palette4.png", image.quantize(9), "RGB", bits=4)
    save("transparent.png", image.quantize(9), "RGBA", transparency=3)
    save("rgba.png", Image.fromarray(draw(4)))
    save("la.png", Image.fromarray(draw(2), "LA"))
    save("profile.png", image, icc_profile=b"not looked at" * 20)
    png("grey16.png", draw(1, 16), 0)
    png("rgb16.png", draw(3, 16), 2)
    png("rgba16.png", draw(4, 16), 6)
    png("interlaced.png", rgb, 2, interlaced=True)
    png("interlaced16.png", draw(4, 16), 6, interlaced=True)
    key = rgb[3, 5]
    alpha = np.where((rgb == key).all(-1, keepdims=True), 0, 255).astype("u1")
    transparency = chunk(b"tRNS", struct.pack(">HHH", *(int(v) for v in key)))
    png("key.png", rgb, 2, extra=transparency, expected=np.concatenate([rgb, alpha], -1))
    exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    png("turned.png", rgb, 2, extra=chunk(b"eXIf", exif))


def make_tiff():
    rgb, image = draw(3), Image.fromarray(draw(3))
    for compression in ("raw", "tiff_lzw", "packbits", "tiff_adobe_deflate"):
        save(f"{compression}.tif", image, compression=compression)
    save("jpeg.tif", image, compression="jpeg", quality=95, slack=6)
    save("grey.tif", image.convert("L"))
    save("fax.tif", image.convert("1"), "L", compression="group4")
    save("palette.tif", image.quantize(50), "RGB")
    save("rgba.tif", Image.fromarray(draw(4)))
    make_multiplied()
    save("pages.tif", image, save_all=True, append_images=[image.transpose(Image.Transpose.ROTATE_90)])
    save("grey16.tif", Image.fromarray(draw(1, 16)[:, :, 0]))
    ink = image.convert("CMYK")
    c, m, y, k = (255 - np.asarray(ink).astype(int)).transpose(2, 0, 1)
    out = io.BytesIO()
    ink.save(out, "tiff")
    add("cmyk.tif", out.getvalue(), (np.stack([c * k, m * k, y * k], -1) // 255).astype("u1"), 1)
    big = np.tile(rgb, (4, 2, 1))[:40, :35]
    add("tiles.tif", tiled(big), big)


def make_multiplied():
    """Colours that are multiplied by alpha (ExtraSamples 1)."""
    out, straight, multiplied = (
        io.BytesIO(),
        struct.pack("<HHIHH", 338, 3, 1, 2, 0),
        struct.pack("<HHIHH", 338, 3, 1, 1, 0),
    )
    pixels = draw(4)
    pixels[..., 3].flat[:5] = 0, 1, 128, 254, 255
    pixels[..., :3] = (pixels[..., :3].astype(int) * pixels[..., 3:] + 127) // 255
    Image.fromarray(pixels).save(out, "tiff")
    data = out.getvalue()
    assert data.count(straight) == 1
    data = data.replace(straight, multiplied)
    add("multiplied.tif", data, Image.open(io.BytesIO(data)))


def tiled(pixels, side=16):
    """A TIFF of tiles, big-endian, not compressed."""
    height, width = pixels.shape[:2]
    padded = np.zeros((-(-height // side) * side, -(-width // side) * side, 3), "u1")
    padded[:height, :width] = pixels
    tiles = [
        padded[y : y + side, x : x + side].tobytes()
        for y in range(0, height, side)
        for x in range(0, width, side)
    ]
    n, count, at = 10, len(tiles), 8 + 2 + 12 * 10 + 4
    bits, offsets = at, at + 6
    sizes, data = offsets + 4 * count, offsets + 8 * count
    rows = [
        (256, 3, 1, width << 16),
        (257, 3, 1, height << 16),
        (258, 3, 3, bits),
        (259, 3, 1, 1 << 16),
        (262, 3, 1, 2 << 16),
        (277, 3, 1, 3 << 16),
        (322, 3, 1, side << 16),
        (323, 3, 1, side << 16),
        (324, 4, count, offsets),
        (325, 4, count, sizes),
    ]
    out = (
        b"MM\0*"
        + struct.pack(">I", 8)
        + struct.pack(">H", n)
        + b"".join(struct.pack(">HHII", *r) for r in rows)
        + b"\0" * 4
    )
    out += struct.pack(">HHH", 8, 8, 8) + b"".join(
        struct.pack(">I", data + i * side * side * 3) for i in range(count)
    )
    return out + struct.pack(">I", side * side * 3) * count + b"".join(tiles)


def make_jpeg():
    """Of luma and chroma, and of red, green and blue (Adobe's transform 0), at less than their resolution."""
    for name, sampling in (("420", 2), ("422", 1), ("444", 0)):
        out = io.BytesIO()
        Image.fromarray(draw(3)).save(out, "jpeg", quality=95, subsampling=sampling)
        data = out.getvalue()
        add(f"ycc{name}.jpeg", data, Image.open(io.BytesIO(data)))
        data = data[:2] + b"\xff\xee\0\x0eAdobe\0\x64\0\0\0\0\0" + data[20:]  # instead of JFIF
        add(f"rgb{name}.jpeg", data, Image.open(io.BytesIO(data)))


def make_others():
    image, rgba = Image.fromarray(draw(3)), Image.fromarray(draw(4))
    save("lossy.webp", image, quality=90, slack=2)
    save("lossless.webp", image, lossless=True)
    save("alpha.webp", rgba, lossless=True, exact=True)
    save("one.gif", image.quantize(99), "RGB")
    save("interlaced.gif", image.quantize(16), "RGB", interlace=1)
    save("transparent.gif", image.quantize(9), "RGBA", transparency=2)
    save(
        "frames.gif",
        image.quantize(9),
        "RGB",
        save_all=True,
        append_images=[image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)],
    )
    for mode, name in (("RGB", "rgb"), ("L", "grey"), ("1", "bit")):
        save(f"{name}.bmp", image.convert(mode), "RGB")
    save("palette.bmp", image.quantize(30), "RGB")
    save("rgb.ppm", image)
    save("grey.pgm", image.convert("L"))
    words = draw(3, 16)
    add(
        "words.ppm",
        b"P6\n# sixteen bits\n%d %d 65535\n" % (WIDTH, HEIGHT) + words.astype(">u2").tobytes(),
        words,
    )
    seventh = draw(1) % 8
    add(
        "seven.pgm",
        b"P5 %d %d 7\n" % (WIDTH, HEIGHT) + seventh.tobytes(),
        (seventh * 255.0 / 7 + 0.5).astype("u1"),
    )
    top = b"BM" + struct.pack("<IIIIiiHHIIIIII", 0, 0, 54, 40, WIDTH, -HEIGHT, 1, 24, 0, 0, 0, 0, 0, 0)
    rows = [row[:, ::-1].tobytes() for row in draw(3)]
    add("down.bmp", top + b"".join(row + b"\0" * (-len(row) % 4) for row in rows), draw(3))
    fields = b"BM" + struct.pack("<IIIIiiHHIIIIII", 0, 0, 66, 40, WIDTH, HEIGHT, 1, 16, 3, 0, 0, 0, 0, 0)
    fields += struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    r, g, b = (draw(3) >> 3).astype("u2").transpose(2, 0, 1)
    rows = [row.astype("<u2").tobytes() for row in (r << 11 | g << 6 | b)[::-1]]
    full = np.stack([r * 255.0 / 31, (g << 1) * 255.0 / 63, b * 255.0 / 31], -1)
    add(
        "fields.bmp",
        fields + b"".join(row + b"\0" * (-len(row) % 4) for row in rows),
        (full + 0.5).astype("u1"),
    )


make_png()
make_tiff()
make_jpeg()
make_others()
with tarfile.open(sys.argv[1], "w:xz") as archive:
    for name, data in files.items():
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
print(len(files) // 2, "files")
