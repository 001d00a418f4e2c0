"""Masks that the tests draw."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


def numbers(height: int, width: int) -> np.ndarray:
    """A slope, which no flip and no turn leaves as it is."""
    y, x = np.mgrid[:height, :width]
    return (x * 150 // width + y * 90 // height).astype("u1")


def with_palette(pixels: np.ndarray) -> Any:
    mask = Image.fromarray(pixels)
    mask.putpalette(bytes(range(255, -1, -1)) * 3)
    return mask


def file_of(image: Any, kind: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def grey_png(pixels: np.ndarray, bits: int) -> bytes:
    """A PNG of levels of grey of so many bits, which Pillow does not write."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    shown = (pixels[:, :, None] >> np.arange(bits)[::-1]) & 1
    rows = np.packbits(shown.reshape(height, -1).astype("u1"), axis=1)
    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes()))
    return b"\x89PNG\r\n\x1a\n" + data + chunk(b"IEND", b"")
