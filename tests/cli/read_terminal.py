"""Turns what `apldata show` draws on standard input into the pixels of each image, as PPMs below one another.

read_terminal.py kitty|sixel|blocks: prints PNG files of kitty as they are, one after another.
"""

import base64
import re
import sys


def kitty(text: bytes) -> bytes:
    pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert pieces and all(len(piece) <= 4096 for _, piece in pieces)
    assert [keys[-3:] for keys, _ in pieces].count(b"m=0") == text.count(b"a=T,f=100")
    return base64.b64decode(b"".join(piece for _, piece in pieces))


def sixel(text: bytes) -> bytes:
    (body,) = re.findall(rb"\x1bP0;1q(.*?)\x1b\\", text, re.DOTALL)
    width, height = map(int, re.match(rb'"1;1;(\d+);(\d+)', body).groups())
    palette, pixels, x, y, colour, times = {}, bytearray(3 * width * height), 0, 0, b"", 1
    for token in re.findall(rb"#[\d;]+|!\d+|[?-~]|[$-]", body[body.index(b"#") :]):
        if token[:1] == b"#" and b";2;" in token:
            number, _, *percent = map(int, token[1:].split(b";"))
            palette[number] = bytes(round(p * 255 / 100) for p in percent)
        elif token[:1] == b"#":
            colour = palette[int(token[1:])]
        elif token[:1] == b"!":
            times = int(token[1:])
        elif token in b"$-":
            x, y = 0, y + 6 * (token == b"-")
        else:
            for bit in range(6):
                if token[0] - 63 >> bit & 1:
                    at = 3 * ((y + bit) * width + x)
                    pixels[at : at + 3 * times] = colour * times
            x, times = x + times, 1
    return b"P6\n%d %d\n255\n" % (width, height) + pixels


def blocks(text: bytes) -> bytes:
    rows = []
    for line in text.split(b"\x1b[0m\n")[:-1]:
        cells = re.findall(rb"\x1b\[38;2;(\d+);(\d+);(\d+)m\x1b\[48;2;(\d+);(\d+);(\d+)m\xe2\x96\x80", line)
        for half in (slice(0, 3), slice(3, 6)):
            rows.append(bytes(int(v) for cell in cells for v in cell[half]))
    assert len({len(row) for row in rows}) == 1
    return b"P6\n%d %d\n255\n" % (len(rows[0]) // 3, len(rows)) + b"".join(rows)


if __name__ == "__main__":
    decode = {"kitty": kitty, "sixel": sixel, "blocks": blocks}[sys.argv[1]]
    sys.stdout.buffer.write(decode(sys.stdin.buffer.read()))
