"""Makes tests/ingest/images/numbers.tar.xz: files whose pixels are numbers, and beside each FILE a FILE.raw of these.

FILE.raw is as make_images.py has it: u8 or u16 [1, height, width], behind a line "1 height width bits 0". Of
lossy.tif, which is refused, it has what was written.
By hand, as Pillow scales the levels of grey of 2 and 4 bits; GIF by Pillow.
Usage: make_numbers.py numbers.tar.xz
"""

import io
import struct
import sys
import tarfile
import zlib

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 13, 19
DEPTHS = (1, 2, 4, 8, 16)
WHITE_IS_ZERO, BLACK_IS_ZERO, PALETTE = 0, 1, 3
files = {}


def numbers(depth):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return (x * x + 3 * y + (x * y >> 2)) * (997 if depth == 16 else 1) % (1 << depth)


def add(name, data, pixels):
    bits = 16 if pixels.max() > 255 else 8
    head = f"1 {HEIGHT} {WIDTH} {bits} 0\n".encode()
    files[name] = data
    files[name + ".raw"] = head + pixels.astype(f"<u{bits // 8}").tobytes()


def packed(row, depth, order=">"):
    if depth == 16:
        return row.astype(f"{order}u2").tobytes()
    bits = ((row[:, None] >> np.arange(depth)[::-1]) & 1).astype("u1").ravel()
    return np.packbits(bits).tobytes()


def palette(colours):
    return bytes(k * 37 % 256 for k in range(3 * colours))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def passes(pixels):
    starts = (
        (0, 8, 0, 8),
        (0, 8, 4, 8),
        (4, 8, 0, 4),
        (0, 4, 2, 4),
        (2, 4, 0, 2),
        (0, 2, 1, 2),
        (1, 2, 0, 1),
    )
    parts = (pixels[y::dy, x::dx] for y, dy, x, dx in starts)
    return [part for part in parts if part.size]


def png(name, pixels, depth, colour, interlaced=False, colours=None):
    parts = passes(pixels) if interlaced else [pixels]
    rows = b"".join(b"\0" + packed(row, depth) for part in parts for row in part)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour, 0, 0, int(interlaced))
    extra = b""
    if colour == 3:
        extra = chunk(b"PLTE", palette(colours or 1 << depth)) + chunk(b"tRNS", b"\0\x80")
    data = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    add(name, b"\x89PNG\r\n\x1a\n" + data, pixels)


def tiles(pixels, depth, side=16):
    found = []
    for y in range(0, HEIGHT, side):
        for x in range(0, WIDTH, side):
            tile = np.zeros((side, side), int)
            part = pixels[y : y + side, x : x + side]
            tile[: part.shape[0], : part.shape[1]] = part
            found.append(b"".join(packed(row, depth, "<") for row in tile))
    return found


def tiff(name, pixels, depth, photometric, tiled):
    parts = tiles(pixels, depth) if tiled else [b"".join(packed(row, depth, "<") for row in pixels)]
    starts = [8 + sum(map(len, parts[:k])) for k in range(len(parts))]
    tags = [(256, "H", [WIDTH]), (257, "H", [HEIGHT]), (258, "H", [depth]), (259, "H", [1])]
    tags += [(262, "H", [photometric]), (277, "H", [1])]
    if photometric == PALETTE:
        tags += [(320, "H", [k % 5 * 1237 for k in range(3 << depth)])]
    if tiled:
        tags += [(322, "H", [16]), (323, "H", [16]), (324, "I", starts), (325, "I", list(map(len, parts)))]
    else:
        tags += [(273, "I", starts), (278, "H", [HEIGHT]), (279, "I", list(map(len, parts)))]
    data = b"".join(parts)
    data += b"\0" * (len(data) % 2)
    begin = 8 + len(data)
    beyond = begin + 2 + 12 * len(tags) + 4
    directory, extra = struct.pack("<H", len(tags)), b""
    for tag, form, values in sorted(tags):
        value = struct.pack(f"<{len(values)}{form}", *values)
        directory += struct.pack("<HHI", tag, 3 if form == "H" else 4, len(values))
        directory += value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", beyond + len(extra))
        extra += value if len(value) > 4 else b""
    add(name, b"II*\0" + struct.pack("<I", begin) + data + directory + b"\0" * 4 + extra, pixels)


def bmp(name, pixels, depth, top_down=False):
    rows = [packed(row, depth) for row in (pixels if top_down else pixels[::-1])]
    data = b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    colours = b"".join(palette(1 << depth)[3 * k : 3 * k + 3] + b"\0" for k in range(1 << depth))
    at, height = 54 + len(colours), -HEIGHT if top_down else HEIGHT
    header = struct.pack("<IiiHHIIiiII", 40, WIDTH, height, 1, depth, 0, len(data), 0, 0, 0, 0)
    add(name, b"BM" + struct.pack("<IHHI", at + len(data), 0, 0, at) + header + colours + data, pixels)


def gif(name, **options):
    image = Image.fromarray(numbers(4).astype("u1"))
    image.putpalette(palette(16))
    out = io.BytesIO()
    image.save(out, "gif", optimize=False, **options)
    add(name, out.getvalue(), np.asarray(Image.open(io.BytesIO(out.getvalue()))))


def lossy(name):
    out = io.BytesIO()
    Image.fromarray(numbers(8).astype("u1")).save(out, "tiff", compression="jpeg")
    add(name, out.getvalue(), numbers(8))


def pgm(name, depth, most):
    pixels = numbers(depth) % (most + 1)
    head = f"P5 {WIDTH} {HEIGHT} {most}\n".encode()
    add(name, head + packed(pixels.ravel(), 16 if most > 255 else 8), pixels)


def main(out):
    for depth in DEPTHS:
        for interlaced in (False, True):
            ending = "-interlaced.png" if interlaced else ".png"
            png(f"grey{depth}{ending}", numbers(depth), depth, 0, interlaced)
            if depth < 16:
                png(f"palette{depth}{ending}", numbers(depth), depth, 3, interlaced)
        for tiled in (False, True):
            ending = "-tiles.tif" if tiled else ".tif"
            tiff(f"white{depth}{ending}", numbers(depth), depth, WHITE_IS_ZERO, tiled)
            tiff(f"black{depth}{ending}", numbers(depth), depth, BLACK_IS_ZERO, tiled)
            tiff(f"palette{depth}{ending}", numbers(depth), depth, PALETTE, tiled)
    png("short-palette.png", numbers(8), 8, 3, colours=21)
    png("short-palette-interlaced.png", numbers(8), 8, 3, True, colours=21)
    for depth in (1, 4, 8):
        bmp(f"palette{depth}.bmp", numbers(depth), depth)
        bmp(f"palette{depth}-down.bmp", numbers(depth), depth, top_down=True)
    gif("palette.gif")
    gif("transparent.gif", transparency=3)
    gif("interlaced.gif", interlace=1)
    lossy("lossy.tif")
    pgm("seven.pgm", 8, 7)
    pgm("full.pgm", 8, 255)
    pgm("thousand.pgm", 16, 1000)
    with tarfile.open(out, "w:xz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


main(sys.argv[1])
