"""Decodes the pictures of the first block in a data.mdb with nothing but docs/FORMAT.md and the zstd command.

Prints a line of segment, first record and record count, and then the pictures.
"""

import struct
import subprocess
import sys


def unzstd(frame):
    return subprocess.run(["zstd", "-dc"], input=frame, stdout=subprocess.PIPE, check=True).stdout


def undo_prediction(residuals, height, width):
    """Each pixel was predicted from those to the left (w), above (n) and above left (nw)."""
    pixels = bytearray(height * width)
    for y in range(height):
        for x in range(width):
            at = y * width + x
            w = pixels[at - 1] if x else 0
            n = pixels[at - width] if y else 0
            if x and y:
                nw = pixels[at - width - 1]
                low, high = min(w, n), max(w, n)
                prediction = w + n - min(max(nw, low), high)
            else:
                prediction = w if x else n if y else 128
            pixels[at] = (residuals[at] + prediction) & 255
    return pixels


def decode_plane(orders, sizes, frames, records, height, width):
    """`frames` yields the coded bytes; returns a plane a record."""
    planes = [None] * records
    for group, size in enumerate(sizes):
        members = orders[32 * group : 32 * group + 32]
        data = unzstd(frames(size))
        for way, record in enumerate(members):
            planes[record] = undo_prediction(data[way :: len(members)], height, width)
    return planes


def decode_pictures(coded, records, channels, height, width):
    number = "B" if records <= 256 else "H"
    groups = (records + 31) // 32
    table = channels * records * struct.calcsize(number)
    orders = struct.unpack_from(f"<{channels * records}{number}", coded)
    sizes = struct.unpack_from(f"<{channels * groups}I", coded, table)
    at = table + 4 * channels * groups

    def frames(size):
        nonlocal at
        at += size
        return coded[at - size : at]

    green, red, blue = (
        decode_plane(
            orders[i * records : (i + 1) * records],
            sizes[i * groups : (i + 1) * groups],
            frames,
            records,
            height,
            width,
        )
        for i in range(channels)
    )
    for r in range(records):
        for plane in (red[r], blue[r]):
            for i, g in enumerate(green[r]):
                plane[i] = (plane[i] + g - 128) & 255
    return b"".join(bytes(red[r] + green[r] + blue[r]) for r in range(records))


def main():
    data = open(sys.argv[1], "rb").read()
    block = data[data.index(b"APLB") :]
    header, records, segment = struct.unpack_from("<4xI8xII", block)
    (first,) = struct.unpack_from("<Q", block, 24)
    codec, raw, coded = struct.unpack_from("<B7xQQ", block, 40)
    assert codec == 4 and raw == records * 3072
    pictures = decode_pictures(block[header : header + coded], records, 3, 32, 32)
    sys.stdout.buffer.write(b"%d %d %d\n" % (segment, first, records) + pictures)


main()
