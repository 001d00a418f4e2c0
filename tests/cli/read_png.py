"""Turns the PNG on standard input, of 8 bits a channel and not interlaced, into the pixels of a PPM."""

import struct
import sys
import zlib


def chunks(png):
    at = 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (crc,) = struct.unpack_from(">I", png, at + 8 + size)
        assert crc == zlib.crc32(kind + body)
        yield kind, body
        at += 12 + size


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def main():
    parts = list(chunks(sys.stdin.buffer.read()))
    width, height, depth, color = struct.unpack_from(">IIBB", parts[0][1])
    assert depth == 8 and color in (0, 2)
    step = 3 if color == 2 else 1
    data = zlib.decompress(b"".join(body for kind, body in parts if kind == b"IDAT"))
    above = bytearray(width * step)
    for y in range(height):
        kind, *line = data[y * (width * step + 1) : (y + 1) * (width * step + 1)]
        row = bytearray(width * step)
        for i, value in enumerate(line):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            row[i] = (value + (0, a, b, (a + b) // 2, paeth(a, b, c))[kind]) & 255
        sys.stdout.buffer.write(row)
        above = row


main()
