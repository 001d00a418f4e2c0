"""Width and height of a JPEG file, from its header."""

from __future__ import annotations

FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """None: not a JPEG file, or neither grey nor of three components."""
    at = 2
    if data[:2] != b"\xff\xd8":
        return None
    while at + 10 <= len(data) and data[at] == 0xFF:
        marker, size = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == 0xFF:
            at += 1
            continue
        if marker in FRAMES:
            height, width = (
                int.from_bytes(data[at + 5 : at + 7], "big"),
                int.from_bytes(data[at + 7 : at + 9], "big"),
            )
            return (width, height) if data[at + 9] in (1, 3) else None
        at += 2 + size
    return None
